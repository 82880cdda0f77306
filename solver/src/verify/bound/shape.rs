//! What is wrong with a certificate before its prices are looked at.

use crate::certificate::{Certificate, SlotPrice};
use crate::cost::Rank;
use crate::snapshot::Problem;
use crate::verify::{Fault, Rule};

/// What is wrong with the shape of a certificate. Its prices may be any integers.
pub fn check_shape(problem: &Problem, certificate: &Certificate) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut find = |what: String| faults.push(Fault::of_answer(Rule::CertificateShape, what));
    let (brokers, zones) = (problem.brokers.len(), problem.zones.len());
    // Prices of replicas may be absent.
    let of_replicas = |part, has, wants: usize| (part, has, if has == 0 { 0 } else { wants });
    for prices in &certificate.ranks {
        let parts = [
            ("brokers", prices.brokers.len(), brokers),
            ("zones", prices.zones.len(), zones),
            of_replicas("broker_replicas", prices.broker_replicas.len(), brokers),
            of_replicas("zone_replicas", prices.zone_replicas.len(), zones),
        ];
        for (part, has, wants) in parts.into_iter().filter(|(_, has, wants)| has != wants) {
            let rank = prices.rank.name();
            find(format!(
                "the certificate has {has} prices of {rank} for {wants} {part}"
            ));
        }
        for (slots, role) in [
            (&prices.slots, "leader"),
            (&prices.replica_slots, "replica"),
        ] {
            if let Some(what) = slot_fault(problem, prices.rank, slots, role) {
                find(what);
            }
        }
    }
    for pair in certificate
        .ranks
        .windows(2)
        .filter(|pair| pair[0].rank >= pair[1].rank)
    {
        let (first, second) = (pair[0].rank.name(), pair[1].rank.name());
        find(format!(
            "the certificate lists the prices of {second} after those of {first}"
        ));
    }
    faults
}

/// What is wrong with a list of a rank's slots: one that is out of range or out of order.
fn slot_fault(problem: &Problem, rank: Rank, slots: &[SlotPrice], role: &str) -> Option<String> {
    let (streams, brokers) = (problem.streams.len(), problem.brokers.len());
    let place = |slot: &SlotPrice| (slot.stream, slot.broker);
    let rank = rank.name();
    let is_known =
        |slot: &&SlotPrice| slot.stream.index() < streams && slot.broker.index() < brokers;
    if let Some(slot) = slots.iter().find(|slot| !is_known(slot)) {
        let (stream, broker) = (slot.stream.0, slot.broker.0);
        return Some(format!(
            "the certificate has a price of {rank} for a {role} of stream {stream} on broker {broker}, of {streams} and {brokers}"
        ));
    }
    let pair = (slots.windows(2)).find(|pair| place(&pair[0]) >= place(&pair[1]))?;
    let name = |slot: &SlotPrice| {
        let (stream, broker) = (problem.stream(slot.stream), problem.broker(slot.broker));
        format!("stream {:?} on broker {:?}", stream.id, broker.id)
    };
    let (first, second) = (name(&pair[0]), name(&pair[1]));
    Some(format!(
        "the certificate lists the price of {rank} for a {role} of {second} after that for {first}"
    ))
}
