//! What is to be measured.

use crate::classical::{self, FAMILIES, Instance};
use crate::family::{SIZES, Size};
use crate::network::Form;
use crate::peers::KEYS;

/// The name of the one family of one size.
const ASSIGNMENT: &str = "ASSIGNMENT";

/// Sizes in `placement`.
const USUAL_SIZES: [&str; 3] = ["S1", "S2", "S3"];

/// Parsed arguments.
#[derive(Default)]
pub(crate) struct Arguments {
    pub(crate) placement: Vec<&'static Size>,
    pub(crate) classical: Vec<Instance>,
    /// None for those that suit.
    pub(crate) peers: Vec<String>,
    /// None for those that suit.
    pub(crate) forms: Vec<Form>,
}

impl Arguments {
    /// Reads the arguments. Options unknown here, such as the `--bench` that cargo adds, are passed over.
    ///
    /// # Errors
    /// A sentence that names what is unknown.
    pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut parsed = Arguments::default();
        let (mut names, mut all_sizes) = (Vec::new(), false);
        let mut arguments = arguments;
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--peers" => parsed.peers = peers(&arguments.next().unwrap_or_default())?,
                "--forms" => parsed.forms = forms(&arguments.next().unwrap_or_default())?,
                "--all-sizes" => all_sizes = true,
                option if option.starts_with('-') => {}
                _ => names.push(argument),
            }
        }
        if names.is_empty() {
            names = ["placement", "classical"].map(str::to_owned).to_vec();
        }
        for name in names {
            parsed.add(&name, all_sizes)?;
        }
        Ok(parsed)
    }

    fn add(&mut self, name: &str, all_sizes: bool) -> Result<(), String> {
        let is_placement = |size: &&Size| {
            size.name == name || (name == "placement" && USUAL_SIZES.contains(&size.name))
        };
        let before = self.placement.len() + self.classical.len();
        self.placement.extend(SIZES.iter().filter(is_placement));
        let is_classical = |family: &str| family == name || name == "classical";
        for family in FAMILIES.iter().filter(|family| is_classical(family.name)) {
            self.classical
                .extend(classical::instances(family, all_sizes));
        }
        if is_classical(ASSIGNMENT) {
            self.classical.push(classical::assignment());
        }
        if self.placement.len() + self.classical.len() == before {
            let classical = FAMILIES.map(|family| family.name).join(", ");
            return Err(format!(
                "{name} is no family; there are S1, S2, S3, S4, {classical}, {ASSIGNMENT}, placement and classical"
            ));
        }
        Ok(())
    }
}

fn peers(list: &str) -> Result<Vec<String>, String> {
    let names = || list.split(',').filter(|name| !name.is_empty());
    match names().find(|name| !KEYS.contains(name)) {
        Some(unknown) => Err(format!(
            "{unknown} is no peer; there are {}",
            KEYS.join(", ")
        )),
        None => Ok(names().map(str::to_owned).collect()),
    }
}

fn forms(list: &str) -> Result<Vec<Form>, String> {
    let form = |name: &str| {
        let found = Form::ALL.into_iter().find(|form| form.name() == name);
        found.ok_or_else(|| format!("{name} is no form; there are dense, hub and compact"))
    };
    list.split(',')
        .filter(|name| !name.is_empty())
        .map(form)
        .collect()
}
