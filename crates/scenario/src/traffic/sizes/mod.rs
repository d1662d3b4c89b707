//! `sizes`: how large flows are.

pub mod cdf;
pub(crate) mod named;

use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::Bytes;

/// Distribution of flow sizes, payload bytes. Each says whether it is a list of atoms or interpolated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Sizes {
    /// Benson et al. (IMC 2010) as the ADS, RC3 and pFabric simulations use it, and here those of universal packet
    /// scheduling: 11 atoms of 1 to 2107 packets of 1460 B, mean 184.475 packets.
    HeavyTailed,
    /// Web search (Alizadeh et al., DCTCP, SIGCOMM 2010): 1 to 20000 packets of 1460 B, interpolated linearly,
    /// whole packets.
    WebSearch,
    /// Web search as the HPCC artifact has it: bytes, interpolated linearly, mean 1.711 MB.
    WebSearchBytes,
    /// Data mining (Greenberg et al., VL2, SIGCOMM 2009) as pFabric digitised it: 1 to 666667 packets of 1460 B,
    /// interpolated linearly, whole packets.
    DataMining,
    /// Facebook Hadoop (Roy et al., SIGCOMM 2015) as the HPCC artifact has it: up to 10 MB, interpolated
    /// linearly, mean 120.4 KB.
    FacebookHadoop,
    /// Facebook Hadoop at the resolution of BFC's artifact: 100 B to 10 MB, interpolated linearly in the
    /// logarithm.
    FacebookHadoopFine,
    /// Facebook in general (Roy et al., SIGCOMM 2015 §5): 1 KB to 100 MB, interpolated linearly in the logarithm.
    Facebook,
    /// All RPCs of Google's applications (Homa, SIGCOMM 2018, W3): 101 B to 15.2 MB, interpolated linearly in
    /// 1/size, mean 2.9 KB.
    GoogleRpc,
    /// RDMA flows (Mittal et al., IRN, SIGCOMM 2018, §4.1, after Benson et al.): half are single packets of
    /// 32 B to 1 KB, 15 % have 200 KB to 3 MB; interpolated linearly, mean 275.6 KB.
    RdmaHeavyTailed,
    /// Some sizes, all equally likely, spaced evenly in the logarithm.
    Uniform {
        /// Smallest.
        #[serde(default = "default::uniform_min")]
        min: Q<Bytes>,
        /// Largest.
        #[serde(default = "default::uniform_max")]
        max: Q<Bytes>,
        /// How many.
        #[serde(default = "default::uniform_steps")]
        #[schemars(range(min = 2, max = 100_000))]
        steps: u32,
    },
    /// Two sizes, one for a fraction of the flows and a larger one for the others.
    Bimodal {
        /// The smaller.
        #[serde(default = "default::bimodal_small")]
        small: Q<Bytes>,
        /// The larger.
        #[serde(default = "default::two_mb")]
        large: Q<Bytes>,
        /// Probability of the smaller.
        #[serde(default = "default::half")]
        #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
        small_fraction: f64,
    },
    /// Always 2 MB, or the given size.
    Point {
        /// The size.
        #[serde(default = "default::two_mb")]
        size: Q<Bytes>,
    },
    /// Always the same size.
    Fixed {
        /// The size.
        size: Q<Bytes>,
    },
    /// From a file of two columns, size and cumulative probability (0 to 1, or 0 to 100 as HPCC writes), or of
    /// three (size, anything, probability) as the NetSys simulator writes.
    File {
        /// Where it is, relative to the scenario.
        file: String,
        /// What sizes are counted in; more than one byte: sizes are rounded up to whole units.
        #[serde(default = "default::byte")]
        unit: Q<Bytes>,
        /// What lies between the points.
        #[serde(default)]
        interpolation: Interpolation,
    },
}

impl Sizes {
    /// The file that it reads.
    pub(crate) fn file(&self) -> Option<&str> {
        match self {
            Self::File { file, .. } => Some(file),
            _ => None,
        }
    }
}

/// What lies between the points of a cumulative distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Interpolation {
    /// Straight lines.
    #[default]
    Linear,
    /// Nothing: only the listed sizes occur.
    Atoms,
    /// Straight lines over the logarithm of the size.
    LogLinear,
    /// Straight lines over 1/size; the first segment over the size.
    InverseLinear,
}

mod default {
    use crate::quantity::Q;
    use thalweg_units::Bytes;

    // CHOICE ADS §2.3.2: 20 values over the published range.
    pub(super) fn uniform_min() -> Q<Bytes> {
        Q::of("1KB")
    }
    pub(super) fn uniform_max() -> Q<Bytes> {
        Q::of("3MB")
    }
    pub(super) fn uniform_steps() -> u32 {
        20
    }
    pub(super) fn bimodal_small() -> Q<Bytes> {
        Q::of("2KB")
    }
    pub(super) fn two_mb() -> Q<Bytes> {
        Q::of("2MB")
    }
    pub(super) fn half() -> f64 {
        0.5
    }
    pub(super) fn byte() -> Q<Bytes> {
        Q::of("1B")
    }
}
