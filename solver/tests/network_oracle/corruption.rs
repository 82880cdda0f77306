//! One number of a proven answer changed: the checker must notice.

use shardflow_solver::network::Network;
use shardflow_solver::verify::flow::{FlowFault, check_optimal};

use crate::answers::from_scratch;
use crate::generator::{SMALL, random_case, with_upper};
use crate::rng::Rng;

#[test]
fn the_checker_rejects_every_corruption() {
    let (mut flows, mut bounds, mut potentials) = (0, 0, 0);
    for seed in 0..300 {
        let case = random_case(&mut Rng::new(3_000_000 + seed), &SMALL);
        let Ok(answer) = from_scratch(&case) else {
            continue;
        };
        let check = |network: &Network, flow: &[i64], potentials: &[Vec<i64>]| {
            check_optimal(network, &case.ranks, flow, potentials)
        };
        for arc in case.network.arcs() {
            let (tail, head) = (case.network.tail(arc), case.network.head(arc));
            let flow = answer.flow[arc.index()];
            let (lower, upper) = (case.network.lower(arc), case.network.upper(arc));
            if lower < flow {
                let tight = with_upper(&case.network, arc, flow - 1);
                let faults = check(&tight, &answer.flow, &answer.potentials);
                assert!(
                    faults.contains(&FlowFault::Bounds { arc, flow }),
                    "seed {seed}"
                );
                bounds += 1;
            }
            if tail == head {
                continue;
            }
            for step in [-1, 1] {
                let mut flow = answer.flow.clone();
                flow[arc.index()] += step;
                let faults = check(&case.network, &flow, &answer.potentials);
                let off = |f: &&FlowFault| matches!(f, FlowFault::Conservation { .. });
                assert_eq!(faults.iter().filter(off).count(), 2, "seed {seed}");
                flows += 1;
            }
            for (node, by) in [(tail, -100), (head, 100)] {
                let mut changed = answer.potentials.clone();
                changed[0][node.index()] += by;
                let faults = check(&case.network, &answer.flow, &changed);
                if flow < upper {
                    assert_ne!(faults, [], "seed {seed}");
                    potentials += 1;
                }
            }
        }
    }
    assert!(flows > 1000 && bounds > 500 && potentials > 1000);
}
