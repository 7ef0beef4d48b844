//! With which random seed does a test run, and how is a failing run repeated?
//!
//! Without `SAIHAI_SEED` every run draws a fresh seed, so that each run tries something new.
//! `scripts/test` draws one for the whole run and prints it. A test that fails prints the command
//! that repeats it.

use std::env;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};

/// The variable that fixes the seed of a run.
pub const VARIABLE: &str = "SAIHAI_SEED";

/// The seed of one test. When the test panics, it prints how to repeat the run.
#[derive(Debug)]
pub struct Seed {
    value: u64,
    repeat: String,
}

impl Seed {
    /// For a test of a package, named as nextest names it: `chaos::a_hundred_kills_lose_nothing`.
    pub fn for_test(package: &str, test: &str) -> Self {
        let value = from_variable(env::var(VARIABLE).ok().as_deref());
        let repeat = format!("{VARIABLE}={value} cargo nextest run -p {package} --all-features -E 'test(={test})'");
        println!("seed {value}");
        Self { value, repeat }
    }

    pub fn value(&self) -> u64 {
        self.value
    }
}

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("repeat with: {}", self.repeat);
        }
    }
}

/// Fresh seeds have 32 bits: short enough to type, and seeds that are counted up from them do not overflow.
fn from_variable(value: Option<&str>) -> u64 {
    match value.filter(|value| !value.is_empty()) {
        Some(value) => value.parse().unwrap_or_else(|_| panic!("{VARIABLE} is `{value}`; set it to a whole number")),
        // The standard library seeds its hash maps from the operating system.
        None => RandomState::new().build_hasher().finish() >> 32,
    }
}

#[cfg(test)]
mod tests {
    use super::from_variable;

    #[test]
    fn the_variable_fixes_the_seed() {
        assert_eq!(from_variable(Some("7")), 7);
        assert!(from_variable(None) <= u64::from(u32::MAX));
        assert!(from_variable(Some("")) <= u64::from(u32::MAX));
    }

    #[test]
    #[should_panic(expected = "set it to a whole number")]
    fn a_seed_that_is_no_number_is_refused() {
        from_variable(Some("seven"));
    }
}
