//! What is the demo about? A tiny repository, a team, and what each of them will do.

use std::path::Path;

use board::Client;

use crate::context::Context;
use crate::failure::Failure;

/// What the owner asks for.
pub(super) const TITLE: &str = "Greet in three more languages";
pub(super) const DESCRIPTION: &str = "`greet` knows English only. Teach it Japanese, German and French: one file per \
     language in languages/, which holds one line and ends with an exclamation mark, and README.md names it.";

/// A subtask of the manager.
#[derive(Debug)]
pub(super) struct ScriptedSubtask {
    pub(super) agent: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    pub(super) file: &'static str,
    pub(super) greeting: &'static str,
    /// The line that it adds to the README; empty if it adds none.
    pub(super) readme_line: &'static str,
}

pub(super) const SUBTASKS: [ScriptedSubtask; 3] = [
    ScriptedSubtask {
        agent: "aiko",
        title: "Greet in Japanese",
        description: "Add languages/ja, and a line for it at the end of README.md.",
        file: "languages/ja",
        greeting: "こんにちは!",
        readme_line: "- ja: Japanese",
    },
    ScriptedSubtask {
        agent: "bernd",
        title: "Greet in German",
        description: "Add languages/de.",
        file: "languages/de",
        greeting: "Hallo!",
        readme_line: "",
    },
    ScriptedSubtask {
        agent: "chloe",
        title: "Greet in French",
        description: "Add languages/fr, and a line for it at the end of README.md.",
        file: "languages/fr",
        greeting: "Bonjour!",
        readme_line: "- fr: French",
    },
];

const README: &str = "# greet\n\n`./greet ja` greets in Japanese.\n\n- en: English\n";
const GREET: &str = "#!/bin/sh\ncat \"languages/${1:-en}\"\n";
const CHECK: &str = "\
#!/bin/sh
# Every language greets with one line that ends with an exclamation mark.
failed=0
for file in languages/*; do
    if [ \"$(wc -l < \"$file\")\" -ne 1 ]; then echo \"$file: must be one line\"; failed=1; fi
    case \"$(cat \"$file\")\" in *!) ;; *) echo \"$file: must end with an exclamation mark\"; failed=1 ;; esac
done
if grep -q '^<<<<<<<\\|^>>>>>>>' README.md; then echo 'README.md: conflict markers'; failed=1; fi
exit $failed
";

const CONFIG: &str = "\
name: greet
language: en
target_branch: main
max_parallel: 4
dod:
  timeout: 20
  checks:
    - {type: greetings_are_well_formed, command: sh ./check}
limits: {backoff_first: 1s}
";

fn agent(id: &str, client: Client, program: &Path, pause: u32) -> String {
    let manager = id == "lead";
    let mut text = format!("id: {id}\nname: {}\n", capital(id));
    text.push_str(if manager { "hierarchy_type: manager\n" } else { "hierarchy_type: worker\nparent: lead\n" });
    text.push_str(if manager { "role_type: lead\n" } else { "role_type: translator\n" });
    text.push_str(&format!("mode: guided\nclient: {client}\n"));
    if client == Client::Command {
        // JSON is YAML, and quotes whatever is in the path.
        let command = serde_json::json!([program, "demo-agent", id, pause.to_string()]);
        text.push_str(&format!("command: {command}\n"));
    }
    if !manager {
        text.push_str("scope: {write: [\"languages/**\", \"/README.md\"]}\n");
        // One of them splits its task into steps.
        text.push_str(if id == "bernd" { "decompose: auto\n" } else { "decompose: never\n" });
    }
    let prompt = if manager {
        "You split the work among aiko (Japanese), bernd (German) and chloe (French), one subtask each."
    } else {
        "You add one greeting at a time. Commit your work."
    };
    text.push_str(&format!("system_prompt: {prompt:?}\n"));
    text
}

fn capital(id: &str) -> String {
    let mut letters = id.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Writes the repository and commits it.
pub(super) async fn write_repository(
    context: &Context,
    repository: &Path,
    client: Client,
    program: &Path,
    pause: u32,
) -> Result<(), Failure> {
    let mut files = vec![
        ("README.md".to_owned(), README.to_owned()),
        ("greet".to_owned(), GREET.to_owned()),
        ("check".to_owned(), CHECK.to_owned()),
        ("languages/en".to_owned(), "Hello!\n".to_owned()),
        (".saihai/config.yaml".to_owned(), CONFIG.to_owned()),
    ];
    let team = std::iter::once("lead").chain(SUBTASKS.iter().map(|subtask| subtask.agent));
    files.extend(team.map(|id| (format!(".saihai/agents/{id}.yaml"), agent(id, client, program, pause))));
    let failed = |error: &dyn std::fmt::Display| {
        Failure::failed(
            context.say(
                format!("cannot write the demo's repository: {error}"),
                format!("デモのリポジトリを作成できません: {error}"),
            ),
            context.say(
                "Is git installed, and the disk not full?",
                "git のインストールとディスクの空きを確認してください。",
            ),
        )
    };
    for (name, text) in files {
        let path = repository.join(name);
        let written = path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&path, text));
        written.map_err(|error| failed(&error))?;
    }
    let git = git::AsyncGit::in_repository(repository);
    for arguments in [
        &["init", "--quiet", "--initial-branch=main", "."][..],
        &["add", "--all"],
        &["commit", "--quiet", "--message", "A greeting in English"],
    ] {
        git.run(arguments).await.map_err(|error| failed(&error))?;
    }
    Ok(())
}
