//! What marks are taken from: columns of a run's tables.

use thalweg_lab::{ColumnData, Run, Table};

/// What a run has measured, as far as marks are taken from it.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// All flows.
    pub flows: Flows,
    /// The bottleneck.
    pub link: Link,
    /// Round trips of all flows.
    pub trips: Trips,
    /// What flows have got done.
    pub progress: Progress,
    /// The traffic sections of the controller examined.
    pub examined: Vec<u32>,
    /// The round trip of the empty path (ms).
    pub base_rtt_ms: f64,
}

/// Columns of the table `flows`; all of one length, as in every group below.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "the tables' own names")]
pub struct Flows {
    pub id: Vec<u32>,
    pub group: Vec<u32>,
    pub start_ps: Vec<Option<u64>>,
    pub fct_ps: Vec<Option<u64>>,
    pub packets: Vec<u64>,
    pub data_drops: Vec<u64>,
}

/// Columns of the table `links`, of one port.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "the tables' own names")]
pub struct Link {
    pub time_ps: Vec<u64>,
    pub bytes: Vec<u64>,
    pub capacity: Vec<u64>,
}

/// Columns of the table `round_trips`.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "the tables' own names")]
pub struct Trips {
    pub time_ps: Vec<u64>,
    pub flow: Vec<u32>,
    pub rtt_ps: Vec<u64>,
}

/// Columns of the table `controllers`.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "the tables' own names")]
pub struct Progress {
    pub time_ps: Vec<u64>,
    pub flow: Vec<u32>,
    pub delivered: Vec<u64>,
}

impl Seen {
    /// Whether the columns of each group are of one length.
    pub fn is_even(&self) -> bool {
        let Self { flows, link, trips, progress, .. } = self;
        let even = |lengths: &[usize]| lengths.windows(2).all(|two| two[0] == two[1]);
        even(&[flows.id.len(), flows.group.len(), flows.start_ps.len(), flows.fct_ps.len()])
            && even(&[flows.id.len(), flows.packets.len(), flows.data_drops.len()])
            && even(&[link.time_ps.len(), link.bytes.len(), link.capacity.len()])
            && even(&[trips.time_ps.len(), trips.flow.len(), trips.rtt_ps.len()])
            && even(&[progress.time_ps.len(), progress.flow.len(), progress.delivered.len()])
    }

    /// What a run has measured; its link from one node to another is the bottleneck.
    ///
    /// # Errors
    /// A table that marks are taken from was not measured, or there is no such link.
    pub(crate) fn of(run: &Run, examined: Vec<u32>, (near, far): &(String, String)) -> Result<Self, String> {
        let tables = Tables(run.tables());
        let names = tables.texts("nodes", "name")?;
        let called = |node: u32| names.get(node as usize).map(String::as_str);
        let ends = tables.u32s("ports", "from")?.into_iter().zip(tables.u32s("ports", "to")?);
        let found = ends.zip(tables.u32s("ports", "port")?).find(|((from, to), _)| {
            called(*from) == Some(near.as_str()) && called(*to) == Some(far.as_str())
        });
        let (_, port) = found.ok_or_else(|| format!("there is no link from {near} to {far}"))?;
        let of = tables.u32s("links", "port")?;
        let only = |column: Vec<u64>| {
            column.into_iter().zip(&of).filter(|(_, p)| **p == port).map(|(value, _)| value).collect()
        };
        Ok(Self {
            flows: Flows {
                id: tables.u32s("flows", "id")?,
                group: tables.u32s("flows", "group")?,
                start_ps: tables.maybe("flows", "start_ps")?,
                fct_ps: tables.maybe("flows", "fct_ps")?,
                packets: tables.u64s("flows", "packets")?,
                data_drops: tables.u64s("flows", "data_drops")?,
            },
            link: Link {
                time_ps: only(tables.u64s("links", "time_ps")?),
                bytes: only(tables.u64s("links", "bytes")?),
                capacity: only(tables.u64s("links", "capacity")?),
            },
            trips: Trips {
                time_ps: tables.u64s("round_trips", "time_ps")?,
                flow: tables.u32s("round_trips", "flow")?,
                rtt_ps: tables.u64s("round_trips", "rtt_ps")?,
            },
            progress: Progress {
                time_ps: tables.u64s("controllers", "time_ps")?,
                flow: tables.u32s("controllers", "flow")?,
                delivered: tables.u64s("controllers", "delivered")?,
            },
            examined,
            // By way of the summary's microseconds: the same float.
            base_rtt_ms: run.base_rtt().ps() as f64 * 1e-6 * 1e-3,
        })
    }
}

struct Tables(Vec<Table>);

impl Tables {
    fn column(&self, table: &str, name: &str) -> Result<&ColumnData, String> {
        let found = self.0.iter().find(|t| t.name == table);
        let found =
            found.ok_or_else(|| format!("`{table}` was not measured, and marks are taken from it"))?;
        let column = found.columns.iter().find(|c| c.name == name);
        column.map(|c| &c.data).ok_or_else(|| format!("`{table}` has no column `{name}`"))
    }

    fn u64s(&self, table: &str, name: &str) -> Result<Vec<u64>, String> {
        match self.column(table, name)? {
            ColumnData::U64(values) => Ok(values.clone()),
            _ => Err(other(table, name)),
        }
    }

    fn u32s(&self, table: &str, name: &str) -> Result<Vec<u32>, String> {
        match self.column(table, name)? {
            ColumnData::U32(values) => Ok(values.clone()),
            _ => Err(other(table, name)),
        }
    }

    fn maybe(&self, table: &str, name: &str) -> Result<Vec<Option<u64>>, String> {
        match self.column(table, name)? {
            ColumnData::Maybe(values) => Ok(values.clone()),
            _ => Err(other(table, name)),
        }
    }

    fn texts(&self, table: &str, name: &str) -> Result<Vec<String>, String> {
        match self.column(table, name)? {
            ColumnData::Text(values) => Ok(values.clone()),
            _ => Err(other(table, name)),
        }
    }
}

fn other(table: &str, name: &str) -> String {
    format!("`{name}` of `{table}` holds other values than marks are taken from")
}
