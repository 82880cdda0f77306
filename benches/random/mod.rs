//! Seeded randomness from integers and basic arithmetic alone: the same numbers on every machine.

/// SplitMix64.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform below `n`, which is not zero.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    /// Uniform in 1…`most`.
    pub(crate) fn one_to(&mut self, most: usize) -> i64 {
        1 + self.below(most) as i64
    }

    /// The numbers below `n` in any order.
    pub(crate) fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut numbers: Vec<usize> = (0..n).collect();
        for k in (1..n).rev() {
            numbers.swap(k, self.below(k + 1));
        }
        numbers
    }

    /// Parts, each at least zero, of a sum: the gaps between random cuts.
    pub(crate) fn split(&mut self, sum: usize, parts: usize) -> Vec<i64> {
        let mut cuts: Vec<usize> = (1..parts).map(|_| self.below(sum + 1)).collect();
        cuts.sort_unstable();
        cuts.push(sum);
        let mut below = 0;
        let part = |cut: usize| {
            let part = cut - below;
            below = cut;
            part as i64
        };
        cuts.into_iter().map(part).collect()
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// e^(σ·normal). The normal number is a sum of twelve uniform ones less six: variance 1, tails cut at 6.
    pub(crate) fn lognormal(&mut self, sigma: f64) -> f64 {
        let sum: f64 = (0..12).map(|_| self.unit()).sum();
        exp(sigma * (sum - 6.0))
    }
}

/// e^x for |x| ≤ 16. The library's may differ in the last bit between platforms; sums, products and quotients don't.
pub(crate) fn exp(x: f64) -> f64 {
    const SQUARINGS: u32 = 10;
    let y = x / f64::from(1 << SQUARINGS);
    let small = 1.0 + y * (1.0 + y / 2.0 * (1.0 + y / 3.0 * (1.0 + y / 4.0)));
    (0..SQUARINGS).fold(small, |power, _| power * power)
}
