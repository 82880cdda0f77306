//! Potentials and depths in two levels, so that a subtree moves without a walk through all of it.
//!
//! **Anchors** are the root and the nodes of high degree, or those that the caller names (for placement: brokers). Every other node keeps potential
//! and depth relative to the nearest anchor above it in the tree; an anchor keeps them in full, as its *offset*. Take
//! the anchors out of the tree and it falls into *pieces*; a piece has one anchor right above it.
//!
//! When a subtree is hung anew and its potentials shift, only two things change: the pieces on the path that was
//! turned around get another anchor, and the anchors inside the subtree shift their offsets. Pieces below those
//! anchors ride along. The anchors form a tree of their own (by the nearest anchor above), so those of a subtree are
//! found without looking at other nodes. Any choice of anchors is correct; the choice is about speed alone.

use super::basis::{NONE, Tree};

/// Stands for the anchor of a leaf.
const LEAF: u32 = NONE - 1;

/// What a node keeps; an anchor keeps itself and zeros. A leaf, for which `anchor` is [`LEAF`], keeps its potential
/// less that of its parent, and the parent in place of the depth: it moves along without a touch.
#[derive(Clone, Copy, Debug)]
struct Level {
    potential: i64,
    anchor: u32,
    depth: u32,
}

const _: () = assert!(size_of::<Level>() <= 16);

/// An anchor's place among anchors.
#[derive(Clone, Copy, Debug)]
struct Anchor {
    node: u32,
    depth: u32,
    parent: u32,
    first_child: u32,
    next_sibling: u32,
    previous_sibling: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Anchors {
    levels: Vec<Level>,
    /// Potential per anchor, apart from the rest because pricing reads nothing else.
    offsets: Vec<i64>,
    anchors: Vec<Anchor>,
    /// Roots of the anchor subtrees to shift; kept to save allocations.
    moved: Vec<u32>,
}

impl Anchors {
    /// Chooses anchors by degree. [`Anchors::attach_all`] follows once the tree hangs.
    ///
    /// Degree at least arcs / (4 √nodes): at most 8 √nodes nodes can have it. Twice that degree left the brokers of a
    /// cluster of 50 out, and a pivot touched ten times the nodes.
    pub(super) fn by_degree(tail: &[u32], head: &[u32], tree: &Tree) -> Self {
        let nodes = tree.root();
        let mut degree = vec![0usize; nodes];
        for &node in tail.iter().chain(head) {
            degree[node as usize] += usize::from(!tree.places[node as usize].is_source);
        }
        let enough = (tail.len() / (4 * nodes.isqrt().max(1))).max(2);
        Anchors::at(nodes, (0..nodes).filter(|&node| degree[node] >= enough))
    }

    /// The anchors are some nodes, and the root behind all `nodes`.
    pub(super) fn at(nodes: usize, chosen: impl Iterator<Item = usize>) -> Self {
        let level = Level {
            potential: 0,
            anchor: NONE,
            depth: 0,
        };
        let mut levels = vec![level; nodes + 1];
        let mut anchors = Vec::new();
        for node in chosen.chain([nodes]) {
            levels[node].anchor = anchors.len() as u32;
            anchors.push(Anchor {
                node: node as u32,
                depth: 0,
                parent: NONE,
                first_child: NONE,
                next_sibling: NONE,
                previous_sibling: NONE,
            });
        }
        Anchors {
            levels,
            offsets: vec![0; anchors.len()],
            moved: Vec::with_capacity(anchors.len()),
            anchors,
        }
    }

    /// Nodes behind the `before` that there are, each below the root, which moves up.
    pub(super) fn insert_nodes(&mut self, before: usize, count: usize) {
        for level in &mut self.levels {
            if level.anchor == LEAF && level.depth == before as u32 {
                level.depth += count as u32;
            }
        }
        let root = self.levels[before].anchor;
        self.anchors[root as usize].node += count as u32;
        let level = Level {
            potential: 0,
            anchor: root,
            depth: 1,
        };
        self.levels
            .splice(before..before, std::iter::repeat_n(level, count));
    }

    /// Potential of a node.
    #[inline]
    pub(super) fn potential(&self, node: usize) -> i64 {
        let level = &self.levels[node];
        if level.anchor == LEAF {
            return level.potential + self.listed_potential(level.depth as usize);
        }
        level.potential + self.offsets[level.anchor as usize]
    }

    /// Potential of a node that is no leaf.
    #[inline]
    pub(super) fn listed_potential(&self, node: usize) -> i64 {
        let level = &self.levels[node];
        level.potential + self.offsets[level.anchor as usize]
    }

    /// Arcs between a node and the root.
    pub(super) fn depth(&self, node: usize) -> u32 {
        let level = &self.levels[node];
        if level.anchor == LEAF {
            return self.depth(level.depth as usize) + 1;
        }
        level.depth + self.anchors[level.anchor as usize].depth
    }

    #[inline]
    pub(super) fn is_leaf(&self, node: usize) -> bool {
        self.levels[node].anchor == LEAF
    }

    /// Makes a node a leaf below `parent`, at its potential less that of the parent.
    pub(super) fn set_leaf(&mut self, node: usize, parent: u32, potential: i64) {
        self.levels[node] = Level {
            potential,
            anchor: LEAF,
            depth: parent,
        };
    }

    /// Makes a leaf a node like others, where it is.
    pub(super) fn list(&mut self, node: usize) {
        let leaf = self.levels[node];
        let parent = self.levels[leaf.depth as usize];
        self.levels[node] = Level {
            potential: leaf.potential + parent.potential,
            anchor: parent.anchor,
            depth: parent.depth + 1,
        };
    }

    fn is_anchor(&self, node: usize) -> bool {
        let anchor = self.levels[node].anchor;
        anchor < LEAF && self.anchors[anchor as usize].node as usize == node
    }

    /// Finds the anchor and depth of each node, once all nodes hang.
    pub(super) fn attach_all(&mut self, tree: &Tree) {
        let root = tree.root();
        let mut next = tree.next_below(root, root);
        while let Some(node) = next {
            let parent = tree.places[node].parent as usize;
            if self.is_anchor(node) {
                let anchor = self.levels[node].anchor;
                self.anchors[anchor as usize].depth = self.depth(parent) + 1;
                self.attach(anchor, self.levels[parent].anchor);
            } else {
                self.levels[node].anchor = self.levels[parent].anchor;
                self.levels[node].depth = self.levels[parent].depth + 1;
            }
            next = tree.next_below(node, root);
        }
    }

    /// Sets the potential of a node; that of its anchor above is set already.
    pub(super) fn set_potential(&mut self, node: usize, potential: i64) {
        let anchor = self.levels[node].anchor as usize;
        if self.is_anchor(node) {
            self.offsets[anchor] = potential;
        } else {
            self.levels[node].potential = potential - self.offsets[anchor];
        }
    }

    /// Shifts the potentials of a subtree that was hung by `inner` after the arc above `cut` was taken out, and
    /// brings anchors and depths up to date. Returns the number of nodes touched.
    pub(super) fn shift(&mut self, tree: &Tree, inner: usize, cut: usize, by: i64) -> u64 {
        self.moved.clear();
        let mut touched = 0;
        let mut node = cut;
        loop {
            let parent = tree.places[node].parent as usize;
            let is_top = node == inner;
            if self.is_anchor(node) {
                // Below a piece it is met in the walk of that piece.
                if is_top || self.is_anchor(parent) {
                    self.reattach(self.levels[node].anchor, self.levels[parent].anchor, is_top);
                }
            } else if is_top {
                touched += self.move_piece(tree, node, by, true);
            } else if self.is_anchor(parent) {
                touched += self.move_piece(tree, node, 0, false);
            }
            if is_top {
                break;
            }
            node = parent;
        }
        touched + self.shift_moved(tree, by)
    }

    /// Shifts the potentials of the subtree of `top`, which stays where it is. Leaves of it follow by themselves.
    pub(super) fn lift(&mut self, tree: &Tree, top: usize, by: i64) {
        self.moved.clear();
        let mut next = Some(top);
        while let Some(node) = next {
            if self.is_anchor(node) {
                self.moved.push(self.levels[node].anchor);
                next = tree.next_beside(node, top);
            } else {
                self.levels[node].potential += by;
                next = tree.next_below(node, top);
            }
        }
        self.shift_moved(tree, by);
    }

    /// Gives the piece with top `top` the anchor above it, and shifts it by `by` on top. Offsets are not shifted
    /// yet, those of anchors inside the subtree still have to be. `is_first`: the piece `inner` is in, below which
    /// the anchor subtrees to shift begin.
    fn move_piece(&mut self, tree: &Tree, top: usize, by: i64, is_first: bool) -> u64 {
        let old = self.levels[top].anchor as usize;
        let anchor = self.levels[tree.places[top].parent as usize].anchor;
        let by = by + self.offsets[old] - self.offsets[anchor as usize];
        let mut touched = 0;
        let mut next = Some(top);
        while let Some(node) = next {
            touched += 1;
            if self.is_anchor(node) {
                self.reattach(self.levels[node].anchor, anchor, is_first);
                next = tree.next_beside(node, top);
                continue;
            }
            let depth = self.levels[tree.places[node].parent as usize].depth + 1;
            let level = &mut self.levels[node];
            level.potential += by;
            level.anchor = anchor;
            level.depth = depth;
            next = tree.next_below(node, top);
        }
        touched
    }

    /// Shifts the anchors in the subtrees of `moved`, from the top, and sets their depths.
    fn shift_moved(&mut self, tree: &Tree, by: i64) -> u64 {
        let mut touched = 0;
        while let Some(top) = self.moved.pop() {
            let mut next = Some(top);
            while let Some(anchor) = next {
                touched += 1;
                self.offsets[anchor as usize] += by;
                let node = self.anchors[anchor as usize].node as usize;
                let parent = tree.places[node].parent as usize;
                self.anchors[anchor as usize].depth = self.depth(parent) + 1;
                next = self.next_below(anchor, top);
            }
        }
        touched
    }

    fn reattach(&mut self, anchor: u32, parent: u32, is_moved: bool) {
        if self.anchors[anchor as usize].parent != parent {
            self.detach(anchor);
            self.attach(anchor, parent);
        }
        if is_moved {
            self.moved.push(anchor);
        }
    }

    fn attach(&mut self, anchor: u32, parent: u32) {
        let next = self.anchors[parent as usize].first_child;
        if next != NONE {
            self.anchors[next as usize].previous_sibling = anchor;
        }
        self.anchors[parent as usize].first_child = anchor;
        let place = &mut self.anchors[anchor as usize];
        place.parent = parent;
        place.next_sibling = next;
        place.previous_sibling = NONE;
    }

    fn detach(&mut self, anchor: u32) {
        let Anchor {
            parent,
            next_sibling: next,
            previous_sibling: previous,
            ..
        } = self.anchors[anchor as usize];
        if next != NONE {
            self.anchors[next as usize].previous_sibling = previous;
        }
        if previous != NONE {
            self.anchors[previous as usize].next_sibling = next;
        } else {
            self.anchors[parent as usize].first_child = next;
        }
    }

    /// The anchor after `anchor` in a walk of the anchor subtree of `top`, parents first.
    fn next_below(&self, anchor: u32, top: u32) -> Option<u32> {
        let child = self.anchors[anchor as usize].first_child;
        if child != NONE {
            return Some(child);
        }
        let mut anchor = anchor;
        while anchor != top {
            let place = &self.anchors[anchor as usize];
            if place.next_sibling != NONE {
                return Some(place.next_sibling);
            }
            anchor = place.parent;
        }
        None
    }
}
