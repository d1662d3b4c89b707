//! Actions of cases: drop, mark, notify, modify.

use super::rules::{Hook, Rules};
use super::{Arriving, Machine, state};
use crate::engine::contract::{Effect, Fault, Part};
use crate::engine::packet::Stored;
use crate::engine::tally::Tally;
use crate::normal::{Action, State, ratio::Ratio};

impl<R: Rules, T: Tally> Machine<R, T> {
    pub(super) fn actions(&self, hook: Hook) -> &state::Actions {
        match hook {
            Hook::Congestion(q) => &self.queues[q].fixed.congestion,
            Hook::Admitted(q) => &self.queues[q].fixed.admitted,
            Hook::BufferCongestion(b) => &self.buffers[b].congestion,
            Hook::BufferAdmitted(b) => &self.buffers[b].admitted,
            Hook::Scheduled(port) => &self.ports[port].scheduled,
        }
    }

    /// Runs the actions of a case; those on the packet only while it is there. Not inlined, and given a packet of its
    /// own: where there is no case, the packet's fields stay in registers.
    #[inline(never)]
    pub(super) fn run(
        &mut self,
        hook: Hook,
        case: usize,
        p: Stored,
        arriving: &mut Option<Arriving>,
        q: usize,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Fault> {
        let part = match hook {
            Hook::Congestion(q) | Hook::Admitted(q) => Part::Queue(q as u32),
            Hook::BufferCongestion(b) | Hook::BufferAdmitted(b) => Part::Buffer(b as u32),
            Hook::Scheduled(port) => Part::Port(port as u32),
        };
        for nth in 0..self.actions(hook)[case].len() {
            let present = *arriving;
            match (&self.actions(hook)[case][nth], present) {
                (Action::Drop(share), _) => {
                    let share = *share;
                    if self.draw(part, share) {
                        match part {
                            Part::Buffer(b) => self.drop_buffer_victim(b as usize, q, arriving, effects),
                            _ => self.drop_victim(q, arriving, effects),
                        };
                    }
                }
                (_, None) => {}
                (Action::Mark, Some(present)) => effects.push(Effect::Marked(present.handle)),
                (Action::Notify, Some(present)) => effects.push(Effect::Notified(present.handle, part)),
                (Action::Modify(state, _), Some(_)) => {
                    let state = *state;
                    let value = self.rules.value(hook, case, nth, &self.view(&p, q));
                    let value = i64::try_from(value).map_err(|_| Fault::State(part))?;
                    self.modify(state, q, value);
                }
            }
        }
        Ok(())
    }

    pub(super) fn draw(&mut self, part: Part, share: Ratio) -> bool {
        if share == Ratio::ONE || share == Ratio::ZERO {
            return share == Ratio::ONE;
        }
        let stream = match part {
            Part::Queue(q) => &mut self.queues[q as usize].draws,
            Part::Buffer(b) => &mut self.buffers[b as usize].draws,
            Part::Port(port) => &mut self.ports[port as usize].draws,
        };
        share.admits(stream.bits())
    }

    pub(super) fn modify(&mut self, state: State, q: usize, value: i64) {
        let queue = &mut self.queues[q];
        match (state, queue.fixed.buffer) {
            (State::QueueAdm, _) => queue.states.adm = value,
            (State::QueueSched, _) => queue.states.sched = value,
            (State::BufferAdm, Some((b, _))) => self.buffers[b].view.adm_state = value,
            (State::BufferAdm, None) => {}
            (State::PortSched, _) => self.ports[queue.fixed.port.0].view.sched_state = value,
        }
        self.renew(q);
    }
}
