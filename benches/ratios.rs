//! How long ours takes, divided by the best peer, on the same files in the same run.
//!
//! Usage: `cargo bench --bench ratios [-- FAMILY… --peers A,B --forms A,B --all-sizes]`. Families: S1 to S4, NETGEN-8,
//! NETGEN-SR, GRID-SQUARE, GRID-LONG, GRID-WIDE, GOTO-8, ASSIGNMENT, `placement` (S1 to S3) and `classical` (all of
//! them); without names both of the latter. `--peers`: lemon-ns, lemon-cs, ortools, highs; without it all of them, but
//! none for S4, where a run takes them minutes and 3 GB. `--forms`: dense, hub, compact; without it those that suit
//! the size. `--all-sizes`: also the large classical ones.
//!
//! Exit status 1 where costs disagree, a plan is not proven optimal or an answer fails its check; 2 where an argument
//! is unknown. The table is written to `benches/record/`.

mod arguments;
mod classical;
mod contest;
mod family;
mod measure;
mod network;
mod peers;
mod placement;
mod random;
mod table;

use arguments::Arguments;
use classical::Instance;
use peers::Peers;
use shardflow_solver::linear::Method;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use table::{Record, Section, grouped};

/// As in the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Seed of every family.
const SEED: u64 = 1;

fn main() -> ExitCode {
    let arguments = match Arguments::parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(fault) => {
            eprintln!("{fault}");
            return ExitCode::from(2);
        }
    };
    match bench(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("{fault}");
            ExitCode::FAILURE
        }
    }
}

fn bench(arguments: &Arguments) -> Result<(), String> {
    let files = directory();
    std::fs::create_dir_all(&files).map_err(|error| format!("{}: {error}", files.display()))?;
    let peers = Peers::new(files.join("peers"), arguments.peers.clone());
    let mut record = Record::default();
    for size in &arguments.placement {
        let section = placement::bench(size, &arguments.forms, &peers, &files)
            .map_err(|fault| format!("{}: {fault}", size.name))?;
        println!("{}", section.markdown());
        record.placement.push(section);
    }
    for instance in &arguments.classical {
        let section =
            one(instance, &peers, &files).map_err(|fault| format!("{}: {fault}", instance.name))?;
        println!("{}", section.markdown());
        record.classical.push(section);
    }
    finish(record, &peers)
}

/// Where files and drivers are: `bench` in cargo's target directory.
fn directory() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join(target.unwrap_or_else(|| PathBuf::from("target")))
        .join("bench")
}

/// Measures a classical instance.
fn one(instance: &Instance, peers: &Peers, files: &Path) -> Result<Section, String> {
    let bare = instance.make(SEED).map_err(|error| error.to_string())?;
    let file = files.join(format!("{}.min", instance.name));
    network::dimacs::write(&bare, &instance.name, &file).map_err(|error| error.to_string())?;
    let ours = [
        placement::AUTO,
        ("simplex", Method::Simplex),
        ("cost scaling", Method::CostScaling),
    ];
    let ours = ours.map(|named| placement::bare_solver(named, &bare, &instance.name, ""));
    let mut contestants = Vec::from(ours);
    contestants.extend(peers.on(&bare, &file, &instance.name, ""));
    let (nodes, arcs) = (bare.network.node_count(), bare.network.arc_count());
    Ok(Section {
        name: instance.name.clone(),
        about: format!("{} nodes, {} arcs", grouped(nodes), grouped(arcs)),
        count: nodes,
        rows: contest::hold(contestants)?,
        notes: Vec::new(),
    })
}

/// Prints what belongs to all tables and writes the record.
fn finish(mut record: Record, peers: &Peers) -> Result<(), String> {
    let (day, commit) = (measure::day(), measure::commit());
    let list = |set: &std::cell::RefCell<std::collections::BTreeSet<String>>| {
        set.borrow().iter().cloned().collect::<Vec<_>>().join("; ")
    };
    let runs = contest::RUNS;
    record.about = vec![
        ("machine", measure::machine()),
        ("commit", commit.clone()),
        ("day", day.clone()),
        ("seed", SEED.to_string()),
        (
            "method",
            format!(
                "median CPU time of {runs} runs after a warm-up, one thread each, all in turn; where it says 1 run, the \
                 warm-up is the run: it took over a minute, or over a second and three times as long as the best peer"
            ),
        ),
        ("peers", list(&peers.versions)),
    ];
    let missing = list(&peers.missing);
    if !missing.is_empty() {
        record.about.push(("missing peers", missing));
    }
    println!("{}", record.summary());
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/record");
    let written = record.write(&directory, &format!("{day}-{commit}"));
    let path = written.map_err(|error| format!("{}: {error}", directory.display()))?;
    println!("written to {}", path.display());
    Ok(())
}
