//! The largest flow between two nodes, by Dinic's algorithm (1970).

/// A network with its residual capacities. Arc `2k` is the k-th one given, `2k + 1` its reverse.
struct Residual {
    head: Vec<usize>,
    room: Vec<i64>,
    /// Arcs that leave a node are `arcs[begin[node]..begin[node + 1]]`.
    begin: Vec<usize>,
    arcs: Vec<usize>,
}

/// The largest flow from source to sink; arcs are tail, head, capacity.
pub(crate) fn value(nodes: usize, arcs: &[(usize, usize, i64)], source: usize, sink: usize) -> i64 {
    let mut residual = Residual::new(nodes, arcs);
    let mut sum = 0;
    while let Some(level) = residual.levels(source, sink) {
        let mut next = residual.begin.clone();
        loop {
            let pushed = residual.augment(source, sink, &level, &mut next);
            if pushed == 0 {
                break;
            }
            sum += pushed;
        }
    }
    sum
}

impl Residual {
    fn new(nodes: usize, arcs: &[(usize, usize, i64)]) -> Self {
        let mut begin = vec![0; nodes + 1];
        for &(tail, head, _) in arcs {
            begin[tail + 1] += 1;
            begin[head + 1] += 1;
        }
        for node in 0..nodes {
            begin[node + 1] += begin[node];
        }
        let mut place = begin.clone();
        let mut residual = Residual {
            head: Vec::with_capacity(2 * arcs.len()),
            room: Vec::with_capacity(2 * arcs.len()),
            arcs: vec![0; 2 * arcs.len()],
            begin,
        };
        for &(tail, head, capacity) in arcs {
            for (from, to, room) in [(tail, head, capacity), (head, tail, 0)] {
                residual.arcs[place[from]] = residual.head.len();
                place[from] += 1;
                residual.head.push(to);
                residual.room.push(room);
            }
        }
        residual
    }

    fn leaving(&self, node: usize) -> &[usize] {
        &self.arcs[self.begin[node]..self.begin[node + 1]]
    }

    /// Distance from the source by arcs with room, where the sink is in reach; `usize::MAX` for nodes that are not.
    fn levels(&self, source: usize, sink: usize) -> Option<Vec<usize>> {
        let mut level = vec![usize::MAX; self.begin.len() - 1];
        level[source] = 0;
        let mut queue = vec![source];
        let mut done = 0;
        while done < queue.len() {
            let node = queue[done];
            done += 1;
            for &arc in self.leaving(node) {
                let head = self.head[arc];
                if self.room[arc] > 0 && level[head] == usize::MAX {
                    level[head] = level[node] + 1;
                    queue.push(head);
                }
            }
        }
        (level[sink] != usize::MAX).then_some(level)
    }

    /// Pushes along one path of rising levels, skipping arcs that `next` has found useless; 0 where there is none.
    fn augment(&mut self, source: usize, sink: usize, level: &[usize], next: &mut [usize]) -> i64 {
        let mut path: Vec<usize> = Vec::new();
        let mut node = source;
        while node != sink {
            let end = self.begin[node + 1];
            while next[node] < end {
                let arc = self.arcs[next[node]];
                if self.room[arc] > 0 && level[self.head[arc]] == level[node] + 1 {
                    break;
                }
                next[node] += 1;
            }
            if next[node] < end {
                let arc = self.arcs[next[node]];
                path.push(arc);
                node = self.head[arc];
            } else if let Some(arc) = path.pop() {
                node = self.head[arc ^ 1];
                next[node] += 1;
            } else {
                return 0;
            }
        }
        let amount = path.iter().map(|&arc| self.room[arc]).min().unwrap_or(0);
        for arc in path {
            self.room[arc] -= amount;
            self.room[arc ^ 1] += amount;
        }
        amount
    }
}
