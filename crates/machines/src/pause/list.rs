//! What follows from the list of pause policies: parameters, construction, dispatch.

/// `module: Name, "what it is for";` for each; the module's name is its key in scenarios, `switch.NAME`.
macro_rules! policies {
    ({} $($module:ident: $name:ident, $doc:literal;)*) => {
        $(pub mod $module;)*

        /// The parameters of any policy.
        #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
        pub enum PauseSpec {
            $(#[doc = $doc] $name($module::Params),)*
        }

        /// Any policy, statically dispatched: that of one switch.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum PauseMachine {
            $(#[doc = $doc] $name($module::$name),)*
        }

        impl PauseSpec {
            /// Its name in scenarios.
            pub fn key(&self) -> &'static str {
                match self { $(Self::$name(_) => stringify!($module)),* }
            }

            /// See [`Parameters::settle`].
            pub fn settle(&mut self, at: &Site) {
                match self { $(Self::$name(p) => p.settle(at)),* }
            }

            /// See [`Parameters::check`].
            pub fn problems(&self, at: &Site) -> Vec<Problem> {
                let mut problems = Problems::default();
                match self { $(Self::$name(p) => p.check(at, &mut problems)),* }
                problems.0
            }

            /// See [`Parameters::effects`].
            pub fn effects(&self) -> Effects {
                match self { $(Self::$name(p) => p.effects()),* }
            }

            /// See [`Parameters::make`].
            ///
            /// # Errors
            /// If parameters contradict each other, with their values.
            pub fn make(&self, inputs: usize) -> Result<PauseMachine, String> {
                match self { $(Self::$name(p) => p.make(inputs).map(PauseMachine::$name)),* }
            }

            /// What the laws are tried on.
            #[cfg(test)]
            pub(crate) fn variants() -> Vec<Self> {
                let mut all = Vec::new();
                $(all.extend($module::Params::variants().into_iter().map(Self::$name));)*
                all
            }
        }

        impl PausePolicy for PauseMachine {
            #[inline]
            fn on_taken(&mut self, now: Time, at: Passing<'_>, held: Held) -> Option<Frame> {
                match self { $(Self::$name(m) => m.on_taken(now, at, held)),* }
            }
            #[inline]
            fn on_overfull(&mut self, now: Time, at: Passing<'_>) -> Option<Frame> {
                match self { $(Self::$name(m) => m.on_overfull(now, at)),* }
            }
            fn reminder(&self, input: usize) -> Option<Frame> {
                match self { $(Self::$name(m) => m.reminder(input)),* }
            }
            #[inline]
            fn on_departed(&mut self, now: Time, at: Passing<'_>) -> Option<Frame> {
                match self { $(Self::$name(m) => m.on_departed(now, at)),* }
            }
            #[inline]
            fn on_released(&mut self, now: Time, input: usize, held: Held) -> Option<Frame> {
                match self { $(Self::$name(m) => m.on_released(now, input, held)),* }
            }
            fn on_frame(&mut self, now: Time, output: usize, frame: Frame) {
                match self { $(Self::$name(m) => m.on_frame(now, output, frame)),* }
            }
            #[inline]
            fn has_paused(&self, input: usize) -> bool {
                match self { $(Self::$name(m) => m.has_paused(input)),* }
            }
            fn counted(&self) -> u64 {
                match self { $(Self::$name(m) => m.counted()),* }
            }
            #[inline]
            fn is_pausing(&self) -> bool {
                match self { $(Self::$name(m) => m.is_pausing()),* }
            }
            #[inline]
            fn is_quiet(&self, bytes: u64) -> bool {
                match self { $(Self::$name(m) => m.is_quiet(bytes)),* }
            }
        }
    };
}

pub(super) use policies;
