//! What is printed: lines for programs, sentences for people.

use std::fmt::Write;

use shardflow_solver::bare::{Cut, Delivery, SolveError};

use super::work::{Cycle, Solved};

/// Most nodes that a sentence names.
const NODES_MAX: usize = 20;

/// Bytes of a line, about.
const LINE_BYTES: usize = 16;

/// The lines of an optimum.
pub(super) fn optimal(solved: &Solved, with_all: bool, with_potentials: bool) -> String {
    let Solved {
        network,
        solution,
        total,
    } = solved;
    let used = solution.flow.iter().filter(|&&flow| with_all || flow != 0);
    let lines = used.count() + usize::from(with_potentials) * network.node_count();
    let mut out = String::with_capacity(lines.saturating_add(2).saturating_mul(LINE_BYTES));
    // Writing to a string can't fail.
    let _ = writeln!(out, "s {total}");
    for (arc, &flow) in network.arcs().zip(&solution.flow) {
        if with_all || flow != 0 {
            let (tail, head) = (network.tail(arc).index() + 1, network.head(arc).index() + 1);
            let _ = writeln!(out, "f {tail} {head} {flow}");
        }
    }
    if with_potentials {
        for (node, &potential) in (1..).zip(&solution.potentials) {
            let potential = i128::from(potential) * solution.cost_unit;
            let _ = writeln!(out, "p {node} {potential}");
        }
    }
    out
}

/// Why no flow is feasible.
pub(super) fn infeasible(cut: Option<&Cut>) -> String {
    let Some(cut) = cut else {
        return "infeasible; this engine names no cut, the others do".to_owned();
    };
    let nodes = some_nodes(cut.nodes.iter().map(|node| node.index() + 1));
    // A negative lower bound of an arc inward lets flow out.
    let (forced, room) = (cut.forced.max(0), cut.room + (-cut.forced).max(0));
    let (supply, deficit) = (cut.supply, cut.deficit());
    let must = if forced > 0 {
        format!(" and must take in {forced}")
    } else {
        String::new()
    };
    format!(
        "infeasible, deficit {deficit}: nodes {nodes} together supply {supply}{must}, but at most {room} can leave them"
    )
}

/// By how much supplies miss their balance, and what can be delivered.
pub(super) fn unbalanced(surplus: i128, delivery: &Result<Delivery, SolveError>) -> String {
    let what = if surplus > 0 { "surplus" } else { "shortage" };
    let mut text = format!("unbalanced, {what} {}", surplus.unsigned_abs());
    match delivery {
        Ok(delivery) => {
            let (supplied, demanded) = (delivery.supplied, delivery.demanded);
            text.push_str(&format!(
                ": supplies sum to {supplied}, demands to {demanded}; "
            ));
            text.push_str(&match delivery.delivered {
                Some(delivered) => format!("at most {delivered} can be delivered"),
                None => "nothing can be delivered, since the lower bounds can't be kept".to_owned(),
            });
        }
        Err(error) => text.push_str(&format!(
            "; how much can be delivered is not known: {error}"
        )),
    }
    text
}

/// Why the cost has no end.
pub(super) fn unbounded(cycle: Option<&Cycle>) -> String {
    match cycle {
        Some(cycle) => format!(
            "unbounded: each unit around the cycle of uncapacitated arcs through nodes {} costs {}",
            some_nodes(cycle.nodes.iter().copied()),
            cycle.cost
        ),
        None => "unbounded; this engine names no cycle, the others do".to_owned(),
    }
}

/// The first numbers of a list, and how many follow.
fn some_nodes(nodes: impl ExactSizeIterator<Item = usize>) -> String {
    let untold = nodes.len().saturating_sub(NODES_MAX);
    let told: Vec<String> = nodes.take(NODES_MAX).map(|node| node.to_string()).collect();
    let mut text = told.join(", ");
    if untold > 0 {
        text.push_str(&format!(" and {untold} more"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use shardflow_solver::network::NodeId;

    #[test]
    fn a_cut_is_told_in_words_whatever_its_signs() {
        let cut = |supply, room, forced| Cut {
            nodes: (0..22).map(NodeId).collect(),
            supply,
            room,
            forced,
        };
        let nodes =
            "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 and 2 more";
        assert_eq!(
            infeasible(Some(&cut(5, 3, 2))),
            format!(
                "infeasible, deficit 4: nodes {nodes} together supply 5 and must take in 2, but at most 3 can leave them"
            )
        );
        assert_eq!(
            infeasible(Some(&cut(9, 3, -2))),
            format!(
                "infeasible, deficit 4: nodes {nodes} together supply 9, but at most 5 can leave them"
            )
        );
    }
}
