//! How does a bundle arrive that is longer than a request may be? In pieces, each with the place where it begins.

use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use board::{RunnerId, SessionId};
use http::StatusCode;
use runner::RunnerPaths;
use serde::Deserialize;

use crate::caller::{Answer, InProject, Refused};
use crate::protocol::{AnswerPiece, SentBundle};
use crate::state::RunnerService;

/// What one session may hand over. An agent's commits are smaller: its own disk is bounded.
const LONGEST_BUNDLE: u64 = 4 << 30;

#[derive(Debug, Deserialize)]
pub(crate) struct Session {
    #[serde(rename = "project")]
    _project: String,
    pub(crate) session: SessionId,
}

#[derive(Debug, Deserialize)]
pub(crate) struct At {
    pub(crate) at: u64,
}

/// Where the bundle of a session arrives. Each runner has its own place: what one sends, no other touches.
pub(crate) fn file(service: &RunnerService, place: &InProject, session: SessionId) -> PathBuf {
    let root = RunnerPaths::new(service.home(), &place.id);
    let runner: &RunnerId = &place.caller.runner;
    root.root().join("incoming").join(format!("{runner}-{session}.bundle"))
}

/// Appends a piece. One that begins elsewhere than at the end changes nothing; one that begins at 0 begins anew.
pub(crate) async fn piece(
    place: InProject,
    State(service): State<RunnerService>,
    Path(Session { session, .. }): Path<Session>,
    Query(At { at }): Query<At>,
    bytes: Bytes,
) -> Answer<AnswerPiece> {
    place.check_owner(session).await?;
    let path = file(&service, &place, session);
    let written = tokio::task::spawn_blocking(move || -> std::io::Result<u64> {
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory)?;
        }
        let mut open = std::fs::File::options();
        let mut file = open.create(true).truncate(at == 0).write(true).mode(0o600).open(&path)?;
        let end = file.seek(SeekFrom::End(0))?;
        if at != end {
            return Ok(end);
        }
        file.write_all(&bytes)?;
        Ok(end + bytes.len() as u64)
    });
    let end = written.await.map_err(Refused::unavailable)?.map_err(Refused::unavailable)?;
    if end > LONGEST_BUNDLE {
        let _ = std::fs::remove_file(file(&service, &place, session));
        return Err(Refused::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", "a bundle may have 4 GiB"));
    }
    Ok(Json(AnswerPiece { end }))
}

/// The bundle of a session, if it is here whole and as it was sent.
pub(crate) async fn arrived(path: PathBuf, sent: &SentBundle) -> Result<PathBuf, Refused> {
    let hashed = path.clone();
    let found = tokio::task::spawn_blocking(move || hash(&hashed)).await.map_err(Refused::unavailable)?;
    match found {
        Ok(found) if found == *sent => Ok(path),
        Ok(_) | Err(_) => {
            let message = "the bundle is not here as it was sent: send it again";
            Err(Refused::new(StatusCode::CONFLICT, "incomplete", message))
        }
    }
}

/// What would be said of a file that was sent.
pub(crate) fn hash(path: &std::path::Path) -> std::io::Result<SentBundle> {
    let mut file = std::fs::File::open(path)?;
    let (mut hasher, mut length, mut buffer) = (blake3::Hasher::new(), 0, vec![0; 64 << 10]);
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(SentBundle { length, blake3: hasher.finalize().to_hex().to_string() });
        }
        hasher.update(&buffer[..read]);
        length += read as u64;
    }
}
