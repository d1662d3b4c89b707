//! `sizes`: distributions of flow sizes.

pub mod cdf;
pub(crate) mod named;

use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::Bytes;

/// A distribution of flow sizes in payload bytes: a list of atoms, or interpolated between points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Sizes {
    /// Benson et al. (IMC 2010) as in the simulations of ADS, RC3 and pFabric, and here also of universal packet
    /// scheduling: 11 atoms of 1 to 2107 packets of 1460 B, mean 184.475 packets.
    HeavyTailed,
    /// Web search (Alizadeh et al., DCTCP, SIGCOMM 2010): 1 to 20000 packets of 1460 B, interpolated linearly and
    /// rounded up to whole packets.
    WebSearch,
    /// Web search as in the HPCC artifact: in bytes, interpolated linearly, mean 1.711 MB.
    WebSearchBytes,
    /// Data mining (Greenberg et al., VL2, SIGCOMM 2009) as digitised by pFabric: 1 to 666667 packets of 1460 B,
    /// interpolated linearly and rounded up to whole packets.
    DataMining,
    /// Facebook Hadoop (Roy et al., SIGCOMM 2015) as in the HPCC artifact: up to 10 MB, interpolated linearly, mean
    /// 120.4 KB.
    FacebookHadoop,
    /// Facebook Hadoop at the resolution of BFC's artifact: 100 B to 10 MB, interpolated linearly in the
    /// logarithm.
    FacebookHadoopFine,
    /// All Facebook clusters (Roy et al., SIGCOMM 2015 §5): 1 KB to 100 MB, interpolated linearly in the logarithm.
    Facebook,
    /// All RPCs of Google's applications (Homa, SIGCOMM 2018, W3): 101 B to 15.2 MB, interpolated linearly in
    /// 1/size, mean 2.9 KB.
    GoogleRpc,
    /// RDMA flows (Mittal et al., IRN, SIGCOMM 2018, §4.1, after Benson et al.): half are single packets of
    /// 32 B to 1 KB, 15 % have 200 KB to 3 MB; interpolated linearly, mean 275.6 KB.
    RdmaHeavyTailed,
    /// Equally likely sizes that are spaced evenly in the logarithm.
    Uniform {
        /// Smallest size.
        #[serde(default = "default::uniform_min")]
        min: Q<Bytes>,
        /// Largest size.
        #[serde(default = "default::uniform_max")]
        max: Q<Bytes>,
        /// Number of sizes.
        #[serde(default = "default::uniform_steps")]
        #[schemars(range(min = 2, max = 100_000))]
        steps: u32,
    },
    /// Two sizes with given probabilities.
    Bimodal {
        /// The smaller size.
        #[serde(default = "default::bimodal_small")]
        small: Q<Bytes>,
        /// The larger size.
        #[serde(default = "default::two_mb")]
        large: Q<Bytes>,
        /// Probability of the smaller size.
        #[serde(default = "default::half")]
        #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
        small_fraction: f64,
    },
    /// The same size for all flows, 2 MB by default.
    Point {
        /// Size of every flow.
        #[serde(default = "default::two_mb")]
        size: Q<Bytes>,
    },
    /// The same size for all flows.
    Fixed {
        /// Size of every flow.
        size: Q<Bytes>,
    },
    /// A distribution from a file with two columns, size and cumulative probability (0 to 1, or 0 to 100 as in HPCC's
    /// files), or three (size, anything, probability) as in the NetSys simulator's.
    File {
        /// The file, relative to the scenario.
        file: String,
        /// Unit of the sizes in the file. If it is more than one byte, sizes are rounded up to whole units.
        #[serde(default = "default::byte")]
        unit: Q<Bytes>,
        /// Interpolation between the points.
        #[serde(default)]
        interpolation: Interpolation,
    },
}

impl Sizes {
    /// The file that the distribution reads.
    pub(crate) fn file(&self) -> Option<&str> {
        match self {
            Self::File { file, .. } => Some(file),
            _ => None,
        }
    }
}

/// Interpolation between the points of a cumulative distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Interpolation {
    /// Linear in the size.
    #[default]
    Linear,
    /// None: only the listed sizes occur.
    Atoms,
    /// Linear in the logarithm of the size.
    LogLinear,
    /// Linear in 1/size; the first segment linear in the size.
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
