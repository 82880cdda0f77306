//! Classical families: generators of our own in the spirit of the published ones, each a function of size and seed.
//!
//! Names and proportions follow the instances in common use (Kovács, "Minimum-cost flow algorithms: an experimental
//! evaluation", 2015); the numbers drawn, and hence the instances, are ours.

mod assignment;
mod goto;
mod grid;
mod maxflow;
mod netgen;

use crate::network::Bare;
use crate::random::Random;
use shardflow_solver::network::NetworkError;

/// Makes a network from its seed's numbers.
type Make = Box<dyn Fn(&mut Random) -> Result<Bare, NetworkError>>;

/// One instance: its name, and how it is made.
pub(crate) struct Instance {
    pub(crate) name: String,
    make: Make,
}

impl Instance {
    fn new(
        name: String,
        make: impl Fn(&mut Random) -> Result<Bare, NetworkError> + 'static,
    ) -> Self {
        let make = Box::new(make);
        Instance { name, make }
    }

    /// The network of a seed.
    pub(crate) fn make(&self, seed: u64) -> Result<Bare, NetworkError> {
        (self.make)(&mut Random::new(seed))
    }
}

/// A family and the sizes it comes in, as powers of two of its nodes.
pub(crate) struct Family {
    pub(crate) name: &'static str,
    /// Sizes measured where none are asked for.
    pub(crate) usual: &'static [u32],
    /// All sizes.
    pub(crate) sizes: &'static [u32],
    make: fn(usize, &mut Random) -> Result<Bare, NetworkError>,
}

/// Nodes of a bipartite graph and arcs of each left node: assignment has one size.
const ASSIGNMENT: (usize, usize) = (20_000, 10);

/// All families but assignment.
pub(crate) const FAMILIES: [Family; 6] = [
    Family {
        name: "NETGEN-8",
        usual: &[12, 14, 16],
        sizes: &[12, 13, 14, 15, 16, 17, 18],
        make: |nodes, random| netgen::make(nodes, 8 * nodes, random),
    },
    Family {
        name: "NETGEN-SR",
        usual: &[10, 12],
        sizes: &[10, 11, 12, 13],
        make: |nodes, random| netgen::make(nodes, nodes * nodes.isqrt(), random),
    },
    Family {
        name: "GRID-SQUARE",
        usual: &[12, 14],
        sizes: &[12, 13, 14, 15, 16],
        make: |nodes, random| grid::make(nodes.isqrt(), nodes.isqrt(), random),
    },
    Family {
        name: "GRID-LONG",
        usual: &[12, 14],
        sizes: &[12, 13, 14, 15, 16],
        make: |nodes, random| grid::make(nodes / 16, 16, random),
    },
    Family {
        name: "GRID-WIDE",
        usual: &[12, 14],
        sizes: &[12, 13, 14, 15, 16],
        make: |nodes, random| grid::make(16, nodes / 16, random),
    },
    Family {
        name: "GOTO-8",
        usual: &[12, 13],
        sizes: &[12, 13, 14, 15, 16],
        make: goto::make,
    },
];

/// The instances of a family, of the usual sizes or of all.
pub(crate) fn instances(family: &'static Family, all: bool) -> Vec<Instance> {
    let sizes = if all { family.sizes } else { family.usual };
    let instance = |&power: &u32| {
        Instance::new(format!("{}-{power}", family.name), move |random| {
            (family.make)(1 << power, random)
        })
    };
    sizes.iter().map(instance).collect()
}

/// The assignment instance.
pub(crate) fn assignment() -> Instance {
    let (side, degree) = ASSIGNMENT;
    Instance::new(format!("ASSIGNMENT-{side}x{degree}"), move |random| {
        assignment::make(side, degree, random)
    })
}
