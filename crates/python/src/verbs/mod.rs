//! Queue pairs of `thalweg_verbs` for Python: two ends, their memories, the path between them. Wrapped by
//! `thalweg.verbs`.

mod settings;
mod show;

pub use show::{irn_answers, verbs_headers, verbs_state};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use settings::{Settings, choice, refuse, span};
use std::sync::{Mutex, MutexGuard};
use thalweg_verbs::memory::{Buffer, Memory, Remote, Rights};
use thalweg_verbs::pair::{Pair, Seen, Turn};
use thalweg_verbs::{Fence, Operation, ReceiveRequest, Request, SendWith};

/// Instants between two looks at Ctrl-C.
const TURNS: u32 = 4096;
const FENCES: [(&str, Fence); 3] = [("none", Fence::None), ("reads", Fence::Reads), ("all", Fence::All)];
const RIGHTS: [(&str, Rights); 3] = [
    ("read", Rights { read: true, ..Rights::LOCAL }),
    ("write", Rights { write: true, ..Rights::LOCAL }),
    ("atomic", Rights { atomic: true, ..Rights::LOCAL }),
];

/// Own memory: key, address, bytes.
type Own = (u32, u64, u32);
/// The other side's: key, address.
type There = (u32, u64);
/// A packet or a CQE, by field.
type Fields<'py> = Bound<'py, PyDict>;
/// Receive WQE, what expired it, immediate data or key, bytes.
type Cqe = (u64, &'static str, Option<u32>, u32);

/// Two connected ends.
#[pyclass(frozen, module = "thalweg._core")]
pub struct VerbsPair {
    pair: Mutex<Pair<'static>>,
}

/// Settings and their defaults.
#[pyfunction]
pub fn verbs_settings(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    settings::defaults(py)
}

fn own((key, address, length): Own) -> Buffer {
    Buffer { key, address, length }
}

fn there((key, address): There) -> Remote {
    Remote { key, address }
}

fn memory<'p>(pair: &'p mut Pair<'static>, local: bool) -> &'p mut Memory {
    if local { &mut pair.local } else { &mut pair.host.memory }
}

impl VerbsPair {
    /// Let go of it before anything is made for Python: the thread that holds the lock must not wait for the
    /// interpreter.
    fn lock(&self) -> MutexGuard<'_, Pair<'static>> {
        self.pair.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn post(&self, py: Python<'_>, id: u64, operation: Operation, fence: &str) -> PyResult<()> {
        let fence = choice(py, "fence", fence, &FENCES)?;
        let posted = self.lock().post(Request { id, operation, fence });
        posted.map_err(|why| refuse(py, &why.to_string(), "", &[]))
    }
}

#[pymethods]
impl VerbsPair {
    #[new]
    fn new(py: Python<'_>, given: &Bound<'_, PyDict>) -> PyResult<Self> {
        let Settings { setup, path, packet_time } = Settings::read(given)?;
        let network = path.network().map_err(|why| refuse(py, &why.to_string(), "", &[]))?;
        let mut pair = Pair::new(setup, network).map_err(|why| refuse(py, &why.to_string(), "", &[]))?;
        pair.packet_time = packet_time;
        Ok(Self { pair: Mutex::new(pair) })
    }

    /// Registers memory at the requester (`local`) or the responder; the answer is its key.
    fn register(
        &self,
        py: Python<'_>,
        local: bool,
        base: u64,
        data: &[u8],
        rights: Vec<String>,
    ) -> PyResult<u32> {
        let mut granted = Rights::LOCAL;
        for word in rights {
            let one = choice(py, "right", &word, &RIGHTS)?;
            granted.read |= one.read;
            granted.write |= one.write;
            granted.atomic |= one.atomic;
        }
        Ok(memory(&mut self.lock(), local).register(base, data.to_vec(), granted))
    }

    /// Bytes `from` to `to` of a region, as its owner sees them.
    fn fetch<'py>(
        &self,
        py: Python<'py>,
        local: bool,
        key: u32,
        from: usize,
        to: usize,
    ) -> Bound<'py, PyBytes> {
        let found = memory(&mut self.lock(), local).bytes(key).get(from..to).unwrap_or_default().to_vec();
        PyBytes::new(py, &found)
    }

    /// Its owner changes the bytes of a region from `from` on; false if they are not there.
    fn store(&self, local: bool, key: u32, from: usize, data: &[u8]) -> bool {
        let mut pair = self.lock();
        let room = memory(&mut pair, local).bytes_mut(key).get_mut(from..);
        room.and_then(|room| room.get_mut(..data.len())).map(|room| room.copy_from_slice(data)).is_some()
    }

    fn is_valid(&self, local: bool, key: u32) -> bool {
        memory(&mut self.lock(), local).is_valid(key)
    }

    fn write(
        &self,
        py: Python<'_>,
        id: u64,
        from: Own,
        to: There,
        immediate: Option<u32>,
        fence: &str,
    ) -> PyResult<()> {
        self.post(py, id, Operation::Write { from: own(from), to: there(to), immediate }, fence)
    }

    fn read(&self, py: Python<'_>, id: u64, into: Own, from: There, fence: &str) -> PyResult<()> {
        self.post(py, id, Operation::Read { into: own(into), from: there(from) }, fence)
    }

    fn send(
        &self,
        py: Python<'_>,
        id: u64,
        from: Own,
        immediate: Option<u32>,
        invalidate: Option<u32>,
        fence: &str,
    ) -> PyResult<()> {
        let with = match (immediate, invalidate) {
            (None, None) => SendWith::Nothing,
            (Some(data), None) => SendWith::Immediate(data),
            (None, Some(key)) => SendWith::Invalidate(key),
            _ => {
                return Err(refuse(
                    py,
                    "a Send carries immediate data or a key to invalidate, not both",
                    "",
                    &[],
                ));
            }
        };
        self.post(py, id, Operation::Send { from: own(from), with }, fence)
    }

    fn fetch_add(
        &self,
        py: Python<'_>,
        id: u64,
        into: Own,
        at: There,
        add: u64,
        fence: &str,
    ) -> PyResult<()> {
        self.post(py, id, Operation::FetchAdd { at: there(at), add, into: own(into) }, fence)
    }

    fn compare_swap(
        &self,
        py: Python<'_>,
        id: u64,
        into: Own,
        at: There,
        words: (u64, u64),
        fence: &str,
    ) -> PyResult<()> {
        let (compare, swap) = words;
        let operation = Operation::CompareSwap { at: there(at), compare, swap, into: own(into) };
        self.post(py, id, operation, fence)
    }

    /// Posts a Receive WQE, to the shared queue if the pair takes them from there.
    fn receive(&self, py: Python<'_>, id: u64, sink: Own) -> PyResult<()> {
        let request = ReceiveRequest { id, sink: own(sink) };
        let posted = {
            let mut pair = self.lock();
            match pair.setup.shared_receives {
                true => {
                    pair.host.shared.post(request);
                    Ok(())
                }
                false => pair.responder.post_receive(request),
            }
        };
        posted.map_err(|why| refuse(py, &why.to_string(), "", &[]))
    }

    /// Until the next packet has arrived, at most so much longer; `None`: none does. `ValueError` if it is not a time.
    fn step<'py>(&self, py: Python<'py>, most: &Bound<'py, PyAny>) -> PyResult<Option<Fields<'py>>> {
        let most = span("until", most)?;
        let end = self.lock().now.saturating_add(most);
        loop {
            for _ in 0..TURNS {
                let (turn, dialect, now) = {
                    let mut pair = self.lock();
                    (pair.turn(end), pair.setup.dialect, pair.now)
                };
                match turn {
                    Turn::Arrived(arrival) => {
                        let fields = show::packet(py, dialect, arrival.way, &arrival.bytes)?;
                        fields.set_item("at_ps", now.ps())?;
                        fields.set_item("ignored", arrival.taken.err().map(|why| why.to_string()))?;
                        return Ok(Some(fields));
                    }
                    Turn::Waited => {}
                    Turn::Still => return Ok(None),
                }
            }
            py.check_signals()?;
        }
    }

    /// Until nothing more happens, or for at most so much longer; true: everything is over.
    fn run(&self, py: Python<'_>, most: &Bound<'_, PyAny>) -> PyResult<bool> {
        let most = span("until", most)?;
        let end = self.lock().now.saturating_add(most);
        let some = || {
            let mut pair = self.lock();
            (0..TURNS).all(|_| pair.turn(end) != Turn::Still)
        };
        while py.detach(some) {
            py.check_signals()?;
        }
        Ok(self.lock().is_idle())
    }

    /// Lets time pass until `now` + this; whatever happens until then happens.
    fn wait(&self, py: Python<'_>, time: &Bound<'_, PyAny>) -> PyResult<()> {
        let end = self.lock().now.saturating_add(span("time", time)?);
        self.run(py, time)?;
        self.lock().wait(end);
        Ok(())
    }

    /// Simulated time, ps.
    fn now_ps(&self) -> u64 {
        self.lock().now.ps()
    }

    /// Request, status, bytes of each completion at the requester so far.
    fn completions(&self) -> Vec<(u64, &'static str, u32)> {
        self.lock().completions.iter().map(|c| (c.id, show::status(c.status), c.bytes)).collect()
    }

    /// Each CQE at the responder so far.
    fn received(&self) -> Vec<Cqe> {
        let cqe = |r: &thalweg_verbs::Received| {
            let (what, value) = show::arrived(r.what);
            (r.id, what, value, r.bytes)
        };
        self.lock().received.iter().map(cqe).collect()
    }

    /// Every packet sent so far.
    fn sent<'py>(&self, py: Python<'py>) -> PyResult<Vec<Fields<'py>>> {
        let (dialect, sent) = {
            let pair = self.lock();
            (pair.setup.dialect, pair.sent.clone())
        };
        let one = |seen: &Seen| {
            let fields = show::packet(py, dialect, seen.way, &seen.bytes)?;
            fields.set_item("at_ps", seen.at.ps())?;
            fields.set_item("copies", seen.copies)?;
            Ok(fields)
        };
        sent.iter().map(one).collect()
    }

    /// MSN, the next request packet expected, shared Receive WQEs taken, bits kept about packets out of
    /// order, over, failed.
    fn state(&self) -> (u32, u32, u64, u32, bool, bool) {
        let pair = self.lock();
        (
            pair.responder.messages().value(),
            pair.responder.expected().value(),
            pair.host.shared.dequeued(),
            pair.responder.reorder_bits(),
            pair.is_idle(),
            pair.requester.has_failed(),
        )
    }

    /// What the requester and the responder have done.
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<(Fields<'py>, Fields<'py>)> {
        let [asks, answers] = {
            let pair = self.lock();
            [pair.requester.counters(), pair.responder.counters()]
        };
        Ok((show::counters(py, asks)?, show::counters(py, answers)?))
    }
}
