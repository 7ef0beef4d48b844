//! What do the colours of a terminal look like on a page? Text stays text; only colours become marks.

use std::fmt;

use askama::filters::HtmlSafe;

/// Text with colours, safe to put on a page: everything in it was escaped here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ColouredText(String);

impl fmt::Display for ColouredText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl HtmlSafe for ColouredText {}

/// How letters look at a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct TextStyle {
    bold: bool,
    dim: bool,
    italic: bool,
    underlined: bool,
    /// One of the sixteen.
    colour: Option<u8>,
}

impl TextStyle {
    /// Classes of the style sheet.
    fn classes(self) -> String {
        let words = [(self.bold, "b"), (self.dim, "d"), (self.italic, "i"), (self.underlined, "u")];
        let mut classes: Vec<String> = words.iter().filter(|(on, _)| *on).map(|(_, word)| (*word).to_owned()).collect();
        classes.extend(self.colour.map(|colour| format!("c{colour}")));
        classes.join(" ")
    }

    /// Follows a `CSI … m` sequence.
    fn follow(&mut self, parameters: &str) {
        let mut numbers = parameters.split([';', ':']).map(|number| number.parse::<u16>().unwrap_or(0));
        while let Some(number) = numbers.next() {
            match number {
                0 => *self = Self::default(),
                1 => self.bold = true,
                2 => self.dim = true,
                3 => self.italic = true,
                4 => self.underlined = true,
                22 => (self.bold, self.dim) = (false, false),
                23 => self.italic = false,
                24 => self.underlined = false,
                30..=37 => self.colour = u8::try_from(number - 30).ok(),
                90..=97 => self.colour = u8::try_from(number - 82).ok(),
                39 => self.colour = None,
                // 256 colours and true colours: the nearest of the sixteen is none; the text matters.
                38 | 48 => match numbers.next() {
                    Some(5) => {
                        self.colour =
                            numbers.next().filter(|c| number == 38 && *c < 16).and_then(|c| u8::try_from(c).ok())
                    }
                    Some(2) => drop(numbers.by_ref().take(3).count()),
                    Some(_) | None => {}
                },
                _ => {}
            }
        }
    }
}

/// The text with its colours, and without everything else that terminals are told.
pub(super) fn coloured(bytes: &[u8]) -> ColouredText {
    let text = String::from_utf8_lossy(bytes);
    let mut page = AnsiParser::default();
    let mut rest = text.chars().peekable();
    while let Some(letter) = rest.next() {
        match letter {
            '\u{1b}' => match rest.next() {
                Some('[') => {
                    let mut parameters = String::new();
                    let end = rest.by_ref().find(|c| {
                        let last = ('\u{40}'..='\u{7e}').contains(c);
                        if !last && parameters.len() < 64 {
                            parameters.push(*c);
                        }
                        last
                    });
                    if end == Some('m') {
                        page.look.follow(&parameters);
                    }
                }
                // A title or a link: up to its terminator, which must come soon.
                Some(']') => {
                    let mut left = 2048;
                    while let Some(c) = rest.next_if(|c| *c != '\n') {
                        left -= 1;
                        if c == '\u{7}' || left == 0 {
                            break;
                        }
                        if c == '\u{1b}' {
                            rest.next_if_eq(&'\\');
                            break;
                        }
                    }
                }
                Some(_) | None => {}
            },
            // A line that is written over keeps what it came to.
            '\r' if rest.peek() == Some(&'\n') => {}
            '\r' => page.put('\n'),
            '\n' | '\t' => page.put(letter),
            hidden if hidden.is_control() => page.put('\u{fffd}'),
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => page.put('\u{fffd}'),
            other => page.put(other),
        }
    }
    page.finish()
}

#[derive(Debug, Default)]
struct AnsiParser {
    html: String,
    look: TextStyle,
    /// The look of the span that is open.
    open: TextStyle,
}

impl AnsiParser {
    fn put(&mut self, letter: char) {
        if self.look != self.open {
            self.close();
            if self.look != TextStyle::default() {
                self.html.push_str(&format!("<span class=\"{}\">", self.look.classes()));
            }
            self.open = self.look;
        }
        match letter {
            '&' => self.html.push_str("&amp;"),
            '<' => self.html.push_str("&lt;"),
            '>' => self.html.push_str("&gt;"),
            '"' => self.html.push_str("&quot;"),
            '\'' => self.html.push_str("&#39;"),
            other => self.html.push(other),
        }
    }

    fn close(&mut self) {
        if self.open != TextStyle::default() {
            self.html.push_str("</span>");
            self.open = TextStyle::default();
        }
    }

    fn finish(mut self) -> ColouredText {
        self.close();
        ColouredText(self.html)
    }
}

#[cfg(test)]
mod tests {
    use super::coloured;

    fn html(text: &str) -> String {
        coloured(text.as_bytes()).to_string()
    }

    #[test]
    fn colours_become_classes() {
        assert_eq!(html("a\u{1b}[31mred\u{1b}[0m b"), "a<span class=\"c1\">red</span> b");
        assert_eq!(html("\u{1b}[1;92mok\u{1b}[22m!"), "<span class=\"b c10\">ok</span><span class=\"c10\">!</span>");
        assert_eq!(html("\u{1b}[38;5;9mx\u{1b}[38;2;1;2;3my"), "<span class=\"c9\">xy</span>");
    }

    /// W3: whatever a process prints is text.
    #[test]
    fn nothing_that_is_printed_becomes_markup() {
        assert_eq!(html("<script>alert('&')</script>"), "&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;");
        assert_eq!(html("\u{1b}[\"><b>m"), "&gt;m", "what ends a sequence is no colour");
        assert_eq!(html("\u{1b}]0;title\u{7}x\u{1b}]8;;http://a\u{1b}\\y"), "xy");
        assert_eq!(html("a\u{202e}b\u{0}\u{1b}[2Jc"), "a\u{fffd}b\u{fffd}c");
    }

    #[test]
    fn half_a_sequence_or_invalid_bytes_do_no_harm() {
        for end in ["\u{1b}", "\u{1b}[", "\u{1b}[31", "\u{1b}]0;"] {
            assert_eq!(html(&format!("x{end}")), "x");
        }
        assert_eq!(coloured(b"\xff\xfe").to_string(), "\u{fffd}\u{fffd}");
        assert_eq!(html("10 %\r20 %\r\n"), "10 %\n20 %\n");
    }
}
