//! Which definitions are not in the target branch yet (R16)? Agents work on what is committed there: they do not see them.

use git::{Git, branch_ref};

use crate::context::OpenProject;

/// A few of the files in `.saihai/` that are new or different beside the target branch.
pub(crate) fn uncommitted(opened: &OpenProject) -> Vec<String> {
    let git = Git::for_command_line(&opened.path);
    let target = branch_ref(&opened.board().settings.target_branch);
    let new = ["ls-files", "-z", "--others", "--exclude-standard", "--", ".saihai"];
    let different = ["diff", "-z", "--name-only", "--no-ext-diff", &target, "--", ".saihai"];
    let mut found = [git.paths(&new), git.paths(&different)].into_iter().flatten().flatten().collect::<Vec<_>>();
    found.sort();
    found.dedup();
    found.truncate(20);
    found
}

/// What to tell the owner about them; nothing if there are none.
pub(crate) fn warning(opened: &OpenProject) -> Option<String> {
    let found = uncommitted(opened);
    let (count, target) = (found.len(), opened.board().settings.target_branch.clone());
    let names = found.iter().take(3).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = if count > 3 { ", …" } else { "" };
    (count > 0).then(|| {
        opened.say(
            format!("Commit .saihai/ to {target}: agents do not see what is not there ({names}{more})."),
            format!(".saihai/ を {target} にコミットしてください。未コミットのものはエージェントに見えません（{names}{more}）。"),
        )
    })
}
