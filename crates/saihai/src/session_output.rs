//! Where is what a session has printed? On this machine, or in the store, if its runner on another host has sent it.

use std::path::Path;

use board::{OutputKind, OutputName, SessionId, clean};
use control::Project;
use runner::RunnerPaths;
use runner::shim::{LogChunk, SessionLog};

use crate::failure::Failure;

/// What a session has printed.
pub(crate) struct SessionOutput<'a> {
    project: &'a Project,
    output: OutputName,
    /// `None`: in the store.
    here: Option<SessionLog>,
}

impl<'a> SessionOutput<'a> {
    /// `None` if nothing is kept.
    pub(crate) async fn find(
        home: &Path,
        project: &'a Project,
        output: OutputName,
    ) -> Result<Option<SessionOutput<'a>>, Failure> {
        let board = project.board();
        let run = RunnerPaths::new(home, &board.settings.id).session(output.session);
        let here = run.exists().then(|| SessionLog::of(&run, output.kind));
        let found = Self { project, output, here };
        if found.here.is_none() && found.kept(0, 0).await?.1 == 0 {
            return Ok(None);
        }
        Ok(Some(found))
    }

    /// Is it to be read line by line?
    pub(crate) fn is_of_lines(&self) -> bool {
        self.output.kind == OutputKind::Transcript
    }

    /// Is it sent from another host? Then it ends a little later than the session.
    pub(crate) fn is_sent(&self) -> bool {
        self.here.is_none()
    }

    /// At most `most` bytes from a position on, and whatever is older than what is kept left out.
    pub(crate) async fn read_on(&self, from: u64, most: usize) -> Result<LogChunk, Failure> {
        match &self.here {
            Some(log) => Ok(log.read_on(from, most)),
            None => Ok(self.kept(from, most).await?.0),
        }
    }

    /// The end of it, at most so many bytes, beginning with a whole line.
    pub(crate) async fn tail(&self, most: usize) -> Result<LogChunk, Failure> {
        match &self.here {
            Some(log) => Ok(log.tail(most)),
            None => {
                let page = self.project.output_tail(self.output, most).await.map_err(|error| self.failed(error))?;
                Ok(LogChunk { start: page.start, bytes: page.bytes })
            }
        }
    }

    /// A piece of what is in the store, and where all of it ends.
    async fn kept(&self, from: u64, most: usize) -> Result<(LogChunk, u64), Failure> {
        let page = self.project.output(self.output, from, most).await.map_err(|error| self.failed(error))?;
        Ok((LogChunk { start: page.start, bytes: page.bytes }, page.newest))
    }

    fn failed(&self, error: control::ControlError) -> Failure {
        Failure::control(error, self.project.board().settings.language)
    }
}

/// The last lines that a session's process has printed, without control characters.
pub(crate) async fn last_lines(home: &Path, project: &Project, session: SessionId) -> Result<Vec<String>, Failure> {
    const BYTES: usize = 4096;
    const LINES: usize = 5;
    let Some(output) = SessionOutput::find(home, project, OutputName::raw(session)).await? else {
        return Ok(Vec::new());
    };
    let text = clean(&String::from_utf8_lossy(&output.tail(BYTES).await?.bytes));
    let lines: Vec<_> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    Ok(lines[lines.len().saturating_sub(LINES)..].iter().map(|line| (*line).to_owned()).collect())
}
