//! What the recording says about the packets in the network: found by number, forgotten when they leave.

/// Packets that are kept together.
const BLOCK: usize = 1 << 12;

/// What the recording says about a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Original {
    /// o(p), ps; `u64::MAX`: it had not left.
    pub exit: u64,
    /// Waiting at switch ports, ps.
    pub waited: u64,
    /// Waiting at the NIC, the same in both runs, ps.
    pub nic: u64,
}

/// Consecutive numbers; those that are left over when most have gone are moved together, so that a few
/// packets that stay long do not hold the memory of all their neighbours.
#[derive(Clone, Debug, Default)]
struct Block {
    originals: Vec<Original>,
    gone: Vec<bool>,
    /// Numbers within the block of what `originals` still holds; empty: all.
    places: Vec<u16>,
    inside: usize,
}

impl Block {
    fn take(&mut self, within: usize) -> Option<Original> {
        let at = match self.places.is_empty() {
            true => within,
            false => self.places.binary_search(&(within as u16)).ok()?,
        };
        if std::mem::replace(self.gone.get_mut(at)?, true) {
            return None;
        }
        let taken = self.originals[at];
        self.inside -= 1;
        Some(taken)
    }

    /// Keeps only those that have not gone.
    fn thin(&mut self) {
        let kept: Vec<usize> = (0..self.gone.len()).filter(|at| !self.gone[*at]).collect();
        let place = |at: usize| self.places.get(at).copied().unwrap_or(at as u16);
        *self = Self {
            originals: kept.iter().map(|at| self.originals[*at]).collect(),
            places: kept.iter().map(|at| place(*at)).collect(),
            gone: vec![false; kept.len()],
            inside: self.inside,
        };
    }
}

/// All packets in the network.
#[derive(Clone, Debug, Default)]
pub(crate) struct Originals {
    blocks: Vec<Option<Box<Block>>>,
    /// Numbers given so far.
    next: usize,
}

impl Originals {
    /// Keeps the packet with the next number.
    pub fn add(&mut self, original: Original) {
        if self.next.is_multiple_of(BLOCK) {
            self.blocks.push(Some(Box::default()));
        }
        self.next += 1;
        // The newest block is not full, so it is never thinned or freed.
        if let Some(Some(block)) = self.blocks.last_mut() {
            block.originals.push(original);
            block.gone.push(false);
            block.inside += 1;
        }
    }

    /// The packet with this number leaves.
    pub fn take(&mut self, number: u64) -> Option<Original> {
        let (at, within) = (number as usize / BLOCK, number as usize % BLOCK);
        let full = (at + 1) * BLOCK <= self.next;
        let slot = self.blocks.get_mut(at)?;
        let block = slot.as_mut()?;
        let taken = block.take(within)?;
        if full && block.inside == 0 {
            *slot = None;
        } else if full && block.inside * 8 <= block.originals.len() {
            block.thin();
        }
        Some(taken)
    }

    /// Packets for which there is memory.
    #[cfg(test)]
    fn held(&self) -> usize {
        self.blocks.iter().flatten().map(|b| b.originals.capacity()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Stream;

    #[test]
    fn packets_are_found_in_any_order_and_stragglers_hold_little() {
        let mut draw = Stream::new(1, "originals", 0);
        let mut originals = Originals::default();
        let made = |n: u64| Original { exit: n, waited: 2 * n, nic: 3 * n };
        let total = 40 * BLOCK as u64;
        let (mut inside, mut stay) = (Vec::new(), Vec::new());
        for n in 0..total {
            originals.add(made(n));
            if n % 97 == 0 {
                stay.push(n)
            } else {
                inside.push(n)
            }
            while inside.len() > 500 {
                let n = inside.swap_remove(draw.below(inside.len() as u64) as usize);
                assert_eq!(originals.take(n), Some(made(n)));
                assert_eq!(originals.take(n), None, "only once");
            }
        }
        assert!(originals.held() < 10 * stay.len() + 4 * BLOCK, "{} for {}", originals.held(), stay.len());
        for n in stay.into_iter().chain(inside) {
            assert_eq!(originals.take(n), Some(made(n)));
        }
        assert_eq!((originals.held(), originals.take(total)), (0, None));
    }
}
