//! Does the crate read, check and write `.saihai/` as the specification says?

#![allow(clippy::unwrap_used)]

mod broken_agents;
mod broken_config;
mod memory;
mod reading;
mod round_trip;
mod scaffolding;

use std::fs;
use std::path::{Path, PathBuf};

use definitions::Definitions;

/// A `.saihai/` directory with some files in it.
struct DefinitionsDir(tempfile::TempDir);

impl DefinitionsDir {
    fn empty() -> Self {
        let repository = tempfile::tempdir().unwrap();
        fs::create_dir(repository.path().join(".saihai")).unwrap();
        Self(repository)
    }

    /// With a `config.yaml` that says nothing but a name.
    fn new(files: &[(&str, &str)]) -> Self {
        let saihai = Self::empty();
        saihai.write("config.yaml", "name: web\n");
        for (path, text) in files {
            saihai.write(path, text);
        }
        saihai
    }

    fn path(&self) -> PathBuf {
        self.0.path().join(".saihai")
    }

    fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn read(&self, path: impl AsRef<Path>) -> String {
        fs::read_to_string(self.0.path().join(path)).unwrap()
    }

    fn load(&self) -> Definitions {
        Definitions::load(&self.path()).unwrap()
    }

    /// What loading says, line by line; nothing if all is well.
    fn problems(&self) -> Vec<String> {
        match Definitions::load(&self.path()) {
            Ok(_) => Vec::new(),
            Err(problems) => problems.0.iter().map(ToString::to_string).collect(),
        }
    }
}
