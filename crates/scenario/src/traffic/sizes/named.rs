//! The named distributions of flow sizes, with their sources.

use super::cdf::Cdf;
use super::{Interpolation, Sizes};
use crate::Diagnostic;
use crate::context::Cx;

/// Payload of the packets in which some distributions are given.
const PACKET: u64 = 1460;

/// Benson, Akella, Maltz, IMC 2010, as digitised by the public simulations of pFabric, RC3 and ADS: atoms in packets of
/// 1460 B, mean 184.475.
const HEAVY_TAILED: &[(f64, f64)] = &[
    (1.0, 0.5),
    (2.0, 0.6),
    (3.0, 0.7),
    (5.0, 0.75),
    (7.0, 0.8),
    (40.0, 0.8125),
    (72.0, 0.825),
    (137.0, 0.85),
    (267.0, 0.9),
    (1187.0, 0.95),
    (2107.0, 1.0),
];

/// DCTCP's web search cluster (Alizadeh et al., SIGCOMM 2010) in packets of 1460 B.
// CHOICE: the shortest flow is one packet and the first segment begins there; the published points begin at 6.
const WEB_SEARCH: &[(f64, f64)] = &[
    (0.0, 0.0),
    (6.0, 0.15),
    (13.0, 0.2),
    (19.0, 0.3),
    (33.0, 0.4),
    (53.0, 0.53),
    (133.0, 0.6),
    (667.0, 0.7),
    (1333.0, 0.8),
    (3333.0, 0.9),
    (6667.0, 0.97),
    (20_000.0, 1.0),
];

/// The same as in the HPCC artifact (Li et al., SIGCOMM 2019), in bytes; mean 1 711 250 B.
const WEB_SEARCH_BYTES: &[(f64, f64)] = &[
    (0.0, 0.0),
    (10e3, 0.15),
    (20e3, 0.2),
    (30e3, 0.3),
    (50e3, 0.4),
    (80e3, 0.53),
    (200e3, 0.6),
    (1e6, 0.7),
    (2e6, 0.8),
    (5e6, 0.9),
    (10e6, 0.97),
    (30e6, 1.0),
];

/// VL2's data mining cluster (Greenberg et al., SIGCOMM 2009) as digitised by pFabric's simulations, in packets of 1460
/// B.
const DATA_MINING: &[(f64, f64)] = &[
    (1.0, 0.5),
    (2.0, 0.6),
    (3.0, 0.7),
    (7.0, 0.8),
    (267.0, 0.9),
    (2107.0, 0.95),
    (66_667.0, 0.99),
    (666_667.0, 1.0),
];

/// Facebook's Hadoop cluster (Roy et al., SIGCOMM 2015) as in the HPCC artifact, in bytes; mean 120 420.75 B.
const FACEBOOK_HADOOP: &[(f64, f64)] = &[
    (0.0, 0.0),
    (100.0, 0.01),
    (200.0, 0.02),
    (300.0, 0.05),
    (350.0, 0.15),
    (400.0, 0.2),
    (500.0, 0.3),
    (600.0, 0.4),
    (700.0, 0.5),
    (1e3, 0.6),
    (2e3, 0.67),
    (7e3, 0.7),
    (30e3, 0.72),
    (50e3, 0.82),
    (80e3, 0.87),
    (120e3, 0.9),
    (300e3, 0.95),
    (1e6, 0.975),
    (2e6, 0.99),
    (10e6, 1.0),
];

/// The same at finer resolution, from BFC's artifact (Goyal et al., NSDI 2022), bytes; mean about 121.8 KB.
const FACEBOOK_HADOOP_FINE: &[(f64, f64)] = &[
    (100.0, 0.00815),
    (217.0, 0.0149),
    (271.0, 0.0409),
    (300.0, 0.052),
    (326.0, 0.1375),
    (376.0, 0.2026),
    (425.0, 0.223),
    (480.0, 0.2639),
    (600.0, 0.4591),
    (679.0, 0.5167),
    (737.0, 0.552),
    (800.0, 0.5762),
    (885.0, 0.5912),
    (1042.0, 0.6097),
    (1277.0, 0.6282),
    (1413.0, 0.6394),
    (1534.0, 0.6468),
    (1664.0, 0.6673),
    (2214.0, 0.6747),
    (3396.0, 0.684),
    (5210.0, 0.6933),
    (7830.0, 0.7082),
    (31_946.0, 0.7212),
    (36_844.0, 0.7305),
    (39_973.0, 0.7398),
    (44_260.0, 0.7584),
    (47_050.0, 0.7788),
    (51_046.0, 0.816),
    (62_583.0, 0.8234),
    (70_722.0, 0.8327),
    (75_180.0, 0.842),
    (81_565.0, 0.8717),
    (102_058.0, 0.8885),
    (115_331.0, 0.8978),
    (133_013.0, 0.907),
    (156_563.0, 0.9164),
    (184_284.0, 0.9257),
    (212_546.0, 0.9349),
    (240_177.0, 0.9442),
    (288_520.0, 0.9535),
    (470_507.0, 0.9628),
    (736_642.0, 0.9684),
    (940_700.0, 0.9721),
    (1_769_244.0, 0.9814),
    (2_169_118.0, 0.987),
    (10_000_000.0, 1.0),
];

/// Flows of all of Facebook's clusters (Roy et al., SIGCOMM 2015, Fig. 6), bytes.
// CHOICE: ADS names the source and the range 1 KB to 100 MB only; these points keep what the figure shows:
// half of all flows below 2 KB, a tenth above 100 KB, one in two hundred above 10 MB.
const FACEBOOK: &[(f64, f64)] =
    &[(1e3, 0.0), (2e3, 0.5), (10e3, 0.72), (100e3, 0.9), (1e6, 0.97), (10e6, 0.995), (100e6, 1.0)];

/// All RPCs of Google's applications (Montazeri et al., Homa, SIGCOMM 2018) from BFC's artifact, bytes; mean 2907 B.
const GOOGLE_RPC: &[(f64, f64)] = &[
    (101.0, 0.0),
    (110.0, 0.318_856),
    (128.0, 0.351_573),
    (256.0, 0.497_901),
    (512.0, 0.784_921),
    (1024.0, 0.863_2),
    (2048.0, 0.908_862),
    (4096.0, 0.934_955),
    (8192.0, 0.964_309),
    (16_384.0, 0.984_694),
    (32_768.0, 0.990_402),
    (65_536.0, 0.993_256),
    (131_072.0, 0.997_129),
    (262_144.0, 0.998_453),
    (524_288.0, 0.999_498),
    (15_158_197.0, 1.0),
];

/// IRN's workload (UCB/EECS-2018-103 §4.3.1): three facts are published, half single packets, 15 % from 200 KB to 3 MB.
// CHOICE IRN §4.3.1: linear interpolation between them.
const RDMA_HEAVY_TAILED: &[(f64, f64)] = &[(32.0, 0.0), (1024.0, 0.5), (200_000.0, 0.85), (3_000_000.0, 1.0)];

/// A table with a name.
pub(crate) fn published(sizes: &Sizes) -> Option<Cdf> {
    use Interpolation::{Atoms, InverseLinear, Linear, LogLinear};
    let (points, between, unit): (&[(f64, f64)], _, _) = match sizes {
        Sizes::HeavyTailed => (HEAVY_TAILED, Atoms, PACKET),
        Sizes::WebSearch => (WEB_SEARCH, Linear, PACKET),
        Sizes::WebSearchBytes => (WEB_SEARCH_BYTES, Linear, 1),
        Sizes::DataMining => (DATA_MINING, Linear, PACKET),
        Sizes::FacebookHadoop => (FACEBOOK_HADOOP, Linear, 1),
        Sizes::FacebookHadoopFine => (FACEBOOK_HADOOP_FINE, LogLinear, 1),
        Sizes::Facebook => (FACEBOOK, LogLinear, 1),
        Sizes::RdmaHeavyTailed => (RDMA_HEAVY_TAILED, Linear, 1),
        Sizes::GoogleRpc => (GOOGLE_RPC, InverseLinear, 1),
        Sizes::Uniform { .. }
        | Sizes::Bimodal { .. }
        | Sizes::Point { .. }
        | Sizes::Fixed { .. }
        | Sizes::File { .. } => return None,
    };
    Some(Cdf::new(points.to_vec(), between, unit))
}

/// The distribution of the key `key`.
pub(crate) fn build(cx: &Cx<'_>, key: &str, sizes: &Sizes) -> Result<Cdf, Diagnostic> {
    let positive = |name: &str, size: u64| {
        let error =
            || cx.error(&format!("{key}.{name}"), "a flow has at least 1 byte", "write \"1B\" or more");
        if size == 0 { Err(error()) } else { Ok(size) }
    };
    match sizes {
        Sizes::Uniform { min, max, steps } => {
            let (low, high) = (positive("min", min.0.get())? as f64, max.0.get() as f64);
            if high <= low {
                let reason = format!("the largest size, {}, is not above the smallest, {}", max.0, min.0);
                return Err(cx.error(&format!("{key}.max"), reason, "swap them"));
            }
            let last = f64::from(*steps - 1);
            let size = |i: u32| libm::round(low * libm::pow(high / low, f64::from(i) / last)) as u64;
            let atoms: Vec<(u64, f64)> = (0..*steps).map(|i| (size(i), 1.0 / f64::from(*steps))).collect();
            Ok(Cdf::atoms(&atoms))
        }
        Sizes::Bimodal { small, large, small_fraction } => {
            let (small, large) = (positive("small", small.0.get())?, large.0.get());
            if large <= small {
                let reason = "the large size is not above the small one";
                return Err(cx.error(&format!("{key}.large"), reason, "swap them"));
            }
            Ok(Cdf::atoms(&[(small, *small_fraction), (large, 1.0 - small_fraction)]))
        }
        Sizes::Point { size } | Sizes::Fixed { size } => {
            Ok(Cdf::atoms(&[(positive("size", size.0.get())?, 1.0)]))
        }
        Sizes::File { file, unit, interpolation } => {
            let text = cx.read(&format!("{key}.file"), file)?;
            let points = crate::parse::cdf::parse(&text).map_err(|e| e.in_file(file))?;
            Ok(Cdf::new(points, *interpolation, positive("unit", unit.0.get())?))
        }
        // One byte never comes about: the rest are tables.
        table => Ok(published(table).unwrap_or_else(|| Cdf::atoms(&[(1, 1.0)]))),
    }
}
