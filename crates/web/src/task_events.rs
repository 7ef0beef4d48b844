//! What has happened to a task? Its events, by the numbers that it keeps.

use board::{Event, Seq, Task};
use control::{ControlError, Project};

/// Events that are read together although some between them are not wanted: one read of a few too many is
/// cheaper than several.
const GAP: Seq = 32;

/// The newest events about a task before `before`, newest first, at most `limit`.
pub(super) async fn newest_events(
    project: &Project,
    task: &Task,
    before: Seq,
    limit: usize,
) -> Result<Vec<(Seq, Event)>, ControlError> {
    let earlier: Vec<Seq> = task.events.iter().take_while(|seq| *seq < before).collect();
    let wanted = &earlier[earlier.len().saturating_sub(limit)..];
    let mut found = Vec::with_capacity(wanted.len());
    for run in wanted.chunk_by(|one, next| next - one <= GAP) {
        let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
        let count = usize::try_from(last - first + 1).unwrap_or(usize::MAX);
        let read = project.events_after(first - 1, count).await?;
        found.extend(read.into_iter().filter(|(seq, _)| run.binary_search(seq).is_ok()));
    }
    found.reverse();
    Ok(found)
}
