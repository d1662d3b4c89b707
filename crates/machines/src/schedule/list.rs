//! What follows from the list of orders: parameters, construction, dispatch.

/// `module: Name(machine), "key in scenarios";` for each.
macro_rules! orders {
    ($($module:ident: $name:ident($machine:ty), $key:literal;)*) => {
        $(pub mod $module;)*

        crate::kinds::kinds! {
            /// Order of service.
            // What happens on overflow is part of it, since it decides the victim.
            OrderSpec: $($module: $name, $key;)*
        }

        /// Any output queue, statically dispatched. All are boxed: who looks for a port's queue finds four in
        /// a cache line.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub enum Queue {
            $(#[allow(missing_docs)] $name(Box<<$machine as Machine>::Queue>),)*
        }

        impl OrderSpec {
            /// See [`Parameters::needs`].
            pub fn needs(&self) -> Needs {
                match self { $(Self::$name(p) => p.needs()),* }
            }

            /// See [`Parameters::check`].
            pub fn problems(&self, at: &Around) -> Vec<Problem> {
                let mut problems = Problems::default();
                match self { $(Self::$name(p) => p.check(at, &mut problems)),* }
                problems.0
            }

            /// See [`Parameters::table`].
            pub fn table(&self) -> Option<(&'static str, &str)> {
                match self { $(Self::$name(p) => p.table()),* }
            }

            /// See [`Parameters::fill`].
            pub fn fill(&mut self, numbers: &[u64]) {
                match self { $(Self::$name(p) => p.fill(numbers)),* }
            }

            /// See [`Parameters::memory`].
            pub fn memory(&self, packets_per_second: f64) -> f64 {
                match self { $(Self::$name(p) => p.memory(packets_per_second)),* }
            }

            fn queue(&self, limit: Limit, stage: &StageSpec, at: &At) -> Result<Queue, String> {
                match self {
                    $(Self::$name(p) => p.make(at)?.queue(limit, stage, at).map(|queue| Queue::$name(Box::new(queue))),)*
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

        impl OutputQueue for Queue {
            #[inline]
            fn serve(
                &mut self,
                now: Time,
                out: &mut Vec<Handle>,
                look: impl FnOnce(Handle) -> Entry,
            ) -> Option<(Entry, bool)> {
                match self { $(Self::$name(q) => q.serve(now, out, look)),* }
            }
            #[inline]
            fn upcoming(&self) -> Option<Handle> {
                match self { $(Self::$name(q) => q.upcoming()),* }
            }
            fn head(&self) -> Option<Handle> {
                match self { $(Self::$name(q) => q.head()),* }
            }
            fn bypass_limit(&self) -> u64 {
                match self { $(Self::$name(q) => q.bypass_limit()),* }
            }
            #[inline]
            fn reserve(&mut self, wire: u32) -> bool {
                match self { $(Self::$name(q) => q.reserve(wire)),* }
            }
            #[inline]
            fn cancel_reserve(&mut self, wire: u32) {
                match self { $(Self::$name(q) => q.cancel_reserve(wire)),* }
            }
            #[inline]
            fn note_bypass(&mut self, input: u8) {
                match self { $(Self::$name(q) => q.note_bypass(input)),* }
            }
            fn inputs(&self) -> crate::crossbar::Ends {
                match self { $(Self::$name(q) => q.inputs()),* }
            }
            fn turn_to(&mut self, input: u8) {
                match self { $(Self::$name(q) => q.turn_to(input)),* }
            }
        }

        impl Discipline for Queue {
            #[inline]
            fn enqueue(&mut self, now: Time, packet: &Packet, handle: Handle, out: &mut Vec<Handle>) -> Verdict {
                match self { $(Self::$name(q) => q.enqueue(now, packet, handle, out)),* }
            }
            #[inline]
            fn dequeue(&mut self, now: Time, out: &mut Vec<Handle>) -> Option<Served> {
                match self { $(Self::$name(q) => q.dequeue(now, out)),* }
            }
            fn preempt(&mut self, now: Time) -> bool {
                match self { $(Self::$name(q) => q.preempt(now)),* }
            }
            fn queues(&self) -> u16 {
                match self { $(Self::$name(q) => q.queues()),* }
            }
            fn pause(&mut self, queue: u16, paused: bool) {
                match self { $(Self::$name(q) => q.pause(queue, paused)),* }
            }
            fn pause_only(&mut self, queues: &QueueSet) {
                match self { $(Self::$name(q) => q.pause_only(queues)),* }
            }
            fn pause_flows(&mut self, flows: &BTreeSet<FlowId>) {
                match self { $(Self::$name(q) => q.pause_flows(flows)),* }
            }
            #[inline]
            fn is_overfull(&self) -> bool {
                match self { $(Self::$name(q) => q.is_overfull()),* }
            }
            #[inline]
            fn served_queue(&self) -> u16 {
                match self { $(Self::$name(q) => q.served_queue()),* }
            }
            fn committed(&self, nth: usize) -> Option<Handle> {
                match self { $(Self::$name(q) => q.committed(nth)),* }
            }
            fn late(&self) -> Span {
                match self { $(Self::$name(q) => q.late()),* }
            }
            fn waiting(&self, see: &mut dyn FnMut(Handle)) -> Option<u32> {
                match self { $(Self::$name(q) => q.waiting(see)),* }
            }
            fn withdraw(&mut self, belongs: &mut dyn FnMut(Handle) -> bool, out: &mut Vec<Handle>) {
                match self { $(Self::$name(q) => q.withdraw(belongs, out)),* }
            }
            fn is_held(&self) -> bool {
                match self { $(Self::$name(q) => q.is_held()),* }
            }
            fn held_until(&self) -> Option<Time> {
                match self { $(Self::$name(q) => q.held_until()),* }
            }
            #[inline]
            fn header(&self) -> u32 {
                match self { $(Self::$name(q) => q.header()),* }
            }
            #[inline]
            fn packets(&self) -> u32 {
                match self { $(Self::$name(q) => q.packets()),* }
            }
            #[inline]
            fn bytes(&self) -> u64 {
                match self { $(Self::$name(q) => q.bytes()),* }
            }
            #[inline]
            fn wake(&self) -> Option<Time> {
                match self { $(Self::$name(q) => q.wake()),* }
            }
            fn on_tick(&mut self, now: Time) {
                match self { $(Self::$name(q) => q.on_tick(now)),* }
            }
        }
    };
}
pub(super) use orders;
