//! Formats that operators have in hand, in and out.
//!
//! Importers turn them into requests, exporters turn plans into what the cluster's own tools run. Both are pure
//! functions of text: nothing is read, written or asked of a cluster here. Both list everything that is wrong at
//! once, and neither panics, whatever the text.

use std::fmt;

pub mod dimacs;
pub mod kafka;

/// Longest excerpt of foreign text that a finding quotes, in characters.
const EXCERPT_MAX: usize = 100;

/// One thing that is wrong with a text or a plan.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Where: the document, and the line or JSON path in it, such as `layout, line 12`.
    pub place: String,
    /// What is there, shortened.
    pub found: String,
    /// The rule it breaks, in words.
    pub rule: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.rule)?;
        if self.found.is_empty() {
            return Ok(());
        }
        write!(f, "; found `{}`", self.found)
    }
}

/// Findings one to a line, as errors print them.
fn list(findings: &[Finding]) -> String {
    let lines: Vec<String> = findings.iter().map(Finding::to_string).collect();
    lines.join("\n")
}

/// Collects what is wrong and what is worth knowing.
#[derive(Debug, Default)]
struct Report {
    findings: Vec<Finding>,
    warnings: Vec<String>,
}

impl Report {
    fn find(&mut self, place: impl Into<String>, found: &str, rule: impl Into<String>) {
        self.findings.push(Finding {
            place: place.into(),
            found: excerpt(found),
            rule: rule.into(),
        });
    }

    fn warn(&mut self, text: impl Into<String>) {
        self.warnings.push(text.into());
    }
}

/// Foreign text made fit for a terminal: one line, no control characters, at most [`EXCERPT_MAX`] characters.
fn excerpt(text: &str) -> String {
    let mut chars = text.trim().chars();
    let mut short: String = chars
        .by_ref()
        .take(EXCERPT_MAX)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if chars.next().is_some() {
        short.push('…');
    }
    short
}

/// `count thing(s)` and the first few names, as warnings print them.
fn few(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let mut text = names
        .iter()
        .take(SHOWN)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > SHOWN {
        text.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    text
}
