//! The spanning tree: where each node hangs, and how much room its arc has both ways.
//!
//! Children form a doubly linked list, so that a node moves in O(1) and a subtree is walked without a stack.

pub(super) const NONE: u32 = u32::MAX;

/// Where a node hangs. Kept together because a step of a walk reads most of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Room within the run from the node to its parent; positive, see the module above.
    pub(super) room_up: i64,
    /// Room within the run from the parent to the node.
    pub(super) room_down: i64,
    /// Low end of the run.
    pub(super) run_low: i64,
    pub(super) parent: u32,
    /// The arc to the parent; [`NONE`] at the root.
    pub(super) arc: u32,
    first_child: u32,
    next_sibling: u32,
    previous_sibling: u32,
    /// Whether no arc of the network ends here, so that the node may be a leaf outside the lists of children.
    pub(super) is_source: bool,
}

const _: () = assert!(size_of::<Place>() <= 48);

/// What hangs a node from another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) parent: u32,
    pub(super) arc: u32,
    pub(super) room_up: i64,
    pub(super) room_down: i64,
    pub(super) run_low: i64,
}

#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub(super) places: Vec<Place>,
}

/// The cycle that an entering arc closes.
pub(super) struct Cycle {
    pub(super) apex: usize,
    /// What the cycle takes.
    pub(super) amount: i64,
    /// The node whose arc leaves; none where the entering arc itself blocks last.
    pub(super) leaving: Option<Leaving>,
    pub(super) length: u64,
}

/// A tree arc that leaves, by the node below it.
#[derive(Clone, Copy)]
pub(super) struct Leaving {
    pub(super) node: usize,
    /// Whether it lies between the apex and where the entering flow comes from.
    pub(super) is_before: bool,
}

impl Tree {
    /// A tree of a root behind `nodes` nodes; all of them are yet to be hung by [`Tree::hang_new`].
    pub(super) fn with_nodes(nodes: usize) -> Self {
        let place = Place {
            room_up: 0,
            room_down: 0,
            run_low: 0,
            parent: NONE,
            arc: NONE,
            first_child: NONE,
            next_sibling: NONE,
            previous_sibling: NONE,
            is_source: false,
        };
        Tree {
            places: vec![place; nodes + 1],
        }
    }

    /// Nodes behind the `before` that there are, each hung by its artificial arc; the root moves up.
    pub(super) fn insert_nodes(&mut self, before: usize, count: usize) {
        for place in &mut self.places {
            if place.parent == before as u32 {
                place.parent += count as u32;
            }
            if place.arc != NONE && place.arc >= before as u32 {
                place.arc += count as u32;
            }
        }
        let new = Tree::with_nodes(count).places;
        self.places
            .splice(before..before, new.into_iter().take(count));
        for node in before..before + count {
            self.hang_new(node, (before + count) as u32, node as u32);
        }
    }

    pub(super) fn root(&self) -> usize {
        self.places.len() - 1
    }

    /// All nodes but the root.
    pub(super) fn below_root(&self) -> std::ops::Range<usize> {
        0..self.places.len() - 1
    }

    /// Hangs a node that hangs nowhere. Its room is the caller's to set.
    pub(super) fn hang_new(&mut self, node: usize, parent: u32, arc: u32) {
        self.places[node].arc = arc;
        self.attach(node, parent);
    }

    /// Whether a node has children that are in the lists.
    pub(super) fn has_children(&self, node: usize) -> bool {
        self.places[node].first_child != NONE
    }

    /// Gives a node that is in no list a link, and leaves it so.
    pub(super) fn relink(&mut self, node: usize, link: Link) {
        let place = &mut self.places[node];
        place.parent = link.parent;
        place.arc = link.arc;
        place.room_up = link.room_up;
        place.room_down = link.room_down;
        place.run_low = link.run_low;
    }

    /// Puts a node into its parent's list of children.
    pub(super) fn enlist(&mut self, node: usize) {
        self.attach(node, self.places[node].parent);
    }

    /// Takes a node without children out of its parent's list.
    pub(super) fn delist(&mut self, node: usize) {
        self.detach(node);
    }

    fn attach(&mut self, node: usize, parent: u32) {
        let next = self.places[parent as usize].first_child;
        if next != NONE {
            self.places[next as usize].previous_sibling = node as u32;
        }
        self.places[parent as usize].first_child = node as u32;
        let place = &mut self.places[node];
        place.parent = parent;
        place.next_sibling = next;
        place.previous_sibling = NONE;
    }

    fn detach(&mut self, node: usize) {
        let Place {
            parent,
            next_sibling: next,
            previous_sibling: previous,
            ..
        } = self.places[node];
        if next != NONE {
            self.places[next as usize].previous_sibling = previous;
        }
        if previous != NONE {
            self.places[previous as usize].next_sibling = next;
        } else {
            self.places[parent as usize].first_child = next;
        }
    }

    /// The node after `node` in a walk of the subtree of `top`, parents first.
    #[inline]
    pub(super) fn next_below(&self, node: usize, top: usize) -> Option<usize> {
        let child = self.places[node].first_child;
        if child != NONE {
            return Some(child as usize);
        }
        self.next_beside(node, top)
    }

    /// The node after all below `node` in that walk.
    #[inline]
    pub(super) fn next_beside(&self, node: usize, top: usize) -> Option<usize> {
        let mut node = node;
        while node != top {
            let place = &self.places[node];
            if place.next_sibling != NONE {
                return Some(place.next_sibling as usize);
            }
            node = place.parent as usize;
        }
        None
    }

    /// The cycle closed by an arc that carries flow from `from` to `to`, nodes of the given depths, and has `room`.
    ///
    /// The last blocking arc on the way apex → from → to → apex leaves. Both paths are walked upwards. The first
    /// least room met from `from` is the last on its part of the way, hence `<`, and the entering arc comes after
    /// all of that part, hence `<` against its room too; from `to` upwards is the way's own direction, hence `<=`.
    pub(super) fn cycle(&self, (from, to): (usize, usize), depth: (u32, u32), room: i64) -> Cycle {
        let (mut before, mut after) = (from, to);
        let (mut before_depth, mut after_depth) = depth;
        let (mut before_room, mut after_room) = (room, room);
        let (mut before_node, mut after_node) = (None, None);
        let mut length = 1;
        while before != after {
            length += 1;
            if before_depth >= after_depth {
                let b = &self.places[before];
                if b.room_down < before_room {
                    before_room = b.room_down;
                    before_node = Some(before);
                }
                before = b.parent as usize;
                before_depth -= 1;
            } else {
                let a = &self.places[after];
                if a.room_up <= after_room {
                    after_room = a.room_up;
                    after_node = Some(after);
                }
                after = a.parent as usize;
                after_depth -= 1;
            }
        }
        let is_before = before_room < after_room;
        let blocking = if is_before { before_node } else { after_node };
        Cycle {
            apex: before,
            amount: before_room.min(after_room),
            leaving: blocking.map(|node| Leaving { node, is_before }),
            length,
        }
    }

    /// Pushes an amount around the cycle of [`Tree::cycle`].
    pub(super) fn push(&mut self, from: usize, to: usize, apex: usize, amount: i64) {
        let mut node = from;
        while node != apex {
            let place = &mut self.places[node];
            place.room_down -= amount;
            place.room_up += amount;
            node = place.parent as usize;
        }
        node = to;
        while node != apex {
            let place = &mut self.places[node];
            place.room_up -= amount;
            place.room_down += amount;
            node = place.parent as usize;
        }
    }

    /// Cuts the arc above `cut` and hangs its subtree by `inner`, a node in it, with `link`. Returns the number of
    /// nodes turned around. Potentials and depths are left to the caller.
    pub(super) fn rehang(&mut self, inner: usize, cut: usize, link: Link) -> u64 {
        let mut node = inner;
        let mut link = link;
        let mut turned = 1;
        loop {
            let old = self.places[node];
            self.detach(node);
            self.attach(node, link.parent);
            self.relink(node, link);
            if node == cut {
                return turned;
            }
            link = Link {
                parent: node as u32,
                arc: old.arc,
                room_up: old.room_down,
                room_down: old.room_up,
                run_low: old.run_low,
            };
            node = old.parent as usize;
            turned += 1;
        }
    }
}
