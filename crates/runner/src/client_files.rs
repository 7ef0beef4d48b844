//! Which files of the definitions does a client find in its workspace (R5)?

use std::fs;
use std::path::{Path, PathBuf};

use board::{AgentSpec, Client};

/// A file that is copied into a workspace for the client.
pub(crate) struct ClientFile {
    pub(crate) from: PathBuf,
    /// Its path in the workspace.
    pub(crate) name: String,
}

/// The directory of a workspace where a client looks for its files.
fn client_directory(client: Client) -> Option<&'static str> {
    match client {
        Client::ClaudeCode => Some(".claude"),
        Client::Codex => Some(".codex"),
        Client::Gemini => Some(".gemini"),
        Client::Opencode => Some(".opencode"),
        Client::Command | Client::Attached => None,
    }
}

pub(crate) fn client_file_sources(repository: &Path, agent: &AgentSpec) -> Vec<ClientFile> {
    let Some(directory) = client_directory(agent.client) else { return Vec::new() };
    let definitions = repository.join(".saihai");
    let mut folders = vec![(definitions.join("clients").join(agent.client.as_str()), directory.to_owned())];
    // A skill is any words; only one that is a plain name can be a folder's.
    let plain = |skill: &&String| Path::new(skill).file_name().is_some_and(|name| name == skill.as_str());
    for skill in agent.skills.iter().filter(plain) {
        folders.push((definitions.join("skills").join(skill), format!("{directory}/skills/{skill}")));
    }
    let mut found: Vec<ClientFile> = Vec::new();
    for (folder, directory) in folders {
        for file in files_below(&folder) {
            let name = format!("{directory}/{}", file.display());
            if !found.iter().any(|other| other.name == name) {
                found.push(ClientFile { from: folder.join(file), name });
            }
        }
    }
    found
}

/// What is copied into the workspaces of an agent for its client.
pub(crate) fn client_files(repository: &Path, agent: &AgentSpec) -> Vec<String> {
    client_file_sources(repository, agent).into_iter().map(|file| file.name).collect()
}

pub(crate) fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(relative) = open.pop() {
        for entry in fs::read_dir(directory.join(&relative)).into_iter().flatten().flatten() {
            let path = relative.join(entry.file_name());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(path),
                Ok(kind) if kind.is_file() => found.push(path),
                Ok(_) | Err(_) => {}
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R5: an agent gets the files for its client and the folders of its skills, once each; a skill is no way out of the
    /// folder of skills.
    #[test]
    fn skills_are_laid_into_the_clients_own_place() {
        let repository = tempfile::tempdir().unwrap();
        let files = [
            "clients/claude-code/settings.json",
            "clients/claude-code/skills/rust/SKILL.md",
            "skills/rust/SKILL.md",
            "skills/rust/scripts/check.sh",
            "skills/sql/SKILL.md",
            "prompts/coder.md",
        ];
        for file in files {
            let path = repository.path().join(".saihai").join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file).unwrap();
        }
        let mut agent = AgentSpec::worker("coder".parse().unwrap());
        agent.skills = ["rust", "clear English", "../prompts", "..", "."].map(str::to_owned).to_vec();
        let named = [".claude/settings.json", ".claude/skills/rust/SKILL.md", ".claude/skills/rust/scripts/check.sh"];
        assert_eq!(client_files(repository.path(), &agent), named);
        let sources = client_file_sources(repository.path(), &agent);
        assert!(sources[1].from.ends_with("clients/claude-code/skills/rust/SKILL.md"), "the client's own goes first");
        agent.client = Client::Command;
        assert_eq!(client_files(repository.path(), &agent), Vec::<String>::new());
    }
}
