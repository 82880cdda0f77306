//! Other solvers, each on the same network.
//!
//! LEMON and OR-tools run in drivers of ours (`lemon.cpp`, `ortools_peer.py`), which `scripts/peers.sh` builds and
//! installs under the target directory; HiGHS is linked. A peer that is not there is named, with the reason.

pub(crate) mod highs;
mod process;

use crate::contest::{Contestant, Run, Side};
use crate::measure::time;
use crate::network::Bare;
use process::Process;
use shardflow_solver::verify;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// An algorithm of a driver.
struct Algorithm {
    /// What `--peers` calls it.
    key: &'static str,
    name: &'static str,
    /// What the driver calls it.
    command: &'static str,
    side: Side,
}

const LEMON: [Algorithm; 4] = [
    Algorithm {
        key: "lemon-ns",
        name: LEMON_SIMPLEX,
        command: "ns64",
        side: Side::Peer,
    },
    Algorithm {
        key: "lemon-ns",
        name: "LEMON NetworkSimplex, 32 bits",
        command: "ns32",
        side: Side::Peer32,
    },
    Algorithm {
        key: "lemon-cs",
        name: "LEMON CostScaling",
        command: "cs64",
        side: Side::Peer,
    },
    Algorithm {
        key: "lemon-cs",
        name: "LEMON CostScaling, 32 bits",
        command: "cs32",
        side: Side::Peer32,
    },
];

const ORTOOLS: [Algorithm; 1] = [Algorithm {
    key: "ortools",
    name: "OR-tools SimpleMinCostFlow",
    command: "scaling",
    side: Side::Peer,
}];

/// The peer that the classical families are held against, with whatever follows the name.
pub(crate) const LEMON_SIMPLEX: &str = "LEMON NetworkSimplex";

/// All that `--peers` takes.
pub(crate) const KEYS: [&str; 4] = ["lemon-ns", "lemon-cs", "ortools", "highs"];

/// Arcs up to which HiGHS takes part: it is 20 to 30 times slower than the others.
const HIGHS_ARCS_MAX: usize = 50_000;

/// The peers that take part.
pub(crate) struct Peers {
    directory: PathBuf,
    /// Keys asked for; none for all.
    keys: Vec<String>,
    /// Versions met, and peers that are not there.
    pub(crate) versions: RefCell<BTreeSet<String>>,
    pub(crate) missing: RefCell<BTreeSet<String>>,
}

impl Peers {
    /// Peers with their drivers in `directory`; all of them where `keys` is empty.
    pub(crate) fn new(directory: PathBuf, keys: Vec<String>) -> Self {
        Peers {
            directory,
            keys,
            versions: RefCell::default(),
            missing: RefCell::default(),
        }
    }

    /// Whether peers were asked for by name.
    pub(crate) fn are_named(&self) -> bool {
        !self.keys.is_empty()
    }

    fn takes_part(&self, key: &str) -> bool {
        self.keys.is_empty() || self.keys.iter().any(|k| k == key)
    }

    /// The contestants on a network that is in memory and in a file.
    pub(crate) fn on<'a>(
        &self,
        bare: &'a Bare,
        file: &Path,
        problem: &str,
        form: &str,
    ) -> Vec<Contestant<'a>> {
        let lemon = self.directory.join("lemon");
        let python = self.directory.join("venv/bin/python");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers/ortools_peer.py");
        let mut list = self.driven(("LEMON", &[&lemon]), &LEMON, file, problem, form);
        let driver = ("OR-tools", [python.as_path(), script.as_path()]);
        list.extend(self.driven((driver.0, &driver.1), &ORTOOLS, file, problem, form));
        if self.takes_part("highs") && bare.network.arc_count() <= HIGHS_ARCS_MAX {
            list.extend(highs_on(bare, problem, form));
        }
        list
    }

    fn driven<'a>(
        &self,
        (peer, command): (&str, &[&Path]),
        algorithms: &'static [Algorithm],
        file: &Path,
        problem: &str,
        form: &str,
    ) -> Vec<Contestant<'a>> {
        let wanted = algorithms.iter().filter(|a| self.takes_part(a.key));
        let wanted: Vec<&Algorithm> = wanted.collect();
        if wanted.is_empty() {
            return Vec::new();
        }
        let process = match self.start(peer, command, file) {
            Ok(process) => Rc::new(RefCell::new(process)),
            Err(reason) => {
                self.missing
                    .borrow_mut()
                    .insert(format!("{peer}: {reason}"));
                return Vec::new();
            }
        };
        let versions = &mut self.versions.borrow_mut();
        versions.insert(process.borrow().version.clone());
        let contestant = |algorithm: &&'static Algorithm| {
            let process = Rc::clone(&process);
            let command = algorithm.command;
            Contestant {
                name: named(algorithm.name, form),
                side: algorithm.side,
                problem: problem.to_owned(),
                run: Box::new(move || process.borrow_mut().run(command)),
            }
        };
        wanted.iter().map(contestant).collect()
    }

    /// Starts a driver; why not, where the script left a note of it.
    fn start(&self, peer: &str, command: &[&Path], file: &Path) -> Result<Process, String> {
        let is_there = command.iter().all(|part| part.exists());
        if is_there {
            return Process::start(command, file);
        }
        let note = self.directory.join(format!("{peer}.missing"));
        let reason = std::fs::read_to_string(note).unwrap_or_default();
        match reason.trim() {
            "" => Err("not installed; run scripts/peers.sh".to_owned()),
            reason => Err(reason.to_owned()),
        }
    }
}

fn highs_on<'a>(bare: &'a Bare, problem: &str, form: &str) -> Vec<Contestant<'a>> {
    let contestant = |variant: &'static highs::Variant| Contestant {
        name: named(variant.name, form),
        side: Side::Peer,
        problem: problem.to_owned(),
        run: Box::new(move || {
            let prepare = || highs::prepare(bare, variant);
            let (time, flow) = time(prepare, highs::Model::solve)?;
            Ok(Run {
                time,
                cost: Some(checked_cost(bare, &flow)?),
                peak_bytes: None,
            })
        }),
    };
    highs::VARIANTS.iter().map(contestant).collect()
}

/// Cost of a flow, once it is feasible.
pub(crate) fn checked_cost(bare: &Bare, flow: &[i64]) -> Result<i128, String> {
    match verify::flow::check_flow(&bare.network, flow).first() {
        Some(fault) => Err(format!("its flow is wrong: {fault}")),
        None => Ok(bare.cost.total(flow)),
    }
}

/// A solver's name with the form of the network, where there are several.
pub(crate) fn named(name: &str, form: &str) -> String {
    match form {
        "" => name.to_owned(),
        form => format!("{name}, {form}"),
    }
}
