//! What is seen of a project besides its board: its runners and what agents have printed, here and on other hosts?

use board::{OutputName, ProjectId, RunnerView};
use control::ControlError;

use crate::{LocalFiles, LogFrom, LogPage, ServerState};

impl ServerState {
    /// A piece of a session's output, from this machine or as its runner on another host has sent it; `None` if there is none.
    pub async fn session_output(
        &self,
        id: &ProjectId,
        output: OutputName,
        from: LogFrom,
        most: usize,
    ) -> Result<Option<LogPage>, ControlError> {
        let project = id.clone();
        let here = self.look(move |files| files.log(&project, output, from, most)).await.flatten();
        if here.is_some() {
            return Ok(here);
        }
        let Some(project) = self.project(id).await? else { return Ok(None) };
        let kept = match from {
            LogFrom::Position(from) => project.output(output, from, most).await?,
            LogFrom::Tail => project.output_tail(output, most).await?,
        };
        let page = LogPage { start: kept.start, bytes: kept.bytes, oldest: kept.oldest, newest: kept.newest };
        Ok(Some(page).filter(|page| page.newest > 0))
    }

    /// The runners of a project, here and on other hosts.
    pub async fn runner_view(&self, id: &ProjectId) -> Result<RunnerView, ControlError> {
        let project = id.clone();
        let here = self.look(move |files| files.runner(&project)).await.unwrap_or(RunnerView::Unknown);
        let elsewhere = self.control().runners_of(&self.installation().state(), id).await?;
        Ok(here.and(elsewhere))
    }

    /// Reads what is on this machine, on a thread for that; `None` where this process cannot.
    pub async fn look<T: Send + 'static>(&self, look: impl FnOnce(&dyn LocalFiles) -> T + Send + 'static) -> Option<T> {
        let files = self.local_files()?;
        tokio::task::spawn_blocking(move || look(&*files)).await.ok()
    }
}
