//! What follows from the list of congestion points: parameters, construction, dispatch.

/// `module: Name(machine), "key in scenarios";` for each.
macro_rules! points {
    ($($module:ident: $name:ident($machine:ty), $key:literal;)*) => {
        $(pub mod $module;)*

        crate::kinds::kinds! {
            /// Ports that write to the sources of flows.
            #[derive(Copy)]
            PointSpec: $($module: $name, $key;)*
        }

        /// Any point, statically dispatched.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub enum PointMachine {
            $(#[allow(missing_docs)] $name($machine),)*
        }

        impl PointSpec {
            /// See [`Parameters::says`].
            pub fn says(&self) -> crate::congestion::Messages {
                match self { $(Self::$name(p) => p.says()),* }
            }

            /// See [`Parameters::message`].
            pub fn message(&self) -> Bytes {
                match self { $(Self::$name(p) => p.message()),* }
            }

            /// See [`Parameters::check`].
            pub fn problems(&self) -> Vec<Problem> {
                let mut problems = Problems::default();
                match self { $(Self::$name(p) => {
                    problems.size("message", p.message(), |size| format!("a message of {size} is impossible"), "84B");
                    p.check(&mut problems);
                })* }
                problems.0
            }

            /// The point of a port of `rate`; `stream` is what chance draws from.
            ///
            /// # Errors
            /// If parameters contradict each other, or the port's rate.
            pub fn make(&self, stream: Stream, rate: Rate) -> Result<PointMachine, String> {
                Problems(self.problems()).first(self.key())?;
                match self {
                    $(Self::$name(p) => p.make(stream, rate).map(|made| PointMachine::$name(made.into())),)*
                }
            }

            /// What the laws are tried on.
            #[cfg(test)]
            pub(crate) fn variants() -> Vec<Self> {
                let mut all = Vec::new();
                $(all.extend($module::Params::variants().into_iter().map(Self::$name));)*
                all
            }
        }

        impl CongestionPoint for PointMachine {
            #[inline]
            fn on_join(&mut self, now: Time, view: &View, packet: &Packet, told: &mut Told) {
                match self { $(Self::$name(m) => m.on_join(now, view, packet, told)),* }
            }
            #[inline]
            fn on_leave(&mut self, packet: &Packet) {
                match self { $(Self::$name(m) => m.on_leave(packet)),* }
            }
            fn wake(&self) -> Option<Time> {
                match self { $(Self::$name(m) => m.wake()),* }
            }
            fn tick(&mut self, now: Time, view: &View, told: &mut Told) {
                match self { $(Self::$name(m) => m.tick(now, view, told)),* }
            }
        }
    };
}
pub(super) use points;
