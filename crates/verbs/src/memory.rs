//! Registered memory: what a NIC may touch, under which key. Every access is checked against the region's
//! bounds and rights.
//!
//! ```text
//! CHOICE IRN §4.4: to invalidate a key ends the other side's access; the region's owner may still use it, in a sink
//! say. So it is with InfiniBand's memory windows. Other reading, its memory regions: the owner's key goes as well. The
//! requester does not know which sinks that would disable, so it could not keep later Sends from overtaking.
//! ```

/// What the other side may do with a region. The own side may always read and write.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rights {
    /// Reads.
    pub read: bool,
    /// Writes.
    pub write: bool,
    /// Atomics.
    pub atomic: bool,
}

impl Rights {
    /// Everything.
    pub const ALL: Self = Self { read: true, write: true, atomic: true };
    /// Nothing: local use.
    pub const LOCAL: Self = Self { read: false, write: false, atomic: false };
}

/// On whose behalf memory is touched, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// The own side's work requests.
    Local,
    /// The other side's Read.
    RemoteRead,
    /// The other side's Write.
    RemoteWrite,
    /// The other side's Atomic.
    RemoteAtomic,
}

/// Memory that may not be touched so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccessError {
    /// No region has this key, or it was invalidated and the access is the other side's.
    Key,
    /// Outside the region.
    Bounds,
    /// The region does not grant this right.
    Rights,
}

impl std::fmt::Display for AccessError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Key => "no region has this key",
            Self::Bounds => "outside the region",
            Self::Rights => "the region does not grant this",
        })
    }
}
impl std::error::Error for AccessError {}

#[derive(Clone, Debug)]
struct Region {
    base: u64,
    bytes: Vec<u8>,
    rights: Rights,
    valid: bool,
}

/// A host's registered regions.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// The region with key k is number k − 1.
    regions: Vec<Region>,
}

/// Bytes of a region: a work request's source or sink.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Buffer {
    /// The region's key.
    pub key: u32,
    /// Where it begins.
    pub address: u64,
    /// How many bytes.
    pub length: u32,
}

impl Buffer {
    /// What packet `index` of a message in this buffer carries.
    pub fn part(self, index: u32, mtu: u32) -> Self {
        let before = index.saturating_mul(mtu).min(self.length);
        let address = self.address.wrapping_add(u64::from(before));
        Self { key: self.key, address, length: (self.length - before).min(mtu) }
    }
}

/// A place in the other side's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Remote {
    /// The region's key there.
    pub key: u32,
    /// The address there.
    pub address: u64,
}

impl Memory {
    /// Registers `bytes`, to be known under the addresses from `base` on; the answer is the key.
    pub fn register(&mut self, base: u64, bytes: Vec<u8>, rights: Rights) -> u32 {
        self.regions.push(Region { base, bytes, rights, valid: true });
        self.regions.len() as u32
    }

    /// The region's content as its owner sees it, the key valid or not. Empty if there never was such a key.
    pub fn bytes(&self, key: u32) -> &[u8] {
        self.slot(key).map_or(&[], |region| &region.bytes)
    }

    /// The same, to be changed by its owner.
    pub fn bytes_mut(&mut self, key: u32) -> &mut [u8] {
        match (key as usize).checked_sub(1).and_then(|at| self.regions.get_mut(at)) {
            Some(region) => &mut region.bytes,
            None => &mut [],
        }
    }

    /// Whether the key exists and was not invalidated.
    pub fn is_valid(&self, key: u32) -> bool {
        self.slot(key).is_some_and(|region| region.valid)
    }

    /// The key is not valid from now on: the other side can do nothing with it. The bytes stay.
    ///
    /// # Errors
    /// If it was not valid before.
    pub fn invalidate(&mut self, key: u32) -> Result<(), AccessError> {
        let region = (key as usize).checked_sub(1).and_then(|at| self.regions.get_mut(at));
        match region {
            Some(region) if region.valid => {
                region.valid = false;
                Ok(())
            }
            _ => Err(AccessError::Key),
        }
    }

    /// Whether these bytes may be touched so. Nothing at all may always be touched.
    ///
    /// # Errors
    /// Why not.
    pub fn check(&self, at: Buffer, access: Access) -> Result<(), AccessError> {
        if at.length == 0 {
            return Ok(());
        }
        let usable = |region: &&Region| region.valid || access == Access::Local;
        let region = self.slot(at.key).filter(usable).ok_or(AccessError::Key)?;
        let granted = match access {
            Access::Local => true,
            Access::RemoteRead => region.rights.read,
            Access::RemoteWrite => region.rights.write,
            Access::RemoteAtomic => region.rights.atomic,
        };
        if !granted {
            return Err(AccessError::Rights);
        }
        region.range(at).map(|_| ())
    }

    /// Bytes for which [`Memory::check`] was called when the request was accepted, fetched when they are
    /// sent: the key may have been invalidated in between.
    ///
    /// # Errors
    /// If they do not exist.
    pub fn fetch(&self, at: Buffer) -> Result<&[u8], AccessError> {
        if at.length == 0 {
            return Ok(&[]);
        }
        let region = self.slot(at.key).ok_or(AccessError::Key)?;
        region.range(at).map(|range| &region.bytes[range])
    }

    /// Writes `data` to `address` of the region.
    ///
    /// # Errors
    /// See [`Memory::check`]; nothing is written then.
    pub fn place(&mut self, key: u32, address: u64, data: &[u8], access: Access) -> Result<(), AccessError> {
        let at = Buffer { key, address, length: data.len() as u32 };
        self.check(at, access)?;
        if !data.is_empty() {
            let region = &mut self.regions[key as usize - 1];
            let range = region.range(at)?;
            region.bytes[range].copy_from_slice(data);
        }
        Ok(())
    }

    /// Replaces the 8 bytes (little-endian) at `at` by what `change` makes of them; the answer is what was there.
    ///
    /// # Errors
    /// See [`Memory::check`].
    pub fn atomic(&mut self, at: Remote, change: impl FnOnce(u64) -> u64) -> Result<u64, AccessError> {
        let buffer = Buffer { key: at.key, address: at.address, length: 8 };
        self.check(buffer, Access::RemoteAtomic)?;
        let region = &mut self.regions[at.key as usize - 1];
        let range = region.range(buffer)?;
        let mut word = [0; 8];
        word.copy_from_slice(&region.bytes[range.clone()]);
        let before = u64::from_le_bytes(word);
        region.bytes[range].copy_from_slice(&change(before).to_le_bytes());
        Ok(before)
    }

    fn slot(&self, key: u32) -> Option<&Region> {
        (key as usize).checked_sub(1).and_then(|at| self.regions.get(at))
    }
}

impl Region {
    fn range(&self, at: Buffer) -> Result<std::ops::Range<usize>, AccessError> {
        let from = at.address.checked_sub(self.base).ok_or(AccessError::Bounds)?;
        let to = from.checked_add(u64::from(at.length)).ok_or(AccessError::Bounds)?;
        if to > self.bytes.len() as u64 { Err(AccessError::Bounds) } else { Ok(from as usize..to as usize) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_stay_within_the_region_and_its_rights() {
        let mut m = Memory::default();
        let key = m.register(1000, vec![0; 16], Rights { write: true, ..Rights::LOCAL });
        assert_eq!(m.place(key, 1014, &[1, 2], Access::RemoteWrite), Ok(()));
        assert_eq!(m.place(key, 1015, &[1, 2], Access::RemoteWrite), Err(AccessError::Bounds));
        assert_eq!(m.place(key, 999, &[1], Access::RemoteWrite), Err(AccessError::Bounds));
        assert_eq!(m.place(key, u64::MAX, &[1, 2], Access::RemoteWrite), Err(AccessError::Bounds));
        assert_eq!(
            m.check(Buffer { key, address: 1000, length: 1 }, Access::RemoteRead),
            Err(AccessError::Rights)
        );
        assert_eq!(m.place(key + 1, 1000, &[1], Access::Local), Err(AccessError::Key));
        assert_eq!(m.place(0, 1000, &[1], Access::Local), Err(AccessError::Key));
        assert_eq!(m.bytes(key)[14..], [1, 2]);
    }

    #[test]
    fn an_invalidated_key_is_the_owners_alone_but_granted_bytes_can_still_be_fetched() {
        let mut m = Memory::default();
        let key = m.register(0, vec![5; 8], Rights::ALL);
        m.invalidate(key).unwrap();
        assert_eq!(m.invalidate(key), Err(AccessError::Key));
        let at = Buffer { key, address: 0, length: 8 };
        for access in [Access::RemoteRead, Access::RemoteWrite, Access::RemoteAtomic] {
            assert_eq!(m.check(at, access), Err(AccessError::Key));
        }
        assert_eq!(m.check(at, Access::Local), Ok(()));
        assert_eq!(m.fetch(at), Ok(&[5u8; 8][..]));
    }

    #[test]
    fn atomics_change_eight_bytes_and_answer_what_was_there() {
        let mut m = Memory::default();
        let key = m.register(0, vec![0; 16], Rights::ALL);
        assert_eq!(m.atomic(Remote { key, address: 8 }, |x| x + 7), Ok(0));
        assert_eq!(m.atomic(Remote { key, address: 8 }, |x| x * 2), Ok(7));
        assert_eq!(m.bytes(key)[8], 14);
        assert_eq!(m.atomic(Remote { key, address: 9 }, |x| x), Err(AccessError::Bounds));
    }
}
