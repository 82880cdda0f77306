//! Text tables: aligned columns, colours that never change a width.
//!
//! Ids come from outside and may hold anything: [`shown`] escapes what a terminal would obey, and widths are those
//! of the glyphs, not of the bytes.

use unicode_width::UnicodeWidthStr;

/// What the text is read on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Screen {
    /// Columns of text.
    pub width: usize,
    /// Whether it understands colours.
    pub is_coloured: bool,
}

/// How a piece of text stands out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tone {
    /// Not at all.
    Plain,
    /// Heading, or what changes.
    Strong,
    /// What does not matter here.
    Dim,
    /// Better than it was.
    Good,
    /// Worse, or wrong.
    Bad,
}

impl Screen {
    /// The text in its tone.
    pub(super) fn paint(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            _ if !self.is_coloured || text.is_empty() => return text.to_owned(),
            Tone::Plain => return text.to_owned(),
            Tone::Strong => 1,
            Tone::Dim => 2,
            Tone::Good => 32,
            Tone::Bad => 31,
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

/// Text in a tone.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) tone: Tone,
}

impl Cell {
    pub(super) fn new(text: impl Into<String>, tone: Tone) -> Self {
        let text = text.into();
        Cell { text, tone }
    }

    pub(super) fn plain(text: impl Into<String>) -> Self {
        Cell::new(text, Tone::Plain)
    }

    pub(super) fn strong(text: impl Into<String>) -> Self {
        Cell::new(text, Tone::Strong)
    }

    pub(super) fn dim(text: impl Into<String>) -> Self {
        Cell::new(text, Tone::Dim)
    }

    pub(super) fn width(&self) -> usize {
        width(&self.text)
    }
}

/// Side on which the cells of a column line up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Blanks between two columns.
pub(super) const GAP: usize = 2;

/// Rows of cells; rows may be shorter than the list of columns.
#[derive(Debug)]
pub(super) struct Table {
    sides: Vec<Side>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(super) fn new(sides: Vec<Side>) -> Self {
        let rows = Vec::new();
        Table { sides, rows }
    }

    pub(super) fn row(&mut self, cells: Vec<Cell>) {
        debug_assert!(cells.len() <= self.sides.len());
        self.rows.push(cells);
    }

    /// The lines, without blanks at their ends.
    pub(super) fn render(&self, screen: Screen, out: &mut String) {
        let mut widths = vec![0; self.sides.len()];
        for row in &self.rows {
            for (widest, cell) in widths.iter_mut().zip(row) {
                *widest = cell.width().max(*widest);
            }
        }
        for row in &self.rows {
            let mut blanks = 0;
            for ((cell, &widest), side) in row.iter().zip(&widths).zip(&self.sides) {
                let slack = widest - cell.width();
                let (before, after) = match side {
                    Side::Left => (0, slack),
                    Side::Right => (slack, 0),
                };
                blanks += before;
                if !cell.text.is_empty() {
                    out.extend(std::iter::repeat_n(' ', blanks));
                    out.push_str(&screen.paint(cell.tone, &cell.text));
                    blanks = 0;
                }
                blanks += after + GAP;
            }
            out.push('\n');
        }
    }
}

/// Columns that a text takes.
pub(super) fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// A text from outside, with control and formatting characters escaped.
pub(super) fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || is_format(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// Characters that reorder or hide the text around them.
fn is_format(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// An integer in groups of three digits.
pub(super) fn grouped(value: impl Into<i128>) -> String {
    let value = value.into();
    let digits = value.unsigned_abs().to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3 + 1);
    if value < 0 {
        out.push('-');
    }
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Bytes in the largest unit that leaves at least 1, with one decimal, rounded down.
pub(super) fn bytes(value: i128) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut unit = None;
    let mut scale: i128 = 1;
    for name in UNITS {
        if value / scale < 1024 {
            break;
        }
        scale *= 1024;
        unit = Some(name);
    }
    match unit {
        None => format!("{value} B"),
        Some(unit) => {
            let tenths = value * 10 / scale;
            format!("{}.{} {unit}", tenths / 10, tenths % 10)
        }
    }
}

/// `1 shard`, `2 shards`.
pub(super) fn counted(count: usize, one: &str, many: &str) -> String {
    let noun = if count == 1 { one } else { many };
    format!("{} {noun}", grouped(count as i128))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_by_glyphs_and_lines_end_without_blanks() {
        let mut table = Table::new(vec![Side::Left, Side::Right, Side::Left]);
        table.row(vec![
            Cell::strong("名前"),
            Cell::plain("7"),
            Cell::plain("x"),
        ]);
        table.row(vec![Cell::plain("é"), Cell::plain("1→12"), Cell::plain("")]);
        let mut out = String::new();
        table.render(
            Screen {
                width: 80,
                is_coloured: false,
            },
            &mut out,
        );
        assert_eq!(out, "名前     7  x\né     1→12\n");
        let mut painted = String::new();
        table.render(
            Screen {
                width: 80,
                is_coloured: true,
            },
            &mut painted,
        );
        assert_eq!(
            painted.replace("\u{1b}[1m", "").replace("\u{1b}[0m", ""),
            out
        );
    }

    #[test]
    fn ids_can_not_command_the_terminal() {
        assert_eq!(
            shown("a\u{1b}[2Jb\n\u{202e}c"),
            "a\\u{1b}[2Jb\\u{a}\\u{202e}c"
        );
    }

    #[test]
    fn numbers_are_grouped_and_bytes_scaled() {
        assert_eq!(grouped(i64::MIN), "-9,223,372,036,854,775,808");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1000), "1,000");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1024), "1.0 KiB");
        assert_eq!(bytes(3 * (1 << 29)), "1.5 GiB");
        assert_eq!(bytes(i128::from(i64::MAX)), "7.9 EiB");
    }
}
