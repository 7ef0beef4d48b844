//! In which crate and module is a Rust file?

use std::path::Path;

/// A Rust file below `crates/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SourceFile {
    /// The crate, then its modules.
    pub(super) module: Vec<String>,
    /// It is below `crates/*/tests/`.
    pub(super) is_test_file: bool,
}

impl SourceFile {
    /// From a path such as `crates/board/src/admit/tasks.rs`.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let stems = path.with_extension("");
        let parts: Vec<_> = stems.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        let ["crates", name, folder, rest @ ..] = &parts.iter().map(String::as_str).collect::<Vec<_>>()[..] else {
            return None;
        };
        let modules = match (*folder, rest) {
            ("src", modules) => modules,
            // `tests/NAME/*.rs` are one binary; NAME is the crate's name again and is left out.
            ("tests", [_, modules @ ..]) if !modules.is_empty() => modules,
            ("tests", modules) => modules,
            _ => &parts[2..].iter().map(String::as_str).collect::<Vec<_>>()[..],
        };
        let mut module = vec![name.replace('-', "_")];
        module.extend(modules.iter().map(|&module| module.to_owned()));
        if module.len() > 1 && module.last().is_some_and(|last| matches!(last.as_str(), "lib" | "main" | "mod")) {
            module.pop();
        }
        Some(Self { module, is_test_file: *folder == "tests" })
    }

    pub(super) fn crate_name(&self) -> &str {
        &self.module[0]
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::SourceFile;

    #[test]
    fn paths_become_modules() {
        let cases = [
            ("crates/board/src/lib.rs", "board", false),
            ("crates/board/src/task.rs", "board::task", false),
            ("crates/board/src/admit/mod.rs", "board::admit", false),
            ("crates/my-crate/src/bin/x.rs", "my_crate::bin::x", false),
            ("crates/store/tests/store/main.rs", "store", true),
            ("crates/store/tests/store/damage.rs", "store::damage", true),
            ("crates/store/tests/e2e.rs", "store::e2e", true),
            ("crates/store/benches/append.rs", "store::benches::append", false),
        ];
        for (path, module, is_test_file) in cases {
            let source_file = SourceFile::of(Path::new(path)).unwrap();
            assert_eq!(
                (source_file.module.join("::").as_str(), source_file.is_test_file),
                (module, is_test_file),
                "{path}"
            );
        }
        assert_eq!(SourceFile::of(Path::new("crates/x.rs")), None);
        assert_eq!(SourceFile::of(Path::new("scripts/x/y/z.rs")), None);
    }
}
