//! How was the board at an earlier event? Replayed, from the nearest board that is still known.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use board::{Board, ProjectId, Seq, Settings};
use control::{ControlError, Project};

use super::ProjectRequest;

/// Boards that are remembered, and the memory that they may take together. They share most of it, so what is
/// counted is more than what they really take.
const REMEMBERED: usize = 128;
const REMEMBERED_BYTES: usize = 64 << 20;

/// While a long history is replayed, a board is remembered after this many events.
const STRIDE: Seq = 20_000;

#[derive(Debug, Default)]
pub(super) struct HistoricalBoards {
    boards: Mutex<VecDeque<(ProjectId, Arc<Board>)>>,
}

impl HistoricalBoards {
    /// The board as of an event.
    pub(super) async fn board(&self, open: &ProjectRequest, at: Seq) -> Result<Arc<Board>, ControlError> {
        let (id, log) = (&open.id, open.project.log());
        let mut board = self.nearest(id, at).unwrap_or_else(|| Arc::new(Board::new(Settings::new(id.clone()))));
        let stream = Project::stream(id);
        while board.seq < at {
            let before = board.seq;
            let mut next = (*board).clone();
            log.fold(&stream, &mut next, at.min(before - before % STRIDE + STRIDE)).await?;
            board = Arc::new(next);
            if board.seq == before {
                break;
            }
            self.remember(id, &board);
        }
        Ok(board)
    }

    fn nearest(&self, id: &ProjectId, at: Seq) -> Option<Arc<Board>> {
        let boards = self.boards.lock().unwrap_or_else(PoisonError::into_inner);
        let known = boards.iter().filter(|(of, board)| of == id && board.seq <= at);
        known.max_by_key(|(_, board)| board.seq).map(|(_, board)| Arc::clone(board))
    }

    fn remember(&self, id: &ProjectId, board: &Arc<Board>) {
        let mut boards = self.boards.lock().unwrap_or_else(PoisonError::into_inner);
        boards.push_back((id.clone(), Arc::clone(board)));
        let bytes = |boards: &VecDeque<(ProjectId, Arc<Board>)>| -> usize {
            boards.iter().map(|(_, board)| board.approximate_bytes()).sum()
        };
        while boards.len() > 1 && (boards.len() > REMEMBERED || bytes(&boards) > REMEMBERED_BYTES) {
            // Boards at a stride serve many requests; the others were asked for once, and go first.
            let earlier = boards.len() - 1;
            let least = boards.iter().take(earlier).position(|(_, board)| board.seq % STRIDE != 0).unwrap_or(0);
            boards.remove(least);
        }
    }
}
