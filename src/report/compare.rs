//! Two plans of one snapshot side by side: cost by rank, moves, spread, how each was found, and what differs.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::counts::{Change, Counts, is_active};
use super::ids::Ids;
use super::table::{Cell, Screen, Side, Table, Tone, bytes, counted, grouped};
use super::words;
use super::{ID_WIDTH, LINES_MAX, title, warnings};
use crate::pb;
use crate::wire::cost::ranks;

/// One side of the comparison with what the report derives from it.
struct Plan<'a> {
    response: &'a pb::OptimizeResponse,
    before: pb::Cost,
    after: pb::Cost,
    moves: &'a [pb::Move],
    report: &'a pb::SolveReport,
    /// Largest minus smallest count of leaders: of the worst stream, and of all streams.
    ranges: [Change; 2],
}

/// What stands for a part of a message that is absent.
#[derive(Default)]
struct Absent {
    policy: pb::Policy,
    response: pb::OptimizeResponse,
    plan: pb::Plan,
    report: pb::SolveReport,
}

/// Two plans side by side.
pub fn compare(
    request: &pb::CompareRequest,
    response: &pb::CompareResponse,
    screen: Screen,
) -> String {
    let no_snapshot = pb::Snapshot::default();
    let snapshot = request.snapshot.as_ref().unwrap_or(&no_snapshot);
    let absent = Absent::default();
    let policies = [&request.baseline, &request.candidate].map(|variant| {
        let policy = variant.as_ref().and_then(|variant| variant.policy.as_ref());
        policy.unwrap_or(&absent.policy)
    });
    let sides = [&response.baseline, &response.candidate]
        .map(|side| side.as_ref().unwrap_or(&absent.response));
    let plans = [0, 1].map(|i| Plan::new(snapshot, policies[i], sides[i], &absent));
    let mut out = String::new();
    title("Two plans", snapshot, &request.request_id, screen, &mut out);
    out.push('\n');
    table(&plans, screen, &mut out);
    out.push('\n');
    let (tone, verdict) = verdict(&plans, policies[0] == policies[1]);
    out.push_str(&screen.paint(tone, &verdict));
    out.push('\n');
    differences(response, snapshot.shards.len(), screen, &mut out);
    warnings("baseline: ", plans[0].response, screen, &mut out);
    warnings("candidate: ", plans[1].response, screen, &mut out);
    out
}

impl<'a> Plan<'a> {
    fn new(
        snapshot: &pb::Snapshot,
        policy: &pb::Policy,
        response: &'a pb::OptimizeResponse,
        absent: &'a Absent,
    ) -> Self {
        let plan = response.plan.as_ref().unwrap_or(&absent.plan);
        let counts = Counts::new(snapshot, plan);
        Plan {
            response,
            before: plan.before.unwrap_or_default(),
            after: plan.after.unwrap_or_default(),
            moves: &plan.moves,
            report: response.report.as_ref().unwrap_or(&absent.report),
            ranges: [
                worst_stream(snapshot, policy, &counts),
                counts.total_range(snapshot),
            ],
        }
    }

    fn moves_of(&self, kind: pb::MoveKind) -> usize {
        self.moves.iter().filter(|step| step.kind() == kind).count()
    }

    fn bytes(&self) -> i128 {
        self.moves.iter().map(|step| i128::from(step.bytes)).sum()
    }
}

/// The largest range of any stream's leaders, over the active brokers that may hold the stream.
fn worst_stream(snapshot: &pb::Snapshot, policy: &pb::Policy, counts: &Counts) -> Change {
    let mut worst = Change::default();
    for (s, stream) in snapshot.streams.iter().enumerate() {
        let open: Vec<usize> = (0..snapshot.brokers.len())
            .filter(|&b| may_hold(policy, stream, &snapshot.brokers[b]))
            .collect();
        let range = counts.stream_range(s, &open);
        worst.before = worst.before.max(range.before);
        worst.after = worst.after.max(range.after);
    }
    worst
}

fn may_hold(policy: &pb::Policy, stream: &pb::Stream, broker: &pb::Broker) -> bool {
    let allowed = &stream.allowed_brokers;
    let mut required: HashMap<&String, &String> = policy.required_tags.iter().collect();
    required.extend(&stream.required_tags);
    is_active(broker)
        && (allowed.is_empty() || allowed.contains(&broker.id))
        && required
            .into_iter()
            .all(|(key, value)| broker.tags.get(key) == Some(value))
}

/// A line that tells how a plan was found.
type Told = fn(&pb::SolveReport) -> String;

fn table(plans: &[Plan<'_>; 2], screen: Screen, out: &mut String) {
    let mut table = Table::new(vec![Side::Left, Side::Right, Side::Right, Side::Right]);
    let heads = ["", "now", "baseline", "candidate"];
    table.row(heads.map(Cell::strong).to_vec());
    let [old, new] = plans;
    let now = ranks(&old.before).into_iter().zip(ranks(&new.before));
    let then = ranks(&old.after).into_iter().zip(ranks(&new.after));
    for (((name, now), (_, now_too)), ((_, baseline), (_, candidate))) in now.zip(then) {
        if [now, now_too, baseline, candidate] != [0; 4] {
            let now = either(now, now_too);
            table.row(row(name, now, baseline.into(), candidate.into()));
        }
    }
    table.row(Vec::new());
    let names = ["worst stream, max − min", "all leaders, max − min"];
    for (i, name) in names.into_iter().enumerate() {
        let [baseline, candidate] = [old.ranges[i], new.ranges[i]];
        let now = either(baseline.before, candidate.before);
        table.row(row(
            name,
            now,
            baseline.after.into(),
            candidate.after.into(),
        ));
    }
    table.row(Vec::new());
    move_rows(plans, &mut table);
    table.row(Vec::new());
    let told: [(&str, Told); 6] = [
        ("engine", words::engine),
        ("outcome", words::outcome),
        ("stopped by", words::fallback),
        ("gap", words::gap),
        ("work", |report| grouped(report.work)),
        ("time", words::elapsed),
    ];
    for (name, of) in told {
        let [baseline, candidate] = [of(old.report), of(new.report)];
        if !(baseline.is_empty() && candidate.is_empty()) {
            let cells = [name.to_owned(), String::new(), baseline, candidate];
            table.row(cells.map(Cell::plain).to_vec());
        }
    }
    table.render(screen, out);
}

fn move_rows(plans: &[Plan<'_>; 2], table: &mut Table) {
    let [old, new] = plans;
    let number = |count: usize| count as i128;
    let blank = String::new;
    let [baseline, candidate] = [old.moves.len(), new.moves.len()].map(number);
    table.row(row("moves", blank(), baseline, candidate));
    for (name, kind) in [
        ("  add", pb::MoveKind::Add),
        ("  copy", pb::MoveKind::Copy),
        ("  promotion", pb::MoveKind::Promotion),
        ("  remove", pb::MoveKind::Remove),
    ] {
        let [baseline, candidate] = [old.moves_of(kind), new.moves_of(kind)].map(number);
        if (baseline, candidate) != (0, 0) {
            table.row(row(name, blank(), baseline, candidate));
        }
    }
    let [baseline, candidate] = [old.bytes(), new.bytes()];
    if (baseline, candidate) != (0, 0) {
        let cells = [
            "bytes to copy".into(),
            blank(),
            bytes(baseline),
            bytes(candidate),
        ];
        table.row(cells.map(Cell::plain).to_vec());
    }
}

/// One number, or both where the policies judge the present layout differently.
fn either(one: i64, other: i64) -> String {
    if one == other {
        grouped(one)
    } else {
        format!("{} | {}", grouped(one), grouped(other))
    }
}

fn row(name: &str, now: String, baseline: i128, candidate: i128) -> Vec<Cell> {
    let tone = match candidate.cmp(&baseline) {
        Ordering::Less => Tone::Good,
        Ordering::Equal => Tone::Plain,
        Ordering::Greater => Tone::Bad,
    };
    vec![
        Cell::plain(name),
        Cell::dim(now),
        Cell::plain(grouped(baseline)),
        Cell::new(grouped(candidate), tone),
    ]
}

/// Which plan is better, and the rank that decides it.
fn verdict(plans: &[Plan<'_>; 2], is_same_policy: bool) -> (Tone, String) {
    if !is_same_policy {
        let text = "Each plan is judged by its own policy: the costs don't compare.";
        return (Tone::Strong, text.to_owned());
    }
    let [old, new] = plans;
    let pairs = ranks(&old.after).into_iter().zip(ranks(&new.after));
    let decides = pairs
        .map(|((name, baseline), (_, candidate))| (name, baseline, candidate))
        .find(|(_, baseline, candidate)| baseline != candidate);
    match decides {
        None => (
            Tone::Plain,
            "Both plans cost the same in every rank.".to_owned(),
        ),
        Some((name, baseline, candidate)) => {
            let (tone, better) = if candidate < baseline {
                (Tone::Good, "candidate")
            } else {
                (Tone::Bad, "baseline")
            };
            let text = format!(
                "The {better} is better, decided by {name}: {} in the baseline, {} in the candidate.",
                grouped(baseline),
                grouped(candidate)
            );
            (tone, text)
        }
    }
}

/// How many shards the plans place differently, and the first of them.
fn differences(response: &pb::CompareResponse, shards: usize, screen: Screen, out: &mut String) {
    let differences = &response.differences;
    if differences.is_empty() {
        out.push_str("Both place every shard alike.\n");
        return;
    }
    out.push_str(&format!(
        "They place {} of {} differently.\n\n",
        grouped(differences.len() as i128),
        counted(shards, "shard", "shards")
    ));
    let mut table = Table::new(vec![Side::Left; 3]);
    table.row(
        ["shard", "baseline", "candidate"]
            .map(Cell::strong)
            .to_vec(),
    );
    let listed = &differences[..differences.len().min(LINES_MAX)];
    let replicas: Vec<[String; 2]> = listed.iter().map(replicas).collect();
    let shards = Ids::new(listed.iter().map(|d| d.shard.as_str()), ID_WIDTH);
    let sides = Ids::new(replicas.iter().flatten().map(String::as_str), ID_WIDTH);
    for (difference, [baseline, candidate]) in listed.iter().zip(&replicas) {
        let cells = [
            shards.of(&difference.shard),
            sides.of(baseline),
            sides.of(candidate),
        ];
        table.row(cells.map(Cell::plain).to_vec());
    }
    table.render(screen, out);
    if differences.len() > LINES_MAX {
        out.push_str(&format!(
            "… and {} more\n",
            grouped((differences.len() - LINES_MAX) as i128)
        ));
    }
}

/// `leader + follower, follower` in the baseline and in the candidate; a dash for no leader.
fn replicas(difference: &pb::Difference) -> [String; 2] {
    let sides = [
        (&difference.baseline_leader, &difference.baseline_followers),
        (
            &difference.candidate_leader,
            &difference.candidate_followers,
        ),
    ];
    sides.map(|(leader, followers)| {
        let leader = if leader.is_empty() { "–" } else { leader };
        let mut text = leader.to_owned();
        if !followers.is_empty() {
            text.push_str(" + ");
            text.push_str(&followers.join(", "));
        }
        text
    })
}
