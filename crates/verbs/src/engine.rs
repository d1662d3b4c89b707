//! What both ends of a queue pair do alike: call the engine of their dialect, and open what arrives.

use crate::requester::Ignored;
use crate::setup::Setup;
use crate::wire::Packet;

/// `engine!(self.queue, now, |engine, context| ...)`: calls the engine of the end's dialect, with its books (`queue`) and all else
/// that it works with.
macro_rules! engine {
    ($self:ident . $books:ident, $now:expr, |$engine:ident, $context:ident| $call:expr) => {{
        let $context = &mut Context {
            setup: &$self.setup,
            $books: &mut $self.$books,
            counters: &mut $self.counters,
            now: $now,
        };
        match &mut $self.engine {
            Engine::Irn($engine) => $call,
            Engine::Roce($engine) => $call,
        }
    }};
}

/// `new_engine!(setup)`: the engine of the dialect that was agreed on.
macro_rules! new_engine {
    ($setup:expr) => {
        match $setup.dialect {
            Dialect::Irn => Engine::Irn(irn::Engine::new($setup)),
            Dialect::Roce => Engine::Roce(roce::Engine::new($setup)),
        }
    };
}

/// A packet for queue pair `qp`.
///
/// # Errors
/// If it is none.
pub fn open<'a>(setup: &Setup, qp: u32, bytes: &'a [u8]) -> Result<Packet<'a>, Ignored> {
    let packet = Packet::decode(setup.dialect, bytes).map_err(Ignored::Wire)?;
    if packet.qp == qp { Ok(packet) } else { Err(Ignored::QueuePair(packet.qp)) }
}
