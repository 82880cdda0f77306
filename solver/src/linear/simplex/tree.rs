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
}

/// The cycle an arc closes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cycle<N> {
    pub(super) apex: u32,
    pub(super) amount: N,
    /// None where the entering arc itself blocks last.
    pub(super) leaving: Option<Leaving>,
    pub(super) length: u64,
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
    pub(super) fn cycle(&self, from: u32, to: u32, room: N) -> Cycle<N> {
        let (mut before, mut after) = (from, to);
        let (mut before_room, mut after_room) = (room, N::FAR);
        let (mut before_node, mut after_node) = (NONE, NONE);
        let mut length = 1;
        let (mut left, mut right) = (self.place(before), self.place(after));
        while before != after {
            length += 1;
            if left.size < right.size {
                // Later in this walk is earlier around the cycle: of equals the first.
                if left.room_down < before_room {
                    before_room = left.room_down;
                    before_node = before;
                }
                before = left.parent;
                left = self.place(before);
            } else {
                if right.room_up <= after_room {
                    after_room = right.room_up;
                    after_node = after;
                }
                after = right.parent;
                right = self.place(after);
            }
        }
        let is_before = before_room < after_room;
        let node = if is_before { before_node } else { after_node };
        Cycle {
            apex: before,
            amount: before_room.min(after_room),
            leaving: (node != NONE).then_some(Leaving { node, is_before }),
            length,
        }
    }

    /// Pushes an amount around the cycle of [`Tree::cycle`].
    #[inline]
    pub(super) fn push(&mut self, from: u32, to: u32, apex: u32, amount: N) {
        let mut node = from;
        while node != apex {
            let place = self.place_mut(node);
            place.room_down -= amount;
            place.room_up += amount;
            node = place.parent;
        }
        node = to;
        while node != apex {
            let place = self.place_mut(node);
            place.room_up -= amount;
            place.room_down += amount;
            node = place.parent;
        }
    }

    /// Cuts the arc above `cut` and hangs its subtree by `inner`, a node in it, with `link`. `apex` is above both
    /// ends. Returns the number of nodes turned around.
    pub(super) fn rehang(&mut self, inner: u32, cut: u32, apex: u32, link: Link<N>) -> u64 {
        let outer = link.parent;
        self.take_out(cut, apex);
        let size = self.place(cut).size;
        let (tail, turned) = self.turn(inner, cut, link);
        let after = self.next[outer as usize];
        self.join(outer, inner);
        self.join(tail, after);
        let mut node = outer;
        while node != apex {
            let place = self.place_mut(node);
            place.size += size;
            node = place.parent;
        }
        node = outer;
        while node != NONE {
            let place = self.place_mut(node);
            if place.last != outer {
                break;
            }
            place.last = tail;
            node = place.parent;
        }
        turned
    }

    /// Takes the subtree of `cut` out of the thread and out of the labels above it.
    #[inline]
    fn take_out(&mut self, cut: u32, apex: u32) {
        let Place {
            parent,
            previous,
            size,
            last,
            ..
        } = *self.place(cut);
        let after = self.next[last as usize];
        self.join(previous, after);
        let mut node = parent;
        while node != apex {
            let place = self.place_mut(node);
            place.size -= size;
            node = place.parent;
        }
        node = parent;
        while node != NONE {
            let place = self.place_mut(node);
            if place.last != last {
                break;
            }
            place.last = previous;
            node = place.parent;
        }
    }

    /// Turns the stem from `inner` to `cut` around. Returns the last node of the new subtree in preorder, and the
    /// length of the stem. The thread before `inner` and behind that last node is left to the caller.
    ///
    /// What a stem node holds beside the part below it in the stem is the interval from it to that part and the
    /// interval behind that part; both go to the end of the new preorder, stem node by stem node.
    #[inline]
    fn turn(&mut self, inner: u32, cut: u32, link: Link<N>) -> (u32, u64) {
        let whole = self.place(cut).size;
        let mut node = inner;
        let mut link = link;
        let mut turned = 1;
        let old = *self.place(node);
        let mut tail = old.last;
        let mut below = old;
        let mut behind = self.next[old.last as usize];
        self.hang(node, link, whole);
        while node != cut {
            let parent = below.parent;
            let old = *self.place(parent);
            link = Link {
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
            node = parent;
            below = old;
            turned += 1;
        }
        let mut node = cut;
        loop {
            let place = self.place_mut(node);
            place.last = tail;
            if node == inner {
                return (tail, turned);
            }
            node = place.parent;
        }
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
}
