//! Random networks: the simplexes and cost scaling against successive shortest paths, the checker and, on a sample, HiGHS.

mod generate;
mod linear;
mod simplex;

use shardflow_solver::network::{Network, NodeId, RankCost};

use generate::Case;
pub use generate::kind;

use crate::highs;
use crate::rng::Rng;
use crate::ssp::{self, Outcome};

/// Most units that all arcs together may carry above their lower bounds, for HiGHS.
const UNITS_MAX: i128 = 400;
/// Largest cost of an arc for HiGHS.
const COST_MAX: i128 = 1 << 30;

/// What comparing one case showed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Seen {
    /// An optimum, equal in every rank.
    Optimal,
    /// The same deficit, with its cut.
    Infeasible,
    /// The same rank without end.
    Unbounded,
    /// Out of range, refused as documented.
    Refused,
}

/// Compares the case of a seed.
///
/// # Errors
/// The first mismatch in words, and the network.
pub fn check(seed: u64, with_highs: bool) -> Result<Seen, String> {
    let mut rng = Rng::new(seed);
    let case = match generate::case(&mut rng, seed) {
        Ok(case) => case,
        Err(draft) => return draft.check_refused().map(|()| Seen::Refused),
    };
    compare(&case, &mut rng, with_highs).map_err(|fault| format!("{fault}\n{}", dump(&case)))
}

/// The network of a seed.
pub fn describe(seed: u64) -> String {
    match generate::case(&mut Rng::new(seed), seed) {
        Ok(case) => dump(&case),
        Err(_) => "out of range".to_owned(),
    }
}

fn compare(case: &Case, rng: &mut Rng, with_highs: bool) -> Result<Seen, String> {
    let expected = ssp::solve(&case.network, &case.ranks);
    simplex::from_scratch(case, &expected)?;
    linear::by_every_engine(case)?;
    match &expected {
        Outcome::Infeasible { .. } => return Ok(Seen::Infeasible),
        Outcome::Unbounded { rank } => {
            simplex::is_optimal_before(case, *rank)?;
            return Ok(Seen::Unbounded);
        }
        Outcome::Optimal { totals, .. } => {
            simplex::from_flows(case, totals, rng)?;
            if with_highs && is_small(case) {
                equal("HiGHS", &highs::optimum(&case.network, &case.ranks), totals)?;
            }
        }
    }
    Ok(Seen::Optimal)
}

/// Whether HiGHS, which takes a variable for each unit and works in floats, is a judge of the case.
fn is_small(case: &Case) -> bool {
    let network = &case.network;
    let units = |arc| i128::from(network.upper(arc)) - i128::from(network.lower(arc));
    let sum: i128 = network.arcs().map(units).sum();
    let ends = |arc| [network.lower(arc), network.upper(arc)];
    let is_exact = |rank: &RankCost| {
        let costs = network
            .arcs()
            .flat_map(|arc| ends(arc).map(|x| highs::value(rank, arc, x)));
        costs
            .map(i128::abs)
            .max()
            .is_none_or(|most| most < COST_MAX)
    };
    (1..=UNITS_MAX).contains(&sum) && case.ranks.iter().all(is_exact)
}

fn equal(who: &str, found: &[i128], expected: &[i128]) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!(
        "{who} costs {found:?}, successive shortest paths {expected:?}"
    ))
}

/// The case as DIMACS, with the first rank's unit costs; what DIMACS can't say is in comments.
fn dump(case: &Case) -> String {
    let Case { network, ranks, .. } = case;
    let (nodes, arcs) = (network.node_count(), network.arc_count());
    let mut text = format!("c {}\np min {nodes} {arcs}\n", case.kind);
    for node in network.nodes().filter(|&node| network.supply(node) != 0) {
        text += &format!("n {} {}\n", node.0 + 1, network.supply(node));
    }
    for arc in network.arcs() {
        let upper = match network.upper(arc) {
            Network::UNCAPACITATED => -1,
            upper => upper,
        };
        let ends = |node: NodeId| node.0 + 1;
        let unit = |rank: &RankCost| rank.unit.get(arc.index()).copied().unwrap_or(0);
        text += &format!(
            "a {} {} {} {upper} {}\n",
            ends(network.tail(arc)),
            ends(network.head(arc)),
            network.lower(arc),
            ranks.first().map_or(0, unit)
        );
    }
    for (rank, cost) in ranks.iter().enumerate() {
        text += &format!("c rank {rank}: unit costs {:?}\n", cost.unit);
        for (arc, convex) in &cost.convex {
            text += &format!("c rank {rank}: arc {} {convex:?}\n", arc.index() + 1);
        }
    }
    text
}
