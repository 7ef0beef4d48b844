//! How is a board kept, so that opening a project need not fold all of its events (E4)?

use crate::board::Board;

/// The shape of the bytes. Raised whenever a type of the board changes; a test watches that.
pub const SNAPSHOT_FORMAT: u32 = 15;

/// A snapshot that does not read back. It is a cache: the events are folded instead.
#[derive(Debug, thiserror::Error)]
#[error("the snapshot is unreadable: {0}")]
pub struct BadSnapshot(#[from] postcard::Error);

pub fn encode(board: &Board) -> Vec<u8> {
    postcard::to_stdvec(board).expect("a board has only lengths that are known")
}

pub fn decode(bytes: &[u8]) -> Result<Board, BadSnapshot> {
    Ok(postcard::from_bytes(bytes)?)
}
