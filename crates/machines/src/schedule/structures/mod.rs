//! Data structures of queues: heaps (`heap`, `min_heap`, `interval_heap`, `ranked_flows`), lists in one arena
//! (`linked`, `lanes`, `bins`, `levels`), tables by flow or packet (`flow_table`, `space_saving`, `sojourn`), and two
//! queues as one (`two_queues`).

pub(super) mod bins;
pub(super) mod flow_table;
pub(super) mod heap;
pub(super) mod interval_heap;
pub(super) mod lanes;
pub(super) mod levels;
pub(super) mod linked;
pub(super) mod min_heap;
pub(super) mod ranked_flows;
pub(super) mod sojourn;
pub(super) mod space_saving;
pub(super) mod two_queues;
