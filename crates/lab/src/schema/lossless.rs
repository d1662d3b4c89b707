//! `switch.inputs` and `switch.pfc`: memory by the input at which packets came, and flow control on top of it.

use super::defaults;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span};

/// Switch memory by the input at which packets came: either `memory` or `shared`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Inputs {
    /// Every input has its own, of this size; under PFC XOFF and headroom fit into it.
    #[schemars(extend("x-quantity" = "room", "examples" = ["240KB", "2bdp"]))]
    pub memory: Option<Q<Bytes>>,
    /// All inputs of a switch share one, of this size.
    #[schemars(extend("x-quantity" = "room", "examples" = ["9MB"]))]
    pub shared: Option<Q<Bytes>>,
    /// When a packet gives its memory back.
    #[serde(default)]
    pub release: Release,
    /// How many packets an input may send through the switch at a time.
    #[serde(default, skip_serializing_if = "Crossbar::is_unlimited")]
    pub crossbar: Crossbar,
}

/// How many packets an input may send through the switch at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Crossbar {
    /// One to every output: an output never waits for an input.
    // CHOICE IRN §4.3.1: round robin over inputs is all that the paper says.
    #[default]
    Unlimited,
    /// One, whichever output it is for: no speed-up. Who is joined with whom is iSLIP's choice (McKeown, 1999), made whenever an input or
    /// an output falls idle. Needs the scheduler `input-round-robin`.
    OnePerInput,
}

impl Crossbar {
    fn is_unlimited(&self) -> bool {
        *self == Self::Unlimited
    }
}

/// When a packet gives its memory back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Release {
    /// As its transmission begins.
    Start,
    /// As its transmission ends.
    // CHOICE IRN §4.3.1: the paper does not say.
    #[default]
    End,
}

/// Priority flow control (IEEE 802.1Qbb): an input that fills up makes its upstream neighbour pause.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pfc {
    /// When an input asks for a pause, and for its end.
    #[serde(default)]
    pub threshold: PfcThreshold,
    /// Of each input, for what arrives before a pause takes effect. Without the key what is enough: what the largest link
    /// holds both ways, three full packets and a frame; less is refused, but for `lossy_ok`.
    #[schemars(extend("x-quantity" = "room"))]
    pub headroom: Option<Q<Bytes>>,
    /// A headroom that is too small is meant, and packets may be lost.
    #[serde(default)]
    pub lossy_ok: bool,
    /// A pause frame on the wire.
    #[serde(default = "default::frame")]
    pub frame: Q<Bytes>,
    /// A pause expires after so many quanta of 512 bit times; who asked for it asks again when half of them are over. Without
    /// the key a pause lasts until the permission to go on.
    // CHOICE IRN §4.3.1: no quanta, as in the simulators compared with; a lost frame then stops a port until the next comes.
    #[schemars(range(min = 1, max = 65_535), extend("examples" = [65_535]))]
    pub quanta: Option<u16>,
}

/// Backpressure flow control (Goyal, MIT 2022, §3.3; Goyal et al., NSDI 2022): a queue of the hop before pauses as long as packets of
/// it wait that made a queue of the scheduler `bfc` too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Backpressure {
    /// A neighbour of which queues are paused, or were two reminders ago, is told all of them as often as this: a lost frame costs no more.
    pub every: Q<Span>,
    /// A queue goes on by itself if its pause has not been confirmed for so long.
    pub expires: Q<Span>,
    /// A frame on the wire, whatever it says.
    pub frame: Q<Bytes>,
    /// NICs obey, flow by flow if `nic.order` is `round-robin`. Otherwise they take no notice (App. E).
    pub nics: bool,
    /// What a frame names.
    pub pauses: Pauses,
    /// What is held against nobody, lest ports wait for each other in a circle for ever.
    pub elide: Elide,
}

/// What a frame of backpressure names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pauses {
    /// The queue that a packet came from, whoever waits in it now.
    #[default]
    Queue,
    /// The flow: the hop before pauses the queue that it waits in, whichever that is then. The ideal to which BFC compares its sticky
    /// queues (Goyal, MIT 2022, §3.3.3.2), with `sticky = 0` in the scheduler; frames are not repeated, and must not be lost.
    Flow,
}

/// What is held against nobody under backpressure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Elide {
    /// Nothing is exempt.
    #[default]
    None,
    /// So much that no cycle of pauses is left (BFC: Goyal, MIT 2022, §3.5, App. D). In a network of layers packets that come from a higher layer and
    /// return to one; elsewhere those of ways through a switch none of which can be left out. `thalweg check deadlock` lists them.
    Cycles,
}

impl Default for Backpressure {
    fn default() -> Self {
        // CHOICE BFC §3.3.3.2: the paper gives neither period nor sizes. A hop's round trip; the artifact has 1 us.
        let (every, expires) = (Q::of("2us"), Q::of("32us"));
        Self {
            every,
            expires,
            frame: default::frame(),
            nics: true,
            pauses: Pauses::Queue,
            elide: Elide::None,
        }
    }
}

/// Gentle flow control, buffer-based (Qian et al., SIGCOMM 2019): in stage k, from last − (last − first)/2^(k−1) on, the upstream neighbour of an input
/// sends at its link's rate divided by 2^k.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gfc {
    /// B_1, where the first stage begins.
    #[schemars(extend("x-quantity" = "room", "examples" = ["500KB"]))]
    pub first: Q<Bytes>,
    /// B_m, which stages come ever closer to.
    #[schemars(extend("x-quantity" = "room", "examples" = ["523KB"]))]
    pub last: Q<Bytes>,
    /// How many stages.
    #[serde(default = "default::stages")]
    #[schemars(range(min = 1, max = 16))]
    pub stages: u8,
    /// A frame on the wire.
    #[serde(default = "default::frame")]
    pub frame: Q<Bytes>,
}

/// When an input asks for a pause, and for its end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(extend("x-default-kind" = "static"))]
pub enum PfcThreshold {
    /// Always at the same length.
    Static {
        /// XOFF: pause above. Without the key `inputs.memory` less the headroom.
        #[schemars(extend("x-quantity" = "room"))]
        xoff: Option<Q<Bytes>>,
        /// XON: go on at this or less; as `xoff` if not given.
        #[schemars(extend("x-quantity" = "room"))]
        xon: Option<Q<Bytes>>,
    },
    /// At a fraction of what is free of the shared memory (the HPCC authors' simulator, SIGCOMM 2019). Needs `inputs.shared`.
    Dynamic {
        /// The fraction.
        #[serde(default = "default::alpha")]
        #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1_000_000.0))]
        alpha: f64,
        /// Bytes set aside for each input.
        #[serde(default = "default::reserve")]
        reserve: Q<Bytes>,
        /// Go on so far below the threshold, with the headroom empty.
        #[serde(default = "default::hysteresis")]
        hysteresis: Q<Bytes>,
    },
}

impl Default for PfcThreshold {
    fn default() -> Self {
        Self::Static { xoff: None, xon: None }
    }
}

defaults! {
    // CHOICE Escape §4.6.4: the paper has no number. The slowest is a thousandth of the rate.
    stages: u8 = 10;
    frame: Q<Bytes> = Q::of("64B"); // the smallest Ethernet frame
    alpha: f64 = 0.125; // the HPCC repository's switch-mmu
    reserve: Q<Bytes> = Q::of("4096B"); // the HPCC repository's switch-mmu
    hysteresis: Q<Bytes> = Q::of("3072B"); // the HPCC repository's switch-mmu
}
