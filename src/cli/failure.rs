//! Why a command gives no answer, and with which status it leaves.

use std::fmt;
use std::io;
use std::path::Path;

use shardflow_solver::validate::Finding;

use crate::json::Malformed;
use crate::planning::Refusal;
use crate::report::escaped;

/// Status of a command whose input is wrong.
const STATUS_INPUT: u8 = 2;
/// Status of a command that failed for any other reason.
const STATUS_OTHER: u8 = 1;

/// Why a command gives no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// The arguments contradict each other.
    #[error("{0}")]
    Usage(String),
    /// A file is not the message it should be.
    #[error("{}", located(file, malformed))]
    Malformed {
        /// Its name.
        file: String,
        /// What is wrong.
        malformed: Malformed,
    },
    /// A file is not UTF-8.
    #[error("{0}: not UTF-8 text")]
    NotText(String),
    /// A file is wrong.
    #[error("{file} is not valid:{lines}")]
    Invalid {
        /// Its name.
        file: String,
        /// Everything that is wrong.
        lines: Lines,
    },
    /// Several files are wrong.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Each(Vec<Failure>),
    /// A file can't be read.
    #[error("can't read {file}: {cause}")]
    Read {
        /// Its name.
        file: String,
        /// The system's reason.
        cause: io::Error,
    },
    /// A file can't be written.
    #[error("can't write {file}: {cause}")]
    Write {
        /// Its name.
        file: String,
        /// The system's reason.
        cause: io::Error,
    },
    /// A message can't be written as JSON.
    #[error("can't write the answer as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// Whoever read standard output has left.
    #[error("standard output is closed")]
    Closed,
    /// Something else, in words.
    #[error("{0}")]
    Other(String),
}

/// The faults of a text, one a line, each with the file as compilers have it.
fn located(file: &str, malformed: &Malformed) -> String {
    let faults = malformed.0.iter();
    let lines = faults.map(|fault| format!("{file}:{}", escaped(&fault.to_string())));
    lines.collect::<Vec<_>>().join("\n")
}

/// Findings, one a line.
#[derive(Debug)]
pub(super) struct Lines(Vec<String>);

impl Lines {
    pub(super) fn new(findings: impl IntoIterator<Item = impl fmt::Display>) -> Self {
        let lines = findings.into_iter().map(|f| escaped(&f.to_string()));
        Lines(lines.collect())
    }
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|line| write!(f, "\n{line}"))
    }
}

impl Failure {
    /// Status that the process leaves with. Nobody is left to be told about a closed output: that is no failure.
    pub(super) fn status(&self) -> u8 {
        match self {
            Failure::Usage(_)
            | Failure::Malformed { .. }
            | Failure::NotText(_)
            | Failure::Invalid { .. } => STATUS_INPUT,
            Failure::Read { .. } | Failure::Write { .. } | Failure::Json(_) | Failure::Other(_) => {
                STATUS_OTHER
            }
            Failure::Each(failures) => failures.first().map_or(STATUS_OTHER, Failure::status),
            Failure::Closed => 0,
        }
    }

    /// The refusal of what `file` asks for; `place` turns the path of a finding into its place in the files.
    pub(super) fn refused<P: Into<Place>>(
        file: &str,
        refusal: Refusal,
        place: impl Fn(&str) -> P,
    ) -> Self {
        match refusal {
            Refusal::Invalid(findings) => Failure::invalid(file, placed(findings, place)),
            Refusal::Stopped(_) => Failure::Other(format!("{file}: {refusal}")),
        }
    }

    /// What is wrong with the contents of files; each finding has the place it is about, `file` where it names none.
    pub(super) fn invalid(file: &str, findings: Vec<(Place, String)>) -> Self {
        let failures = by_file(file, findings);
        let failures = failures.map(|(file, lines)| Failure::Invalid { file, lines });
        Failure::each(failures.collect())
    }

    fn each(mut failures: Vec<Failure>) -> Self {
        match failures.len() {
            1 => failures.remove(0),
            _ => Failure::Each(failures),
        }
    }

    pub(super) fn read(file: &Path, cause: io::Error) -> Self {
        let file = file.display().to_string();
        Failure::Read { file, cause }
    }

    pub(super) fn write(file: &Path, cause: io::Error) -> Self {
        let file = file.display().to_string();
        Failure::Write { file, cause }
    }
}

/// Where in the files a finding is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Place {
    /// The file, where it isn't the one that asks.
    pub(super) file: Option<String>,
    /// Path in the file.
    pub(super) path: String,
}

impl From<String> for Place {
    fn from(path: String) -> Self {
        Place { file: None, path }
    }
}

/// The findings with their places; what two paths of one place say alike is said once.
fn placed<P: Into<Place>>(
    findings: Vec<Finding>,
    place: impl Fn(&str) -> P,
) -> Vec<(Place, String)> {
    let mut placed = Vec::with_capacity(findings.len());
    let mut seen = std::collections::BTreeSet::new();
    for finding in findings {
        let place: Place = place(&finding.path).into();
        let path = place.path.clone();
        let text = Finding { path, ..finding }.to_string();
        if seen.insert((place.clone(), text.clone())) {
            placed.push((place, text));
        }
    }
    placed
}

/// What is found in each file, the one that asks first.
fn by_file(
    file: &str,
    findings: Vec<(Place, String)>,
) -> impl Iterator<Item = (String, Lines)> + use<> {
    let mut files: std::collections::BTreeMap<Option<String>, Vec<String>> = Default::default();
    for (place, text) in findings {
        files.entry(place.file).or_default().push(text);
    }
    let asking = file.to_owned();
    files.into_iter().map(move |(file, lines)| {
        let file = file.unwrap_or_else(|| asking.clone());
        (file, Lines::new(lines))
    })
}

/// An error and its causes in one line.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    text
}
