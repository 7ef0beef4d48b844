//! P10 and P11: what do whole tasks cost beside plain git, and how long from the agent's end to done?
//!
//! P11 comes first: ext4 is slow to make files for a while after thousands were deleted, as P10 does.

use std::path::Path;
use std::time::{Duration, Instant};

use board::{Check, Settings, TaskId};
use git::{AsyncGit, Git};

use crate::Measurement;
use crate::running_project::{RunningProject, make_repository};

const TASKS: usize = 60;
const FILES: usize = 500;
const ONE_BY_ONE: usize = 20;

/// Both are measured in turn, and the least disturbed of each is taken.
const ROUNDS: usize = 3;

/// ext4 is slow to make files while it remembers that others were deleted, which is for five seconds.
const PAUSE: Duration = Duration::from_secs(6);

fn with_a_trivial_check(settings: &mut Settings) {
    settings.dod.checks = vec![Check { name: "trivial".into(), command: "true".into() }];
}

/// The agent adds one file, named after its branch.
fn agent() -> Vec<String> {
    vec!["/bin/sh".into(), "-c".into(), "echo work > \"src/$(git branch --show-current).txt\"".into()]
}

pub(crate) fn measure_end_to_done() -> anyhow::Result<Vec<Measurement>> {
    let latency = tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(one_by_one())?;
    Ok(vec![Measurement {
        id: "P11",
        what: "from the end of the agent to `done`, less git and the check".into(),
        measured: crate::milliseconds(latency),
        budget: "≤ 50 ms",
        within_budget: latency <= Duration::from_millis(50),
    }])
}

pub(crate) fn measure_all_at_once() -> anyhow::Result<Vec<Measurement>> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(beside_plain_git())
}

async fn beside_plain_git() -> anyhow::Result<Vec<Measurement>> {
    let (mut plain, mut ours) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        tokio::time::sleep(PAUSE).await;
        plain = plain.min(plain_git().await?);
        tokio::time::sleep(PAUSE).await;
        ours = ours.min(all_at_once().await?);
    }
    let ratio = ours.as_secs_f64() / plain.as_secs_f64();
    Ok(vec![Measurement {
        id: "P10",
        what: format!(
            "{TASKS} one-shot tasks with a trivial check, all started at once, beside plain git one after the other"
        ),
        measured: format!("**{ratio:.2} ×** ({:.1} s beside {:.1} s)", ours.as_secs_f64(), plain.as_secs_f64()),
        budget: "≤ 1.0 ×",
        within_budget: ratio <= 1.0,
    }])
}

/// The same branches, working copies, commits, checks and merges by hand, one after the other.
async fn plain_git() -> anyhow::Result<Duration> {
    let directory = tempfile::tempdir()?;
    let repository = directory.path().join("repository");
    make_repository(&repository, FILES).await?;
    let began = Instant::now();
    for number in 0..TASKS {
        let (branch, tree) = (format!("task-{number}"), directory.path().join(format!("tree-{number}")));
        let path = tree.to_string_lossy().into_owned();
        let main = AsyncGit::in_repository(&repository);
        main.run(&["worktree", "add", "--quiet", "-b", &branch, &path, "main"]).await?;
        work(&tree, &branch).await?;
        let own = AsyncGit::in_repository(&tree);
        own.run(&["add", "--all"]).await?;
        own.run(&["commit", "--quiet", "-mwork"]).await?;
        main.run(&["merge", "--quiet", "--no-ff", "-mmerge", &branch]).await?;
        main.run(&["worktree", "remove", "--force", &path]).await?;
    }
    Ok(began.elapsed())
}

async fn work(tree: &Path, branch: &str) -> anyhow::Result<()> {
    for script in [format!("echo work > src/{branch}.txt"), "true".into()] {
        let status = tokio::process::Command::new("sh").arg("-c").arg(script).current_dir(tree).status().await?;
        anyhow::ensure!(status.success(), "the work failed");
    }
    Ok(())
}

async fn all_at_once() -> anyhow::Result<Duration> {
    let bench = RunningProject::start(FILES, agent(), with_a_trivial_check, 4).await?;
    let mut tasks = Vec::new();
    for number in 0..TASKS {
        tasks.push(bench.add_task(&format!("part {number}")).await?);
    }
    let began = Instant::now();
    for task in &tasks {
        bench.start_task(*task).await?;
    }
    bench.until_done(&tasks).await?;
    let took = began.elapsed();
    let merged = AsyncGit::in_repository(&bench.repository).run(&["rev-list", "--merges", "--count", "main"]).await?;
    anyhow::ensure!(merged == TASKS.to_string(), "{merged} merges");
    bench.stop().await?;
    Ok(took)
}

/// One task after the other, so that git's time is that of the one task.
async fn one_by_one() -> anyhow::Result<Duration> {
    let bench = RunningProject::start(FILES, agent(), with_a_trivial_check, 1).await?;
    let mut own = Vec::new();
    for number in 0..ONE_BY_ONE {
        let task = bench.add_task(&format!("part {number}")).await?;
        bench.start_task(task).await?;
        let git_before = git_at_the_end(&bench, task).await?;
        bench.until_done(&[task]).await?;
        let git = Git::time_spent().saturating_sub(git_before);
        let board = bench.project.board();
        let done = board.task(task)?.status_at;
        let ended = board.sessions_of(board.task(task)?).filter_map(|session| session.process_ended).map(|(_, at)| at);
        let mut ended = ended;
        let Some(ended) = ended.next_back() else { anyhow::bail!("{task} has no session") };
        let took = Duration::from_millis((done - ended).0.max(0).unsigned_abs());
        own.push(took.saturating_sub(git));
    }
    bench.stop().await?;
    Ok(crate::median(own))
}

/// How much time git had taken when the agent's process was over.
async fn git_at_the_end(bench: &RunningProject, task: TaskId) -> anyhow::Result<Duration> {
    let mut boards = bench.project.writer().watch();
    loop {
        let board = boards.borrow_and_update().clone();
        if board.sessions_of(board.task(task)?).any(|session| session.process_ended.is_some()) {
            return Ok(Git::time_spent());
        }
        boards.changed().await?;
    }
}
