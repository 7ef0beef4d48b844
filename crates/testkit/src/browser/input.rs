//! How does a test use keyboard and mouse, as a person would?

use std::time::Duration;

use fantoccini::actions::{InputSource as _, KeyAction, KeyActions, MOUSE_BUTTON_LEFT, MouseActions, PointerAction};
use fantoccini::elements::Element;
use fantoccini::key::Key;

use super::Browser;

/// Long enough for chromium to see a movement instead of a jump.
const STEP: Duration = Duration::from_millis(50);
/// Chromium sends `dragover` only every so often.
const HOVER: Duration = Duration::from_millis(120);

impl Browser {
    /// Clicks the first element that matches, as soon as it can be clicked.
    pub async fn click(&self, css: &str) {
        self.act(css, "be clicked", async |element| element.click().await).await;
    }

    /// Types at the end of a field's text. Only characters of the basic plane: no emoji.
    pub async fn type_into(&self, css: &str, text: &str) {
        self.act(css, "be typed into", async |element| element.send_keys(text).await).await;
    }

    /// Presses keys where the focus is, one after the other: `Tab Tab Enter`, `g i`, `Shift+Tab`, `Control+k`.
    pub async fn press(&self, keys: &str) {
        let mut actions = KeyActions::new("keyboard".into());
        for chord in keys.split_whitespace() {
            let chord: Vec<char> = parts(chord).into_iter().map(key).collect();
            actions = chord.iter().fold(actions, |actions, &value| actions.then(KeyAction::Down { value }));
            actions = chord.iter().rev().fold(actions, |actions, &value| actions.then(KeyAction::Up { value }));
        }
        self.must(&format!("press {keys}"), self.client.perform_actions(actions).await).await;
    }

    /// Takes one element with the mouse and drops it on another.
    pub async fn drag(&self, from: &str, to: &str) {
        self.until_present(to).await;
        self.act(from, &format!("be dragged to {to}"), async |element| {
            let goal = self.find(to).await?;
            let pull = PointerAction::MoveBy { duration: Some(STEP), x: 8.0, y: 8.0 };
            let actions = MouseActions::new("mouse".into())
                .then(move_to(element, 0.0))
                .then(PointerAction::Down { button: MOUSE_BUTTON_LEFT })
                .then(pull)
                // Several times and slowly: the browser merges movements that follow each other closely, and the
                // first one over an element only sends `dragenter`.
                .then(move_to(goal.clone(), 4.0))
                .then(PointerAction::Pause { duration: HOVER })
                .then(move_to(goal.clone(), 2.0))
                .then(PointerAction::Pause { duration: HOVER })
                .then(move_to(goal, 0.0))
                .then(PointerAction::Pause { duration: HOVER })
                .then(PointerAction::Up { button: MOUSE_BUTTON_LEFT });
            self.client.perform_actions(actions).await
        })
        .await;
    }
}

/// A movement to the middle of an element, or so far off it.
fn move_to(element: Element, off: f64) -> PointerAction {
    PointerAction::MoveToElement { element, duration: Some(STEP), x: off, y: off }
}

/// The keys of a chord; a plus that stands alone is the key itself.
fn parts(chord: &str) -> Vec<&str> {
    match chord.strip_suffix("++") {
        Some(held) => held.split('+').chain(["+"]).collect(),
        None if chord == "+" => vec![chord],
        None => chord.split('+').collect(),
    }
}

/// The character that WebDriver has for a key, by the name that pages know it by.
fn key(name: &str) -> char {
    let mut characters = name.chars();
    if let (Some(only), None) = (characters.next(), characters.next()) {
        return only;
    }
    char::from(match name {
        "Alt" => Key::Alt,
        "ArrowDown" => Key::Down,
        "ArrowLeft" => Key::Left,
        "ArrowRight" => Key::Right,
        "ArrowUp" => Key::Up,
        "Backspace" => Key::Backspace,
        "Control" => Key::Control,
        "Delete" => Key::Delete,
        "End" => Key::End,
        "Enter" => Key::Enter,
        "Escape" => Key::Escape,
        "Home" => Key::Home,
        "Meta" => Key::Meta,
        "PageDown" => Key::PageDown,
        "PageUp" => Key::PageUp,
        "Shift" => Key::Shift,
        "Space" => Key::Space,
        "Tab" => Key::Tab,
        unknown => panic!("no key is called {unknown}"),
    })
}
