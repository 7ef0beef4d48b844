//! Which files decide what the checks say? Whoever changes them judges their own work (V16).

/// What a program reads besides what it is given, as patterns.
const READ_BY: &[(&[&str], &[&str])] = &[
    (&["make", "gmake"], &["/Makefile", "/makefile", "/GNUmakefile"]),
    (&["just"], &["/justfile", "/Justfile", "/.justfile"]),
    (&["npm", "npx", "pnpm", "yarn", "bun"], &["/package.json"]),
    (
        &["pytest", "tox", "nox"],
        &["conftest.py", "/pytest.ini", "/tox.ini", "/setup.cfg", "/pyproject.toml", "/noxfile.py"],
    ),
    (&["cargo"], &["/.cargo/config.toml", "/.config/nextest.toml"]),
    (&["mvn", "mvnw"], &["/pom.xml"]),
    (&["gradle", "gradlew"], &["/build.gradle", "/build.gradle.kts"]),
    (&["rake"], &["/Rakefile"]),
    (&["mix"], &["/mix.exs"]),
];

/// Patterns of the files that commands name, or that their programs read. It is a reading of shell commands, so it finds
/// the usual and misses the clever: it warns, and decides nothing.
pub fn judging_files<'a>(commands: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut patterns: Vec<String> = commands.into_iter().flat_map(words).flat_map(meant_by).collect();
    patterns.sort();
    patterns.dedup();
    patterns
}

fn words(command: &str) -> impl Iterator<Item = &str> {
    let separates = |c: char| c.is_whitespace() || "\"'`;|&()<>=,{}".contains(c);
    command.split(separates).filter(|word| !word.is_empty())
}

fn meant_by(word: &str) -> Vec<String> {
    let program = word.rsplit('/').next().unwrap_or(word);
    let read = READ_BY.iter().filter(|(programs, _)| programs.contains(&program)).flat_map(|(_, files)| *files);
    read.map(|file| (*file).to_owned()).chain(file_named(word)).collect()
}

/// A word that looks like a file of the repository.
fn file_named(word: &str) -> Option<String> {
    let path = word.strip_prefix("./").unwrap_or(word);
    let name = path.rsplit('/').next()?;
    let plain = !path.starts_with(['-', '/', '~']) && !path.contains(['$', '*', '?', '[', ':', '\\', '!']);
    let inside = path.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
    // Without a slash only a name with an ending is taken for a file: other words are programs and their commands.
    let file = path.contains('/') || word.starts_with("./") || name.trim_start_matches('.').contains('.');
    (plain && inside && file).then(|| format!("/{path}"))
}

#[cfg(test)]
mod tests {
    use super::judging_files;

    /// V16
    #[test]
    fn files_that_commands_name_or_read() {
        assert_eq!(judging_files(["sh test.sh && ./scripts/lint --all src/"]), ["/scripts/lint", "/test.sh"]);
        let npm = judging_files(["npm ci", "npm test -- --config=ci/jest.config.js"]);
        assert_eq!(npm, ["/ci/jest.config.js", "/package.json"]);
        assert_eq!(judging_files(["make -C . check"]), ["/GNUmakefile", "/Makefile", "/makefile"]);
        assert!(judging_files(["python3 -m pytest tests"]).contains(&"conftest.py".to_owned()));
    }

    /// V16
    #[test]
    fn words_that_name_no_file_of_the_repository() {
        let outside = "cat /etc/passwd; ls ../other; curl https://a.example/x.sh";
        for command in ["true", "test $X = 1", "echo *.py", outside] {
            assert_eq!(judging_files([command]), Vec::<String>::new(), "{command}");
        }
    }
}
