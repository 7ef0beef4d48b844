//! What have agents on other hosts printed, and how much of it is kept (R10)?

use board::OutputName;
use store::{OUTPUT_PIECE_LIMIT, OutputPage};

use crate::{ControlError, Project};

/// So much of a session's output is kept at most, in bytes: the newest.
pub const OUTPUT_LIMIT: u64 = 16 << 20;

/// Old output is dropped whenever so much has come.
const TRIM: u64 = OUTPUT_PIECE_LIMIT as u64;

/// What is left when old output is dropped. As much again as `TRIM` comes before the next time, and a piece that is older in
/// part is left whole.
const LEFT: u64 = OUTPUT_LIMIT - 2 * TRIM;

impl Project {
    /// Appends a piece of a session's output that begins at the position `at`, and tells where what is kept ends then. If that
    /// is not where it ended before, nothing is written, and the sender goes on from the end. Fails if the piece is longer
    /// than [`OUTPUT_PIECE_LIMIT`].
    pub async fn append_output(&self, output: OutputName, at: u64, bytes: Vec<u8>) -> Result<u64, ControlError> {
        let (stream, name) = (self.stream_name(), output.to_string());
        let end = self.store().append_output(stream, &name, at, bytes).await?;
        if end / TRIM != at / TRIM && end > LEFT {
            self.store().drop_output_before(stream, &name, end - LEFT).await?;
        }
        Ok(end)
    }

    /// At most `most` bytes of a session's output from the position `from` on. All of it is zero and empty if nothing is kept.
    pub async fn output(&self, output: OutputName, from: u64, most: usize) -> Result<OutputPage, ControlError> {
        Ok(self.store().output(self.stream_name(), &output.to_string(), from, most).await?)
    }

    /// The end of a session's output, at most `most` bytes, beginning with a whole line where that can be.
    pub async fn output_tail(&self, output: OutputName, most: usize) -> Result<OutputPage, ControlError> {
        let newest = self.output(output, 0, 0).await?.newest;
        let mut page = self.output(output, newest.saturating_sub(most as u64), most).await?;
        if page.start > page.oldest {
            let cut = page.bytes.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            // A line that is longer than all that is wanted is shown as far as it goes.
            let cut = if cut == page.bytes.len() { 0 } else { cut };
            page.bytes.drain(..cut);
            page.start += cut as u64;
        }
        Ok(page)
    }

    /// Drops all of a session's output of one kind.
    pub async fn drop_output(&self, output: OutputName) -> Result<(), ControlError> {
        Ok(self.store().drop_output_before(self.stream_name(), &output.to_string(), u64::MAX).await?)
    }

    /// The output that is kept, by session, oldest first.
    pub async fn kept_output(&self) -> Result<Vec<OutputName>, ControlError> {
        let names = self.store().sessions_with_output(self.stream_name()).await?;
        let mut kept: Vec<OutputName> = names.iter().filter_map(|name| name.parse().ok()).collect();
        kept.sort_unstable();
        Ok(kept)
    }
}
