//! Outcomes and their proofs on networks by hand.

use super::*;
use crate::budget::never;

type Arc = (usize, usize, i64, i64, i64);

const FREE: i64 = Network::UNCAPACITATED;

fn builder(supplies: &[i64], arcs: &[Arc]) -> (NetworkBuilder, RankCost) {
    let mut builder = NetworkBuilder::default();
    for &supply in supplies {
        builder.add_node(supply);
    }
    for &(tail, head, lower, upper, _) in arcs {
        builder.add_arc(NodeId::at(tail), NodeId::at(head), lower, upper);
    }
    let unit = arcs.iter().map(|arc| arc.4).collect();
    (builder, RankCost::linear(unit))
}

fn outcome(supplies: &[i64], arcs: &[Arc]) -> Result<Outcome, SolveError> {
    let (builder, cost) = builder(supplies, arcs);
    let network = builder.build().unwrap();
    solve(&network, &cost, &mut Budget::new(None, &never))
}

fn delivery(supplies: &[i64], arcs: &[Arc]) -> Option<i128> {
    let (builder, _) = builder(supplies, arcs);
    let surplus = supplies.iter().map(|&supply| i128::from(supply)).sum();
    let delivery = deliverable(builder, surplus, &mut Budget::new(None, &never)).unwrap();
    assert_eq!(delivery.supplied - delivery.demanded, surplus);
    delivery.delivered
}

#[test]
fn costs_beyond_the_range_are_exact_where_they_have_a_common_divisor() {
    let (builder, cost) = builder(&[4, -4], &[(0, 1, 0, 4, i64::MIN), (0, 1, 0, 4, 1 << 62)]);
    let network = builder.build().unwrap();
    let solved = solve(&network, &cost, &mut Budget::new(None, &never));
    let Ok(Outcome::Optimal(solution)) = solved else {
        panic!("{solved:?}");
    };
    assert_eq!(solution.cost_unit, 1 << 62);
    assert_eq!(solution.flow, [4, 0]);
    assert_eq!(total(&cost, &solution.flow), Some(-(1 << 65)));
    assert_eq!(check(&network, &cost, &solution), []);
    let corrupt = Solution {
        cost_unit: 3,
        ..solution
    };
    assert!(!check(&network, &cost, &corrupt).is_empty());
}

#[test]
fn costs_beyond_the_range_without_a_divisor_are_refused() {
    let refused = outcome(&[4, -4], &[(0, 1, 0, 4, i64::MIN), (0, 1, 0, 4, 1)]);
    assert!(matches!(
        refused,
        Err(SolveError::Cost(CostError::CostRange { .. }))
    ));
}

#[test]
fn a_total_beyond_128_bits_is_none() {
    assert_eq!(
        total(&RankCost::linear(vec![i64::MIN; 2]), &[i64::MIN; 2]),
        None
    );
}

#[test]
fn a_cut_counts_supply_room_and_what_is_forced_in() {
    let arcs = [(0, 1, 0, 2, 0), (2, 0, 3, 9, 0), (1, 2, 0, 9, 0)];
    let Ok(Outcome::Infeasible(Some(cut))) = outcome(&[4, -4, 0], &arcs) else {
        panic!();
    };
    assert_eq!(cut.nodes, [NodeId(0)]);
    assert_eq!((cut.supply, cut.forced, cut.room), (4, 3, 2));
    assert_eq!(cut.deficit(), 5);
}

#[test]
fn a_cut_that_proves_nothing_is_none() {
    let network = |upper| {
        let arcs = [(0, 1, 0, upper, 0)];
        builder(&[2, -2], &arcs).0.build().unwrap()
    };
    let nodes = || vec![NodeId(0)];
    assert!(Cut::new(&network(1), nodes()).is_some());
    assert_eq!(Cut::new(&network(2), nodes()), None);
    assert_eq!(Cut::new(&network(FREE), nodes()), None);
}

#[test]
fn an_unbounded_network_names_its_cycle_in_order() {
    let arcs = [
        (0, 1, 0, 5, 0),
        (1, 2, 0, FREE, 4),
        (2, 3, 0, FREE, -6),
        (3, 1, 0, FREE, 1),
        (1, 3, 0, FREE, 9),
        (3, 0, 0, FREE, 0),
    ];
    let Ok(Outcome::Unbounded(Some(mut cycle))) = outcome(&[1, 0, 0, -1], &arcs) else {
        panic!();
    };
    let begin = cycle.iter().position(|&arc| arc == ArcId(1)).unwrap();
    cycle.rotate_left(begin);
    assert_eq!(cycle, [ArcId(1), ArcId(2), ArcId(3)]);
    let own = outcome(&[0], &[(0, 0, 0, FREE, -1)]);
    assert_eq!(own, Ok(Outcome::Unbounded(Some(vec![ArcId(0)]))));
}

#[test]
fn unbalanced_supplies_deliver_what_fits() {
    let arcs = [(0, 1, 0, 1, 0)];
    assert_eq!(delivery(&[2, -1], &arcs), Some(1));
    assert_eq!(delivery(&[2, -5], &arcs), Some(1));
    assert_eq!(delivery(&[2, -5], &[]), Some(0));
    assert_eq!(delivery(&[7, -5], &[(0, 1, 0, FREE, 3)]), Some(5));
    // The lower bound asks for more than there is.
    assert_eq!(delivery(&[2, -1], &[(0, 1, 3, 9, 0)]), None);
}

#[test]
fn what_the_check_rejects_is_no_outcome() {
    let (builder, cost) = builder(&[1, -1], &[(0, 1, 0, 1, 1), (0, 1, 0, 1, 2)]);
    let network = builder.build().unwrap();
    let dear = Solution {
        flow: vec![0, 1],
        potentials: vec![0, 2],
        cost_unit: 1,
    };
    let refused = proven(&network, &cost, Outcome::Optimal(dear));
    assert!(matches!(refused, Err(SolveError::Engine(_))), "{refused:?}");
}
