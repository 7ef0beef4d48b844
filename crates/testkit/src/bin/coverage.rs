//! Is `docs/coverage.md` what the tests say? Writes it, or compares it with `--check`.

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs, io};

use testkit::coverage::{COMMAND, PAGE, page};

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let done = match arguments[..] {
        [] => write(&root),
        ["--check"] => check(&root),
        _ => {
            eprintln!("usage: {COMMAND} [-- --check]");
            return ExitCode::from(2);
        }
    };
    done.unwrap_or_else(|error| {
        eprintln!("{error}");
        ExitCode::FAILURE
    })
}

fn write(root: &Path) -> io::Result<ExitCode> {
    fs::write(root.join(PAGE), page(root)?)?;
    Ok(ExitCode::SUCCESS)
}

fn check(root: &Path) -> io::Result<ExitCode> {
    let found = fs::read_to_string(root.join(PAGE)).unwrap_or_default();
    if found == page(root)? {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("{PAGE} is stale; write it again with `{COMMAND}`");
    Ok(ExitCode::FAILURE)
}
