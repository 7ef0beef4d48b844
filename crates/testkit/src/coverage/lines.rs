//! What is comment and what is code on each line of a Rust file?

/// A line, without the content of its strings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// `/// …`
    Doc(String),
    /// `//! …`
    ModuleDoc(String),
    /// `// …`
    Comment(String),
    /// Anything else, without a comment at its end; may be blank.
    Code(String),
}

/// What continues on the next line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LexerState {
    Code,
    /// `/* …`, so many deep.
    Comment(u32),
    Text,
    /// `r##"…`, with so many `#`.
    Raw(usize),
}

pub(super) fn lines(source: &str) -> Vec<Line> {
    let mut state = LexerState::Code;
    source.lines().map(|line| split(line, &mut state)).collect()
}

fn split(line: &str, state: &mut LexerState) -> Line {
    let mut code = String::new();
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        match *state {
            LexerState::Comment(depth) => rest = in_comment(rest, depth, state),
            LexerState::Text => rest = in_text(rest, state),
            LexerState::Raw(hashes) => rest = in_raw(rest, hashes, state),
            LexerState::Code => {
                if let Some(comment) = rest.strip_prefix("//") {
                    return if code.trim().is_empty() { comment_line(comment) } else { Line::Code(code) };
                } else if let Some(after) = rest.strip_prefix("/*") {
                    (*state, rest) = (LexerState::Comment(1), after);
                } else if let Some((hashes, after)) = raw_begins(rest, &code) {
                    code.push('"');
                    (*state, rest) = (LexerState::Raw(hashes), after);
                } else if let Some(after) = character(rest) {
                    rest = after;
                } else {
                    code.push(c);
                    rest = &rest[c.len_utf8()..];
                    if c == '"' {
                        *state = LexerState::Text;
                    }
                }
            }
        }
    }
    Line::Code(code)
}

fn comment_line(comment: &str) -> Line {
    match comment.chars().next() {
        Some('!') => Line::ModuleDoc(comment[1..].trim().to_owned()),
        Some('/') if !comment[1..].starts_with('/') => Line::Doc(comment[1..].trim().to_owned()),
        Some(_) | None => Line::Comment(comment.trim().to_owned()),
    }
}

fn in_comment<'t>(rest: &'t str, depth: u32, state: &mut LexerState) -> &'t str {
    let Some(at) = rest.find(['*', '/']) else { return "" };
    let rest = &rest[at..];
    if let Some(after) = rest.strip_prefix("*/") {
        *state = if depth > 1 { LexerState::Comment(depth - 1) } else { LexerState::Code };
        after
    } else if let Some(after) = rest.strip_prefix("/*") {
        *state = LexerState::Comment(depth + 1);
        after
    } else {
        &rest[1..]
    }
}

fn in_text<'t>(rest: &'t str, state: &mut LexerState) -> &'t str {
    let Some(at) = rest.find(['"', '\\']) else { return "" };
    let mut after = rest[at..].chars();
    if after.next() == Some('"') {
        *state = LexerState::Code;
    } else {
        after.next();
    }
    after.as_str()
}

fn in_raw<'t>(rest: &'t str, hashes: usize, state: &mut LexerState) -> &'t str {
    let end = format!("\"{}", "#".repeat(hashes));
    match rest.find(&end) {
        Some(at) => {
            *state = LexerState::Code;
            &rest[at + end.len()..]
        }
        None => "",
    }
}

/// `r"`, `r#"`, …: how many `#`, and what follows.
fn raw_begins<'t>(rest: &'t str, code: &str) -> Option<(usize, &'t str)> {
    let after = rest.strip_prefix('r')?;
    let text = after.trim_start_matches('#');
    let prefix = code.strip_suffix(['b', 'c']).unwrap_or(code);
    let within_word = prefix.ends_with(|c: char| c.is_alphanumeric() || c == '_');
    (!within_word).then(|| text.strip_prefix('"'))?.map(|inside| (after.len() - text.len(), inside))
}

/// What follows a character such as `'"'` or `'\''`; `None` for a lifetime.
fn character(rest: &str) -> Option<&str> {
    let mut inside = rest.strip_prefix('\'')?.chars();
    match inside.next()? {
        '\\' => {
            inside.next()?;
            inside.as_str().split_once('\'').map(|(_, after)| after)
        }
        _ => inside.as_str().strip_prefix('\''),
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, lines};

    fn doc(text: &str) -> Line {
        Line::Doc(text.into())
    }

    fn code(text: &str) -> Line {
        Line::Code(text.into())
    }

    #[test]
    fn comments_are_told_from_code() {
        let cases: &[(&str, &[Line])] = &[
            ("  /// E1: a", &[doc("E1: a")]),
            ("///", &[doc("")]),
            ("//! E1", &[Line::ModuleDoc("E1".into())]),
            ("// E1", &[Line::Comment("E1".into())]),
            ("//// E1", &[Line::Comment("// E1".into())]),
            ("fn x() {} /// E1", &[code("fn x() {} ")]),
            ("", &[]),
            ("a\n\nb", &[code("a"), code(""), code("b")]),
            ("/* {\n/// E1\n/* */ } */ x", &[code(""), code(""), code(" x")]),
        ];
        for (source, expected) in cases {
            assert_eq!(lines(source), *expected, "{source}");
        }
    }

    #[test]
    fn what_stands_in_strings_is_neither() {
        let cases: &[(&str, &[Line])] = &[
            ("x(\"{ // \\\" }\") // y", &[code("x(\") ")]),
            ("x(\"\n/// E1\n\")\n/// E2", &[code("x(\""), code(""), code(")"), doc("E2")]),
            ("x(r#\"\n/// E1 \"\n\"#)\n/// E2", &[code("x(\""), code(""), code(")"), doc("E2")]),
            ("x(br\"\\\") // y", &[code("x(b\") ")]),
            ("a('\"', '\\'', '\\u{7f}', '{') /// y", &[code("a(, , , ) ")]),
            ("fn a<'a>(b: &'a str) {", &[code("fn a<'a>(b: &'a str) {")]),
            ("r#fn() {", &[code("r#fn() {")]),
            ("bar\"{\" {", &[code("bar\" {")]),
        ];
        for (source, expected) in cases {
            assert_eq!(lines(source), *expected, "{source}");
        }
    }
}
