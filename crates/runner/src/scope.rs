//! Which files does an agent see, and which may it change (R2)? One dialect, gitignore's, for all (F63).

use std::path::{Path, PathBuf};

use board::Scope;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// The directory of the definitions. To change them is to change the rules, so it has to be named.
const DEFINITIONS: &str = ".saihai";

/// Patterns that tell whether a path is meant.
#[derive(Clone, Debug)]
pub struct Patterns {
    matcher: Gitignore,
}

impl Patterns {
    pub fn new<'a>(patterns: impl IntoIterator<Item = &'a String>) -> Self {
        let mut builder = GitignoreBuilder::new("");
        for pattern in patterns {
            // They were checked when the definitions were read.
            if let Err(error) = builder.add_line(None, pattern) {
                tracing::warn!(%error, %pattern, "a pattern is not understood");
            }
        }
        Self { matcher: builder.build().unwrap_or_else(|_| Gitignore::empty()) }
    }

    /// Is this file, or a directory that it is in, meant?
    pub fn matches(&self, path: &str) -> bool {
        self.matcher.matched_path_or_any_parents(Path::new(path.trim_start_matches('/')), false).is_ignore()
    }
}

/// What an agent may change.
#[derive(Clone, Debug)]
pub struct Writable {
    patterns: Patterns,
    /// The patterns that name the directory of the definitions: only they open files in it (F114).
    definitions: Patterns,
    /// Copied into the workspace by us, and never part of its work.
    client_files: Vec<String>,
}

impl Writable {
    pub fn new(scope: &Scope, client_files: &[String]) -> Self {
        Self {
            patterns: Patterns::new(&scope.write),
            definitions: Patterns::new(scope.write.iter().filter(|pattern| names_definitions(pattern))),
            client_files: client_files.to_vec(),
        }
    }

    pub fn allows(&self, path: &str) -> bool {
        let definition = Path::new(path).starts_with(DEFINITIONS);
        let client_file = self.client_files.iter().any(|file| Path::new(path).starts_with(file));
        let patterns = if definition { &self.definitions } else { &self.patterns };
        !client_file && patterns.matches(path)
    }
}

/// Is the directory of the definitions the first part of the pattern?
fn names_definitions(pattern: &str) -> bool {
    let path = pattern.strip_prefix('!').unwrap_or(pattern).trim_start_matches('/');
    path.split('/').next() == Some(DEFINITIONS)
}

/// A pattern for this path in the workspace and nothing else.
pub(crate) fn literal_pattern(path: &str) -> String {
    let special = |c: char| matches!(c, '\\' | '*' | '?' | '[' | ']' | ' ');
    let escaped = path.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c]));
    std::iter::once('/').chain(escaped).collect()
}

/// The patterns of a sparse checkout, or `None` if everything is to be there.
pub fn sparse(scope: &Scope) -> Option<Vec<String>> {
    let everything = |pattern: &String| matches!(pattern.as_str(), "**" | "/**" | "*" | "/*" | "**/*");
    let all = scope.read.is_empty() || scope.read.iter().any(everything);
    if all && scope.exclude.is_empty() {
        return None;
    }
    let mut patterns = Vec::new();
    if all {
        patterns.push("/**".to_owned());
    } else {
        patterns.extend(scope.read.iter().chain(&scope.write).flat_map(|pattern| every_file(pattern, false)));
    }
    patterns.extend(scope.exclude.iter().flat_map(|pattern| every_file(pattern, true)));
    // Prompts name its files (R16).
    patterns.push(format!("/{DEFINITIONS}/memory/**"));
    Some(patterns)
}

/// In a sparse checkout a directory's pattern does not mean the files in it, as it does in gitignore.
fn every_file(pattern: &str, exclude: bool) -> Vec<String> {
    let (pattern, negated) = pattern.strip_prefix('!').map_or((pattern, false), |rest| (rest, true));
    let directory = pattern.ends_with('/');
    let bare = pattern.trim_end_matches('/');
    let path = match bare.strip_prefix('/') {
        Some(anchored) => format!("/{anchored}"),
        None if bare.contains('/') && !bare.starts_with("**/") => format!("/{bare}"),
        None if bare.starts_with("**/") => bare.to_owned(),
        None => format!("**/{bare}"),
    };
    let sign = if exclude == negated { "" } else { "!" };
    let inside = format!("{sign}{path}/**");
    if directory && path.ends_with("/**") {
        // Not what lies beside the directories that are meant.
        vec![format!("{sign}{path}/*/**")]
    } else if directory || path.ends_with("/**") {
        vec![if directory { inside } else { format!("{sign}{path}") }]
    } else {
        vec![format!("{sign}{path}"), inside]
    }
}

/// The deepest directories that cover what the patterns mean, relative to the workspace. Landlock
/// knows no patterns; the difference decides in the end (V2).
pub(crate) fn directories(patterns: &[String]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        patterns.iter().filter(|pattern| !pattern.starts_with('!')).map(|p| covering(p)).collect();
    found.sort();
    let mut kept: Vec<PathBuf> = Vec::new();
    for path in found {
        if !kept.iter().any(|above| path.starts_with(above)) {
            kept.push(path);
        }
    }
    kept
}

fn covering(pattern: &str) -> PathBuf {
    let anchored = pattern.trim_end_matches('/').contains('/');
    // A name without a slash is meant at any depth.
    if !anchored {
        return PathBuf::new();
    }
    let parts: Vec<_> = pattern.trim_start_matches('/').split('/').filter(|part| !part.is_empty()).collect();
    let special = |part: &&str| part.contains(['*', '?', '[', '\\']) || *part == "..";
    let literal: Vec<_> = parts.iter().take_while(|part| !special(part)).copied().collect();
    // The last part of a pattern without wildcards may be a file, which has to be replaceable.
    let whole = literal.len() == parts.len() && !pattern.ends_with('/');
    literal[..literal.len() - usize::from(whole)].iter().collect()
}
