use std::ops::Range;

/// Small and the same everywhere; nothing here needs more.
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed >> 33
    }

    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.number() % limit.max(1) as u64).unwrap_or(0)
    }

    pub fn milliseconds(&mut self, range: Range<u64>) -> u64 {
        range.start + self.number() % (range.end - range.start)
    }
}
