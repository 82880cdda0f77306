//! Between the messages of `proto/shardflow/v1` and the solver's types.
//!
//! [`request`] reads what callers send, [`external`] reads plans made elsewhere, [`answer`] writes what they get,
//! [`unchecked`] what they get where there was no time to check the request.
//! Reading never stops at the first thing that is wrong: each becomes a [`Finding`] with its path in the request,
//! a default takes its place, and the rest is read, so that the solver's own findings can be listed with them.

pub mod answer;
pub(crate) mod cost;
pub mod external;
pub(crate) mod reasons;
pub mod request;
pub mod unchecked;

use shardflow_solver::validate::Finding;

/// Collects findings while a message is read.
#[derive(Debug, Default)]
pub(crate) struct Findings(pub(crate) Vec<Finding>);

impl Findings {
    pub(crate) fn add(
        &mut self,
        path: impl Into<String>,
        value: impl ToString,
        rule: impl Into<String>,
    ) {
        self.0.push(Finding {
            path: path.into(),
            value: value.to_string(),
            rule: rule.into(),
        });
    }

    /// The enum value of that number, or the zero value and a finding.
    pub(crate) fn known<E: TryFrom<i32> + Default>(
        &mut self,
        number: i32,
        path: impl FnOnce() -> String,
        name: &str,
    ) -> E {
        E::try_from(number).unwrap_or_else(|_| {
            self.add(path(), number, format!("must be a number of {name}"));
            E::default()
        })
    }
}
