//! Why a plan falls short, in the user's words: from the solver's cuts and shortfalls to messages.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use shardflow_solver::cost::Rank;
use shardflow_solver::cut::{Change, Cut, CutLimit, LimitRule, Place, Reason, Remedy};
use shardflow_solver::explain;
use shardflow_solver::plan::{Plan, Shortfall, ShortfallReason};
use shardflow_solver::snapshot::{Problem, ShardId};

use crate::pb;

/// Ids of shards that a cut names which lack nothing.
const SHARDS_MAX: usize = 10;
/// Limits that a sentence names.
const LIMITS_MAX: usize = 4;

/// What is said of a plan that falls short.
pub(crate) struct Told {
    /// The cuts, as the solver has them.
    pub(crate) reasons: Vec<Reason>,
    /// Everything that is short.
    pub(crate) explanations: Vec<pb::Explanation>,
    /// Shards that lack replicas.
    lacks: HashMap<ShardId, (pb::UnplacedReason, String)>,
}

impl Told {
    /// What there is to say of a plan. A function of problem and placement.
    pub(crate) fn of(problem: &Problem, plan: &Plan) -> Self {
        let reasons = explain::reasons(problem, &plan.after.0);
        let mut told = Told {
            reasons: Vec::new(),
            explanations: Vec::new(),
            lacks: HashMap::with_capacity(plan.shortfalls.len()),
        };
        let teller = Teller { problem };
        let is_led = |id: &ShardId| plan.placement[id.index()].leader.is_some();
        for reason in &reasons {
            let is_first = reason.cut.rank == Rank::UnplacedLeaders;
            let unled = reason
                .cut
                .shards
                .iter()
                .filter(|id| is_first && !is_led(id));
            let unled: Vec<ShardId> = unled.copied().collect();
            if is_first && (reason.cut.limits.is_empty() || unled.is_empty()) {
                // No rule has a number to raise: what is said of each shard names what keeps it off.
                continue;
            }
            let explanation = teller.explanation(reason, &unled);
            let said = (explanation.reason(), explanation.text.clone());
            told.lacks
                .extend(unled.into_iter().map(|id| (id, said.clone())));
            told.explanations.push(explanation);
        }
        told.add_rest(problem, plan);
        told.reasons = reasons;
        told
    }

    /// What no cut explains.
    fn add_rest(&mut self, problem: &Problem, plan: &Plan) {
        let mut by_reason: BTreeMap<ShortfallReason, Vec<&Shortfall>> = BTreeMap::new();
        for shortfall in &plan.shortfalls {
            if let Entry::Vacant(entry) = self.lacks.entry(shortfall.shard) {
                entry.insert((unplaced(shortfall.reason), shortfall.detail.clone()));
                let of_reason = by_reason.entry(shortfall.reason).or_default();
                of_reason.push(shortfall);
            }
        }
        for (reason, of_reason) in by_reason {
            let shards = of_reason.iter().map(|s| problem.shard(s.shard).id.clone());
            self.explanations.push(pb::Explanation {
                reason: unplaced(reason).into(),
                text: in_words(&of_reason),
                shards: shards.collect(),
                shard_count: of_reason.len() as i64,
                need: of_reason.len() as i64,
                ..Default::default()
            });
        }
        let of_breaches = |e: &pb::Explanation| e.rank == Rank::Breaches.name();
        let has_cut = self.explanations.iter().any(of_breaches);
        let mut add = |rank: Rank, need: i64, text: String| {
            if need > 0 {
                self.explanations.push(pb::Explanation {
                    reason: pb::UnplacedReason::None.into(),
                    rank: rank.name().to_owned(),
                    need,
                    demand: need,
                    text,
                    ..Default::default()
                });
            }
        };
        let breaches = plan.after.0[Rank::Breaches];
        if breaches > 0 {
            let fixed = explain::fixed_breaches(problem);
            let text = "stay wherever leaders go: pinned shards above a cap, or replicas that nothing moves";
            add(Rank::Breaches, fixed, format!("{fixed} {text}"));
            let rest = if has_cut { 0 } else { breaches - fixed };
            let text = "no cut explains: ranks before ask for them, or the plan is not the best";
            add(Rank::Breaches, rest, format!("{rest} {text}"));
        }
        let absent = problem.policy.absent_zone_minimum;
        let text = "asked of zones that no broker is in";
        add(
            Rank::ZoneMinimumShortfall,
            absent,
            format!("{absent} {text}"),
        );
    }

    /// What is said of a shard: NONE and nothing where it lacks no replica.
    pub(crate) fn lack(&self, shard: ShardId) -> (pb::UnplacedReason, &str) {
        match self.lacks.get(&shard) {
            None => (pb::UnplacedReason::None, ""),
            Some((reason, detail)) => (*reason, detail),
        }
    }

    /// The shards that lack replicas.
    pub(crate) fn lacking(&self) -> impl Iterator<Item = ShardId> + '_ {
        self.lacks.keys().copied()
    }
}

fn unplaced(reason: ShortfallReason) -> pb::UnplacedReason {
    match reason {
        ShortfallReason::BrokerCap => pb::UnplacedReason::BrokerCap,
        ShortfallReason::ZoneLimit => pb::UnplacedReason::ZoneLimit,
        ShortfallReason::ZoneRule => pb::UnplacedReason::ZoneRule,
        ShortfallReason::Disk => pb::UnplacedReason::Disk,
        ShortfallReason::Rate => pb::UnplacedReason::Rate,
        ShortfallReason::NoBroker => pb::UnplacedReason::NoBroker,
    }
}

/// What the shortfalls say, each sentence once, at most three of them.
fn in_words(of_reason: &[&Shortfall]) -> String {
    let mut sentences: Vec<&str> = Vec::new();
    let mut others = 0_usize;
    for shortfall in of_reason {
        let is_said = sentences.contains(&shortfall.detail.as_str());
        match (is_said, sentences.len() < 3) {
            (true, _) => {}
            (false, true) => sentences.push(&shortfall.detail),
            (false, false) => others += 1,
        }
    }
    let mut text = sentences.join("; ");
    if others > 0 {
        text.push_str(&format!("; and {others} more shards alike"));
    }
    text
}

/// The wire's name of a rule.
pub(crate) fn rule(rule: LimitRule) -> pb::Rule {
    match rule {
        LimitRule::MaxLeaders => pb::Rule::MaxLeaders,
        LimitRule::MaxReplicas => pb::Rule::MaxReplicas,
        LimitRule::Closed => pb::Rule::Closed,
    }
}

struct Teller<'a> {
    problem: &'a Problem,
}

impl Teller<'_> {
    fn explanation(&self, reason: &Reason, unled: &[ShardId]) -> pb::Explanation {
        let (problem, cut) = (self.problem, &reason.cut);
        let name = |id: &ShardId| problem.shard(*id).id.clone();
        let shards = match cut.rank {
            Rank::UnplacedLeaders => unled.iter().map(name).collect(),
            _ => cut.shards.iter().take(SHARDS_MAX).map(name).collect(),
        };
        let is_of_broker = |limit: &CutLimit| matches!(limit.place, Place::Broker(_));
        let held_back = match cut.rank {
            Rank::UnplacedLeaders if cut.limits.iter().any(is_of_broker) => {
                pb::UnplacedReason::BrokerCap
            }
            Rank::UnplacedLeaders => pb::UnplacedReason::ZoneLimit,
            _ => pb::UnplacedReason::None,
        };
        let zones = cut
            .zones
            .iter()
            .map(|z| problem.zones[z.index()].name.clone());
        pb::Explanation {
            reason: held_back.into(),
            text: self.text(cut),
            shards,
            rank: cut.rank.name().to_owned(),
            need: cut.need(),
            demand: cut.demand,
            capacity: cut.capacity,
            shard_count: cut.shards.len() as i64,
            zones: zones.collect(),
            limits: cut.limits.iter().map(|limit| self.limit(limit)).collect(),
            suggestions: reason.remedies.iter().map(|r| self.suggestion(r)).collect(),
        }
    }

    fn text(&self, cut: &Cut) -> String {
        let need = cut.need();
        let limits = match cut.limits.is_empty() {
            true => "nowhere".to_owned(),
            false => format!("only on {}", self.limits(&cut.limits)),
        };
        let besides = match cut.unplaced {
            0 => String::new(),
            n => format!(", {n} of them without a leader"),
        };
        let room = cut.capacity - cut.unplaced;
        let shards = counted(cut.shards.len() as i64, "shard", "shards");
        match cut.rank {
            Rank::UnplacedLeaders => format!(
                "{shards} may be led {limits}, with room for {room}: {need} without a leader"
            ),
            Rank::Breaches => format!(
                "{shards}{besides} can be led {limits}, with room for {room} within the rules: {need} too many"
            ),
            _ => self.minima(cut),
        }
    }

    /// What zones want, and what can be led there.
    fn minima(&self, cut: &Cut) -> String {
        let problem = self.problem;
        let zones: Vec<String> = (cut.zones.iter())
            .map(|&z| self.place(Place::Zone(z)))
            .collect();
        let minima = cut
            .zones
            .iter()
            .map(|z| problem.zones[z.index()].min_leaders);
        let wanted: i64 = minima.map(i64::from).sum();
        let pinned = if cut.demand == wanted {
            ""
        } else {
            " besides pinned ones"
        };
        let shards = cut.shards.len() as i64 - cut.unplaced;
        let mut ways = Vec::new();
        if shards != 0 || cut.limits.is_empty() {
            ways.push(counted(shards, "shard that may be", "shards that may be"));
        }
        if !cut.limits.is_empty() {
            ways.push(format!("what passes {}", self.limits(&cut.limits)));
        }
        format!(
            "{} {} {}{pinned}; {} can be led there ({}): {} short",
            some(&zones),
            if zones.len() == 1 { "wants" } else { "want" },
            counted(cut.demand, "leader", "leaders"),
            cut.capacity,
            ways.join(", and "),
            cut.need()
        )
    }

    fn limits(&self, limits: &[CutLimit]) -> String {
        let words: Vec<String> = limits.iter().map(|limit| self.in_words(limit)).collect();
        some(&words)
    }

    fn in_words(&self, limit: &CutLimit) -> String {
        let problem = self.problem;
        let place = self.place(limit.place);
        let (leaders, replicas) = match limit.place {
            Place::Broker(b) => {
                let broker = problem.broker(b);
                (broker.max_leaders, broker.max_replicas)
            }
            Place::Zone(z) => {
                let zone = &problem.zones[z.index()];
                (zone.max_leaders, zone.max_replicas)
            }
        };
        match (limit.rule, limit.place) {
            (LimitRule::MaxLeaders, _) => format!("{place} (max_leaders {})", leaders.unwrap_or(0)),
            (LimitRule::MaxReplicas, _) => {
                format!("{place} (max_replicas {})", replicas.unwrap_or(0))
            }
            (LimitRule::Closed, Place::Broker(b)) if !problem.is_active(b) => {
                format!("{place} ({})", problem.broker(b).state)
            }
            (LimitRule::Closed, _) => format!("{place} (not allowed)"),
        }
    }

    fn place(&self, place: Place) -> String {
        match place {
            Place::Broker(b) => format!("broker {:?}", self.problem.broker(b).id),
            Place::Zone(z) => format!("zone {:?}", self.problem.zones[z.index()].name),
        }
    }

    fn names(&self, place: Place) -> (String, String) {
        match place {
            Place::Broker(b) => (self.problem.broker(b).id.clone(), String::new()),
            Place::Zone(z) => (String::new(), self.problem.zones[z.index()].name.clone()),
        }
    }

    fn limit(&self, limit: &CutLimit) -> pb::CutLimit {
        let (broker, zone) = self.names(limit.place);
        pb::CutLimit {
            broker,
            zone,
            rule: rule(limit.rule).into(),
            room: limit.room,
        }
    }

    fn suggestion(&self, remedy: &Remedy) -> pb::Suggestion {
        let changes = remedy.changes.iter();
        let words: Vec<String> = changes.clone().map(|c| self.change_in_words(c)).collect();
        pb::Suggestion {
            text: format!("{}: lifts {}", words.join(" and "), remedy.lifts),
            lifts: remedy.lifts,
            changes: changes.map(|change| self.change(change)).collect(),
        }
    }

    fn change_in_words(&self, change: &Change) -> String {
        let problem = self.problem;
        let raise = |what: &str, place: Place, from: [Option<u32>; 2], to: u32| {
            let from = match place {
                Place::Broker(_) => from[0],
                Place::Zone(_) => from[1],
            };
            let place = self.place(place);
            format!("raise {what} of {place} from {} to {to}", from.unwrap_or(0))
        };
        let broker = |place: Place| match place {
            Place::Broker(b) => Some(problem.broker(b)),
            Place::Zone(_) => None,
        };
        let zone = |place: Place| match place {
            Place::Broker(_) => None,
            Place::Zone(z) => Some(&problem.zones[z.index()]),
        };
        match *change {
            Change::MaxLeaders { place, to } => {
                let of_broker = broker(place).and_then(|b| b.max_leaders);
                let of_zone = zone(place).and_then(|z| z.max_leaders);
                raise("max_leaders", place, [of_broker, of_zone], to)
            }
            Change::MaxReplicas { place, to } => {
                let of_broker = broker(place).and_then(|b| b.max_replicas);
                let of_zone = zone(place).and_then(|z| z.max_replicas);
                raise("max_replicas", place, [of_broker, of_zone], to)
            }
            Change::MinLeaders { zone, to } => {
                let now = problem.zones[zone.index()].min_leaders;
                let place = self.place(Place::Zone(zone));
                format!("lower min_leaders of {place} from {now} to {to}")
            }
            Change::Open { stream, broker } => {
                let place = self.place(Place::Broker(broker));
                let zone = &problem.zones[problem.zone_of(broker).index()].name;
                let stream = &problem.stream(stream).id;
                format!(
                    "allow stream {stream:?} on {place} of zone {zone:?} (tags, allowed_brokers)"
                )
            }
        }
    }

    fn change(&self, change: &Change) -> pb::RuleChange {
        let of_place = |rule: pb::Rule, place: Place, to: u32| {
            let (broker, zone) = self.names(place);
            pb::RuleChange {
                rule: rule.into(),
                broker,
                zone,
                to,
                ..Default::default()
            }
        };
        match *change {
            Change::MaxLeaders { place, to } => of_place(pb::Rule::MaxLeaders, place, to),
            Change::MaxReplicas { place, to } => of_place(pb::Rule::MaxReplicas, place, to),
            Change::MinLeaders { zone, to } => {
                of_place(pb::Rule::MinLeaders, Place::Zone(zone), to)
            }
            Change::Open { stream, broker } => pb::RuleChange {
                stream: self.problem.stream(stream).id.clone(),
                ..of_place(pb::Rule::OpenBrokers, Place::Broker(broker), 0)
            },
        }
    }
}

/// The first of a list in words.
fn some(words: &[String]) -> String {
    let first = words[..words.len().min(LIMITS_MAX)].join(", ");
    match words.len().saturating_sub(LIMITS_MAX) {
        0 => first,
        n => format!("{first} and {n} more"),
    }
}

fn counted(count: i64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
