//! `memory`: the most that each input of a switch, and each shared memory, has held.

use crate::run::Run;
use crate::table::{Field, Rows, Table, Value};
use thalweg_machines::buffer::InputMemory;
use thalweg_machines::pause::Claims;
use thalweg_units::PortId;

/// An input of a switch, or the memory that its inputs share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemoryRow {
    /// The switch.
    pub node: u32,
    /// An input: the port that leads to it.
    pub port: Option<PortId>,
    /// An input: the node from which packets come.
    pub from: Option<u32>,
    /// Most bytes held.
    pub most: u64,
    /// What it may hold; an input of a shared memory without static thresholds has no limit of its own.
    pub limit: Option<u64>,
    /// An input under flow control: most bytes above XOFF, or in its headroom, and the room there.
    pub headroom: Option<(u64, u64)>,
}

/// Switch by switch, inputs in the order of their links; nothing unless it was requested.
pub(crate) fn memory_rows(run: &Run) -> Vec<MemoryRow> {
    let spec = run.engine.spec();
    let mut ports: Vec<Vec<PortId>> = vec![Vec::new(); spec.switches as usize];
    for port in (0..2 * spec.links.len()).map(PortId::from) {
        if let Some(switch) = spec.ends(port).0.0.checked_sub(spec.hosts) {
            ports[switch as usize].push(port);
        }
    }
    let mut out = Vec::new();
    for (switch, (peaks, memory)) in run.engine.memory_peaks().enumerate() {
        let node = spec.hosts + switch as u32;
        let claims = memory.spec().claims();
        for (number, back) in ports[switch].iter().enumerate() {
            let most = peaks.inputs[number];
            let own = match memory.spec().memory {
                InputMemory::PerInput(bytes) => Some(bytes.get()),
                InputMemory::Shared(_) => None,
            };
            let (limit, headroom) = match claims {
                Claims::None => (own, None),
                Claims::Static { xoff, headroom, .. } => {
                    let limit = own.unwrap_or(xoff + headroom);
                    (Some(limit), Some((most.saturating_sub(xoff), limit.saturating_sub(xoff))))
                }
                Claims::Dynamic { headroom, .. } => (None, Some((peaks.headrooms[number], headroom))),
            };
            let from = Some(spec.ends(*back).1.0);
            out.push(MemoryRow { node, port: Some(back.reverse()), from, most, limit, headroom });
        }
        if memory.pool() > 0 {
            let limit = Some(memory.pool());
            out.push(MemoryRow { node, port: None, from: None, most: peaks.shared, limit, headroom: None });
        }
    }
    out
}

/// One row per input of a switch, and one for what its inputs share.
pub(super) struct Memory;

impl Rows for Memory {
    type Row<'a> = MemoryRow;
    const NAME: &'static str = "memory";
    const DOC: &'static str =
        "One row per input of a switch, and one for what its inputs share: the most that it has held.";
    const FIELDS: &'static [Field<Self>] = &[
        Field::new("node", "", "the switch", Value::U32(|r| r.node)),
        Field::new(
            "port",
            "",
            "the port that leads to the input; null: what all inputs of the switch share",
            Value::Maybe(|r| r.port.map(|p| p.0.into())),
        ),
        Field::new("from_node", "", "where its packets come from", Value::Maybe(|r| r.from.map(u64::from))),
        Field::new("most_bytes", "B", "held at most", Value::U64(|r| r.most)),
        Field::new(
            "limit_bytes",
            "B",
            "what it may hold; null: no limit of its own",
            Value::Maybe(|r| r.limit),
        ),
        Field::new(
            "most_headroom",
            "B",
            "held at most above XOFF, or in the headroom; null: no flow control",
            Value::Maybe(|r| r.headroom.map(|h| h.0)),
        ),
        Field::new("headroom_bytes", "B", "the room there", Value::Maybe(|r| r.headroom.map(|h| h.1))),
    ];
}

/// The table, if it was requested.
pub(super) fn table(run: &Run) -> Option<Table> {
    run.engine.spec().probes.memory.then(|| Memory::table(&memory_rows(run), false))
}
