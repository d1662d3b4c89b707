//! What follows from the list of stages: parameters, construction, dispatch.

/// `module: Name(machine), "key in scenarios";` for each.
macro_rules! stages {
    ($($module:ident: $name:ident($machine:ty), $key:literal;)*) => {
        $(pub mod $module;)*

        crate::kinds::kinds! {
            /// Active queue management.
            #[derive(Copy)]
            StageSpec: $($module: $name, $key;)*
        }

        /// Any stage, statically dispatched. The large and rare ones are boxed.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub enum StageMachine {
            $(#[allow(missing_docs)] $name($machine),)*
        }

        impl StageSpec {
            /// See [`Parameters::acts`].
            pub fn acts(&self) -> Acts {
                match self { $(Self::$name(p) => p.acts()),* }
            }

            /// See [`Parameters::resolve`].
            pub fn resolve(&mut self, ecn_capable: bool) {
                match self { $(Self::$name(p) => p.resolve(ecn_capable)),* }
            }

            /// See [`Parameters::check`].
            pub fn problems(&self, at: &Around) -> Vec<Problem> {
                let mut problems = Problems::default();
                match self { $(Self::$name(p) => p.check(at, &mut problems)),* }
                problems.0
            }

            /// What its machines must be told; nothing, if they cannot be made.
            pub fn needs(&self) -> Needs {
                self.make(Stream::default(), Rate::from_gbps(1)).map_or(Needs::default(), |made| made.needs())
            }

            /// The stage of a port of `rate`; `stream` is what chance draws from.
            ///
            /// # Errors
            /// If parameters contradict each other.
            pub fn make(&self, stream: Stream, rate: Rate) -> Result<StageMachine, String> {
                Problems(self.problems(&Around::ANY)).first(self.key())?;
                match self {
                    $(Self::$name(p) => p.make(stream, rate).map(|made| StageMachine::$name(made.into())),)*
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

        impl HeaderStage for StageMachine {
            #[inline]
            fn needs(&self) -> Needs {
                match self { $(Self::$name(m) => m.needs()),* }
            }
            fn stands_before(&mut self, link: &TransmitterSpec) {
                match self { $(Self::$name(m) => m.stands_before(link)),* }
            }
            #[inline]
            fn on_arrival(&mut self, now: Time, view: &View, packet: &Packet) -> Arrival {
                match self { $(Self::$name(m) => m.on_arrival(now, view, packet)),* }
            }
            #[inline]
            fn on_departure(&mut self, now: Time, view: &View, packet: Leaving) -> Leave {
                match self { $(Self::$name(m) => m.on_departure(now, view, packet)),* }
            }
            fn write(&mut self, now: Time, view: &View, packet: &mut Packet, side: &mut Side) {
                match self { $(Self::$name(m) => m.write(now, view, packet, side)),* }
            }
            #[inline]
            fn on_unused(&mut self, now: Time) {
                match self { $(Self::$name(m) => m.on_unused(now)),* }
            }
            fn on_opportunity(&mut self, at: Time, bytes: u32) {
                match self { $(Self::$name(m) => m.on_opportunity(at, bytes)),* }
            }
            fn on_batch(&mut self, batch: &Batch) {
                match self { $(Self::$name(m) => m.on_batch(batch)),* }
            }
            fn estimate(&self) -> Option<Rate> {
                match self { $(Self::$name(m) => m.estimate()),* }
            }
            fn wake(&self) -> Option<Time> {
                match self { $(Self::$name(m) => m.wake()),* }
            }
            fn tick(&mut self, now: Time, view: &View) {
                match self { $(Self::$name(m) => m.tick(now, view)),* }
            }
            fn quiet_below(&self) -> u32 {
                match self { $(Self::$name(m) => m.quiet_below()),* }
            }
            fn bypass_limit(&self) -> u64 {
                match self { $(Self::$name(m) => m.bypass_limit()),* }
            }
        }
    };
}
pub(super) use stages;
