//! The spanning tree: parents, and its nodes threaded in preorder with the size and the last node of each subtree.
//!
//! A subtree is then an interval of the thread. Hanging one by another of its nodes changes labels along the *stem*
//! (from the new top to the old one) and on the paths to the apex, never inside the rest (Barr, Glover, Klingman 1979;
//! Kovács 2015, section 4). The thread is a ring through the root.

use crate::linear::number::Number;

/// No node, no arc.
pub(super) const NONE: u32 = u32::MAX;

/// What the tree keeps of a node. In 32 bits two of them fill a cache line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<N> {
    pub(super) parent: u32,
    /// The arc to the parent: a position in the working order, or behind all of them an artificial arc.
    pub(super) arc: u32,
    /// The node before in preorder.
    pub(super) previous: u32,
    /// Number of nodes in the subtree.
    pub(super) size: u32,
    /// Last node of the subtree in preorder.
    pub(super) last: u32,
    /// Room of the arc for flow towards the root.
    pub(super) room_up: N,
    /// Room of the arc for flow from the root.
    pub(super) room_down: N,
}

impl<N: Number> Place<N> {
    /// Of an artificial arc: whether it leads from the root. It has no limit in its own direction, and never carries
    /// half of [`Number::FAR`].
    pub(super) fn is_unlimited_down(&self) -> bool {
        self.room_down > self.room_up
    }
}

#[derive(Clone, Debug)]
pub(super) struct Tree<N> {
    pub(super) places: Vec<Place<N>>,
    /// The next node in preorder; apart, since shifting potentials reads nothing else.
    pub(super) next: Vec<u32>,
    /// The nodes of the cycle found last: from its one end up to the apex at the front, from its other end at the back.
    /// Going over them again needs no walk from parent to parent, each step of which waits for the one before.
    path: Vec<u32>,
    root: u32,
}

/// The tree arc above a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link<N> {
    pub(super) parent: u32,
    pub(super) arc: u32,
    pub(super) room_up: N,
    pub(super) room_down: N,
}

/// The arc that leaves, by the node below it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaving {
    pub(super) node: u32,
    /// Whether it lies before the entering arc in the walk around the cycle.
    pub(super) is_before: bool,
    /// Steps from the entering arc to the node.
    steps: usize,
}

/// The cycle an arc closes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cycle<N> {
    pub(super) apex: u32,
    pub(super) amount: N,
    /// None where the entering arc itself blocks last.
    pub(super) leaving: Option<Leaving>,
    /// Nodes below the apex before the entering arc, and after it.
    before: usize,
    after: usize,
}

impl<N> Cycle<N> {
    /// Number of arcs.
    pub(super) fn length(&self) -> u64 {
        (self.before + self.after + 1) as u64
    }
}

impl<N: Number> Tree<N> {
    /// Hangs every node by its link; `order` lists the nodes in preorder, without the root, the last of all nodes.
    pub(super) fn new(links: &[Link<N>], order: &[u32]) -> Self {
        let root = links.len() as u32;
        let top = Link {
            parent: NONE,
            arc: NONE,
            room_up: N::ZERO,
            room_down: N::ZERO,
        };
        let places = links.iter().chain([&top]).enumerate();
        let places = places.map(|(node, link)| Place {
            parent: link.parent,
            arc: link.arc,
            previous: 0,
            size: 1,
            last: node as u32,
            room_up: link.room_up,
            room_down: link.room_down,
        });
        let mut tree = Tree {
            places: places.collect(),
            next: vec![0; links.len() + 1],
            path: vec![0; links.len() + 1],
            root,
        };
        let mut before = root;
        for &node in order {
            tree.join(before, node);
            before = node;
        }
        tree.join(before, root);
        for &node in order.iter().rev() {
            let (size, last) = (tree.place(node).size, tree.place(node).last);
            let parent = tree.place(node).parent;
            let above = tree.place_mut(parent);
            above.size += size;
            if above.last == parent {
                above.last = last;
            }
        }
        tree
    }

    pub(super) fn root(&self) -> u32 {
        self.root
    }

    #[inline]
    pub(super) fn place(&self, node: u32) -> &Place<N> {
        &self.places[node as usize]
    }

    #[inline]
    fn place_mut(&mut self, node: u32) -> &mut Place<N> {
        &mut self.places[node as usize]
    }

    #[inline]
    fn join(&mut self, before: u32, after: u32) {
        self.next[before as usize] = after;
        self.place_mut(after).previous = before;
    }

    /// The same tree in 64 bits. Artificial arcs, from `artificial` on, lose the limit of 32 bits on the side where
    /// they have none.
    pub(super) fn widen(self, artificial: usize) -> Tree<i64> {
        let more = i64::FAR - N::FAR.into();
        let places = self.places.into_iter().map(|place| {
            let is_artificial = place.parent != NONE && place.arc as usize >= artificial;
            let more_if = |is: bool| if is_artificial && is { more } else { 0 };
            Place {
                parent: place.parent,
                arc: place.arc,
                previous: place.previous,
                size: place.size,
                last: place.last,
                room_up: place.room_up.into() + more_if(!place.is_unlimited_down()),
                room_down: place.room_down.into() + more_if(place.is_unlimited_down()),
            }
        });
        Tree {
            places: places.collect(),
            next: self.next,
            path: self.path,
            root: self.root,
        }
    }

    /// The number of each node in preorder, the root last. They stand where the thread was: the tree is unusable until
    /// [`Tree::permute`] brings the nodes into that order.
    pub(super) fn number(&mut self) -> &[u32] {
        let mut node = self.next[self.root as usize];
        for number in 0..self.root {
            node = std::mem::replace(&mut self.next[node as usize], number);
        }
        self.next[self.root as usize] = self.root;
        &self.next
    }

    /// Moves each node, with what else is kept of it, to its number, so that a subtree is near in memory.
    pub(super) fn permute<A, B>(&mut self, of_node: &mut [A], name: &mut [B]) {
        let number = &mut self.next;
        for place in &mut self.places {
            if place.parent != NONE {
                place.parent = number[place.parent as usize];
            }
            place.previous = number[place.previous as usize];
            place.last = number[place.last as usize];
        }
        for node in 0..self.root as usize {
            // Each swap brings one node to its place.
            while number[node] as usize != node {
                let to = number[node] as usize;
                number.swap(node, to);
                self.places.swap(node, to);
                of_node.swap(node, to);
                name.swap(node, to);
            }
        }
        for (node, next) in self.next.iter_mut().enumerate() {
            *next = node as u32 + 1;
        }
        self.next[self.root as usize] = 0;
    }

    /// The cycle of an arc from `from` to `to` with `room`; the **last** blocking arc leaves, seen from the apex
    /// along the flow, which keeps the tree strongly feasible.
    ///
    /// The smaller of two subtrees can't hold the other, so its node is not yet the apex.
    #[inline]
    pub(super) fn cycle(&mut self, from: u32, to: u32, room: N) -> Cycle<N> {
        let (mut before, mut after) = (from, to);
        let (mut before_room, mut after_room) = (room, N::FAR);
        let (mut before_at, mut after_at) = (usize::MAX, usize::MAX);
        let (mut before_steps, mut after_steps) = (0, 0);
        let (places, path) = (&self.places, &mut self.path);
        let (mut left, mut right) = (&places[before as usize], &places[after as usize]);
        while before != after {
            if left.size < right.size {
                // Later in this walk is earlier around the cycle: of equals the first.
                if left.room_down < before_room {
                    before_room = left.room_down;
                    before_at = before_steps;
                }
                path[before_steps] = before;
                before_steps += 1;
                before = left.parent;
                left = &places[before as usize];
            } else {
                if right.room_up <= after_room {
                    after_room = right.room_up;
                    after_at = after_steps;
                }
                after_steps += 1;
                let at = path.len() - after_steps;
                path[at] = after;
                after = right.parent;
                right = &places[after as usize];
            }
        }
        let is_before = before_room < after_room;
        let (steps, amount) = if is_before {
            (before_at, before_room)
        } else {
            (after_at, after_room)
        };
        let at = if is_before {
            steps
        } else {
            path.len().wrapping_sub(steps.wrapping_add(1))
        };
        Cycle {
            apex: before,
            amount,
            leaving: (steps != usize::MAX).then(|| Leaving {
                node: path[at],
                is_before,
                steps,
            }),
            before: before_steps,
            after: after_steps,
        }
    }

    /// Pushes an amount around the cycle found last.
    #[inline]
    pub(super) fn push(&mut self, cycle: &Cycle<N>) {
        let after = self.path.len() - cycle.after;
        for &node in &self.path[..cycle.before] {
            let place = &mut self.places[node as usize];
            place.room_down -= cycle.amount;
            place.room_up += cycle.amount;
        }
        for &node in &self.path[after..] {
            let place = &mut self.places[node as usize];
            place.room_up -= cycle.amount;
            place.room_down += cycle.amount;
        }
    }

    /// Takes out the arc that leaves the cycle found last and hangs what is cut off by the end of the entering arc in
    /// it, with `link`. Returns the number of nodes turned around.
    pub(super) fn rehang(&mut self, cycle: &Cycle<N>, leaving: Leaving, link: Link<N>) -> u64 {
        let mut path = std::mem::take(&mut self.path);
        let after = path.len() - cycle.after;
        path[after..].reverse();
        let (before, after) = (&path[..cycle.before], &path[after..]);
        let (cut_off, other) = if leaving.is_before {
            (before, after)
        } else {
            (after, before)
        };
        let (stem, above) = cut_off.split_at(leaving.steps + 1);
        let size = self.place(leaving.node).size;
        self.take_out(leaving.node);
        for &node in above {
            self.place_mut(node).size -= size;
        }
        let outer = link.parent;
        let tail = self.turn(stem, link);
        let next = self.next[outer as usize];
        self.join(outer, stem[0]);
        self.join(tail, next);
        for &node in other {
            self.place_mut(node).size += size;
        }
        self.put_last(outer, outer, tail);
        let turned = stem.len() as u64;
        self.path = path;
        turned
    }

    /// Takes the subtree of `cut` out of the thread, and out of the last nodes above it.
    #[inline]
    fn take_out(&mut self, cut: u32) {
        let Place {
            parent,
            previous,
            last,
            ..
        } = *self.place(cut);
        let after = self.next[last as usize];
        self.join(previous, after);
        self.put_last(parent, last, previous);
    }

    /// From `node` on upwards, as far as subtrees end with `old`, they end with `new`.
    #[inline]
    fn put_last(&mut self, mut node: u32, old: u32, new: u32) {
        while node != NONE {
            let place = self.place_mut(node);
            if place.last != old {
                break;
            }
            place.last = new;
            node = place.parent;
        }
    }

    /// Turns a stem around, from its new top to its old one, and hangs it by `link`. Returns the last node of the new
    /// subtree in preorder. The thread before the top and behind that last node is left to the caller.
    ///
    /// What a stem node holds beside the part below it in the stem is the interval from it to that part and the
    /// interval behind that part; both go to the end of the new preorder, stem node by stem node.
    #[inline]
    fn turn(&mut self, stem: &[u32], link: Link<N>) -> u32 {
        let whole = self.place(stem[stem.len() - 1]).size;
        let mut below = *self.place(stem[0]);
        let mut tail = below.last;
        let mut behind = self.next[below.last as usize];
        self.hang(stem[0], link, whole);
        for pair in stem.windows(2) {
            let (node, parent) = (pair[0], pair[1]);
            let old = *self.place(parent);
            let link = Link {
                parent: node,
                arc: below.arc,
                room_up: below.room_down,
                room_down: below.room_up,
            };
            self.hang(parent, link, whole - below.size);
            self.join(tail, parent);
            tail = below.previous;
            if old.last != below.last {
                let end = self.next[old.last as usize];
                self.join(tail, behind);
                tail = old.last;
                behind = end;
            }
            below = old;
        }
        for &node in stem {
            self.place_mut(node).last = tail;
        }
        tail
    }

    #[inline]
    fn hang(&mut self, node: u32, link: Link<N>, size: u32) {
        let place = self.place_mut(node);
        place.parent = link.parent;
        place.arc = link.arc;
        place.room_up = link.room_up;
        place.room_down = link.room_down;
        place.size = size;
    }

    /// Bytes held.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.places) + size_of_val(&*self.next) + size_of_val(&*self.path)
    }
}
