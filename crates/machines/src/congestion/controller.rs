//! The one list of controllers: dispatch, construction and the catalogue are generated from it.

use super::{
    AckSample, Aimd, CongestionControl, ControllerSpec, Dcqcn, Dctcp, DctcpRate, FixedWindow, Loss, MinTcp,
    NewReno, Permit, Start, Timely,
};
use crate::custom::CustomController;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span, Time};

macro_rules! controllers {
    ($start:ident; $($name:ident($machine:ty), $key:literal, $summary:literal, $source:literal,
        $spec:pat => $make:expr;)*) => {
        /// A flow's controller: static dispatch on the packet path.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub enum Controller {
            $(#[doc = $summary] $name($machine),)*
        }

        /// Every controller: its name in scenarios, one line about it, where it was published.
        pub const CATALOGUE: &[(&str, &str, &str)] = &[$(($key, $summary, $source)),*];

        impl ControllerSpec {
            /// A new controller for a flow that starts.
            ///
            /// # Errors
            /// If a parameter is out of range, or nothing is registered under a custom name.
            pub fn make(&self, $start: &Start) -> Result<Controller, String> {
                match self {
                    $($spec => $make.map(Controller::$name),)*
                }
            }

            /// Its name in [`CATALOGUE`].
            pub fn key(&self) -> &'static str {
                #[allow(unused_variables)]
                match self {
                    $($spec => $key,)*
                }
            }
        }

        impl CongestionControl for Controller {
            #[inline]
            fn on_sent(&mut self, now: Time, bytes: Bytes, in_flight: Bytes) {
                match self { $(Self::$name(c) => c.on_sent(now, bytes, in_flight)),* }
            }
            #[inline]
            fn on_ack(&mut self, ack: &AckSample) {
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
            fn on_tick(&mut self, now: Time) {
                match self { $(Self::$name(c) => c.on_tick(now)),* }
            }
            fn on_restart(&mut self, now: Time, idle: Span) {
                match self { $(Self::$name(c) => c.on_restart(now, idle)),* }
            }
            #[inline(always)]
            fn permit(&self) -> Permit {
                match self { $(Self::$name(c) => c.permit()),* }
            }
            fn threshold(&self) -> Bytes {
                match self { $(Self::$name(c) => c.threshold()),* }
            }
        }
    };
}

controllers! { start;
    NewReno(NewReno), "newreno", "TCP NewReno: additive increase, halving on loss", "RFC 5681, RFC 6582",
        ControllerSpec::NewReno => Ok::<_, String>(NewReno::new(start));
    Dctcp(Dctcp), "dctcp", "DCTCP: cuts in proportion to the fraction of marked bytes", "SIGCOMM 2010; RFC 8257",
        ControllerSpec::Dctcp { gain, initial_alpha, growth, cut_without_marks }
            => Dctcp::new(start, *gain, *initial_alpha, *growth, *cut_without_marks);
    DctcpRate(DctcpRate), "dctcp-rate", "DCTCP on rates: starts at line rate, paces", "SIGCOMM 2019 (HPCC), baseline",
        ControllerSpec::DctcpRate { gain, initial_alpha, step, min_rate }
            => DctcpRate::new(start, *gain, *initial_alpha, *step, *min_rate);
    MinTcp(MinTcp), "mintcp", "pFabric's minimal rate control: line rate, reacts to timeouts only", "SIGCOMM 2013, 4.2",
        ControllerSpec::MinTcp { halve_threshold } => Ok::<_, String>(MinTcp::new(start, *halve_threshold));
    FixedWindow(FixedWindow), "fixed", "A window that never changes", "none",
        ControllerSpec::FixedWindow => Ok::<_, String>(FixedWindow::new(start));
    Aimd(Aimd), "aimd", "Additive increase, multiplicative decrease, no slow start", "IRN, SIGCOMM 2018, 4.3.4",
        ControllerSpec::Aimd => Aimd::new(start);
    Dcqcn(Box<Dcqcn>), "dcqcn", "DCQCN: rates, cut by congestion notifications", "Zhu et al., SIGCOMM 2015",
        ControllerSpec::Dcqcn(spec) => Dcqcn::new(start, *spec).map(Box::new);
    Timely(Box<Timely>), "timely", "TIMELY: rates by the gradient of round trips", "Mittal et al., SIGCOMM 2015",
        ControllerSpec::Timely(spec) => Timely::new(start, *spec).map(Box::new);
    Custom(CustomController), "custom", "A controller registered by the user", "none",
        ControllerSpec::Custom { name, params } => CustomController::make(name, start, params);
}
