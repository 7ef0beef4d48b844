//! What is said of a configuration that is wrong?

use crate::DefinitionsDir;

/// `(file, problems)`, without the file's name in front of each.
const BROKEN: &[(&str, &[&str])] = &[
    ("", &[": the file is empty"]),
    ("nmae: web\n", &[":1:1: unknown key `nmae`; did you mean `name`?"]),
    (
        "language: fr\ncompletion: done\nsandbox: no\nisolation: none\n",
        &[
            ":1:11: `language`: `fr` is not one of: en, ja",
            ":2:13: `completion`: `done` is not one of: merged, reported",
            ":3:10: `sandbox`: `no` is not one of: strict, best_effort, off",
            ":4:12: `isolation`: `none` is not one of: clone, worktree",
        ],
    ),
    ("merge: squash\n", &[":1:8: `merge` must be a mapping, not `squash`"]),
    ("merge: {strategy: rebase}\n", &[":1:19: `strategy`: `rebase` is not one of: merge, squash"]),
    (
        "target_branch: --upload-pack=x y\n",
        &[":1:16: `target_branch` must be the name of a branch, not `--upload-pack=x y`"],
    ),
    ("dod:\n", &[":1:1: `dod` is empty; give it a value or remove the key"]),
    ("dod: {timeout: 0, setup: ''}\n", &[":1:16: `timeout` must be at least 1 s", ":1:26: `setup` is empty"]),
    (
        "dod:\n  checks:\n    - {type: a, command: ' '}\n    - {type: b, command: }\n    - type: c\n    - npm test\n    - \
         {type: d, comand: x}\n",
        &[
            ":3:26: `command` is empty",
            ":4:17: `command` is empty; give it a value or remove the key",
            ":5:7: missing key `command`",
            ":6:7: a check must be a mapping, not `npm test`",
            ":7:7: missing key `command`",
            ":7:17: unknown key `comand`; did you mean `command`?",
        ],
    ),
    ("dod: {checks: npm test}\n", &[":1:15: `checks` must be a list, not `npm test`"]),
    (
        "task_types:\n  bugs: {goals: []}\n  bug: {goals: [{type: tests}, {type: test_added, pattern: ''}]}\n",
        &[
            ":2:3: `bugs` is not one of: task, feature, bug, refactor, docs, test, research",
            ":3:17: missing key `pattern`",
            ":3:24: `type`: `tests` is not one of: test_added, files_changed",
            ":3:60: `pattern` has an empty pattern",
        ],
    ),
    (
        "task_types: {bug: {goals: [{type: test_added, pattern: '[a-'}]}}\n",
        &[
            ":1:56: `pattern` has a pattern that means nothing, `[a-`: error parsing glob '[a-': unclosed character class; missing ']'",
        ],
    ),
    (
        "limits: {max_children: 21, max_depth: 11, max_attempts: 0, max_calls: many, lease: 0s, max: 1}\n",
        &[
            ":1:24: `max_children` must be a whole number from 1 to 20",
            ":1:39: `max_depth` must be a whole number from 0 to 10",
            ":1:57: `max_attempts` must be a whole number from 1 to 20",
            ":1:71: `max_calls` must be a whole number from 10 to 1000000",
            ":1:84: `lease` must be at least 1 s",
            ":1:88: unknown key `max`; did you mean `max_calls`?",
        ],
    ),
    (
        "workspaces: {keep_failed: 1w}\n",
        &[":1:27: `keep_failed` must be a length of time such as 90 (seconds), 90s, 30m, 12h or 7d"],
    ),
];

/// R8, V5, L6, F83: an empty check never passes, a limit stays in its range, and each problem has a line.
#[test]
fn every_problem_names_file_and_line() {
    for (text, expected) in BROKEN {
        let saihai = DefinitionsDir::new(&[("config.yaml", text)]);
        let expected: Vec<_> = expected.iter().map(|problem| format!(".saihai/config.yaml{problem}")).collect();
        assert_eq!(saihai.problems(), expected, "{text}");
    }
}

/// C3: a repository that has not been initialised is told how.
#[test]
fn what_is_missing_names_the_command_that_writes_it() {
    let saihai = DefinitionsDir::empty();
    assert_eq!(saihai.problems(), [".saihai/config.yaml: not found; `saihai init` writes it"]);
    std::fs::remove_dir(saihai.path()).unwrap();
    assert_eq!(saihai.problems(), [".saihai: not found; `saihai init` writes it"]);
}

/// R8: problems of all files come together, and each on its own line.
#[test]
fn problems_of_all_files_are_told_at_once() {
    let saihai = DefinitionsDir::new(&[("config.yaml", "nam: x\n"), ("agents/a.yaml", "id: a\nmodle: b\n")]);
    let problems = definitions::Definitions::load(&saihai.path()).unwrap_err();
    assert_eq!(
        problems.to_string(),
        ".saihai/agents/a.yaml:2:1: unknown key `modle`; did you mean `model`?\n.saihai/config.yaml:1:1: unknown key \
         `nam`; did you mean `name`?"
    );
}
