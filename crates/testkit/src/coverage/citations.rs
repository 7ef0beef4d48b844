//! Which tests does a file have, and which ids do their comments cite?

use std::collections::BTreeSet;

use super::lines::{Line, lines};
use super::source_file::SourceFile;

/// A test and the comment in which it cites.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Citation {
    pub(super) test: String,
    pub(super) text: String,
}

/// What was found in a file, or in all files of a crate.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Scanned {
    pub(super) tests: Vec<Citation>,
    /// Documented functions that are not tests by themselves, with their names.
    pub(super) functions: Vec<(String, Citation)>,
    /// The functions that a contract macro turns into tests.
    pub(super) contracts: BTreeSet<String>,
}

impl Scanned {
    pub(super) fn add(&mut self, other: Self) {
        self.tests.extend(other.tests);
        self.functions.extend(other.functions);
        self.contracts.extend(other.contracts);
    }

    /// The tests, and those functions that are contracts.
    pub(super) fn into_citations(self) -> impl Iterator<Item = Citation> {
        let Self { tests, functions, contracts } = self;
        let listed = functions.into_iter().filter(move |(name, _)| contracts.contains(name));
        tests.into_iter().chain(listed.map(|(_, citation)| citation))
    }
}

/// The citations in a shell script: its lines `# Tests: …`.
pub(super) fn in_script(path: &str, text: &str) -> Option<Citation> {
    let citations: Vec<_> = text.lines().filter_map(|line| line.trim_start().strip_prefix("# Tests:")).collect();
    (!citations.is_empty()).then(|| Citation { test: path.to_owned(), text: citations.join("\n") })
}

pub(super) fn scan(source_file: &SourceFile, source: &str) -> Scanned {
    let mut scanner = Scanner::new(source_file);
    for line in lines(source) {
        match line {
            Line::ModuleDoc(text) => scanner.module_doc.push(text),
            Line::Doc(text) => scanner.docs.push(text),
            Line::Comment(text) => scanner.comments.push(text),
            Line::Code(code) => scanner.code(&code),
        }
    }
    scanner.finish()
}

struct Scanner<'p> {
    source_file: &'p SourceFile,
    found: Scanned,
    module_doc: Vec<String>,
    /// Of the item that comes next.
    docs: Vec<String>,
    /// The `//` lines directly above.
    comments: Vec<String>,
    attributes: Vec<String>,
    /// An attribute whose `]` is on a later line.
    unclosed: String,
    depth: usize,
    /// The modules around, each with the depth outside it.
    modules: Vec<(String, usize)>,
    /// The depth outside a contract macro's definition.
    contract_macro: Option<usize>,
}

impl<'p> Scanner<'p> {
    fn new(source_file: &'p SourceFile) -> Self {
        Self {
            source_file,
            found: Scanned::default(),
            module_doc: Vec::new(),
            docs: Vec::new(),
            comments: Vec::new(),
            attributes: Vec::new(),
            unclosed: String::new(),
            depth: 0,
            modules: Vec::new(),
            contract_macro: None,
        }
    }

    fn code(&mut self, code: &str) {
        let mut code = code.trim();
        let joined;
        if !self.unclosed.is_empty() {
            joined = format!("{}{code}", std::mem::take(&mut self.unclosed));
            code = &joined;
        }
        while code.starts_with("#[") {
            let Some(end) = closing(code) else {
                self.unclosed = format!("{code} ");
                return;
            };
            self.attributes.push(code[2..end].trim().to_owned());
            code = code[end + 1..].trim_start();
        }
        if code.is_empty() {
            self.comments.clear();
            return;
        }
        self.item(code);
        self.docs.clear();
        self.comments.clear();
        self.attributes.clear();
        self.count_braces(code);
    }

    fn item(&mut self, code: &str) {
        if let Some(name) = self.contract_macro.and_then(|_| code.strip_suffix(',')).filter(|name| is_word(name)) {
            self.found.contracts.insert(name.to_owned());
        } else if let Some(name) = after_keyword(code, "fn") {
            self.function(name);
        } else if let Some(name) = after_keyword(code, "mod").filter(|_| code.ends_with('{')) {
            self.modules.push((name.to_owned(), self.depth));
        } else if let Some((name, arguments)) = macro_call(code).filter(|(name, _)| name.contains("contract")) {
            let test = first_argument(arguments).map_or_else(|| format!("{name}!"), str::to_owned);
            let text = [&self.docs[..], &self.comments[..]].concat().join("\n");
            self.found.tests.push(Citation { test: self.path(&test), text });
        } else if code.strip_prefix("macro_rules!").is_some_and(|name| name.contains("contract")) {
            self.contract_macro = Some(self.depth);
        }
    }

    fn function(&mut self, name: &str) {
        let is = |wanted: &[&str]| self.attributes.iter().any(|attribute| wanted.contains(&last_segment(attribute)));
        let mut citation = Citation { test: self.path(name), text: self.docs.join("\n") };
        if is(&["test", "property_test"]) {
            if is(&["ignore"]) {
                citation.test += " (ignored by default)";
            }
            self.found.tests.push(citation);
        } else if !self.docs.is_empty() {
            self.found.functions.push((name.to_owned(), citation));
        }
    }

    /// The path of a test here. A module `tests` says nothing and is left out.
    fn path(&self, name: &str) -> String {
        let around = self.modules.iter().map(|(module, _)| module.as_str()).filter(|module| *module != "tests");
        let file = self.source_file.module.iter().map(String::as_str);
        file.chain(around).chain([name]).collect::<Vec<_>>().join("::")
    }

    fn count_braces(&mut self, code: &str) {
        for c in code.chars() {
            match c {
                '{' => self.depth += 1,
                '}' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.modules.pop_if(|(_, outside)| *outside >= self.depth);
                    self.contract_macro = self.contract_macro.filter(|outside| *outside < self.depth);
                }
                _ => {}
            }
        }
    }

    fn finish(mut self) -> Scanned {
        if self.source_file.is_test_file && !self.module_doc.is_empty() {
            let citation = Citation { test: self.source_file.module.join("::"), text: self.module_doc.join("\n") };
            self.found.tests.insert(0, citation);
        }
        self.found
    }
}

/// Where the `]` of the attribute is with which the code begins.
fn closing(code: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in code.char_indices() {
        match c {
            '[' => depth += 1,
            ']' if depth == 1 => return Some(at),
            ']' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// `test` of `tokio::test(flavor = …)`.
fn last_segment(attribute: &str) -> &str {
    let path = attribute.split(['(', '=', ' ']).next().unwrap_or_default();
    path.rsplit("::").next().unwrap_or_default()
}

/// The name after `fn` or `mod`, if the line begins such an item.
fn after_keyword<'c>(code: &'c str, keyword: &str) -> Option<&'c str> {
    let mut rest = code;
    loop {
        let (word, after) = rest.split_once(' ')?;
        if word == keyword {
            let name = after.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
            return is_word(name).then_some(name);
        }
        let introduces =
            matches!(word, "pub" | "async" | "const" | "unsafe" | "extern" | "\"") || word.starts_with("pub(");
        if !introduces {
            return None;
        }
        rest = after.trim_start();
    }
}

/// `contract` and what follows its `!`, of `store::contract!(…)`.
fn macro_call(code: &str) -> Option<(&str, &str)> {
    let (path, rest) = code.split_once('!')?;
    let name = path.rsplit("::").next()?;
    let is_path = path.split("::").all(|part| is_word(part) || part == "$crate");
    (is_path && name != "macro_rules").then_some((name, rest))
}

/// The first argument of a macro, if it is a name by itself.
fn first_argument(arguments: &str) -> Option<&str> {
    let inside = arguments.trim_start().strip_prefix(['(', '{', '['])?.trim_start();
    let end = inside.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(inside.len());
    let ends_there = !inside[end..].starts_with(['(', ':', '.', '!', '"']);
    Some(&inside[..end]).filter(|name| is_word(name) && ends_there)
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_') && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests;
