//! HiGHS's simplex, by the solver's own engine of that name.

use crate::network::Bare;
use shardflow_solver::highs::{self, Claim, Presolve};

/// Ways to run it. Each is the faster one at some size.
pub(crate) const VARIANTS: [Variant; 2] = [
    Variant {
        name: "HiGHS simplex, no presolve",
        presolve: Presolve::Off,
    },
    Variant {
        name: "HiGHS simplex, presolve",
        presolve: Presolve::On,
    },
];

/// A way to run HiGHS.
pub(crate) struct Variant {
    pub(crate) name: &'static str,
    presolve: Presolve,
}

/// A model that is ready to be solved, or why there is none.
pub(crate) struct Model(Result<highs::Model, String>);

/// Puts the network into HiGHS's terms.
pub(crate) fn prepare(bare: &Bare, variant: &Variant) -> Model {
    let model = highs::Model::new(&bare.network, &bare.cost, variant.presolve);
    Model(model.map_err(|error| error.to_string()))
}

impl Model {
    /// An optimal flow by arc.
    pub(crate) fn solve(self) -> Result<Vec<i64>, String> {
        match self.0?.solve().map_err(|error| error.to_string())? {
            Claim::Optimal { flow, .. } => Ok(flow),
            Claim::NoOptimum => Err("HiGHS finds no optimum".to_owned()),
        }
    }
}
