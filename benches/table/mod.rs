//! Ratios as tables: printed, and kept as a record.
//!
//! Ours comes first, then the peers, each divided by the best peer of the section. Milliseconds are there for
//! orientation only: they belong to one machine and one hour.

use crate::contest::{Row, Side, best_peer};
use crate::peers::LEMON_SIMPLEX;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What was measured on one family or instance.
pub(crate) struct Section {
    pub(crate) name: String,
    pub(crate) about: String,
    /// Shards of a cluster; nodes of a plain network.
    pub(crate) count: usize,
    pub(crate) rows: Vec<Row>,
    pub(crate) notes: Vec<String>,
}

/// All of a run.
#[derive(Default)]
pub(crate) struct Record {
    /// Machine, seed, commit, day, peers.
    pub(crate) about: Vec<(&'static str, String)>,
    pub(crate) placement: Vec<Section>,
    pub(crate) classical: Vec<Section>,
}

impl Section {
    /// The section as a table of its own.
    pub(crate) fn markdown(&self) -> String {
        let mut text = format!("## {}: {}\n\n", self.name, self.about);
        text += "| | / best peer | ms | runs | peak MB |\n| --- | ---: | ---: | ---: | ---: |\n";
        let best = best_peer(&self.rows).and_then(Row::median);
        let (ours, peers): (Vec<&Row>, Vec<&Row>) =
            self.rows.iter().partition(|row| row.side == Side::Ours);
        for row in ours {
            line(&mut text, &format!("**{}**", row.name), row, best);
        }
        for row in peers {
            line(&mut text, &row.name, row, best);
        }
        if !self.notes.is_empty() {
            let _ = writeln!(text, "\n{}", self.notes.join(" "));
        }
        text
    }

    /// Time of the first row of ours: the plan, or the bare solver.
    fn ours(&self) -> Option<Duration> {
        let is_ours = |row: &&Row| row.side == Side::Ours;
        self.rows.iter().find(is_ours).and_then(Row::median)
    }

    /// The better of LEMON's network simplexes.
    fn lemon_simplex(&self) -> Option<Duration> {
        let is_it = |row: &&Row| row.name.starts_with(LEMON_SIMPLEX);
        self.rows
            .iter()
            .filter(is_it)
            .filter_map(Row::peer_median)
            .min()
    }

    fn json(&self) -> Value {
        let row = |row: &Row| {
            json!({
                "name": row.name,
                "ours": row.side == Side::Ours,
                "problem": row.problem,
                "seconds": row.times.iter().map(Duration::as_secs_f64).collect::<Vec<_>>(),
                "cost": row.cost.map(|cost| cost.to_string()),
                "peak_bytes": row.peak_bytes,
                "fault": row.fault,
            })
        };
        json!({
            "name": self.name,
            "about": self.about,
            "rows": self.rows.iter().map(row).collect::<Vec<_>>(),
            "notes": self.notes,
        })
    }
}

fn line(text: &mut String, name: &str, row: &Row, best: Option<Duration>) {
    let time = row.median().filter(|_| row.fault.is_none());
    let peak = row
        .peak_bytes
        .map_or_else(String::new, |bytes| grouped(bytes as usize >> 20));
    let last = row.fault.as_deref().unwrap_or(&peak);
    let _ = writeln!(
        text,
        "| {name} | {} | {} | {} | {last} |",
        ratio(time, best),
        time.map_or_else(String::new, millis),
        row.times.len(),
    );
}

impl Record {
    /// What was not printed section by section: where it ran, and the classical families in one table.
    pub(crate) fn summary(&self) -> String {
        let mut text = String::new();
        for (what, value) in &self.about {
            let _ = writeln!(text, "- {what}: {value}");
        }
        for pair in self.placement.windows(2) {
            text += &growth(&pair[0], &pair[1]);
        }
        if !self.classical.is_empty() {
            let _ = write!(text, "\n{}", classical(&self.classical));
        }
        text
    }

    /// All of it.
    pub(crate) fn markdown(&self) -> String {
        let mut text = format!("# Ratios to the best peer\n\n{}", self.summary());
        for section in self.placement.iter().chain(&self.classical) {
            let _ = write!(text, "\n{}", section.markdown());
        }
        text
    }

    /// All of it, with every run.
    pub(crate) fn json(&self) -> Value {
        let about = self
            .about
            .iter()
            .map(|(what, value)| ((*what).to_owned(), value.clone()));
        json!({
            "about": about.map(|(what, value)| (what, Value::String(value))).collect::<serde_json::Map<_, _>>(),
            "placement": self.placement.iter().map(Section::json).collect::<Vec<_>>(),
            "classical": self.classical.iter().map(Section::json).collect::<Vec<_>>(),
        })
    }

    /// Writes both forms under a name without an ending.
    pub(crate) fn write(&self, directory: &Path, name: &str) -> std::io::Result<PathBuf> {
        std::fs::create_dir_all(directory)?;
        let path = directory.join(format!("{name}.md"));
        std::fs::write(&path, self.markdown())?;
        let mut text = serde_json::to_string_pretty(&self.json())?;
        text.push('\n');
        std::fs::write(directory.join(format!("{name}.json")), text)?;
        Ok(path)
    }
}

/// The classical families: one row an instance, and the medians.
pub(crate) fn classical(sections: &[Section]) -> String {
    let mut text = "## Classical families: the bare solver\n\n".to_owned();
    text +=
        "| instance | size | / LEMON NetworkSimplex | / best peer | best peer | ms | its ms |\n";
    text += "| --- | --- | ---: | ---: | --- | ---: | ---: |\n";
    let (mut to_lemon, mut to_best) = (Vec::new(), Vec::new());
    for section in sections {
        let best = best_peer(&section.rows);
        let best_time = best.and_then(Row::median);
        let (ours, lemon) = (section.ours(), section.lemon_simplex());
        to_lemon.extend(quotient(ours, lemon));
        to_best.extend(quotient(ours, best_time));
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} |",
            section.name,
            section.about,
            ratio(ours, lemon),
            ratio(ours, best_time),
            best.map_or("none", |row| &row.name),
            ours.map_or_else(String::new, millis),
            best_time.map_or_else(String::new, millis),
        );
    }
    let _ = writeln!(
        text,
        "| median | | {} | {} | | | |",
        middle(to_lemon),
        middle(to_best)
    );
    text
}

/// How time grows from one size of cluster to the next, as an item of a list.
fn growth(small: &Section, large: &Section) -> String {
    let times = quotient(large.ours(), small.ours());
    let Some(times) = times.filter(|_| small.count > 0) else {
        return String::new();
    };
    let counts = large.count as f64 / small.count as f64;
    let (from, to) = (&small.name, &large.name);
    let a_shard = times / counts;
    format!(
        "- from {from} to {to}: {times:.1} times the time of a plan, {a_shard:.2} times a shard\n"
    )
}

fn quotient(time: Option<Duration>, best: Option<Duration>) -> Option<f64> {
    Some(time?.as_secs_f64() / best?.as_secs_f64())
}

fn ratio(time: Option<Duration>, best: Option<Duration>) -> String {
    quotient(time, best).map_or_else(String::new, |ratio| format!("{ratio:.3}"))
}

fn middle(mut ratios: Vec<f64>) -> String {
    ratios.sort_unstable_by(f64::total_cmp);
    let middle = ratios.get(ratios.len() / 2);
    middle.map_or_else(String::new, |ratio| format!("{ratio:.3}"))
}

fn millis(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64() * 1e3)
}

/// A count with its thousands set apart.
pub(crate) fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
