//! How is the help said in Japanese?

mod agent;
mod general;
mod log;
mod memory;
mod project;
mod runner;
mod running;
mod session;
mod task;
mod task_texts;

use clap::builder::StyledStr;
use clap::{Arg, ArgAction, Command};

/// English texts, as they stand beside the commands and options, with their Japanese.
type Texts = &'static [(&'static str, &'static str)];

const TEXTS: [Texts; 10] = [
    general::TEXTS,
    running::TEXTS,
    runner::TEXTS,
    project::TEXTS,
    agent::TEXTS,
    task::TEXTS,
    task_texts::TEXTS,
    session::TEXTS,
    memory::TEXTS,
    log::TEXTS,
];

const OPTIONS: &str = "オプション";

fn japanese(english: &str) -> Option<&'static str> {
    TEXTS.iter().flat_map(|texts| texts.iter()).find(|(known, _)| *known == english).map(|(_, japanese)| *japanese)
}

/// The Japanese of a text; without one it stays English.
fn said(english: &StyledStr) -> StyledStr {
    japanese(&english.to_string()).map_or_else(|| english.clone(), StyledStr::from)
}

/// The command with all below it, built, with Japanese help.
pub(crate) fn in_japanese(command: Command) -> Command {
    let version = Arg::new("version").short('V').long("version").action(ArgAction::Version);
    let version = version.help("バージョンを表示します").help_heading(OPTIONS);
    let mut command = with_texts(command.disable_version_flag(true).arg(version));
    command.build();
    with_frame(command)
}

/// The texts of the command and its arguments. Clap's own option for help is added here, because its text is clap's.
fn with_texts(mut command: Command) -> Command {
    if let Some(about) = command.get_about().map(said) {
        command = command.about(about);
    }
    if let Some(about) = command.get_long_about().map(said) {
        command = command.long_about(about);
    }
    if let Some(after) = command.get_after_help().map(said) {
        command = command.after_help(after);
    }
    let help = Arg::new("help").short('h').long("help").action(ArgAction::Help);
    let help = help.help("ヘルプを表示します").help_heading(OPTIONS);
    let mut position = 0;
    command = command.disable_help_flag(true).arg(help).mut_args(|arg| {
        position += 1;
        // Clap sorts what has a heading by this, and options have it already.
        argument(if arg.is_positional() { arg.display_order(position) } else { arg })
    });
    let global = |arg: &&Arg| arg.is_global_set();
    let global: Vec<_> = command.get_arguments().filter(global).map(|arg| arg.get_id().clone()).collect();
    // An argument that is changed comes last, which is where the global ones are shown.
    let command = global.into_iter().fold(command, |command, id| command.mut_arg(id, |arg| arg));
    command.mut_subcommands(with_texts)
}

fn argument(arg: Arg) -> Arg {
    let heading = match arg.get_help_heading() {
        Some(heading) => japanese(heading).unwrap_or(OPTIONS),
        None if arg.is_positional() => "引数",
        None => OPTIONS,
    };
    let mut text = arg.get_help().map(|help| said(help).to_string()).unwrap_or_default();
    let note = |text: &mut String, label: &str, words: Vec<String>| {
        if arg.get_action().takes_values() && words.iter().any(|word| !word.is_empty()) {
            text.push_str(&format!(" [{label}: {}]", words.join(", ")));
        }
    };
    let defaults = arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned());
    let possible = arg.get_possible_values();
    let possible = possible.iter().filter(|value| !value.is_hide_set()).map(|value| value.get_name().to_owned());
    note(&mut text, "既定", defaults.collect());
    note(&mut text, "指定できる値", possible.collect());
    let valued = arg.get_action().takes_values();
    let arg = arg.help_heading(heading).help(text.trim_start().to_owned());
    if valued { arg.hide_default_value(true).hide_possible_values(true) } else { arg }
}

/// Clap's own words around the texts: the headings, the usage and the subcommand `help`.
fn with_frame(command: Command) -> Command {
    let heading = *command.get_styles().get_usage();
    let (title, titled) = (format!("{heading}Usage:{heading:#} "), format!("{heading}使い方:{heading:#}"));
    let mut command = command.subcommand_help_heading("コマンド").subcommand_value_name("コマンド");
    let usage = command.render_usage().ansi().to_string();
    let usage = usage.strip_prefix(&title).unwrap_or(&usage).replace("[OPTIONS]", "[オプション]");
    if command.get_name() == "help" {
        command = command.about("このヘルプ、または指定したコマンドのヘルプを表示します");
    }
    let template = format!("{{about-with-newline}}\n{titled} {{usage}}\n\n{{all-args}}{{after-help}}");
    command.override_usage(StyledStr::from(usage)).help_template(template).mut_subcommands(with_frame)
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory as _};

    use super::{in_japanese, japanese};
    use crate::cli::Cli;

    /// Every text of a command, its arguments and what is below it.
    fn texts(command: &Command, found: &mut Vec<String>) {
        let own = [command.get_about(), command.get_long_about(), command.get_after_help()];
        let arguments = command.get_arguments().filter_map(|arg| arg.get_help());
        found.extend(own.into_iter().flatten().chain(arguments).map(ToString::to_string));
        found.extend(command.get_arguments().filter_map(|arg| arg.get_help_heading()).map(str::to_owned));
        command.get_subcommands().for_each(|subcommand| texts(subcommand, found));
    }

    /// C5: no command, option or example is left without Japanese, and no Japanese is left over.
    #[test]
    fn every_help_text_has_japanese() {
        let mut found = Vec::new();
        texts(&Cli::command(), &mut found);
        found.sort();
        found.dedup();
        let missing: Vec<_> = found.iter().filter(|text| japanese(text).is_none()).collect();
        assert!(missing.is_empty(), "{missing:#?}");
        let known = super::TEXTS.iter().flat_map(|texts| texts.iter());
        let unused: Vec<_> =
            known.map(|(english, _)| *english).filter(|text| !found.contains(&(*text).to_owned())).collect();
        assert!(unused.is_empty(), "{unused:#?}");
    }

    /// Kana and kanji are two columns wide.
    fn columns(line: &str) -> usize {
        line.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum()
    }

    /// C5, D26: clap breaks lines between words, which Japanese has not, so no line is too long.
    #[test]
    fn japanese_help_fits_without_being_broken() {
        fn check(command: &Command) {
            for subcommand in command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help") {
                let help = subcommand.clone().term_width(0).render_long_help().to_string();
                // How a command is used has words between which it is broken.
                let long = help.lines().filter(|line| !line.starts_with("使い方") && columns(line) > 110);
                let long: Vec<_> = long.collect();
                assert!(long.is_empty(), "{}: {long:#?}", subcommand.get_name());
                check(subcommand);
            }
        }
        check(&in_japanese(Cli::command()));
    }
}
