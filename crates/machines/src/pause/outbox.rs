//! Frames that wait for a port to send them.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_wire::Frame;

/// A frame for the far end of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Posted {
    /// The frame.
    pub frame: Frame,
    /// The cause, in the caller's own numbering; the port returns it unchanged.
    pub cause: Option<u32>,
}

/// The frames of one port, the oldest first. A new frame is appended, and removes those that it supersedes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outbox(VecDeque<Posted>);

impl Outbox {
    /// A frame is to be sent.
    pub fn post(&mut self, posted: Posted) {
        // Signals, which come by the hundred, supersede nothing.
        if !matches!(posted.frame, Frame::Signal(_)) {
            self.0.retain(|waits| !posted.frame.supersedes(&waits.frame));
        }
        self.0.push_back(posted);
    }
    /// The next to be sent.
    #[inline]
    pub fn pop(&mut self) -> Option<Posted> {
        self.0.pop_front()
    }
    /// The next to be sent, if it is a signal.
    #[inline]
    pub fn pop_signal(&mut self) -> Option<Posted> {
        let signal = self.0.front().is_some_and(|posted| matches!(posted.frame, Frame::Signal(_)));
        if signal { self.pop() } else { None }
    }
    /// Nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_replaces_one_that_it_supersedes_and_no_other() {
        let mut outbox = Outbox::default();
        let frames =
            [Frame::PauseQueue { queue: 1 }, Frame::PauseQueue { queue: 2 }, Frame::ResumeQueue { queue: 1 }];
        (0..).zip(frames).for_each(|(cause, frame)| outbox.post(Posted { frame, cause: Some(cause) }));
        let sent: Vec<u32> = std::iter::from_fn(|| outbox.pop()).filter_map(|posted| posted.cause).collect();
        assert_eq!((sent, outbox.is_empty()), (vec![1, 2], true));
    }
}
