//! How is a git command ended from outside? By a switch that its caller keeps.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};

/// Ends the command that runs now and refuses all later ones. Dropping a future pulls it.
#[derive(Debug, Default)]
pub(crate) struct KillSwitch {
    state: Mutex<SwitchState>,
}

#[derive(Debug, Default)]
pub(crate) struct SwitchState {
    pub(crate) pulled: bool,
    /// The group of the command that runs now. It is unset before the command is waited for: after
    /// that its number may belong to another process.
    pub(crate) group: Option<Pid>,
}

impl KillSwitch {
    pub(crate) fn state(&self) -> MutexGuard<'_, SwitchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn pull(&self) {
        let mut state = self.state();
        state.pulled = true;
        if let Some(group) = state.group.take() {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}
