//! What is said of an agent file that is wrong?

use std::os::unix::fs::symlink;

use crate::DefinitionsDir;

/// `(file, problems)`, without the file's name in front of each.
const BROKEN: &[(&str, &[&str])] = &[
    ("", &[": the file is empty"]),
    ("# nothing\n", &[": the file is empty"]),
    ("name: Coder\n", &[":1:1: missing key `id`"]),
    ("id:\n", &[":1:1: `id` is empty; give it a value or remove the key"]),
    ("- a\n", &[":1:1: an agent must be a mapping, not a list"]),
    ("id: a\nenv: sk-123\n", &[":2:6: `env` must be a mapping, not text"]),
    ("just text\n", &[":1:1: an agent must be a mapping, not `just text`"]),
    ("id: x\n~: 1\n", &[":2:1: a key must be text, not nothing"]),
    ("id: [x\nname: y\n", &[":2:5: invalid YAML: illegal placement of ':' indicator"]),
    ("id: x\nscope:\n\tread: y\n", &[":3:2: invalid YAML: tabs disallowed within this context (block indentation)"]),
    ("id: x\nname: a\nname: b\n", &[":3:1: duplicate key `name`"]),
    ("id: x\n---\nid: y\n", &[":3:1: a second YAML document begins here; one is expected"]),
    (
        "id: x\npromt_file: a.md\nmodl: b\nzzz: 1\n",
        &[
            ":2:1: unknown key `promt_file`; did you mean `prompt_file`?",
            ":3:1: unknown key `modl`; did you mean `model`?",
            ":4:1: unknown key `zzz`; known keys: id, name, hierarchy_type, role_type, parent, mode, client, command, \
             model, prompt_file, system_prompt, scope, decompose, max_sessions, timeout, stall_timeout, env, skills, runs_on",
        ],
    ),
    (
        "id: ../x\n",
        &[
            ":1:5: `id`: `../x` is not a name of at most 64 letters, digits, `-`, `_`, `.` that begins with a letter or \
           digit",
        ],
    ),
    ("id: x\nname: [a]\n", &[":2:7: `name` must be text, not a list"]),
    (
        "id: x\nname: ' '\nrole_type: \"a\\nb\"\n",
        &[":2:7: `name` is empty", ":3:12: `role_type` must be one line without control characters"],
    ),
    ("id: x\nhierarchy_type: boss\n", &[":2:17: `hierarchy_type`: `boss` is not one of: manager, worker"]),
    ("id: x\nmode: {}\n", &[":2:7: `mode` must be text, not a mapping"]),
    (
        "id: x\nclient: vim\ncommand: [a]\n",
        &[":2:9: `client`: `vim` is not one of: claude-code, codex, gemini, opencode, command, attached"],
    ),
    ("id: x\nclient: command\n", &[":2:1: `client: command` needs the key `command`"]),
    ("id: x\nclient: command\ncommand: []\n", &[":3:1: `command` names no program"]),
    ("id: x\nclient: command\ncommand: my-agent\n", &[":3:10: `command` must be a list, not `my-agent`"]),
    ("id: x\nclient: command\ncommand: [a, [b]]\n", &[":3:14: `command` must be a list of texts, not a list"]),
    ("id: x\ncommand: [a]\n", &[":2:1: `command` is for `client: command`, and the client is `claude-code`"]),
    (
        "id: x\nhierarchy_type: manager\ndecompose: never\nmode: one_shot\n",
        &[
            ":3:1: a manager cannot have `decompose: never`: to split work is what it does",
            ":4:1: a manager must be guided: it works through the server",
        ],
    ),
    ("id: x\nprompt_file: prompts/x.md\n", &[":2:1: prompt file `.saihai/prompts/x.md` not found"]),
    ("id: x\nprompt_file: prompts\n", &[":2:1: prompt file `.saihai/prompts` is not a regular file"]),
    (
        "id: x\nprompt_file: /etc/passwd\n",
        &[":2:1: `prompt_file` must be a path below `.saihai/`, not `/etc/passwd`; for example `prompts/coder.md`"],
    ),
    (
        "id: x\nprompt_file: prompts/../../a.md\n",
        &[":2:1: `prompt_file` must be a path below `.saihai/`, not `prompts/../../a.md`; for example \
         `prompts/coder.md`"],
    ),
    (
        "id: x\nprompt_file: prompts/link.md\n",
        &[":2:1: prompt file `.saihai/prompts/link.md` is a link that leads out of `.saihai/`"],
    ),
    (
        "id: x\nprompt_file: prompts/there.md\nsystem_prompt: hello\n",
        &[":3:1: both `prompt_file` and `system_prompt` are given; keep one of them"],
    ),
    (
        "id: x\nscope: {read: ['', \"a\\nb\"], wirte: [a], write: [../a, '#x'], scratch: a}\n",
        &[
            ":2:16: `read` has an empty pattern",
            ":2:20: `read` has a pattern with a NUL or a line break",
            ":2:29: unknown key `wirte`; did you mean `write`?",
            ":2:49: `write` has a pattern that leads out of the repository, `../a`",
            ":2:55: `write` has a pattern that is a comment, `#x`: write `\\#x`",
            ":2:71: `scratch` must be a list, not `a`",
        ],
    ),
    (
        "id: x\nmax_sessions: 0\ntimeout: 0\nstall_timeout: soon\n",
        &[
            ":2:15: `max_sessions` must be a whole number from 1 to 1000",
            ":3:10: `timeout` must be at least 1 s",
            ":4:16: `stall_timeout` must be a length of time such as 90 (seconds), 90s, 30m, 12h or 7d",
        ],
    ),
    (
        "id: x\nmax_sessions: 1.5\ntimeout: 400d\nstall_timeout: -5\n",
        &[
            ":2:15: `max_sessions` must be a whole number from 1 to 1000",
            ":3:10: `timeout` must be at most 365d",
            ":4:16: `stall_timeout` must be a length of time such as 90 (seconds), 90s, 30m, 12h or 7d",
        ],
    ),
    (
        "id: x\nenv: {A=B: c, D: [e], F: \"\\0\"}\n",
        &[
            ":2:7: `A=B` is not the name of an environment variable",
            ":2:18: `D` must be text, not a list",
            ":2:26: `F` must not hold a NUL character",
        ],
    ),
    ("id: x\nparent: nobody\n", &[":2:1: the parent `nobody` is not on the roster"]),
    ("id: x\nparent: x\nhierarchy_type: manager\n", &[":2:1: the parents go round in a circle: x → x"]),
];

/// R8, F83, N3: every problem of a file is named at once, with its line.
#[test]
fn every_problem_names_file_and_line() {
    for (text, expected) in BROKEN {
        let saihai = DefinitionsDir::new(&[("agents/x.yaml", text), ("prompts/there.md", "x")]);
        symlink("/etc/hostname", saihai.path().join("prompts/link.md")).unwrap();
        let expected: Vec<_> = expected.iter().map(|problem| format!(".saihai/agents/x.yaml{problem}")).collect();
        assert_eq!(saihai.problems(), expected, "{text}");
    }
}

/// F81: one id is one agent, whatever the files are called.
#[test]
fn an_id_that_two_files_give_names_both() {
    let saihai = DefinitionsDir::new(&[("agents/a.yaml", "id: coder\n"), ("agents/b.yml", "name: B\nid: coder\n")]);
    assert_eq!(
        saihai.problems(),
        [".saihai/agents/b.yml:2:1: the agent id `coder` is already taken by .saihai/agents/a.yaml"]
    );
}

/// L7: only managers have subordinates.
#[test]
fn a_parent_is_a_manager() {
    let saihai = DefinitionsDir::new(&[("agents/a.yaml", "id: a\n"), ("agents/b.yaml", "id: b\nparent: a\n")]);
    assert_eq!(
        saihai.problems(),
        [".saihai/agents/b.yaml:2:1: the parent `a` is a worker; a parent must be a manager"]
    );
}

/// L7: a circle of managers is told once, and not of those who hang from it.
#[test]
fn parents_do_not_go_round_in_a_circle() {
    let manager = |id: &str, parent: &str| format!("id: {id}\nhierarchy_type: manager\nparent: {parent}\n");
    let saihai = DefinitionsDir::new(&[
        ("agents/a.yaml", &manager("a", "c")),
        ("agents/b.yaml", &manager("b", "d")),
        ("agents/c.yaml", &manager("c", "b")),
        ("agents/d.yaml", &manager("d", "c")),
    ]);
    assert_eq!(saihai.problems(), [".saihai/agents/b.yaml:3:1: the parents go round in a circle: b → d → c → b"]);
}

/// R8: who stands in a file that cannot be read is not called missing.
#[test]
fn one_broken_file_does_not_blame_the_others() {
    let saihai = DefinitionsDir::new(&[("agents/a.yaml", "id: a\nparent: lead\n"), ("agents/lead.yaml", "id: [\n")]);
    assert_eq!(saihai.problems(), [".saihai/agents/lead.yaml:1:5: invalid YAML: unclosed bracket '['"]);
}

/// R8, F83: bytes, size and links are problems like any other.
#[test]
fn files_that_cannot_be_text_are_problems() {
    let saihai = DefinitionsDir::new(&[]);
    saihai.write("agents/a.yaml", b"id: a\nname: \xff\n");
    saihai.write("agents/b.yaml", vec![b' '; 1024 * 1024 + 1]);
    std::fs::create_dir(saihai.path().join("agents/c.yaml")).unwrap();
    symlink("/etc/passwd", saihai.path().join("agents/d.yaml")).unwrap();
    symlink("nowhere", saihai.path().join("agents/e.yaml")).unwrap();
    assert_eq!(
        saihai.problems(),
        [
            ".saihai/agents/a.yaml:2:1: is not UTF-8 text",
            ".saihai/agents/b.yaml: is larger than 1 MiB",
            ".saihai/agents/c.yaml: is not a regular file",
            ".saihai/agents/d.yaml: is a link that leads out of `.saihai/`",
            ".saihai/agents/e.yaml: not found",
        ]
    );
}
