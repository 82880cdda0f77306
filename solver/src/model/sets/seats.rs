//! Seats the shards that flow through a hub on brokers.
//!
//! The flow says how many replicas of each shard enter a zone and how many each of its brokers takes. A shard takes
//! distinct brokers, and none that it is on already: a bipartite assignment. Each shard, in canonical order, takes the
//! free seats of the highest scores; for one that finds none, others move along an alternating path (Kuhn 1955). Where no
//! path leads to a free seat, the shards on the way to it, all together, can't use the seats that are left (Hall 1935).
//!
//! Complexity: O(shards · seats) to begin, O(seated · seats) per path.

use smallvec::SmallVec;

/// Seats of each guest, by their positions.
pub(super) type Seated = Vec<SmallVec<[u32; 2]>>;

/// Seats each guest on so many distinct seats, each with a number of places; all places together are enough.
///
/// # Errors
/// Guests, in ascending order, that have too few open seats for the places that are left.
pub(super) fn seat(
    guests: &[i64],
    places: &[i64],
    is_open: impl Fn(usize, usize) -> bool,
    score: impl Fn(usize, usize) -> u64,
) -> Result<Seated, Vec<usize>> {
    let mut seating = Seating {
        left: places.to_vec(),
        seated: vec![SmallVec::new(); guests.len()],
        guests_of: vec![Vec::new(); places.len()],
        is_open,
    };
    for (guest, &units) in guests.iter().enumerate() {
        let mut free: SmallVec<[usize; 16]> = (0..places.len())
            .filter(|&seat| seating.left[seat] > 0 && (seating.is_open)(guest, seat))
            .collect();
        if free.len() > 1 {
            free.sort_by_cached_key(|&seat| std::cmp::Reverse(score(guest, seat)));
        }
        for seat in free.into_iter().take(units as usize) {
            seating.take(guest, seat);
        }
    }
    let mut stuck = Vec::new();
    for (guest, &units) in guests.iter().enumerate() {
        while (seating.seated[guest].len() as i64) < units {
            if let Err(mut along) = seating.augment(guest) {
                stuck.append(&mut along);
                break;
            }
        }
    }
    stuck.sort_unstable();
    stuck.dedup();
    match stuck.is_empty() {
        true => Ok(seating.seated),
        false => Err(stuck),
    }
}

struct Seating<F> {
    /// By seat, places that nobody has.
    left: Vec<i64>,
    seated: Seated,
    /// By seat.
    guests_of: Vec<Vec<u32>>,
    is_open: F,
}

/// How a path came to a seat: who would move there, and from which seat, if from one.
type Step = (usize, Option<usize>);

impl<F: Fn(usize, usize) -> bool> Seating<F> {
    fn take(&mut self, guest: usize, seat: usize) {
        self.left[seat] -= 1;
        self.seated[guest].push(seat as u32);
        self.guests_of[seat].push(guest as u32);
    }

    /// Finds one more seat for a guest.
    ///
    /// # Errors
    /// The guests that were asked to move.
    fn augment(&mut self, guest: usize) -> Result<(), Vec<usize>> {
        let mut steps: Vec<Option<Step>> = vec![None; self.left.len()];
        let mut queue: Vec<usize> = Vec::new();
        self.reach(guest, None, &mut steps, &mut queue);
        let mut next = 0;
        while let Some(&seat) = queue.get(next) {
            next += 1;
            if self.left[seat] > 0 {
                self.follow(seat, &steps);
                return Ok(());
            }
            for at in 0..self.guests_of[seat].len() {
                let other = self.guests_of[seat][at] as usize;
                self.reach(other, Some(seat), &mut steps, &mut queue);
            }
        }
        let asked = queue.iter().flat_map(|&seat| &self.guests_of[seat]);
        let asked = asked.map(|&guest| guest as usize);
        Err(asked.chain([guest]).collect())
    }

    /// Notes the seats that a guest could go to.
    fn reach(
        &self,
        guest: usize,
        from: Option<usize>,
        steps: &mut [Option<Step>],
        queue: &mut Vec<usize>,
    ) {
        for (seat, step) in steps.iter_mut().enumerate() {
            let is_new = step.is_none() && !self.seated[guest].contains(&(seat as u32));
            if is_new && (self.is_open)(guest, seat) {
                *step = Some((guest, from));
                queue.push(seat);
            }
        }
    }

    /// Moves everyone along the path that ends at a seat with a free place.
    fn follow(&mut self, end: usize, steps: &[Option<Step>]) {
        self.left[end] -= 1;
        let mut seat = end;
        while let Some((guest, from)) = steps[seat] {
            self.guests_of[seat].push(guest as u32);
            let seats = &mut self.seated[guest];
            let Some(old) = from else {
                seats.push(seat as u32);
                return;
            };
            seats.retain(|at| *at != old as u32);
            seats.push(seat as u32);
            self.guests_of[old].retain(|other| *other != guest as u32);
            seat = old;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seated(guests: &[i64], places: &[i64], open: &[&[usize]]) -> Result<Seated, Vec<usize>> {
        seat(
            guests,
            places,
            |g, s| open[g].contains(&s),
            |_, s| 9 - s as u64,
        )
    }

    #[test]
    fn guests_move_for_one_that_is_left() {
        let open: [&[usize]; 3] = [&[0, 1], &[0, 2], &[0]];
        let found = seated(&[1, 1, 1], &[1, 1, 1], &open).unwrap();
        let found: Vec<u32> = found.iter().map(|seats| seats[0]).collect();
        assert_eq!(found, [1, 2, 0]);
    }

    #[test]
    fn a_guest_of_two_takes_distinct_seats() {
        let open: [&[usize]; 2] = [&[0, 1], &[0, 1, 2]];
        let found = seated(&[1, 2], &[2, 1, 0], &open).unwrap();
        assert_eq!(found[0][..], [0]);
        assert_eq!(found[1][..], [0, 1]);
    }

    #[test]
    fn those_who_cannot_sit_are_named() {
        let open: [&[usize]; 3] = [&[0], &[0], &[1, 2]];
        assert_eq!(seated(&[1, 1, 1], &[1, 1, 1], &open), Err(vec![0, 1]));
    }
}
