//! A report against its plan: the value and bound of every rank, what proves the bounds, and what follows from them.
//!
//! **Bounds.** A certificate is taken at its word in nothing: its prices give a lower bound, and a rank's claim has to
//! be what that bound proves. Without a certificate the bound of no prices at all is taken; what it leaves open is
//! unchecked, unless the present layout shows that it is wrong. What rests on a MIP solver's
//! word is unchecked likewise; it has to be more than the certificate proves.
//!
//! **What follows.** Outcome, gap, proof and fallback are functions of each other or of the bounds; each is compared
//! with what the others make it. The prices of the report are those of the certificate, less what concerns streams.

use shardflow_solver::budget::unstopped;
use shardflow_solver::cost::{Cost, RANKS, Rank};
use shardflow_solver::verify::{bound, cut};

use super::{Known, Recheck, read};
use crate::pb;
use crate::wire::answer;

/// What is shown of the bounds.
struct Shown {
    /// For each rank that no plan as good in the ranks before has less.
    bounds: [Option<i64>; RANKS],
    /// What stands behind that.
    basis: Basis,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Basis {
    /// The certificate, which is all there is.
    Certificate,
    /// A certificate that can't be read, and is a fault already.
    Unreadable,
    /// No prices; other prices may prove more.
    NoPrices,
}

impl Recheck<'_> {
    /// Checks a report; whether all bounds that it claims were shown to hold.
    pub(super) fn report(&mut self, report: &pb::SolveReport, known: &Known) -> bool {
        let names = report.ranks.iter().map(|claim| claim.rank.as_str());
        if !names.eq(Rank::ALL.iter().map(|rank| rank.name())) {
            self.add("report.ranks: must list every rank once, in order");
            return false;
        }
        let shown = self.shown(report, &known.cost);
        let mut is_checked = shown.basis != Basis::Unreadable;
        for (rank, claim) in Rank::ALL.into_iter().zip(&report.ranks) {
            self.value(rank, claim, &known.cost);
            is_checked &= self.bound(rank, claim, &known.cost, &shown);
        }
        self.order_of_bounds(&report.ranks);
        if let Some(present) = &known.present {
            self.refute(&report.ranks, present);
        }
        self.outcome(report);
        self.how(report);
        if let Some((rebuilt, told)) = &known.rebuilt {
            let is_current = !rebuilt.moves.iter().any(|step| step.to.is_some());
            if report.engine() == pb::Engine::Current && !is_current {
                self.add("report.engine: ENGINE_CURRENT: the plan is not the present layout");
            }
            if report.explanations != told.explanations {
                self.add("report.explanations: are not those of what is short");
            }
            for reason in &told.reasons {
                let faults = cut::check(self.problem, &known.cost, &reason.cut);
                faults.iter().for_each(|fault| self.add(fault));
            }
        }
        is_checked
    }

    /// What the certificate proves of each rank, or else what holds without one.
    fn shown(&mut self, report: &pb::SolveReport, cost: &Cost) -> Shown {
        let read = report.certificate.as_ref().map(|message| {
            let certificate = read::certificate(self.problem, &self.names, message)?;
            match bound::check_shape(self.problem, &certificate).first() {
                Some(fault) => Err(format!("ranks: {fault}")),
                None => Ok(certificate),
            }
        });
        let (certificate, basis) = match read {
            None => (Default::default(), Basis::NoPrices),
            Some(Ok(certificate)) => {
                let is_proven = report.outcome() == pb::Outcome::Optimal;
                if report.prices != answer::prices(self.problem, &certificate, is_proven) {
                    self.add("report.prices: are not those of the certificate");
                }
                (certificate, Basis::Certificate)
            }
            Some(Err(fault)) => {
                self.add(format!("report.certificate.{fault}"));
                (Default::default(), Basis::Unreadable)
            }
        };
        let mut bounds = [None; RANKS];
        let largest =
            unstopped(|pace| bound::largest_within(self.problem, &certificate, cost, pace));
        match largest.map(|bound| bound::proven(cost, &bound)) {
            Some(Ok(proven)) => bounds = proven,
            Some(Err(fault)) if basis == Basis::Certificate => self.add(fault),
            // Only a placement that breaks a hard rule costs less than the least.
            Some(Err(_)) => {}
            // Of prices that can't be read there is no bound, and those that can have the right shape.
            None => {}
        }
        Shown { bounds, basis }
    }

    fn value(&mut self, rank: Rank, claim: &pb::RankBound, cost: &Cost) {
        if claim.value != cost[rank] {
            let (at, name) = (rank as usize, rank.name());
            let (says, is) = (claim.value, cost[rank]);
            self.add(format!("report.ranks[{at}].value: {says}: {name} is {is}"));
        }
    }

    /// Checks a bound and its proof; whether it was shown to hold.
    fn bound(&mut self, rank: Rank, claim: &pb::RankBound, cost: &Cost, shown: &Shown) -> bool {
        let path = format!("report.ranks[{}]", rank as usize);
        let known = shown.bounds[rank as usize];
        let is_solvers = claim.proof() == pb::Proof::SolverBound && claim.bound.is_some();
        let proof = match claim.bound {
            Some(least) if is_solvers && known < Some(least) => pb::Proof::SolverBound,
            Some(_) => pb::Proof::Certificate,
            None => pb::Proof::None,
        };
        if claim.proof() != proof {
            let (says, is) = (claim.proof().as_str_name(), proof.as_str_name());
            self.add(format!("{path}.proof: {says}: is {is} with such a bound"));
        }
        let Some(least) = claim.bound else {
            if let (Some(known), Basis::Certificate) = (known, shown.basis) {
                self.add(format!(
                    "{path}.bound: none: the certificate proves {known}"
                ));
            }
            return true;
        };
        if least > cost[rank] {
            let name = rank.name();
            self.add(format!(
                "{path}.bound: {least}: is above the value of {name}"
            ));
            return true;
        }
        if proof == pb::Proof::SolverBound {
            return false;
        }
        let is_shown = known.is_some_and(|known| known >= least);
        let fault = match shown.basis {
            Basis::Certificate if known == Some(least) => return true,
            Basis::Certificate if is_shown => "the certificate proves more",
            Basis::Certificate => "the certificate does not prove it",
            Basis::NoPrices | Basis::Unreadable => return is_shown,
        };
        self.add(format!("{path}.bound: {least}: {fault}"));
        true
    }

    /// A bound holds among plans as good in the ranks before, so each of these has to be met.
    fn order_of_bounds(&mut self, ranks: &[pb::RankBound]) {
        let is_met = |claim: &&pb::RankBound| claim.bound == Some(claim.value);
        let met = ranks.iter().take_while(is_met).count();
        let later = ranks.iter().enumerate().skip(met + 1);
        for (at, _) in later.filter(|(_, claim)| claim.bound.is_some()) {
            let before = &ranks[met].rank;
            self.add(format!(
                "report.ranks[{at}].bound: {before}, a rank before, is not proven"
            ));
        }
    }

    /// The present layout is a plan: bounds that it undercuts are wrong.
    fn refute(&mut self, ranks: &[pb::RankBound], present: &Cost) {
        for (rank, claim) in Rank::ALL.into_iter().zip(ranks) {
            let Some(least) = claim.bound else { return };
            if present[rank] < least {
                let (at, has) = (rank as usize, present[rank]);
                self.add(format!(
                    "report.ranks[{at}].bound: {least}: the present layout has {has}"
                ));
            }
            if present[rank] != least {
                return;
            }
        }
    }

    /// Checks what follows from the bounds.
    fn outcome(&mut self, report: &pb::SolveReport) {
        let open = (report.ranks.iter()).find(|claim| claim.bound != Some(claim.value));
        let outcome = match open {
            None => pb::Outcome::Optimal,
            Some(_) => pb::Outcome::Feasible,
        };
        if report.outcome() != outcome {
            self.add("report.outcome: does not follow from the bounds");
        }
        let gap = open.and_then(|claim| {
            let missing = i128::from(claim.value) - i128::from(claim.bound?);
            Some(missing as f64 / claim.value.unsigned_abs().max(1) as f64)
        });
        let is_same = match (report.gap, gap) {
            // A reader of decimal numbers may be off by the last bit.
            (Some(says), Some(is)) => says.to_bits().abs_diff(is.to_bits()) <= 1,
            (says, is) => says.is_none() && is.is_none(),
        };
        if !is_same {
            self.add("report.gap: does not follow from the bounds");
        }
    }

    /// Checks what is said of how the plan was found.
    fn how(&mut self, report: &pb::SolveReport) {
        use pb::{Engine, FallbackReason};
        let engine = report.engine();
        if !matches!(
            engine,
            Engine::NetworkSimplex
                | Engine::Mip
                | Engine::GreedyTiers
                | Engine::WeightFunction
                | Engine::Swap
                | Engine::Current
                | Engine::External
        ) {
            let name = engine.as_str_name();
            self.add(format!("report.engine: {name}: is none of this version"));
        }
        let fallback = report.fallback();
        let is_optimal = report.outcome() == pb::Outcome::Optimal;
        let name = fallback.as_str_name();
        if fallback == FallbackReason::Unspecified || is_optimal && fallback != FallbackReason::None
        {
            self.add(format!("report.fallback: {name}: does not fit the outcome"));
        }
        let reproducible = match fallback {
            FallbackReason::WorkLimit | FallbackReason::Verifier => Some(true),
            FallbackReason::TimeBudget | FallbackReason::Deadline | FallbackReason::Cancelled => {
                Some(false)
            }
            // A proven plan is proven, whatever stopped the search then.
            FallbackReason::None if is_optimal => None,
            FallbackReason::None => Some(true),
            FallbackReason::Unspecified => None,
        };
        if reproducible.is_some_and(|is| is != report.reproducible) {
            let says = report.reproducible;
            self.add(format!(
                "report.reproducible: {says}: does not fit the fallback {name}"
            ));
        }
    }
}
