//! What follows from the list of pause policies: parameters, construction, dispatch.

/// `module: Name, "what it is for";` for each; the module's name is its key in scenarios, `switch.NAME`.
macro_rules! policies {
    ({} $($module:ident: $name:ident, $doc:literal;)*) => {
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

            /// See [`Parameters::check`].
            pub fn problems(&self, at: &Site) -> Vec<Problem> {
                Problems::found(|problems| self.check(at, problems))
            }

            /// What the laws are tried on.
            #[cfg(test)]
            pub(crate) fn variants() -> Vec<Self> {
                let mut all = Vec::new();
                $(all.extend($module::Params::variants().into_iter().map(Self::$name));)*
                all
            }
        }

        dispatch! {
            impl PauseSpec over [$($name)*] {
                /// See [`Parameters::settle`].
                pub fn settle(&mut self, at: &Site);
                fn check(&self, at: &Site, problems: &mut Problems);
                /// See [`Parameters::effects`].
                pub fn effects(&self) -> Effects;
                /// See [`Parameters::make`].
                ///
                /// # Errors
                /// If parameters contradict each other, with their values.
                pub fn make as make(&self, inputs: usize) -> Result<PauseMachine, Invalid>;
            }
        }

        dispatch! {
            impl PausePolicy for PauseMachine over [$($name)*] {
                #[inline]
                fn on_taken(&mut self, now: Time, at: Passing<'_>, held: Held) -> Option<Frame>;
                #[inline]
                fn on_overfull(&mut self, now: Time, at: Passing<'_>) -> Option<Frame>;
                fn reminder(&self, input: usize) -> Option<Frame>;
                fn restate(&self, input: usize) -> Vec<Frame>;
                #[inline]
                fn on_departed(&mut self, now: Time, at: Passing<'_>) -> Option<Frame>;
                #[inline]
                fn on_released(&mut self, now: Time, input: usize, held: Held) -> Option<Frame>;
                fn resumes(&self, held: Held) -> bool;
                fn on_frame(&mut self, now: Time, output: usize, frame: Frame);
                #[inline]
                fn has_paused(&self, input: usize) -> bool;
                fn counted(&self) -> u64;
                #[inline]
                fn is_pausing(&self) -> bool;
                #[inline]
                fn is_quiet(&self, bytes: u64) -> bool;
            }
        }
    };
}
pub(super) use policies;
