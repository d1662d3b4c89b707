//! Loads the datapath into the kernel. File descriptors own all of it, so the kernel removes it however the process
//! ends.

use super::decisions::Decisions;
use super::records::Record;
use super::{Error, Group};
use libbpf_rs::{Link, MapCore, MapHandle, Object, ObjectBuilder, PrintLevel, RingBuffer, RingBufferBuilder};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

static DATAPATH: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/datapath.bpf.o"));

/// Length of an algorithm's name in the kernel, including the final zero.
const NAME: usize = 16;
/// TCP_CONG_NEEDS_ECN.
const NEEDS_ECN: u32 = 2;

/// Records from the ring buffer that have not been taken, and the number of unreadable ones.
#[derive(Default)]
struct Inbox {
    records: Vec<Record>,
    unread: u64,
}

/// The datapath in the kernel.
pub(super) struct Loaded {
    name: String,
    pub(super) decisions: Decisions,
    ring: RingBuffer<'static>,
    records: MapHandle,
    dropped: MapHandle,
    inbox: Arc<Mutex<Inbox>>,
    // Dropped in this order.
    _sockops: Link,
    _algorithm: Link,
    _object: Object,
}

impl Loaded {
    /// Loads the datapath as an algorithm with a name of its own, for the processes of a group.
    pub(super) fn new(group: &Group, ecn: bool) -> Result<Self, Error> {
        check_kernel()?;
        libbpf_rs::set_print(Some((PrintLevel::Warn, note)));
        let _ = take_notes();
        let name = free_name();
        let mut open = ObjectBuilder::default().open_memory(DATAPATH).map_err(refused("opening it"))?;
        for mut map in open.maps_mut() {
            let kind = map.name().to_string_lossy().into_owned();
            let flags = if ecn { NEEDS_ECN } else { 0 };
            match (kind.as_str(), map.initial_value_mut()) {
                // The name, then the flags, in both versions: see the source.
                ("thalweg", Some(value)) => settle(value, &name, flags),
                (kind, Some(value)) if kind.ends_with(".rodata") => settle(value, &name, u32::from(ecn)),
                _ => {}
            }
        }
        let mut object = open.load().map_err(refused("verifying it"))?;
        let missing = || Error::Load { doing: "loading it", why: "a part of it is missing".into() };
        let mut handles = Vec::new();
        for wanted in ["records", "decisions", "dropped"] {
            let map = object.maps().find(|map| map.name() == wanted).ok_or_else(missing)?;
            handles.push(MapHandle::try_from(&map).map_err(refused("opening its maps"))?);
        }
        let mut handles = handles.into_iter();
        let mut handle = || handles.next().ok_or_else(missing);
        let (records, decisions, dropped) = (handle()?, handle()?, handle()?);
        let decisions =
            Decisions::map(decisions).map_err(|source| Error::Io { what: "mapping decisions", source })?;

        let inbox = Arc::new(Mutex::new(Inbox::default()));
        let theirs = Arc::clone(&inbox);
        let mut builder = RingBufferBuilder::new();
        let take = move |bytes: &[u8]| {
            let mut inbox = theirs.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            match Record::parse(bytes) {
                Some(record) => inbox.records.push(record),
                None => inbox.unread += 1,
            }
            0
        };
        builder.add(&records, take).map_err(refused("reading records"))?;
        let ring = builder.build().map_err(refused("reading records"))?;

        let mut map = object.maps_mut().find(|map| map.name() == "thalweg").ok_or_else(missing)?;
        let algorithm = map.attach_struct_ops().map_err(refused("registering it"))?;
        let program = object.progs_mut().find(|p| p.name() == "thalweg_sockops").ok_or_else(missing)?;
        let sockops =
            program.attach_cgroup(group.file().as_raw_fd()).map_err(refused("attaching it to the group"))?;
        let (_sockops, _algorithm, _object) = (sockops, algorithm, object);
        Ok(Self { name, decisions, ring, records, dropped, inbox, _sockops, _algorithm, _object })
    }

    /// The name in the kernel's list.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Moves the records that have come into `records`.
    pub(super) fn take(&self, records: &mut Vec<Record>) -> Result<(), Error> {
        self.ring.consume().map_err(refused("reading records"))?;
        let mut inbox = self.inbox.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        records.append(&mut inbox.records);
        Ok(())
    }

    /// Records that did not fit into the ring buffer, or could not be read.
    pub(super) fn lost(&self) -> u64 {
        let unread = self.inbox.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).unread;
        let value = self.dropped.lookup(&0u32.to_ne_bytes(), libbpf_rs::MapFlags::ANY).ok().flatten();
        let dropped = value.and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_ne_bytes);
        dropped + unread
    }

    /// Sleeps until a record comes or the time is over.
    pub(super) fn wait(&self, timeout: Duration) -> Result<(), Error> {
        let (tv_sec, tv_nsec) = (timeout.as_secs().min(3600) as i64, i64::from(timeout.subsec_nanos()));
        match poll(&mut [PollFd::new(&self.records, PollFlags::IN)], Some(&Timespec { tv_sec, tv_nsec })) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(Error::Io { what: "waiting for records", source: error.into() }),
        }
    }
}

/// Writes name and flags at the beginning of a structure.
fn settle(value: &mut [u8], name: &str, flags: u32) {
    if let Some(start) = value.get_mut(..NAME + 4) {
        start.fill(0);
        start[..name.len()].copy_from_slice(name.as_bytes());
        start[NAME..].copy_from_slice(&flags.to_ne_bytes());
    }
}

/// An unused name: the kernel has one namespace for all algorithms, and several may be loaded. It consists of
/// `thalweg`, the process id, and a letter for each algorithm of the process.
fn free_name() -> String {
    static LOADED: AtomicU8 = AtomicU8::new(0);
    let known =
        std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    let taken = |name: &String| known.split_whitespace().any(|one| one == name);
    let number = std::process::id() % 10_000_000;
    let next = || {
        let letter = b'a' + LOADED.fetch_add(1, Ordering::Relaxed) % 26;
        format!("thalweg{number}{}", char::from(letter))
    };
    let first = next();
    std::iter::once(first.clone()).chain((0..25).map(|_| next())).find(|name| !taken(name)).unwrap_or(first)
}

fn check_kernel() -> Result<(), Error> {
    if !rustix::process::geteuid().is_root() {
        return Err(Error::Rights);
    }
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    if !is_new_enough(&release) {
        return Err(Error::Old { release });
    }
    if Path::new("/sys/kernel/btf/vmlinux").exists() { Ok(()) } else { Err(Error::NoTypes) }
}

/// Since Linux 6.10, cong_control gets the ACK and its flags.
fn is_new_enough(release: &str) -> bool {
    let mut numbers =
        release.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse::<u32>().unwrap_or(0));
    let (major, minor) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    (major, minor) >= (6, 10)
}

/// Messages of libbpf, for the error that follows.
static NOTES: Mutex<String> = Mutex::new(String::new());

fn note(_: PrintLevel, text: String) {
    let mut notes = NOTES.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if notes.len() < 2000 {
        notes.push_str(&text);
    }
}

fn take_notes() -> String {
    std::mem::take(&mut *NOTES.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
}

fn refused(doing: &'static str) -> impl FnOnce(libbpf_rs::Error) -> Error {
    move |error| match error.kind() {
        libbpf_rs::ErrorKind::PermissionDenied if doing != "verifying it" => Error::Rights,
        _ => {
            let text = format!("{error} {}", take_notes());
            Error::Load { doing, why: text.split_whitespace().collect::<Vec<_>>().join(" ") }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_compared_by_number() {
        for (release, new) in [
            ("6.18.44-fc-v669", true),
            ("6.10.0", true),
            ("7.0", true),
            ("6.9.12", false),
            ("6.1.0-18-amd64", false),
            ("5.15", false),
            ("", false),
        ] {
            assert_eq!(is_new_enough(release), new, "{release}");
        }
    }

    #[test]
    fn a_name_fits_the_kernel_with_a_zero_behind_it() {
        let mut value = [255; 24];
        settle(&mut value, &free_name(), 2);
        assert!(value[..NAME].contains(&0) && value.starts_with(b"thalweg"));
        assert_eq!(value[NAME..], [2, 0, 0, 0, 255, 255, 255, 255]);
    }
}
