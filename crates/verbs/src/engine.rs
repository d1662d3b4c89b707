//! How both ends of a queue pair call the engine of their dialect.

/// `engine!(self.queue, now, |engine, context| ...)`: calls the engine of the end's dialect, with its books
/// (`queue`) and all else that it works with.
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
