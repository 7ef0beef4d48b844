//! Is what a runner's own repository has what everybody has (R10)? On another host it follows one elsewhere.

use board::TaskId;

use super::VerifyError;
use crate::host::RunnerHost;
use crate::upstream::HandedOver;

impl RunnerHost {
    /// Makes sure that a branch here is where everybody sees it.
    pub(crate) async fn follow(&self, branch: &str) -> Result<(), VerifyError> {
        let Some(upstream) = &self.upstream else { return Ok(()) };
        upstream.fetch_branch(branch).await.map_err(VerifyError::trouble)
    }

    /// Makes sure that the work of a task is here, if another host's runner has published it.
    pub(crate) async fn fetch_work(&self, task: TaskId) -> Result<(), VerifyError> {
        let Some(upstream) = &self.upstream else { return Ok(()) };
        upstream.fetch_work(task, &self.refs(task).work()).await.map_err(VerifyError::trouble)
    }

    /// Lets others find the work of a task.
    pub(crate) async fn publish_work(&self, work: impl FnOnce() -> HandedOver) -> Result<(), VerifyError> {
        let Some(upstream) = &self.upstream else { return Ok(()) };
        upstream.publish_work(&work()).await.map_err(VerifyError::trouble)
    }

    /// Takes back what others needed to go on with a task: it is merged.
    pub(crate) async fn withdraw_work(&self, task: TaskId) -> Result<(), String> {
        let Some(upstream) = &self.upstream else { return Ok(()) };
        upstream.withdraw_work(&self.refs(task).work()).await
    }
}
