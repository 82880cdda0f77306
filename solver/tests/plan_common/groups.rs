//! Whether steps of several shards are needed.

use shardflow_solver::plan::{Move, Plan};
use shardflow_solver::snapshot::Problem;

use super::{Balance, Live, counted, is_legal, layouts};

fn of_shards(step: &[Move]) -> Vec<Vec<Move>> {
    step.chunk_by(|a, b| a.shard == b.shard)
        .map(<[Move]>::to_vec)
        .collect()
}

/// No shard in a step of several could have gone before the others by itself, or been left out.
pub(crate) fn check_groups(problem: &Problem, plan: &Plan, steps: &[Vec<Move>]) -> usize {
    let mut layout: Vec<Live> = problem
        .shards
        .iter()
        .map(|s| Live::of(problem, &s.present))
        .collect();
    let goal: Vec<Live> = (plan.placement.iter())
        .map(|a| Live::of(problem, a))
        .collect();
    let goal_counts = counted(problem, &goal);
    let mut balance = Balance::new(problem, &layouts(problem, steps));
    let mut groups = 0;
    for step in steps {
        let items = of_shards(step);
        let before = counted(problem, &layout);
        let mut after = layout.clone();
        step.iter()
            .for_each(|m| after[m.shard.index()].apply(problem, m));
        let end = counted(problem, &after);
        groups += usize::from(items.len() > 1);
        for item in items.iter().filter(|_| items.len() > 1) {
            let mut alone = layout.clone();
            item.iter()
                .for_each(|m| alone[m.shard.index()].apply(problem, m));
            let between = counted(problem, &alone);
            assert!(
                !(is_legal(&before, &between)
                    && is_legal(&between, &end)
                    && balance.allows(problem, &layout, &alone)
                    && balance
                        .passed(problem, &layout, &alone)
                        .allows(problem, &alone, &after)),
                "{item:?} needn't wait for {step:?}"
            );
        }
        for left_out in items.iter().filter(|_| items.len() > 1 && items.len() < 64) {
            let mut without = layout.clone();
            for m in step.iter().filter(|m| m.shard != left_out[0].shard) {
                without[m.shard.index()].apply(problem, m);
            }
            let counts = counted(problem, &without);
            let is_spare = is_legal(&before, &counts)
                && leaves_way(&counts, &goal_counts)
                && balance.allows(problem, &layout, &without)
                && balance.leaves_way(problem, &layout, &without, &goal)
                && balance
                    .passed(problem, &layout, &without)
                    .allows(problem, &without, &after);
            assert!(!is_spare, "{left_out:?} isn't needed in {step:?}");
        }
        balance = balance.passed(problem, &layout, &after);
        layout = after;
    }
    groups
}

/// Whether what is still to arrive can: nothing above its cap falls below what it ends with.
fn leaves_way(now: &[(i64, Option<u32>)], goal: &[(i64, Option<u32>)]) -> bool {
    now.iter()
        .zip(goal)
        .all(|(n, g)| n.0 >= g.0 || g.1.is_none_or(|cap| g.0 <= i64::from(cap)))
}
