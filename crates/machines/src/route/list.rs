//! What follows from the list of routing rules: parameters, construction, dispatch.

/// `module: Name(machine), "key in scenarios";` for each.
macro_rules! rules {
    ($($module:ident: $name:ident($machine:ty), $key:literal;)*) => {
        $(pub mod $module;)*

        crate::kinds::kinds! {
            /// Rules for the choice among shortest paths.
            RouteSpec: $($module: $name, $key;)*
        }

        /// The machine of a node, statically dispatched.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub enum RouteMachine {
            $(#[allow(missing_docs)] $name($machine),)*
        }

        impl RouteSpec {
            /// See [`Parameters::needs`].
            pub fn needs(&self) -> Needs {
                match self { $(Self::$name(p) => p.needs()),* }
            }

            /// See [`Parameters::pick`].
            pub fn pick(&self, ends: &Ends) -> Pick {
                match self { $(Self::$name(p) => p.pick(ends)),* }
            }

            /// See [`Parameters::file`].
            pub fn file(&self) -> Option<File<'_>> {
                match self { $(Self::$name(p) => p.file()),* }
            }

            /// See [`Parameters::check`].
            pub fn problems(&self, at: &Around) -> Vec<Problem> {
                let mut problems = Problems::default();
                match self { $(Self::$name(p) => p.check(at, &mut problems)),* }
                problems.0
            }

            /// The machine of a node.
            ///
            /// # Errors
            /// If a parameter is out of range.
            pub fn make(&self, at: &Site) -> Result<RouteMachine, String> {
                Problems(self.problems(&Around::ANY)).first(self.key())?;
                Ok(match self { $(Self::$name(p) => RouteMachine::$name(p.make(at))),* })
            }

            /// What the laws are tried on.
            #[cfg(test)]
            pub(crate) fn variants() -> Vec<Self> {
                let mut all = Vec::new();
                $(all.extend($module::Params::variants().into_iter().map(Self::$name));)*
                all
            }
        }

        impl RouteRule for RouteMachine {
            #[inline]
            fn stamp(&mut self, value: u32, choice: bool) -> u32 {
                match self { $(Self::$name(m) => m.stamp(value, choice)),* }
            }
            #[inline]
            fn choose(&mut self, now: Time, packet: &Passing, ports: &mut impl Candidates) -> usize {
                match self { $(Self::$name(m) => m.choose(now, packet, ports)),* }
            }
        }
    };
}
pub(super) use rules;
