//! What is kept that nobody needs any more (R9, V8)?

use std::path::Path;

use board::Isolation;

use crate::git::Git;
use crate::workspace::{Workspace, WorkspaceError, remove_all};
use crate::yard::Yard;

/// Removes a workspace whose work is elsewhere.
pub(crate) async fn remove_workspace(yard: &Yard, place: &Path, isolation: Isolation) -> Result<(), WorkspaceError> {
    if isolation == Isolation::Worktree {
        let tree = Workspace::at(place, &yard.repository, isolation).tree;
        let tree = tree.to_string_lossy();
        Git::around(&yard.repository).run(&["worktree", "remove", "--force", "--force", "--", &tree]).await?;
    }
    remove_all(place)
}
