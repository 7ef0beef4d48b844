//! The contract of session output: what agents on other hosts have printed, by its position in all that a session printed
//! (R10). Kept beside the streams and never part of them.

use std::ops::Range;

use async_trait::async_trait;

use crate::{StoreError, StreamName};

/// The longest piece, in bytes.
pub const OUTPUT_PIECE_LIMIT: usize = 1 << 20;

/// No output is that long. What is added to a position in a query still fits its numbers.
const LONGEST: u64 = 1 << 61;

/// What is kept of a session's output from some position on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputPage {
    /// Where the bytes begin in the whole output; later than asked for if that is not kept any more.
    pub start: u64,
    pub bytes: Vec<u8>,
    /// The oldest position that is kept.
    pub oldest: u64,
    /// Where what is kept ends by now.
    pub newest: u64,
}

impl OutputPage {
    pub fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

/// What is kept of a session is without gaps, whoever appends and drops at the same time.
#[async_trait]
pub trait SessionOutput: Send + Sync + 'static {
    /// Appends a piece that begins at the position `at`, durably, and tells where what is kept ends then. If that is not
    /// where it ended before, nothing is written: the sender goes on from the end, and a piece that is sent twice does no
    /// harm. Of a session of which nothing is kept, the first piece may begin anywhere. A piece of nothing only asks. Fails
    /// if the piece is longer than [`OUTPUT_PIECE_LIMIT`].
    async fn append_output(
        &self,
        stream: &StreamName,
        session: &str,
        at: u64,
        bytes: Vec<u8>,
    ) -> Result<u64, StoreError>;

    /// At most `most` bytes from the position `from` on. All of it is zero and empty if nothing is kept.
    async fn output(
        &self,
        stream: &StreamName,
        session: &str,
        from: u64,
        most: usize,
    ) -> Result<OutputPage, StoreError>;

    /// Drops the pieces that end at or before `position`; `u64::MAX` drops all.
    async fn drop_output_before(&self, stream: &StreamName, session: &str, position: u64) -> Result<(), StoreError>;

    /// The sessions of which anything is kept, by name.
    async fn sessions_with_output(&self, stream: &StreamName) -> Result<Vec<String>, StoreError>;
}

/// Where a piece ends, if it may be kept.
pub(crate) fn end_of_piece(at: u64, bytes: &[u8]) -> Result<u64, StoreError> {
    let length = bytes.len();
    if length > OUTPUT_PIECE_LIMIT {
        return Err(StoreError::failed(format!(
            "a piece of output has {length} bytes, more than {OUTPUT_PIECE_LIMIT}"
        )));
    }
    let end = at.checked_add(length as u64).filter(|end| *end <= LONGEST);
    end.ok_or_else(|| StoreError::failed(format!("no output has a position {at}")))
}

/// What is wanted of a session's output.
pub(crate) struct Wanted {
    pub(crate) from: u64,
    pub(crate) most: u64,
}

impl Wanted {
    pub(crate) fn new(from: u64, most: usize) -> Self {
        Self { from: from.min(LONGEST), most: (most as u64).min(LONGEST) }
    }

    /// The positions of it that are there.
    pub(crate) fn among(&self, kept: &Range<u64>) -> Range<u64> {
        let start = self.from.min(kept.end).max(kept.start);
        start..kept.end.min(start + self.most)
    }

    /// The page made of `pieces`, each with its position: all that have a part of it, in order.
    pub(crate) fn page(&self, kept: Range<u64>, pieces: impl IntoIterator<Item = (u64, Vec<u8>)>) -> OutputPage {
        let wanted = self.among(&kept);
        let mut page = OutputPage { start: wanted.start, bytes: Vec::new(), oldest: kept.start, newest: kept.end };
        for (position, piece) in pieces {
            // Where a piece is missing although none may be, the page ends.
            let Some(skipped) = page.end().checked_sub(position) else { break };
            let skipped = usize::try_from(skipped).unwrap_or(usize::MAX).min(piece.len());
            let left = usize::try_from(wanted.end.saturating_sub(page.end())).unwrap_or(usize::MAX);
            let rest = &piece[skipped..];
            page.bytes.extend_from_slice(&rest[..left.min(rest.len())]);
        }
        page
    }
}
