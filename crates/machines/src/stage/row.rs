//! Several stages in a row, each of which sees what those before it let through.

use super::{Arrival, Batch, HeaderStage, Leave, Leaving, Needs, StageMachine, View};
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Time};
use thalweg_wire::{Ecn, Packet, Side};

/// What a row does with a packet that leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Left {
    /// It is sent; with other ECN bits, if any stage marks.
    Sent(Option<Ecn>),
    /// It is discarded.
    Dropped,
}

/// The stages of a port, in the order in which packets pass them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Row {
    stages: Vec<StageMachine>,
    needs: Needs,
}

impl Row {
    /// These stages, the first one first.
    pub fn new(stages: Vec<StageMachine>) -> Self {
        let any = |need: fn(&Needs) -> bool| stages.iter().any(|s| need(&s.needs()));
        let needs = Needs {
            departures: any(|n| n.departures),
            idle_time: any(|n| n.idle_time),
            wait: any(|n| n.wait),
            headers: any(|n| n.headers),
            batches: any(|n| n.batches),
        };
        Self { stages, needs }
    }

    /// There is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.stages.is_empty()
    }

    /// What any of them uses.
    pub fn needs(&self) -> Needs {
        self.needs
    }

    /// A packet arrives. The first stage that drops it is the last that sees it; a mark by one is a mark.
    pub fn on_arrival(&mut self, now: Time, view: &View, packet: &Packet) -> Arrival {
        let mut arrival = Arrival::Admit;
        for stage in &mut self.stages {
            match stage.on_arrival(now, view, packet) {
                Arrival::Admit => {}
                Arrival::Mark => arrival = Arrival::Mark,
                Arrival::Drop => return Arrival::Drop,
            }
        }
        arrival
    }

    /// A packet leaves, likewise.
    pub fn on_departure(&mut self, now: Time, view: &View, packet: Leaving) -> Left {
        let mut marked = None;
        for stage in self.stages.iter_mut().filter(|_| self.needs.departures) {
            match stage.on_departure(now, view, packet) {
                Leave::Pass => {}
                Leave::Mark => marked = Some(Ecn::Ce),
                Leave::Brake => marked = marked.or(Some(Ecn::Ect0)),
                Leave::Drop => return Left::Dropped,
            }
        }
        Left::Sent(marked)
    }

    /// The transmission of a packet that was let pass begins.
    pub fn write(&mut self, now: Time, view: &View, packet: &mut Packet, side: &mut Side) {
        for stage in &mut self.stages {
            stage.write(now, view, packet, side);
        }
    }

    /// See [`HeaderStage::on_unused`].
    pub fn on_unused(&mut self, now: Time) {
        for stage in &mut self.stages {
            stage.on_unused(now);
        }
    }

    /// See [`HeaderStage::on_opportunity`].
    pub fn on_opportunity(&mut self, at: Time, bytes: u32) {
        for stage in &mut self.stages {
            stage.on_opportunity(at, bytes);
        }
    }

    /// See [`HeaderStage::on_batch`].
    pub fn on_batch(&mut self, batch: &Batch) {
        for stage in &mut self.stages {
            stage.on_batch(batch);
        }
    }

    /// See [`HeaderStage::estimate`]: the first that one has.
    pub fn estimate(&self) -> Option<Rate> {
        self.stages.iter().find_map(HeaderStage::estimate)
    }

    /// The earliest instant at which a stage wants a tick.
    pub fn wake(&self) -> Option<Time> {
        self.stages.iter().filter_map(HeaderStage::wake).min()
    }

    /// That instant has come.
    pub fn tick(&mut self, now: Time, view: &View) {
        for stage in &mut self.stages {
            if stage.wake().is_some_and(|at| at <= now) {
                stage.tick(now, view);
            }
        }
    }
}
