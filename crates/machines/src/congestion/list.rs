//! What follows from the list of controllers: dispatch, construction, the form in files.

/// `module: Name(machine), "key in scenarios";` for each.
macro_rules! controllers {
    ($($module:ident: $name:ident($machine:ty), $key:literal;)*) => {
        $(pub mod $module;)*

        crate::kinds::kinds! {
            /// Which controller a flow runs, with its parameters. In text formats a table with a `kind`, in
            /// binary ones by number.
            #[allow(clippy::large_enum_variant, reason = "one per kind of transport")]
            ControllerSpec: $($module: $name, $key;)*
        }

        /// A flow's controller: static dispatch on the packet path.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub enum Controller {
            $(#[allow(missing_docs)] $name($machine),)*
        }

        impl ControllerSpec {
            /// See [`Parameters::needs`].
            pub fn needs(&self) -> Needs {
                match self { $(Self::$name(p) => p.needs()),* }
            }

            /// See [`Parameters::rules`].
            pub fn rules(&self) -> Rules {
                match self { $(Self::$name(p) => p.rules()),* }
            }

            /// See [`Parameters::resolve`].
            pub fn resolve(&mut self, paths: &mut dyn Paths) {
                match self { $(Self::$name(p) => p.resolve(paths)),* }
            }

            /// See [`Parameters::check`].
            pub fn problems(&self, line: Rate) -> Vec<Problem> {
                let mut problems = Problems::default();
                match self { $(Self::$name(p) => p.check(line, &mut problems)),* }
                problems.0
            }

            /// A new controller for a flow that starts.
            ///
            /// # Errors
            /// If a parameter is out of range, or nothing is registered under a custom name.
            pub fn make(&self, start: &Start) -> Result<Controller, String> {
                Problems(self.problems(start.line_rate)).first(self.key())?;
                match self {
                    $(Self::$name(p) => p.make(start).map(|made| Controller::$name(made.into())),)*
                }
            }

            /// What the laws are tried on.
            #[cfg(test)]
            fn variants() -> Vec<Self> {
                let mut all = Vec::new();
                $(all.extend($module::Params::variants().into_iter().map(Self::$name));)*
                all
            }
        }

        impl CongestionControl for Controller {
            #[inline]
            fn on_sent(&mut self, now: Time, bytes: Bytes, in_flight: Bytes) {
                match self { $(Self::$name(c) => c.on_sent(now, bytes, in_flight)),* }
            }
            fn on_open(&mut self, now: Time, rtt: Option<Span>, feedback: Feedback<'_>) {
                match self { $(Self::$name(c) => c.on_open(now, rtt, feedback)),* }
            }
            #[inline]
            fn on_ack(&mut self, ack: &AckSample<'_>) {
                match self { $(Self::$name(c) => c.on_ack(ack)),* }
            }
            fn on_loss(&mut self, loss: &Loss) {
                match self { $(Self::$name(c) => c.on_loss(loss)),* }
            }
            fn on_timeout(&mut self, loss: &Loss) {
                match self { $(Self::$name(c) => c.on_timeout(loss)),* }
            }
            fn on_notification(&mut self, now: Time) {
                match self { $(Self::$name(c) => c.on_notification(now)),* }
            }
            fn on_notice(&mut self, now: Time, notice: &Notice) {
                match self { $(Self::$name(c) => c.on_notice(now, notice)),* }
            }
            fn on_feedback(&mut self, now: Time, feedback: Feedback<'_>, in_flight: Bytes) {
                match self { $(Self::$name(c) => c.on_feedback(now, feedback, in_flight)),* }
            }
            fn on_tick(&mut self, now: Time) {
                match self { $(Self::$name(c) => c.on_tick(now)),* }
            }
            fn on_restart(&mut self, now: Time, idle: Span) {
                match self { $(Self::$name(c) => c.on_restart(now, idle)),* }
            }
            fn restart_from(&mut self, now: Time, window: Restart) {
                match self { $(Self::$name(c) => c.restart_from(now, window)),* }
            }
            #[inline(always)]
            fn permit(&self) -> Permit {
                match self { $(Self::$name(c) => c.permit()),* }
            }
            fn threshold(&self) -> Bytes {
                match self { $(Self::$name(c) => c.threshold()),* }
            }
            fn other_window(&self) -> Bytes {
                match self { $(Self::$name(c) => c.other_window()),* }
            }
        }
    };
}
pub(super) use controllers;
