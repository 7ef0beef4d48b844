//! What does the `.saihai/` directory of a repository say?
//!
//! [`Definitions::load`] reads `config.yaml`, `agents/*.yaml` and the prompts they name, and reports
//! every problem with its file and line. [`memory`] reads and extends the memory bank, [`scaffold`]
//! writes a first set of files, and [`to_yaml`] writes one agent back.
//!
//! Nothing here runs a program, asks a clock or knows of a terminal.

mod agent_file;
mod config_file;
mod config_name;
mod dir;
mod fields;
mod load;
pub mod memory;
mod problem;
mod roster;
mod scaffold;
mod values;
mod write;
mod yaml;

pub use agent_file::default_scope;
pub use config_file::SettingsFile;
pub use config_name::ConfigName;
pub use load::Definitions;
pub use problem::{Problem, Problems};
pub use scaffold::{Scaffold, ScaffoldError, ScaffoldOptions, scaffold};
pub use write::to_yaml;
