//! What does a runner on another host do with the repository that a server keeps? It fetches from it, and hands over bundles.

use std::sync::Arc;

use async_trait::async_trait;
use board::{Merge, ProjectId, TaskId};
use git::{Git, branch_ref};
use hyper::body::Bytes;
use runner::{HandedOver, Mirror, MoveOutcome, TargetMove, Upstream};
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};

use crate::connection::{Connection, RemoteError};
use crate::protocol::{
    AnswerMove, AnswerPiece, AnswerRef, AnswerStillWaiting, AskMove, AskPublish, AskRef, AskStillWaiting, BASE,
    Nothing, PIECE, SentBundle, SessionRef,
};
use crate::uploads::hash;

/// How often a bundle is sent again that did not arrive whole.
const SEND_AGAIN: usize = 3;

/// The repository of a project, where its servers keep it.
#[derive(Debug)]
pub struct ServersRepository {
    connection: Connection,
    mirror: Arc<Mirror>,
    /// Where the project's routes are.
    base: String,
}

impl ServersRepository {
    pub fn new(connection: Connection, mirror: Arc<Mirror>, project: &ProjectId) -> Self {
        Self { connection, mirror, base: format!("/projects/{project}") }
    }

    /// Fetches a ref if it is elsewhere than here; `false` if there is none.
    async fn follow(&self, reference: &str) -> Result<bool, String> {
        let asked = AskRef { reference: reference.to_owned() };
        let answer: AnswerRef =
            self.connection.ask(&format!("{}/ref", self.base), &asked).await.map_err(|error| error.to_string())?;
        let Some(there) = answer.commit else { return Ok(false) };
        if self.mirror.commit(reference).await.as_ref() == Some(&there) {
            return Ok(true);
        }
        self.mirror.expect(&there).await.map_err(|error| error.to_string())?;
        let header = format!("Authorization: {}", self.connection.authorization());
        let git = Git::in_repository(self.mirror.directory()).over_http(&header, self.connection.certificates());
        let url = format!("{}{BASE}{}/git", self.connection.server(), self.base);
        self.mirror.fetch(git, &url, &[reference]).await.map_err(|error| error.to_string())?;
        Ok(true)
    }

    /// Makes a bundle of what is new in a commit, sends it, and asks for something with it. `None` if nothing is new.
    async fn with_bundle<A: serde::de::DeserializeOwned, Q: serde::Serialize + Sync>(
        &self,
        of: SessionRef,
        commit: &str,
        known: &[String],
        what: &str,
        question: impl Fn(SentBundle) -> Q,
    ) -> Result<Option<A>, String> {
        let directory =
            tempfile::tempdir_in(self.mirror.directory().join(".git")).map_err(|error| error.to_string())?;
        let file = directory.path().join("commits.bundle");
        if !self.mirror.bundle(commit, known, &file).await.map_err(|error| error.to_string())? {
            return Ok(None);
        }
        let hashed = file.clone();
        let sent = tokio::task::spawn_blocking(move || hash(&hashed)).await.map_err(|error| error.to_string())?;
        let sent = sent.map_err(|error| error.to_string())?;
        let mut tries = 0;
        loop {
            self.send(of, &file, sent.length).await?;
            match self.connection.ask::<A>(&format!("{}/{what}", self.base), &question(sent.clone())).await {
                Ok(answer) => return Ok(Some(answer)),
                // It went to one server, and the question to another.
                Err(error) if error.is("incomplete") && tries < SEND_AGAIN => tries += 1,
                Err(error) => return Err(error.to_string()),
            }
        }
    }

    async fn send(&self, of: SessionRef, file: &std::path::Path, length: u64) -> Result<(), String> {
        let mut open = tokio::fs::File::open(file).await.map_err(|error| error.to_string())?;
        let (mut at, mut piece) = (0, vec![0; PIECE]);
        while at < length {
            open.seek(std::io::SeekFrom::Start(at)).await.map_err(|error| error.to_string())?;
            let read = open.read(&mut piece).await.map_err(|error| error.to_string())?;
            let path = format!("{}/uploads/{}?at={at}", self.base, of.session);
            let answer: AnswerPiece = self
                .connection
                .put(&path, Bytes::copy_from_slice(&piece[..read]))
                .await
                .map_err(|error: RemoteError| error.to_string())?;
            // Where it did not fit, it goes on where the server says, or from the beginning.
            at = if answer.end <= length { answer.end } else { 0 };
        }
        Ok(())
    }
}

#[async_trait]
impl Upstream for ServersRepository {
    async fn fetch_branch(&self, branch: &str) -> Result<(), String> {
        let reference = branch_ref(branch);
        let before = self.mirror.commit(&reference).await;
        if !self.follow(&reference).await? {
            return Err(format!("the server's repository has no branch {branch}"));
        }
        if self.mirror.commit(&reference).await == before {
            return Ok(());
        }
        self.mirror.check_out_definitions(branch).await.map_err(|error| error.to_string())
    }

    async fn fetch_work(&self, _: TaskId, reference: &str) -> Result<(), String> {
        self.follow(reference).await.map(drop)
    }

    async fn publish_work(&self, work: &HandedOver) -> Result<(), String> {
        let of = SessionRef { session: work.session, generation: work.generation };
        let question = |bundle| AskPublish { of, head: work.head.clone(), bundle };
        self.with_bundle::<Nothing, _>(of, &work.head, &work.known, "publish", question).await.map(drop)
    }

    async fn withdraw_work(&self, _: &str) -> Result<(), String> {
        // `saihai gc` there removes it with its branch.
        Ok(())
    }

    async fn move_target(&self, target: &TargetMove) -> Result<MoveOutcome, String> {
        let TargetMove { session, generation, branch, from, to } = target;
        let of = SessionRef { session: *session, generation: *generation };
        let question = |bundle| AskMove { of, from: from.clone(), to: to.clone(), bundle };
        let moved = self.with_bundle::<AnswerMove, _>(of, to, std::slice::from_ref(from), "move", question).await?;
        let outcome = moved.ok_or("there is nothing to merge")?.outcome;
        // What is told as merged is here too.
        if outcome == MoveOutcome::Moved {
            self.fetch_branch(branch).await?;
        }
        Ok(outcome)
    }

    async fn still_waiting(&self, target: &TargetMove, files: &[String]) -> Result<Option<Merge>, String> {
        let TargetMove { session, generation, from, to, .. } = target;
        let of = SessionRef { session: *session, generation: *generation };
        let asked = AskStillWaiting { of, from: from.clone(), to: to.clone(), files: files.to_vec() };
        let path = format!("{}/still-waiting", self.base);
        let answer: AnswerStillWaiting = self.connection.ask(&path, &asked).await.map_err(|error| error.to_string())?;
        Ok(answer.waiting)
    }
}
