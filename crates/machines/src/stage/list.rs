//! The one list of stages: parameters, dispatch, construction and the catalogue come from it.

use super::{
    Arrival, CodelSpec, CodelStage, HeaderStage, Int, Leave, Leaving, Needs, Red, RedEcn, RedEcnSpec,
    RedSpec, StepEcn, StepEcnSpec, TailDrop, View,
};
use crate::packet::{Packet, Side};
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Stream, Time};

macro_rules! stages {
    ($stream:ident, $rate:ident; $($name:ident($machine:ty) $(of $spec:ty)?, $key:literal, $summary:literal,
        $pattern:pat => $make:expr;)*) => {
        /// The parameters of any stage.
        #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
        pub enum StageSpec {
            $(#[doc = $summary] $name $(($spec))?,)*
        }

        /// Any stage, statically dispatched. The large and rare ones are boxed.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub enum StageMachine {
            $(#[doc = $summary] $name($machine),)*
        }

        /// Every stage: its name, one line about it.
        pub const CATALOGUE: &[(&str, &str)] = &[$(($key, $summary)),*];

        impl StageSpec {
            /// The stage of a port of `rate`; `stream` is what chance draws from.
            ///
            /// # Errors
            /// If parameters contradict each other.
            #[allow(unused_variables)]
            pub fn make(&self, $stream: Stream, $rate: Rate) -> Result<StageMachine, String> {
                #[allow(unused_imports)]
                use StageSpec::*;
                match *self {
                    $($pattern => $make.map(StageMachine::$name),)*
                }
            }
        }

        impl HeaderStage for StageMachine {
            #[inline]
            fn needs(&self) -> Needs {
                match self { $(Self::$name(m) => m.needs()),* }
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

stages! { stream, rate;
    TailDrop(TailDrop), "tail-drop", "None: the queue's limit alone", TailDrop => Ok::<_, String>(super::TailDrop);
    StepEcn(StepEcn) of StepEcnSpec, "step", "Marks when the queue has reached a threshold: DCTCP's",
        StepEcn(p) => Ok::<_, String>(super::StepEcn::new(p));
    Red(Box<Red>) of RedSpec, "red", "Random early detection on the average queue, in packets",
        Red(p) => super::Red::new(p, stream, rate).map(Box::new);
    Codel(Box<CodelStage>) of CodelSpec, "codel", "Controlled delay: drops as packets leave",
        Codel(p) => Ok::<_, String>(Box::new(CodelStage::new(p)));
    RedEcn(Box<RedEcn>) of RedEcnSpec, "ramp", "Marks with a probability that rises with the queue in bytes: DCQCN's",
        RedEcn(p) => super::RedEcn::new(p, stream).map(Box::new);
    Int(Int), "int", "In-band telemetry: every hop writes its queue, bytes sent, time and rate",
        Int => Ok::<_, String>(super::Int);
}
