//! Frames between neighbours: what one may send the other, and when.

use crate::sets::{Classes, QueueSet};
use crate::signal::Signal;
use serde::{Deserialize, Serialize};
use thalweg_units::{FlowId, Span};

/// A hop-by-hop control frame, from the node that receives a link's packets to the port that sends them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Frame {
    /// Send nothing of these classes after the packet in transmission (IEEE 802.1Qbb; of all classes: IEEE
    /// 802.3 Annex 31B).
    Xoff {
        /// Traffic classes.
        classes: Classes,
        /// Until so long after the frame's arrival, unless it is refreshed; `None`: until [`Frame::Xon`].
        hold: Option<Span>,
    },
    /// The classes may be sent again.
    Xon {
        /// Traffic classes.
        classes: Classes,
    },
    /// Send nothing of this queue (per-hop, per-flow flow control).
    PauseQueue {
        /// Its number at the port.
        queue: u16,
    },
    /// The queue may be sent again.
    ResumeQueue {
        /// Its number at the port.
        queue: u16,
    },
    /// Send nothing of the queue that this flow waits in, as long as it does (backpressure that names flows, an ideal).
    PauseFlow {
        /// The flow.
        flow: FlowId,
    },
    /// The flow holds nothing back any more.
    ResumeFlow {
        /// The flow.
        flow: FlowId,
    },
    /// These queues are paused, and no others: the whole state, so that a lost frame is made good by the next one.
    Bitmap(QueueSet),
    /// Send at the link's rate divided by 2 to the power of this (gentle flow control).
    Slow {
        /// 0: at full rate.
        halvings: u8,
    },
    /// For the relief of the node; the port takes no notice.
    Signal(Signal),
}

impl Frame {
    /// One that waits and was not sent yet, `earlier`, need not be sent before this: it would change nothing
    /// that this does not repeat.
    pub fn supersedes(&self, earlier: &Frame) -> bool {
        let classes = |frame: &Frame| match frame {
            Frame::Xoff { classes, .. } | Frame::Xon { classes } => Some(*classes),
            _ => None,
        };
        let queue = |frame: &Frame| match frame {
            Frame::PauseQueue { queue } | Frame::ResumeQueue { queue } => Some(*queue),
            _ => None,
        };
        match (self, earlier) {
            (Frame::Signal(_), _) | (_, Frame::Signal(_)) => return false,
            (Frame::Slow { .. }, _) | (_, Frame::Slow { .. }) => {
                return matches!((self, earlier), (Frame::Slow { .. }, Frame::Slow { .. }));
            }
            _ => {}
        }
        let flow = |frame: &Frame| match frame {
            Frame::PauseFlow { flow } | Frame::ResumeFlow { flow } => Some(*flow),
            _ => None,
        };
        if flow(self).or(flow(earlier)).is_some() {
            return flow(self) == flow(earlier);
        }
        match (classes(self), classes(earlier)) {
            (Some(new), Some(old)) => new.covers(old),
            (Some(_), None) | (None, Some(_)) => false,
            (None, None) => matches!(self, Frame::Bitmap(_)) || queue(self) == queue(earlier),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_not_yet_sent_is_replaced_by_its_successor() {
        let xoff = |classes| Frame::Xoff { classes, hold: None };
        let (one, two) = (Classes::one(1), Classes::one(2));
        assert!(
            Frame::Xon { classes: one }.supersedes(&xoff(one)) && xoff(Classes::ALL).supersedes(&xoff(two))
        );
        assert!(!xoff(one).supersedes(&xoff(two)) && !xoff(one).supersedes(&xoff(Classes::ALL)));
        let (pause, resume) = (Frame::PauseQueue { queue: 3 }, Frame::ResumeQueue { queue: 3 });
        assert!(resume.supersedes(&pause) && !resume.supersedes(&Frame::PauseQueue { queue: 4 }));
        let bitmap = Frame::Bitmap(QueueSet::default());
        assert!(bitmap.supersedes(&pause) && bitmap.supersedes(&bitmap) && !pause.supersedes(&bitmap));
        let (slow, slower) = (Frame::Slow { halvings: 1 }, Frame::Slow { halvings: 2 });
        assert!(slow.supersedes(&slower) && !slow.supersedes(&pause) && !bitmap.supersedes(&slow));
        let token = Frame::Signal(Signal::Token { flow: 1, hops: 1 });
        assert!(!token.supersedes(&token) && !bitmap.supersedes(&token) && !token.supersedes(&pause));
        assert!(!bitmap.supersedes(&xoff(one)) && !xoff(one).supersedes(&pause));
        let (stop, go) = (Frame::PauseFlow { flow: FlowId(3) }, Frame::ResumeFlow { flow: FlowId(3) });
        assert!(go.supersedes(&stop) && !go.supersedes(&Frame::PauseFlow { flow: FlowId(4) }));
        assert!(!go.supersedes(&pause) && !bitmap.supersedes(&stop));
    }
}
