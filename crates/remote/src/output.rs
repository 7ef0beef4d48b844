//! How does a server keep what agents on other hosts have printed? By position: a piece is taken where the last one ended.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use board::OutputName;
use serde::Deserialize;

use crate::caller::{Answer, InProject};
use crate::protocol::{AnswerOutput, AnswerPiece};
use crate::state::RunnerService;

/// Which output of which session.
#[derive(Debug, Deserialize)]
pub(crate) struct Output {
    output: OutputName,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Piece {
    at: u64,
    /// What is kept is not what was printed, or what came between is gone: it begins again here.
    #[serde(default)]
    anew: bool,
}

pub(crate) async fn piece(
    place: InProject,
    State(_): State<RunnerService>,
    Path(Output { output }): Path<Output>,
    Query(Piece { at, anew }): Query<Piece>,
    bytes: Bytes,
) -> Answer<AnswerPiece> {
    place.check_owner(output.session).await?;
    if anew {
        place.project.drop_output(output).await?;
    }
    let end = place.project.append_output(output, at, bytes.into()).await?;
    Ok(Json(AnswerPiece { end }))
}

/// What is kept, to be compared with what was printed.
pub(crate) async fn kept(
    place: InProject,
    State(_): State<RunnerService>,
    Path(Output { output }): Path<Output>,
) -> Answer<AnswerOutput> {
    place.check_owner(output.session).await?;
    let page = place.project.output(output, 0, usize::MAX).await?;
    let blake3 = blake3::hash(&page.bytes).to_hex().to_string();
    Ok(Json(AnswerOutput { oldest: page.oldest, end: page.newest, blake3 }))
}
