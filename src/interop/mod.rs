//! Formats that operators have in hand, in and out.
//!
//! Importers turn them into requests, exporters turn plans into what the cluster's own tools run. Both are pure
//! functions of text: nothing is read, written or asked of a cluster here. Both list everything that is wrong at
//! once, and neither panics, whatever the text.

use std::fmt;

mod brokers;
pub mod dimacs;
pub mod elasticsearch;
mod json;
pub mod kafka;
mod noise;
pub mod weight_function;

use crate::pb;

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

/// A request, and what to know about how it came about.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The request: its snapshot, and what of the policy the source decides.
    pub request: pb::OptimizeRequest,
    /// Things to know that are not errors.
    pub warnings: Vec<String>,
}

/// Why nothing was imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", list(.findings))]
pub struct ImportError {
    /// Everything that is wrong, by document and in its order.
    pub findings: Vec<Finding>,
}

/// Why nothing was exported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", list(.findings))]
pub struct ExportError {
    /// Everything that is wrong, in the order of the plan.
    pub findings: Vec<Finding>,
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

    /// The findings as an error, where there are any.
    fn refuse(&mut self) -> Result<(), ImportError> {
        match std::mem::take(&mut self.findings) {
            findings if findings.is_empty() => Ok(()),
            findings => Err(ImportError { findings }),
        }
    }

    /// What was imported, with the warnings so far.
    fn imported(self, snapshot: pb::Snapshot, policy: Option<pb::Policy>) -> Imported {
        Imported {
            request: pb::OptimizeRequest {
                snapshot: Some(snapshot),
                policy,
                ..pb::OptimizeRequest::default()
            },
            warnings: self.warnings,
        }
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

/// `1 partition`, `2 partitions`.
fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// The first few names, as warnings print them.
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
