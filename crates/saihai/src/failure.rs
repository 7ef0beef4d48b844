//! How does a command fail? With a code, a message, a hint that names the next step, and an exit code.

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use board::{Audience, Code, Language, Refusal};
use control::ControlError;
use definitions::Problems;

use crate::context::say_in;
use crate::show::{Format, clean};
use crate::store_trouble;
use crate::usage_ja;

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

    pub(crate) fn control(error: ControlError, language: Language) -> Self {
        if let ControlError::Refused(refusal) = &error {
            return Self::refused(refusal, language);
        }
        let (message, hint) = store_trouble::say(&error, language);
        Self::new(CliExit::Store, "store", message, hint)
    }

    pub(crate) fn definitions(problems: &Problems, language: Language) -> Self {
        Self::new(
            CliExit::Configuration,
            "bad_configuration",
            say_in(language, problems.to_string(), format!("定義に誤りがあります:\n{problems}")),
            say_in(
                language,
                "Correct the file and run the command again; nothing was changed.",
                "ファイルを直してから、もう一度実行してください。何も変更していません。",
            ),
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
pub(crate) fn usage(error: &clap::Error, language: Language, format: Format) -> ExitCode {
    use clap::error::ErrorKind;
    let json = format == Format::Json;
    let answer = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    let help = answer || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if answer || (!json && (help || language == Language::En)) {
        // If this cannot be written, there is nowhere left to report it.
        let _ = error.print();
        return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
    }
    if language == Language::Ja {
        let (message, hint) = usage_ja::say(error);
        return Failure::new(CliExit::Usage, "usage", message, hint).report(format);
    }
    let text = error.render().to_string();
    let more = |line: &&str| !line.starts_with("Usage:") && !line.starts_with("For more information");
    let lines = text.lines().map(str::trim).take_while(more).filter(|line| !line.is_empty());
    let message = lines.collect::<Vec<_>>().join(" ").trim_start_matches("error: ").to_owned();
    Failure::new(CliExit::Usage, "usage", message, "Run the command with --help.").report(Format::Json)
}
