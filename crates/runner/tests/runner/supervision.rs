//! Does a runner end loudly, and in bounded time, when a part of it or the board behind it fails?

use std::sync::Arc;

use async_trait::async_trait;
use board::{CheckResult, Examination, ExaminationStep, Generation, Seq, SessionId, TaskId, Timestamp};
use dispatch::{
    AtWork, Claim, Dispatch, DispatchError, ExamineOrder, FactReport, Offer, TargetOrder, Wanted, WorkOrder,
};
use runner::clients::User;
use runner::{AtShutdown, Options, Runner, RunnerError, RunnerHost, RunnerPaths};
use tokio_util::sync::CancellationToken;

/// How the board behind the port fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failure {
    ClaimPanics,
    Closed,
}

/// A board with one offer.
#[derive(Debug)]
struct FailingBoard(Failure);

#[async_trait]
impl Dispatch for FailingBoard {
    async fn wanted(&self, after: Option<Seq>) -> Result<Wanted, DispatchError> {
        if self.0 == Failure::Closed {
            return Err(DispatchError::Closed);
        }
        if after.is_some() {
            std::future::pending::<()>().await;
        }
        Ok(Wanted {
            revision: 1,
            now: Timestamp(0),
            offers: vec![Offer { agent: "w1".parse().unwrap(), task: Some(TaskId(1)) }],
            next_offer: None,
            sessions: Vec::new(),
            examine: Vec::new(),
            slots: None,
            target_branch: "main".into(),
            target_red: None,
        })
    }

    async fn claim(&self, _: &Claim) -> Result<Option<WorkOrder>, DispatchError> {
        panic!("a fault of ours")
    }

    async fn renew(&self, _: &AtWork) -> Result<(), DispatchError> {
        Ok(())
    }

    async fn report(&self, _: &FactReport) -> Result<(), DispatchError> {
        Ok(())
    }

    async fn report_target(&self, _: &str, _: &[CheckResult]) -> Result<(), DispatchError> {
        Ok(())
    }

    async fn target_order(&self) -> Result<Option<TargetOrder>, DispatchError> {
        Ok(None)
    }

    async fn examine_order(&self, _: SessionId, _: Generation) -> Result<Option<ExamineOrder>, DispatchError> {
        Ok(None)
    }

    async fn examination_step(
        &self,
        _: SessionId,
        _: Generation,
        _: u32,
        _: Option<&Examination>,
    ) -> Result<Option<ExaminationStep>, DispatchError> {
        Ok(None)
    }
}

async fn run(failure: Failure) -> Result<(), RunnerError> {
    let home = tempfile::tempdir().unwrap();
    let project = "shop".parse().unwrap();
    let paths = RunnerPaths::new(home.path(), &project);
    let user = User { home: home.path().to_owned(), env: std::collections::BTreeMap::new() };
    let host = RunnerHost {
        project,
        began: board::Timestamp(0),
        repository: home.path().to_owned(),
        paths,
        user,
        upstream: None,
    };
    let options = Options {
        max_parallel: Some(1),
        has: board::RunnerOffer::default(),
        shared_slots: None,
        disk_floor: 0,
        only: None,
        most_sessions: None,
        mcp_url: "http://127.0.0.1:1/mcp".into(),
        at_shutdown: AtShutdown::LeaveAgents,
    };
    let (runner, _notices) = Runner::new(Arc::new(FailingBoard(failure)), host, options);
    runner.run(CancellationToken::new()).await
}

/// B11, R12: a panic in one of the runner's tasks ends the runner with an error; it is not swallowed.
#[tokio::test]
async fn panic_ends_the_runner_with_an_error() {
    let error = run(Failure::ClaimPanics).await.unwrap_err();
    assert!(matches!(&error, RunnerError::Panicked(panic) if panic.is_panic()), "{error}");
}

/// B11, R12: a board whose writer has gone is an error too, not a good end.
#[tokio::test]
async fn closed_board_ends_the_runner_with_an_error() {
    assert!(matches!(run(Failure::Closed).await, Err(RunnerError::BoardClosed)));
}
