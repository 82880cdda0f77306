//! The parts of a response as the solver's types, so that the verifier can be asked about them.

use shardflow_solver::certificate::{Certificate, RankPrices, SlotPrice};
use shardflow_solver::cost::{RANKS, Rank};
use shardflow_solver::plan::{Move, MoveKind, MoveReason};
use shardflow_solver::snapshot::{BrokerId, Problem, Role};

use crate::pb;
use crate::wire::external::Names;

/// A move; what is wrong with it otherwise, after its path.
pub(super) fn one_move(names: &Names<'_>, message: &pb::Move) -> Result<Move, String> {
    let broker = |id: &str, field: &str| match (id, names.broker(id)) {
        ("", _) => Ok(None),
        (_, Some(broker)) => Ok(Some(broker)),
        _ => Err(format!("{field}: {id}: must be in snapshot.brokers")),
    };
    let unnamed = |field: &str| format!("{field}: must be named");
    let kind = match message.kind() {
        pb::MoveKind::Add => MoveKind::Add,
        pb::MoveKind::Copy => MoveKind::Copy,
        pb::MoveKind::Promotion => MoveKind::Promotion,
        pb::MoveKind::Remove => MoveKind::Remove,
        pb::MoveKind::Unspecified => return Err(unnamed("kind")),
    };
    let reason = match message.reason() {
        pb::MoveReason::Failover => MoveReason::Failover,
        pb::MoveReason::New => MoveReason::New,
        pb::MoveReason::Drain => MoveReason::Drain,
        pb::MoveReason::Rule => MoveReason::Rule,
        pb::MoveReason::Spread => MoveReason::Spread,
        pb::MoveReason::Cost => MoveReason::Cost,
        pb::MoveReason::Unspecified => return Err(unnamed("reason")),
    };
    let role = match message.role() {
        pb::Role::Leader => Role::Leader,
        pb::Role::Follower => Role::Follower,
        pb::Role::Unspecified => return Err(unnamed("role")),
    };
    let shard = names.shard(&message.shard);
    Ok(Move {
        step: message.step,
        shard: shard
            .ok_or_else(|| format!("shard: {}: must be in snapshot.shards", message.shard))?,
        role,
        from: broker(&message.from, "from")?,
        to: broker(&message.to, "to")?,
        kind,
        reason,
        detour: message.detour,
        blocked: (!message.blocked.is_empty()).then(|| message.blocked.clone()),
        bytes: message.bytes,
    })
}

/// The prices of a certificate; what is wrong with it otherwise, after its path.
pub(super) fn certificate(
    problem: &Problem,
    names: &Names<'_>,
    message: &pb::Certificate,
) -> Result<Certificate, String> {
    if message.ranks.len() > RANKS {
        return Err(format!(
            "ranks: {}: more than there are",
            message.ranks.len()
        ));
    }
    let numbered = message.brokers.iter().enumerate();
    let brokers = numbered.map(|(at, id)| {
        let broker = names.broker(id);
        broker.ok_or_else(|| format!("brokers[{at}]: {id}: is not known"))
    });
    let brokers = brokers.collect::<Result<Vec<_>, _>>()?;
    let numbered = message.ranks.iter().enumerate();
    let ranks = numbered.map(|(at, prices)| {
        let read = rank_prices(problem, names, &brokers, prices);
        read.map_err(|fault| format!("ranks[{at}].{fault}"))
    });
    Ok(Certificate {
        ranks: ranks.collect::<Result<_, _>>()?,
    })
}

fn rank_prices(
    problem: &Problem,
    names: &Names<'_>,
    listed: &[BrokerId],
    message: &pb::RankPrices,
) -> Result<RankPrices, String> {
    let unknown = |what: &str, id: &str| format!("{what}: {id}: is not known");
    let broker = |id: &str| names.broker(id).ok_or_else(|| unknown("broker", id));
    let rank = Rank::ALL.into_iter().find(|r| r.name() == message.rank);
    let brokers = problem.brokers.len();
    let mut prices = RankPrices {
        rank: rank.ok_or_else(|| unknown("rank", &message.rank))?,
        slots: Vec::new(),
        brokers: vec![0; brokers],
        zones: vec![0; problem.zones.len()],
        broker_replicas: Vec::new(),
        zone_replicas: Vec::new(),
        replica_slots: Vec::new(),
    };
    for prices_of in &message.streams {
        slot_prices(names, listed, prices_of, &mut prices.slots)?;
    }
    for prices_of in &message.replica_streams {
        slot_prices(names, listed, prices_of, &mut prices.replica_slots)?;
    }
    // A pair that is listed twice stays, for the verifier to refuse.
    for slots in [&mut prices.slots, &mut prices.replica_slots] {
        slots.sort_by_key(|slot| (slot.stream, slot.broker));
    }
    for price in &message.prices {
        let (of_brokers, of_zones) = match price.role() {
            pb::Role::Follower => (&mut prices.broker_replicas, &mut prices.zone_replicas),
            pb::Role::Leader | pb::Role::Unspecified => (&mut prices.brokers, &mut prices.zones),
        };
        if price.broker.is_empty() {
            let zone = names.zone(&price.zone);
            let zone = zone.ok_or_else(|| unknown("zone", &price.zone))?;
            of_zones.resize(problem.zones.len(), 0);
            of_zones[zone.index()] = price.value;
        } else {
            of_brokers.resize(brokers, 0);
            of_brokers[broker(&price.broker)?.index()] = price.value;
        }
    }
    Ok(prices)
}

/// Adds the prices of one stream; `listed` are the certificate's brokers.
fn slot_prices(
    names: &Names<'_>,
    listed: &[BrokerId],
    message: &pb::StreamPrices,
    slots: &mut Vec<SlotPrice>,
) -> Result<(), String> {
    let id = &message.stream;
    let stream = names.stream(id);
    let stream = stream.ok_or_else(|| format!("streams: {id}: is not known"))?;
    let (brokers, values) = (message.brokers.len(), message.values.len());
    if brokers != values {
        return Err(format!(
            "streams: {id}: {values} prices for {brokers} brokers"
        ));
    }
    for (&number, &price) in message.brokers.iter().zip(&message.values) {
        let broker = listed.get(number as usize);
        let unknown = || format!("streams: {id}: broker {number}: is not among the brokers");
        slots.push(SlotPrice {
            stream,
            broker: *broker.ok_or_else(unknown)?,
            price,
        });
    }
    Ok(())
}
