//! How is the project's name changed in `config.yaml`, and nothing else in the file?

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The file as it was.
#[derive(Debug)]
pub struct ConfigName {
    file: PathBuf,
    before: String,
}

impl ConfigName {
    pub fn read(saihai: &Path) -> io::Result<Self> {
        let file = saihai.join("config.yaml");
        Ok(Self { before: fs::read_to_string(&file)?, file })
    }

    /// Writes the name where it stands, else as the first key. Comments and order stay.
    pub fn write(&self, name: &str) -> io::Result<()> {
        fs::write(&self.file, with_name(&self.before, name))
    }

    pub fn restore(&self) -> io::Result<()> {
        fs::write(&self.file, &self.before)
    }
}

fn with_name(config: &str, name: &str) -> String {
    let quoted = serde_saphyr::to_string(&name).unwrap_or_default();
    let line = format!("name: {}", quoted.trim_end());
    let mut lines: Vec<&str> = config.lines().collect();
    match lines.iter().position(|line| line.starts_with("name:")) {
        Some(at) => lines[at] = &line,
        // `{}` is a file that sets nothing.
        None if config.trim() == "{}" => lines = vec![&line],
        None => {
            let first = lines.iter().position(|line| !line.starts_with(['#', '-', '%'])).unwrap_or(lines.len());
            lines.insert(first, &line);
        }
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C7: only the name changes, and it is read back as it was meant.
    #[test]
    fn only_the_name_changes() {
        let config = "# ours\nname: web  # old\nlanguage: ja\n";
        assert_eq!(with_name(config, "Web shop"), "# ours\nname: Web shop\nlanguage: ja\n");
        assert_eq!(with_name("---\n# ours\nlanguage: en\n", "web"), "---\n# ours\nname: web\nlanguage: en\n");
        assert_eq!(with_name("{}\n", "a: b"), "name: \"a: b\"\n");
        for name in ["true", "1e3", "# x", "'", "\\", "日本", "{a}"] {
            let read: std::collections::BTreeMap<String, String> =
                serde_saphyr::from_str(&with_name("", name)).unwrap();
            assert_eq!(read["name"], name);
        }
    }
}
