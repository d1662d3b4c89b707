//! Records, and the same port offline.

use crate::common::{arrival, port, scenario};
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use thalweg_emulate::Port;
use thalweg_emulate::path::Path;
use thalweg_emulate::record::Recorder;
use thalweg_emulate::replay::replay;
use thalweg_units::{Span, Stream, Time};

/// A disk that holds so many bytes.
#[derive(Clone)]
struct Disk(Arc<Mutex<Vec<u8>>>, usize);

impl Disk {
    fn of(room: usize) -> Self {
        Self(Arc::default(), room)
    }
    fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut held = self.0.lock().unwrap();
        let fits = bytes.len().min(self.1 - held.len());
        if fits == 0 {
            return Err(io::Error::from_raw_os_error(28)); // ENOSPC
        }
        held.extend(&bytes[..fits]);
        Ok(fits)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A port under more than its load, recorded: packets are looked at late and their stamps clash.
fn recorded(port: &Port, packets: u32, disk: &Disk) -> Option<String> {
    let mut recorder = Recorder::new(port, disk.clone()).unwrap();
    let mut path = Path::new(port).unwrap();
    let mut draw = Stream::new(3, "record", 0);
    let mut now = Time::ZERO;
    for label in 0..packets {
        now += Span::from_us(draw.below(1200));
        let mut arrival = arrival(now, draw.below(7) as u32, 40 + draw.below(1460) as u32);
        // A stamp from before the last look.
        arrival.at = path.stamp(Time::from_ps(now.ps().saturating_sub(Span::from_us(draw.below(900)).ps())));
        recorder.arrival(&arrival);
        path.arrive(&arrival, label, &mut |d| recorder.decision(&d));
        path.advance(now, &mut |d| recorder.decision(&d));
    }
    path.advance(now, &mut |d| recorder.decision(&d));
    recorder.finish(now)
}

const FQ_CODEL: &str = "[switch]\nbuffer = \"100KB\"\nscheduler = \"fq-codel\"\n\
                        [[link]]\nwhich = \"core-links\"\nloss = { independent = 0.01 }\n";

#[test]
fn a_replay_has_the_same_departures_drops_and_marks() {
    let (port, disk) = (port(&scenario("8Mbps", "5ms", FQ_CODEL)), Disk::of(usize::MAX));
    assert_eq!(recorded(&port, 20_000, &disk), None);
    let found = replay(&disk.bytes()[..]).unwrap();
    assert_eq!((found.difference.as_ref(), found.whole, found.arrived), (None, true, 20_000));
    assert!(found.sent > 5_000 && found.marked > 10 && found.dropped > 100 && found.lost > 50, "{found:?}");
    assert!(found.sent + found.dropped <= found.arrived);
}

#[test]
fn a_record_that_was_changed_names_the_first_decision_that_differs() {
    let (port, disk) = (port(&scenario("8Mbps", "5ms", FQ_CODEL)), Disk::of(usize::MAX));
    recorded(&port, 500, &disk);
    let bytes = disk.bytes();
    let mut changed = 0;
    // One bit of every 40th byte behind the port: refused, or different, or the same only if that byte says nothing.
    for at in (bytes.len() / 2..bytes.len()).step_by(40) {
        let mut other = bytes.clone();
        other[at] ^= 1;
        match replay(&other[..]) {
            Ok(found) if found.difference.is_none() && found.whole => {}
            _ => changed += 1,
        }
    }
    let tried = (bytes.len() / 2).div_ceil(40);
    assert!(changed * 2 > tried, "{changed} of {tried}"); // sizes and flows of arrivals may change nothing
}

#[test]
fn a_record_that_was_cut_off_is_compared_as_far_as_it_goes() {
    let (port, disk) = (port(&scenario("8Mbps", "5ms", FQ_CODEL)), Disk::of(usize::MAX));
    recorded(&port, 500, &disk);
    let bytes = disk.bytes();
    let mut sent = Vec::new();
    for cut in (bytes.len() / 2..bytes.len()).step_by(97) {
        let found = replay(&bytes[..cut]).unwrap();
        assert_eq!((found.difference, found.whole), (None, false), "{cut}");
        sent.push(found.sent);
    }
    assert!(sent.is_sorted() && sent.first() < sent.last());
    assert!(replay(&b"thalweg?"[..]).is_err() && replay(&bytes[..30]).is_err() && replay(&[][..]).is_err());
}

#[test]
fn a_full_disk_ends_the_record_with_a_message_and_not_the_run() {
    let port = port(&scenario("8Mbps", "5ms", FQ_CODEL));
    let disk = Disk::of(200_000);
    let why = recorded(&port, 20_000, &disk).expect("the disk is full");
    assert!(why.contains("No space left"), "{why}");
    let found = replay(&disk.bytes()[..]).unwrap();
    assert!(found.difference.is_none() && !found.whole && found.sent > 1000, "{found:?}");
}
