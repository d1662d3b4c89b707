//! Random sequences of all operations, valid and not, over paths that lose, repeat and reorder, in both dialects:
//! completions, notifications and memory are those of a model that executes the requests one after the other.
//!
//! Where docs/verbs.md leaves an order to the application, the sequences declare the fence that the page names.

use crate::common::{Net, Run, random_fate};
use thalweg_machines::transport::rdma::Psn;
use thalweg_units::{Span, Stream, Time};
use thalweg_verbs::memory::{Buffer, Remote, Rights};
use thalweg_verbs::wire::{Dialect, RnrTimer};
use thalweg_verbs::{
    Arrived, Completion, Fence, Operation, ReceiveRequest, Received, Request, Retry, SendWith, Setup, Status,
};

/// Bytes of each of the responder's regions.
const SIZE: usize = 48;
/// The responder's regions in the order of their keys; no other key is valid.
const REGIONS: [Rights; 5] =
    [Rights::ALL, Rights::ALL, Rights::ALL, Rights { read: true, ..Rights::LOCAL }, Rights::LOCAL];
/// Bytes of a sink: some Sends are longer.
const SINK: u32 = 28;
/// Bytes of data at the requester; behind them, as many for each request's answer.
const OWN: usize = 40;
const END: Time = Time::from_ms(2_000);

/// Bytes of a region: key, from, to.
type Range = (u32, u64, u64);

fn overlap(a: &Range, b: &Range) -> bool {
    a.0 == b.0 && a.1 < b.2 && b.1 < a.2
}

/// Executes requests in order.
struct Model {
    regions: Vec<(Vec<u8>, bool)>,
    own: Vec<u8>,
    sinks: Vec<ReceiveRequest>,
    received: Vec<Received>,
}

impl Model {
    fn check(&self, at: Range, granted: impl Fn(Rights) -> bool) -> Result<(), Status> {
        if at.1 == at.2 {
            return Ok(());
        }
        let region = (at.0 as usize).checked_sub(1).filter(|region| *region < REGIONS.len());
        let good = region.is_some_and(|region| self.regions[region].1 && granted(REGIONS[region]));
        if good && at.2 <= SIZE as u64 { Ok(()) } else { Err(Status::RemoteAccess) }
    }

    fn put(&mut self, at: Range, data: &[u8]) {
        if !data.is_empty() {
            self.regions[at.0 as usize - 1].0[at.1 as usize..at.2 as usize].copy_from_slice(data);
        }
    }

    fn data(&self, from: Buffer) -> Vec<u8> {
        self.own[from.address as usize..][..from.length as usize].to_vec()
    }

    fn notify(&mut self, what: Arrived, bytes: u32) {
        let id = self.received.len() as u64;
        self.received.push(Received { id, what, bytes });
    }

    fn word(&mut self, at: Remote, into: Buffer, change: impl Fn(u64) -> u64) -> Result<(), Status> {
        let range = (at.key, at.address, at.address + 8);
        if !at.address.is_multiple_of(8) {
            return Err(Status::RemoteInvalidRequest);
        }
        self.check(range, |rights| rights.atomic)?;
        let here = &self.regions[at.key as usize - 1].0[at.address as usize..][..8];
        let word = u64::from_le_bytes(here.try_into().unwrap());
        self.put(range, &change(word).to_le_bytes());
        self.own[into.address as usize..][..8].copy_from_slice(&word.to_le_bytes());
        Ok(())
    }

    fn execute(&mut self, operation: Operation) -> Result<(), Status> {
        match operation {
            Operation::Write { from, to, immediate } => {
                let range = range_of(to, from.length);
                self.check(range, |rights| rights.write)?;
                self.put(range, &self.data(from));
                if let Some(data) = immediate {
                    self.notify(Arrived::WriteImmediate(data), from.length);
                }
            }
            Operation::Read { into, from } => {
                let range = range_of(from, into.length);
                self.check(range, |rights| rights.read)?;
                if into.length > 0 {
                    let found =
                        self.regions[from.key as usize - 1].0[range.1 as usize..range.2 as usize].to_vec();
                    self.own[into.address as usize..][..found.len()].copy_from_slice(&found);
                }
            }
            Operation::Send { from, with } => {
                let sink = self.sinks[self.received.len()].sink;
                if from.length > sink.length {
                    return Err(Status::RemoteInvalidRequest);
                }
                if let SendWith::Invalidate(key) = with {
                    let region =
                        self.regions.get_mut((key as usize).wrapping_sub(1)).filter(|region| region.1);
                    region.ok_or(Status::RemoteAccess)?.1 = false;
                }
                self.put((sink.key, sink.address, sink.address + u64::from(from.length)), &self.data(from));
                let what = match with {
                    SendWith::Nothing => Arrived::Send,
                    SendWith::Immediate(data) => Arrived::SendImmediate(data),
                    SendWith::Invalidate(key) => Arrived::SendInvalidate(key),
                };
                self.notify(what, from.length);
            }
            Operation::CompareSwap { at, compare, swap, into } => {
                self.word(at, into, |word| if word == compare { swap } else { word })?;
            }
            Operation::FetchAdd { at, add, into } => self.word(at, into, |word| word.wrapping_add(add))?,
        }
        Ok(())
    }
}

fn range_of(at: Remote, length: u32) -> Range {
    (at.key, at.address, at.address + u64::from(length))
}

/// One request at random; `number` is its own.
fn operation(r: &mut Stream, number: usize, is_bold: bool) -> Operation {
    // Errors end a queue pair, so most requests are valid: in the first two regions, as long as no key is invalidated.
    let wild = is_bold && r.below(12) == 0;
    let length = if wild { r.below(37) as u32 } else { r.below(u64::from(SINK) + 1) as u32 };
    let from = Buffer { key: 1, address: r.below(OWN as u64 - u64::from(length) + 1), length };
    let into = Buffer { key: 1, address: (OWN * (number + 1)) as u64, length };
    let key = if wild { r.below(7) as u32 } else { 1 + r.below(if is_bold { 3 } else { 2 }) as u32 };
    let at = Remote { key, address: r.below(if wild { 30 } else { SIZE as u64 - u64::from(length) + 1 }) };
    let word = Remote { key, address: if wild { r.below(50) } else { 8 * r.below(SIZE as u64 / 8) } };
    let answer = Buffer { length: 8, ..into };
    match r.below(12) {
        0..=2 => Operation::Write { from, to: at, immediate: None },
        3 => Operation::Write { from, to: at, immediate: Some(r.bits() as u32) },
        4 | 5 => Operation::Read { into, from: at },
        6 => Operation::Send { from, with: SendWith::Nothing },
        7 => Operation::Send { from, with: SendWith::Immediate(r.bits() as u32) },
        8 if is_bold => Operation::Send { from, with: SendWith::Invalidate(if wild { key } else { 3 }) },
        8 | 9 => Operation::FetchAdd { at: word, add: r.below(1 << 60), into: answer },
        10 => Operation::CompareSwap { at: word, compare: 0, swap: r.bits(), into: answer },
        _ => Operation::Write { from, to: Remote { address: 0, ..at }, immediate: None },
    }
}

/// What a request does to the responder's memory before its turn, and what it looks at when it is its turn or later.
struct Touched {
    places: Option<Range>,
    looks: Option<Range>,
    changes: Option<Range>,
}

fn touched(operation: &Operation, sink: Buffer) -> Touched {
    let mut touched = Touched { places: None, looks: None, changes: None };
    match *operation {
        Operation::Write { from, to, .. } => touched.places = Some(range_of(to, from.length)),
        Operation::Send { from, .. } => {
            touched.places = Some(range_of(Remote { key: sink.key, address: sink.address }, from.length));
        }
        Operation::Read { into, from } => touched.looks = Some(range_of(from, into.length)),
        Operation::CompareSwap { at, .. } | Operation::FetchAdd { at, .. } => {
            touched.changes = Some(range_of(at, 8))
        }
    }
    touched
}

/// The weakest fence that the page names for this request behind these, which are not fenced off yet.
fn needed(now: &Touched, before: &[(Touched, bool)]) -> Fence {
    let meets = |a: &Option<Range>, b: &Option<Range>| matches!((a, b), (Some(a), Some(b)) if overlap(a, b));
    let mut fence = Fence::None;
    for (earlier, _) in before {
        // An overwrite.
        if meets(&now.places, &earlier.places) {
            return Fence::All;
        }
        // What an earlier Read or Atomic looks at.
        let looked = [&earlier.looks, &earlier.changes].into_iter().any(|range| meets(&now.places, range));
        if looked || meets(&now.changes, &earlier.looks) {
            fence = Fence::Reads;
        }
    }
    fence
}

/// A sequence, the sinks that it needs, and the network.
struct Case {
    setup: Setup,
    requests: Vec<Request>,
    sinks: Vec<ReceiveRequest>,
}

fn case(seed: u64, dialect: Dialect) -> Case {
    let mut r = Stream::new(seed, "sequence", 0);
    let is_bold = !seed.is_multiple_of(3);
    let setup = Setup {
        dialect,
        mtu: [4, 8, 16][r.below(3) as usize],
        cap: [1, 2, 8, 70][r.below(4) as usize],
        read_slots: [1, 2, 16][r.below(3) as usize],
        initial_credits: [0, 3, 100][r.below(3) as usize],
        shared_receives: r.below(3) == 0,
        retry: Retry {
            min_rnr_timer: RnrTimer::from_code(1 + r.below(9) as u8),
            refusals: 1 + r.below(3) as u32,
            ..Retry::default()
        },
        first_request: Psn::new([0, 0xff_fffc][r.below(2) as usize]),
        first_response: Psn::new([0, 0xff_fff9][r.below(2) as usize]),
        ..Setup::default()
    };
    // Sinks in a region of their own or in the third, whose key some Sends invalidate.
    let mut sinks = vec![];
    let (mut requests, mut before, mut used) = (vec![], vec![], 0);
    for number in 0..1 + r.below(16) as usize {
        sinks.push(ReceiveRequest {
            id: sinks.len() as u64,
            sink: Buffer { key: if r.below(4) == 0 { 3 } else { 5 }, address: r.below(20), length: SINK },
        });
        let operation = operation(&mut r, number, is_bold);
        let touched = touched(&operation, sinks[used].sink);
        used += usize::from(operation.takes_receive());
        let declared = [Fence::None, Fence::None, Fence::None, Fence::Reads, Fence::All][r.below(5) as usize];
        let fence = match (needed(&touched, &before), declared) {
            (Fence::All, _) | (_, Fence::All) => Fence::All,
            (Fence::Reads, _) | (_, Fence::Reads) => Fence::Reads,
            _ => Fence::None,
        };
        match fence {
            Fence::All => before.clear(),
            Fence::Reads => before.retain(|(_, reads)| !reads),
            Fence::None => {}
        }
        before.push((touched, operation.has_response()));
        requests.push(Request { id: number as u64, operation, fence });
    }
    Case { setup, requests, sinks }
}

/// Runs a case over a network; a difference from the model, or how it ended.
fn run(seed: u64, case: &Case) -> Result<Option<Status>, String> {
    let mut r = Stream::new(seed, "network", 0);
    let loss = [0.0, 0.02, 0.1, 0.3][r.below(4) as usize];
    let repeat = [0.0, 0.1, 0.5][r.below(3) as usize];
    let jitter = [Span::ZERO, Span::from_us(2), Span::from_us(40), Span::from_us(300)][r.below(4) as usize];
    let fate = random_fate(Stream::new(seed, "fate", 0), loss, repeat, jitter);
    let mut net = Net::new(case.setup.clone(), fate).unwrap();
    let own: Vec<u8> = (0..OWN * (case.requests.len() + 1)).map(|n| n as u8 ^ 0x5a).collect();
    net.local.register(0, own.clone(), Rights::LOCAL);
    for rights in REGIONS {
        net.host.memory.register(0, vec![0; SIZE], rights);
    }
    let regions = REGIONS.map(|_| (vec![0; SIZE], true)).to_vec();
    let mut model = Model { regions, own, sinks: case.sinks.clone(), received: vec![] };

    // All at once or one by one; a queue pair that has failed takes no more.
    let slow = r.below(3) == 0;
    let mut posted = 0;
    while posted < case.requests.len() && net.post(case.requests[posted]).is_ok() {
        posted += 1;
        net.run(net.now + Span::from_us(if slow { r.below(150) } else { 0 }));
    }
    let late = r.below(2) == 0;
    for wqe in &case.sinks {
        net.run(net.now + Span::from_us(if late { r.below(200) } else { 0 }));
        match case.setup.shared_receives {
            true => net.host.shared.post(*wqe),
            false => net.responder.post_receive(*wqe).unwrap(),
        }
    }
    net.run(END);

    // What may have been placed although its request failed or was flushed.
    let (mut completions, mut loose, mut failed) = (vec![], vec![], None);
    let mut used = 0;
    for Request { id, operation, .. } in &case.requests[..posted] {
        let ended = match failed {
            None => model.execute(*operation),
            Some(_) => Err(Status::Flushed),
        };
        if let Err(status) = ended {
            failed.get_or_insert(status);
            loose.extend(touched(operation, case.sinks[used].sink).places);
        }
        used += usize::from(operation.takes_receive());
        let bytes = if ended.is_ok() { operation.buffer().length } else { 0 };
        completions.push(Completion { id: *id, status: ended.err().unwrap_or(Status::Success), bytes });
    }
    let differs = |what: &str, found: String, expected: String| {
        let line = |request: &Request| format!("  {:?} {:?}", request.fence, request.operation);
        let requests: Vec<String> = case.requests.iter().map(line).collect();
        Err(format!(
            "seed {seed}, {:?}: {what}: {found}, not {expected}\n{}",
            case.setup.dialect,
            requests.join("\n")
        ))
    };
    if net.completions != completions {
        return differs("completions", format!("{:?}", net.completions), format!("{completions:?}"));
    }
    if net.received != model.received {
        return differs("notifications", format!("{:?}", net.received), format!("{:?}", model.received));
    }
    if net.local.bytes(1) != model.own {
        let at = (0..model.own.len()).find(|&at| net.local.bytes(1)[at] != model.own[at]);
        return differs("own memory", format!("{at:?}"), String::new());
    }
    for (key, (bytes, valid)) in (1..).zip(&model.regions) {
        let found = net.host.memory.bytes(key);
        let is_loose = |at: usize| loose.iter().any(|range| overlap(range, &(key, at as u64, at as u64 + 1)));
        if let Some(at) = (0..SIZE).find(|&at| found[at] != bytes[at] && !is_loose(at)) {
            return differs("memory", format!("{} at {at} of {key}", found[at]), format!("{}", bytes[at]));
        }
        if net.host.memory.is_valid(key) != *valid {
            return differs("validity", format!("{}", !valid), format!("{valid} of {key}"));
        }
    }
    // What was not posted, was not because another failed.
    assert!(posted == case.requests.len() || failed.is_some(), "seed {seed}");
    Ok(failed)
}

/// The shortest sequence that still differs, without requests that do not matter.
fn minimised(seed: u64, mut case: Case) -> String {
    let mut why = run(seed, &case).unwrap_err();
    let mut at = 0;
    while at < case.requests.len() {
        let requests = case.requests.iter().enumerate().filter(|(n, _)| *n != at).map(|(_, r)| *r).collect();
        let shorter = Case { setup: case.setup.clone(), requests, sinks: case.sinks.clone() };
        match run(seed, &shorter) {
            Err(found) => (why, case) = (found, shorter),
            Ok(_) => at += 1,
        }
    }
    format!("{why}\n{:?}\n{:?}", case.setup, case.sinks)
}

/// As many as `THALWEG_VERBS_SEQUENCES` says, if it is set.
#[test]
fn sequences_end_as_if_executed_in_order() {
    let cases = std::env::var("THALWEG_VERBS_SEQUENCES").ok().and_then(|n| n.parse().ok()).unwrap_or(3_000);
    let (mut good, mut failed) = (0, std::collections::BTreeMap::new());
    for seed in 0..cases {
        let case = case(seed, [Dialect::Irn, Dialect::Roce][seed as usize % 2]);
        match run(seed, &case) {
            Ok(None) => good += 1,
            Ok(Some(status)) => *failed.entry(format!("{status:?}")).or_insert(0) += 1,
            Err(_) => panic!("{}", minimised(seed, case)),
        }
    }
    assert!(good > cases / 3 && failed.len() == 2, "{good} {failed:?}");
    assert!(failed.values().all(|n| *n > 50), "{failed:?}");
}

/// What follows a Send that invalidates its key is refused, whatever overtakes that Send; what went before succeeds.
#[test]
fn an_invalidated_key_is_refused_whatever_is_lost() {
    let own = Buffer { key: 1, address: 0, length: 24 };
    let (at, word) = (Remote { key: 2, address: 0 }, Buffer { length: 8, ..own });
    let later = [
        Operation::Write { from: own, to: at, immediate: None },
        Operation::Write { from: own, to: at, immediate: Some(1) },
        Operation::Read { into: own, from: at },
        Operation::FetchAdd { at, add: 1, into: word },
        Operation::CompareSwap { at, compare: 0, swap: 1, into: word },
    ];
    for seed in 0..300 {
        for (dialect, operation) in [Dialect::Irn, Dialect::Roce].iter().flat_map(|d| later.map(|o| (*d, o)))
        {
            let fate = random_fate(Stream::new(seed, "fate", 0), 0.2, 0.2, Span::from_us(40));
            let setup = Setup { dialect, mtu: 8, initial_credits: 9, ..Setup::default() };
            let mut net = Net::new(setup, fate).unwrap();
            net.local.register(0, (1..65).collect(), Rights::LOCAL);
            (0..2).for_each(|_| assert!(net.host.memory.register(0, vec![0; 32], Rights::ALL) > 0));
            for id in 0..2 {
                let sink = Buffer { key: 1, address: 0, length: 8 };
                net.responder.post_receive(ReceiveRequest { id, sink }).unwrap();
            }
            let send = Operation::Send { from: word, with: SendWith::Invalidate(2) };
            for (id, operation) in [later[0], send, operation].into_iter().enumerate() {
                net.post(Request { id: id as u64, operation, fence: Fence::None }).unwrap();
            }
            let (own, there): (Vec<u8>, Vec<u8>) = ((1..65).collect(), (1..25).chain([0; 8]).collect());
            net.run(END);
            let ends: Vec<Status> = net.completions.iter().map(|c| c.status).collect();
            assert_eq!(
                ends,
                [Status::Success, Status::Success, Status::RemoteAccess],
                "{seed} {operation:?}"
            );
            assert_eq!(net.received, [Received { id: 0, what: Arrived::SendInvalidate(2), bytes: 8 }]);
            assert_eq!(net.host.memory.bytes(2), there, "{seed} {operation:?}");
            assert_eq!(net.local.bytes(1), own, "{seed} {operation:?}");
        }
    }
}
