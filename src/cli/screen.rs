//! What standard output is read on.

use std::io::IsTerminal;

use crate::report::Screen;

/// Width where nothing tells it: what is piped is read in pagers and pasted into tickets.
const WIDTH: usize = 100;
/// No narrower than this, whatever the terminal says: a table needs room for its names.
const WIDTH_MIN: usize = 40;

/// Colours only on a terminal, and not where `NO_COLOR` is set; the width from `COLUMNS`, else the terminal's.
pub(super) fn of_stdout() -> Screen {
    let stdout = std::io::stdout();
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let of_variable = std::env::var("COLUMNS")
        .ok()
        .and_then(|text| text.parse().ok());
    let width = of_variable.or_else(|| {
        let (width, _) = terminal_size::terminal_size_of(&stdout)?;
        Some(usize::from(width.0))
    });
    Screen {
        width: width.unwrap_or(WIDTH).max(WIDTH_MIN),
        is_coloured: stdout.is_terminal() && !is_set("NO_COLOR") && !is_dumb,
    }
}
