//! What is in the simulated repository? A line of commits, the work of each task, and files that the user edits.

use std::collections::{BTreeMap, BTreeSet};

use board::{CheckOutcome, CheckResult, CheckRun, Merge, TaskId, WorkspaceFacts};
use rand::RngExt as _;
use rand::rngs::ChaCha8Rng;

/// How many files there are: few, so that work collides.
const FILES: u8 = 4;

#[derive(Clone, Debug)]
struct Commit {
    files: BTreeSet<u8>,
    /// The task whose work it merges, with that work's tree; `None`: somebody else's commit.
    of: Option<(TaskId, u64)>,
}

/// The work of a task in its workspace.
#[derive(Clone, Debug)]
struct Work {
    /// How many commits the target had when it was last merged into the work.
    base: usize,
    files: BTreeSet<u8>,
    tree: u64,
    fails_checks: bool,
    outside_scope: bool,
    repairs: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Repository {
    commits: Vec<Commit>,
    works: BTreeMap<TaskId, Work>,
    trees: u64,
    /// The checks fail on the target itself.
    red: bool,
    /// Files that the user has changed and not committed.
    edited: BTreeSet<u8>,
}

impl Repository {
    fn target(&self) -> String {
        format!("t{}", self.commits.len())
    }

    /// A session begins: the work starts on the target, or has the target merged into it after a conflict.
    pub(super) fn begin(&mut self, task: TaskId, after_conflict: bool, repairs: bool) {
        let base = self.commits.len();
        let fresh = Work { base, files: BTreeSet::new(), tree: 0, fails_checks: false, outside_scope: false, repairs };
        let work = self.works.entry(task).or_insert(fresh);
        if after_conflict {
            work.base = base;
        }
    }

    /// An agent has worked well: it has changed something, and left nothing that is wrong.
    pub(super) fn work_well(&mut self, task: TaskId, files: &[u8]) {
        self.trees += 1;
        if let Some(work) = self.works.get_mut(&task) {
            work.tree = self.trees;
            work.files.extend(files);
            work.fails_checks = false;
            work.outside_scope = false;
        }
    }

    /// An agent has worked somehow.
    pub(super) fn work_somehow(&mut self, task: TaskId, rng: &mut ChaCha8Rng) {
        let files = [rng.random_range(0..FILES), rng.random_range(0..FILES)];
        if rng.random_bool(0.9) {
            self.work_well(task, &files);
        }
        if let Some(work) = self.works.get_mut(&task) {
            work.fails_checks = rng.random_bool(0.15);
            work.outside_scope = rng.random_bool(0.05);
        }
    }

    /// What an examiner finds.
    pub(super) fn look(&self, task: TaskId, reported: &[String]) -> Option<WorkspaceFacts> {
        let work = self.works.get(&task)?;
        let name = |file: &u8| format!("src/{file}.rs");
        let own = format!("m{}", work.tree);
        let merged = self.commits.iter().any(|commit| commit.of == Some((task, work.tree)));
        // What an earlier session has merged changes nothing any more.
        let over = merged && reported.contains(&own);
        let since = self.commits.iter().skip(work.base);
        let conflicts: BTreeSet<_> = since
            .filter(|commit| commit.of.is_none_or(|(other, _)| other != task))
            .flat_map(|commit| commit.files.intersection(&work.files))
            .collect();
        let merge = match (merged && !over && work.tree > 0, conflicts.is_empty() || over) {
            (true, _) => Merge::Merged { commit: own },
            (false, false) => Merge::Conflict { files: conflicts.into_iter().map(name).collect() },
            (false, true) => Merge::NotTried,
        };
        Some(WorkspaceFacts {
            commits: u32::from(work.tree > 0),
            changed: if over { Vec::new() } else { work.files.iter().map(name).collect() },
            outside_scope: if work.outside_scope { vec![".env".into()] } else { Vec::new() },
            checks: Vec::new(),
            judge_changes: board::JudgeChanges::default(),
            goals_unmet: Vec::new(),
            merge,
            target: Some(self.target()),
            candidate: Some(format!("{}+{task}.{}", self.target(), work.tree)),
            tree: (work.tree > 0).then(|| work.tree.to_string()),
            undone_by_git: false,
        })
    }

    /// Runs checks on a candidate, or on the target alone.
    pub(super) fn check(&self, run: &CheckRun, of: Option<TaskId>) -> Vec<CheckResult> {
        let work = of.and_then(|task| self.works.get(&task));
        let red = self.red && !work.is_some_and(|work| work.repairs);
        let outcome = match red || work.is_some_and(|work| work.fails_checks) {
            true => CheckOutcome::Fail,
            false => CheckOutcome::Pass,
        };
        let result = |check: &board::Check| CheckResult {
            name: check.name.clone(),
            command: check.command.clone(),
            outcome,
            output: String::new(),
        };
        run.checks.iter().map(result).collect()
    }

    /// Moves the target to a candidate, if it is still what the candidate was made on.
    pub(super) fn merge(&mut self, task: TaskId, facts: &WorkspaceFacts) -> Option<Merge> {
        if facts.target.as_deref() != Some(&self.target()) {
            return None;
        }
        let work = self.works.get(&task)?;
        if let Some(file) = self.edited.intersection(&work.files).next() {
            let file = format!("src/{file}.rs");
            return Some(Merge::Waiting { reason: format!("{file} has changes"), files: vec![file] });
        }
        if work.repairs {
            self.red = false;
        }
        self.commits.push(Commit { files: work.files.clone(), of: Some((task, work.tree)) });
        Some(Merge::Merged { commit: format!("m{}", work.tree) })
    }

    /// The user works too: commits, breaks and mends the target, edits files.
    pub(super) fn user_acts(&mut self, rng: &mut ChaCha8Rng) {
        match rng.random_range(0..4) {
            0 => drop(self.edited.insert(rng.random_range(0..FILES))),
            1 => self.edited.clear(),
            2 => {
                let files = BTreeSet::from([rng.random_range(0..FILES)]);
                self.red = rng.random_bool(0.5);
                self.commits.push(Commit { files, of: None });
            }
            _ => self.mend(),
        }
    }

    /// The target is green, and nothing of the user's is in the way.
    pub(super) fn mend(&mut self) {
        self.edited.clear();
        if self.red {
            self.red = false;
            self.commits.push(Commit { files: BTreeSet::new(), of: None });
        }
    }

    pub(super) fn target_commit(&self) -> String {
        self.target()
    }

    /// How often the work of a task was merged.
    pub(super) fn merges(&self, task: TaskId) -> usize {
        self.commits.iter().filter(|commit| commit.of.is_some_and(|(of, _)| of == task)).count()
    }
}
