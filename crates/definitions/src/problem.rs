//! What is wrong with a file, where, and how is it corrected?

use std::fmt;
use std::path::PathBuf;

/// One mistake in one file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Relative to the repository: `.saihai/agents/coder.yaml`.
    pub file: PathBuf,
    pub line: Option<usize>,
    pub column: Option<usize>,
    pub message: String,
    pub hint: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(column) = self.column {
            write!(f, ":{column}")?;
        }
        write!(f, ": {}", self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

/// Everything that is wrong, by file and line; never empty. Displayed one to a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", lines(.0))]
pub struct Problems(pub Vec<Problem>);

fn lines(problems: &[Problem]) -> String {
    problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n")
}

/// Line and column, both from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SourceLocation {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// The problems of one file, as they are found.
#[derive(Debug)]
pub(crate) struct ProblemReport {
    pub(crate) file: PathBuf,
    pub(crate) problems: Vec<Problem>,
}

impl ProblemReport {
    pub(crate) fn new(file: PathBuf) -> Self {
        Self { file, problems: Vec::new() }
    }

    pub(crate) fn whole_file(&mut self, message: impl Into<String>, hint: Option<String>) {
        self.push(None, message.into(), hint);
    }

    pub(crate) fn at(&mut self, location: SourceLocation, message: impl Into<String>) {
        self.push(Some(location), message.into(), None);
    }

    pub(crate) fn hinted(&mut self, location: SourceLocation, message: impl Into<String>, hint: impl Into<String>) {
        self.push(Some(location), message.into(), Some(hint.into()));
    }

    fn push(&mut self, location: Option<SourceLocation>, message: String, hint: Option<String>) {
        self.problems.push(Problem {
            file: self.file.clone(),
            line: location.map(|location| location.line),
            column: location.map(|location| location.column),
            message,
            hint,
        });
    }
}
