//! How does a command fail? With a code, a message, a hint that names the next step, and an exit code.

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use board::{Audience, Code, Language, Refusal};
use control::{ControlError, StoreError};
use definitions::Problems;

use crate::show::{Format, clean};

/// The exit codes of C3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CliExit {
    Refused = 1,
    Usage = 2,
    Configuration = 3,
    Store = 4,
    NotFound = 5,
    Conflict = 6,
    /// `up --until-idle` has ended, and not everything is done.
    Unfinished = 7,
}

#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) hint: String,
    pub(crate) exit: CliExit,
}

impl Failure {
    pub(crate) fn new(exit: CliExit, code: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), hint: hint.into(), exit }
    }

    pub(crate) fn failed(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(CliExit::Refused, "failed", message, hint)
    }

    pub(crate) fn bad_argument(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(CliExit::Usage, Code::InvalidArgument.as_str(), message, hint)
    }

    pub(crate) fn refused(refusal: &Refusal, language: Language) -> Self {
        Self {
            code: refusal.code().as_str().into(),
            message: refusal.message(language),
            hint: refusal.hint(language, Audience::Person),
            exit: exit_of(refusal.code()),
        }
    }

    pub(crate) fn store(error: &StoreError) -> Self {
        Self::new(CliExit::Store, "store", error.to_string(), error.hint())
    }

    pub(crate) fn control(error: ControlError, language: Language) -> Self {
        match error {
            ControlError::Refused(refusal) => Self::refused(&refusal, language),
            ControlError::Store(error) => Self::store(&error),
            ControlError::Unreadable { .. } | ControlError::Random(_) | ControlError::Closed => {
                Self::new(CliExit::Store, "store", error.to_string(), "Run `saihai log verify`.")
            }
        }
    }

    pub(crate) fn definitions(problems: &Problems) -> Self {
        Self::new(
            CliExit::Configuration,
            "bad_configuration",
            problems.to_string(),
            "Correct the file and run the command again; nothing was changed.",
        )
    }

    /// Prints it on stderr: one line of JSON for programs, two lines for people.
    pub(crate) fn report(&self, format: Format) -> ExitCode {
        match format {
            Format::Json => {
                write_stderr(
                    &serde_json::json!({ "code": self.code, "message": self.message, "hint": self.hint }).to_string(),
                );
            }
            Format::Text | Format::Quiet => {
                let (red, off) = if colour() { ("\x1b[31m", "\x1b[0m") } else { ("", "") };
                write_stderr(&format!("{red}error{off}: {}", clean(&self.message)));
                if !self.hint.is_empty() {
                    write_stderr(&format!("hint: {}", clean(&self.hint)));
                }
            }
        }
        ExitCode::from(self.exit as u8)
    }
}

/// Writes one line to stderr. If that fails, the exit code still says what happened.
pub(crate) fn write_stderr(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn colour() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

fn exit_of(code: Code) -> CliExit {
    match code {
        Code::NotFound => CliExit::NotFound,
        Code::InvalidArgument => CliExit::Usage,
        Code::NotAuthenticated
        | Code::NotAllowed
        | Code::LimitReached
        | Code::Duplicate
        | Code::Cycle
        | Code::CannotHelp
        | Code::FuelSpent => CliExit::Refused,
        Code::IllegalTransition
        | Code::NotReady
        | Code::StateConflict
        | Code::AlreadyClaimed
        | Code::ChildrenUnsettled
        | Code::NotMerged
        | Code::Interrupted
        | Code::StaleSession => CliExit::Conflict,
    }
}

/// What clap reports: help and version are answers, everything else is a usage error.
pub(crate) fn usage(error: &clap::Error, json: bool) -> ExitCode {
    use clap::error::ErrorKind;
    let answer = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if answer || !json {
        // If this cannot be written, there is nowhere left to report it.
        let _ = error.print();
        return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
    }
    let text = error.render().to_string();
    let more = |line: &&str| !line.starts_with("Usage:") && !line.starts_with("For more information");
    let lines = text.lines().map(str::trim).take_while(more).filter(|line| !line.is_empty());
    let message = lines.collect::<Vec<_>>().join(" ").trim_start_matches("error: ").to_owned();
    Failure::new(CliExit::Usage, "usage", message, "Run the command with --help.").report(Format::Json)
}
