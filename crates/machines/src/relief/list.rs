//! What follows from the list of reliefs: parameters, construction, dispatch.

/// `module: Name(machine), "key in scenarios";` for each.
macro_rules! reliefs {
    ($($module:ident: $name:ident($machine:ty), $key:literal;)*) => {
        $(pub mod $module;)*

        crate::kinds::kinds! {
            /// What switches do about packets that wait behind a pause, or ports that wait for each other.
            #[derive(Copy)]
            ReliefSpec: $($module: $name, $key;)*
        }

        /// Any relief, statically dispatched.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum ReliefMachine {
            $(#[allow(missing_docs)] $name($machine),)*
        }

        impl ReliefSpec {
            /// See [`Parameters::check`].
            pub fn problems(&self) -> Vec<Problem> {
                let mut problems = Problems::default();
                match self { $(Self::$name(p) => p.check(&mut problems)),* }
                problems.0
            }

            /// See [`Parameters::more`].
            pub fn more(&self) -> u64 {
                match self { $(Self::$name(p) => p.more()),* }
            }

            /// See [`Parameters::names_connections`].
            pub fn names_connections(&self) -> bool {
                match self { $(Self::$name(p) => p.names_connections()),* }
            }

            /// The relief of a switch.
            ///
            /// # Errors
            /// If parameters are impossible.
            pub fn make(&self, site: &Site) -> Result<ReliefMachine, String> {
                Problems(self.problems()).first(self.key())?;
                Ok(match self { $(Self::$name(p) => ReliefMachine::$name(p.make(site).into())),* })
            }

            /// What the laws are tried on.
            #[cfg(test)]
            pub(crate) fn variants() -> Vec<Self> {
                let mut all = Vec::new();
                $(all.extend($module::Params::variants().into_iter().map(Self::$name));)*
                all
            }
        }

        impl Relief for ReliefMachine {
            #[inline]
            fn recalls(&self, flow: u32, input: usize, output: usize) -> bool {
                match self { $(Self::$name(m) => m.recalls(flow, input, output)),* }
            }
            fn on_passing(&mut self, flow: u32, input: usize, output: usize) {
                match self { $(Self::$name(m) => m.on_passing(flow, input, output)),* }
            }
            fn on_escaping(&mut self, flow: u32, output: usize, hops: u16) -> bool {
                match self { $(Self::$name(m) => m.on_escaping(flow, output, hops)),* }
            }
            fn on_link_down(&mut self, port: usize, acts: &mut Vec<Act>) {
                match self { $(Self::$name(m) => m.on_link_down(port, acts)),* }
            }
            fn substitutes(&self) -> bool {
                match self { $(Self::$name(m) => m.substitutes()),* }
            }
            fn on_sent(&mut self, output: usize) {
                match self { $(Self::$name(m) => m.on_sent(output)),* }
            }
            fn next(&self, now: Time) -> Time {
                match self { $(Self::$name(m) => m.next(now)),* }
            }
            fn is_active(&self, view: &impl SwitchView) -> bool {
                match self { $(Self::$name(m) => m.is_active(view)),* }
            }
            fn tick(&mut self, now: Time, view: &impl SwitchView, acts: &mut Vec<Act>) {
                match self { $(Self::$name(m) => m.tick(now, view, acts)),* }
            }
            fn on_signal(&mut self, now: Time, port: usize, signal: Signal, view: &impl SwitchView, acts: &mut Vec<Act>) {
                match self { $(Self::$name(m) => m.on_signal(now, port, signal, view, acts)),* }
            }
            fn tally(&self) -> Tally {
                match self { $(Self::$name(m) => m.tally()),* }
            }
            fn passages(&self, view: &impl SwitchView) -> (Vec<Passage>, Span) {
                match self { $(Self::$name(m) => m.passages(view)),* }
            }
            fn has_place(&self, output: usize) -> bool {
                match self { $(Self::$name(m) => m.has_place(output)),* }
            }
            fn check(&self, lifted: &[u32]) -> Result<(), String> {
                match self { $(Self::$name(m) => m.check(lifted)),* }
            }
        }
    };
}
pub(super) use reliefs;
