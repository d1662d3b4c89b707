//! Memory for frames that wait or travel, by number.

/// Largest size of a frame in bytes: enough for a packet of 1500 bytes with two VLAN tags.
pub const FRAME: usize = 2048;
/// Number of frames in a piece of memory.
const PIECE: usize = 512;
/// Largest number of frames: 512 MB.
const MOST: usize = 1 << 18;

/// Memory for frames, which grows in pieces and never moves.
#[derive(Default)]
pub struct Frames {
    pieces: Vec<Box<[[u8; FRAME]]>>,
    lengths: Vec<u16>,
    free: Vec<u32>,
}

impl Frames {
    /// Copies a frame. `None` if it is too long, or if there is no memory.
    pub fn put(&mut self, frame: &[u8]) -> Option<u32> {
        if frame.len() > FRAME {
            return None;
        }
        if self.free.is_empty() {
            let begin = self.lengths.len();
            if begin >= MOST {
                return None;
            }
            self.pieces.push(vec![[0; FRAME]; PIECE].into_boxed_slice());
            self.lengths.resize(begin + PIECE, 0);
            self.free.extend((begin as u32..(begin + PIECE) as u32).rev());
        }
        let number = self.free.pop()?;
        self.lengths[number as usize] = frame.len() as u16;
        self.get_mut(number).copy_from_slice(frame);
        Some(number)
    }

    /// A frame.
    pub fn get(&self, number: u32) -> &[u8] {
        let at = number as usize;
        &self.pieces[at / PIECE][at % PIECE][..usize::from(self.lengths[at])]
    }

    /// A frame for writing.
    pub fn get_mut(&mut self, number: u32) -> &mut [u8] {
        let at = number as usize;
        &mut self.pieces[at / PIECE][at % PIECE][..usize::from(self.lengths[at])]
    }

    /// Frees the memory of a frame.
    pub fn free(&mut self, number: u32) {
        self.free.push(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_kept_apart_and_their_places_used_again() {
        let mut frames = Frames::default();
        let numbers: Vec<u32> =
            (0..2000u16).map(|n| frames.put(&n.to_be_bytes().repeat(20)).unwrap()).collect();
        assert!(
            numbers
                .iter()
                .zip(0..2000u16)
                .all(|(number, n)| frames.get(*number) == n.to_be_bytes().repeat(20))
        );
        frames.free(numbers[77]);
        assert_eq!(frames.put(&[1]), Some(numbers[77]));
        assert_eq!(frames.get(numbers[77]), [1]);
        assert_eq!((frames.put(&[0; FRAME + 1]), frames.put(&[0; FRAME]).is_some()), (None, true));
    }

    #[test]
    fn memory_ends() {
        let mut frames = Frames { lengths: vec![0; MOST], ..Frames::default() };
        assert_eq!(frames.put(&[1]), None);
    }
}
