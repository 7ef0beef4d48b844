//! How is a list shown in columns, also on a narrow terminal?

use board::{Language, clean};
use comfy_table::{ColumnConstraint, ContentArrangement, Table, presets};

/// The width of a terminal that does not say how wide it is (D19).
const DEFAULT_WIDTH: u16 = 80;
/// What a column of text gets at least before other columns are left out for it.
const TEXT_WIDTH: u16 = 24;
/// The space between two columns.
const GAP: u16 = 2;

/// A column: its head in both languages, and what becomes of it where the terminal is narrow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    en: &'static str,
    ja: &'static str,
    role: Role,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Always there, and never broken.
    Key,
    /// Always there, and broken between words.
    Text,
    /// Left out where there is no room: the lowest number first.
    Extra(u8),
}

impl Column {
    pub(crate) const fn key(en: &'static str, ja: &'static str) -> Self {
        Self { en, ja, role: Role::Key }
    }

    pub(crate) const fn text(en: &'static str, ja: &'static str) -> Self {
        Self { en, ja, role: Role::Text }
    }

    pub(crate) const fn extra(rank: u8, en: &'static str, ja: &'static str) -> Self {
        Self { en, ja, role: Role::Extra(rank) }
    }
}

/// Columns without lines. On a terminal they fit its width; elsewhere nothing is left out.
pub(crate) fn table<const N: usize>(
    language: Language,
    columns: &[Column; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    let mut table = Table::new();
    let heads = columns.map(|column| match language {
        Language::En => column.en,
        Language::Ja => column.ja,
    });
    table.load_style(presets::NOTHING).set_header(heads);
    for row in rows {
        table.add_row(row.map(|cell| clean(&cell)));
    }
    table.column_iter_mut().for_each(|column| {
        column.set_padding((0, GAP));
    });
    match table.width() {
        Some(width) => fit(&mut table, columns, if width == 0 { DEFAULT_WIDTH } else { width }),
        None => drop(table.set_content_arrangement(ContentArrangement::Disabled)),
    }
    let text = table.to_string();
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// Hides columns until the others fit, and lets only texts be broken.
fn fit(table: &mut Table, columns: &[Column], width: u16) {
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    let contents = table.column_max_content_widths();
    let shown = shown_columns(columns, &contents, width);
    for (index, (column, shown)) in columns.iter().zip(shown).enumerate() {
        let constraint = match (shown, column.role) {
            (false, _) => ColumnConstraint::Hidden,
            (true, Role::Text) => continue,
            (true, Role::Key | Role::Extra(_)) => ColumnConstraint::ContentWidth,
        };
        if let Some(column) = table.column_mut(index) {
            column.set_constraint(constraint);
        }
    }
}

/// Which columns there is room for, given how wide the content of each is.
fn shown_columns(columns: &[Column], contents: &[u16], width: u16) -> Vec<bool> {
    let mut shown = vec![true; columns.len()];
    let needed = |index: usize| match columns[index].role {
        Role::Text => contents[index].min(TEXT_WIDTH) + GAP,
        Role::Key | Role::Extra(_) => contents[index] + GAP,
    };
    let mut extras: Vec<(u8, usize)> = columns
        .iter()
        .enumerate()
        .filter_map(|(index, column)| match column.role {
            Role::Extra(rank) => Some((rank, index)),
            Role::Key | Role::Text => None,
        })
        .collect();
    extras.sort_unstable();
    for (_, index) in extras {
        let total: u16 = (0..columns.len()).filter(|index| shown[*index]).map(needed).sum();
        if total <= width {
            break;
        }
        shown[index] = false;
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::{Column, shown_columns};

    /// D19: the least important columns go first, and only as many as must.
    #[test]
    fn the_least_important_columns_are_left_out_first() {
        let columns =
            [Column::key("A", "A"), Column::extra(2, "B", "B"), Column::extra(1, "C", "C"), Column::text("D", "D")];
        let contents = [6, 10, 10, 60];
        for (width, expected) in [
            (80, [true, true, true, true]),
            (58, [true, true, true, true]),
            (57, [true, true, false, true]),
            (45, [true, false, false, true]),
            (10, [true, false, false, true]),
        ] {
            assert_eq!(shown_columns(&columns, &contents, width), expected, "{width}");
        }
    }
}
