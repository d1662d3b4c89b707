//! The memory allocator of thalweg's programs (the Python extension, the benchmark): jemalloc, in huge pages
//! where Linux grants them on request (`/sys/kernel/mm/transparent_hugepage/enabled`: `madvise` or `always`).
//!
//! A large network is a few hundred thousand small objects that events touch in no order, and with small pages the
//! translation of their addresses is a good part of what an event waits for: a fat-tree of 1024 hosts takes
//! 87 instead of 102 ns per packet-hop, one of 8192 hosts 200 instead of 245.
//!
//! `use thalweg_allocator as _;` is all there is to do. Libraries must not: the choice is the program's.

#[cfg(target_os = "linux")]
mod jemalloc {
    #[global_allocator]
    static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

    /// jemalloc's settings (its `TUNING.md`): read when the program starts; `_RJEM_MALLOC_CONF` in the environment goes
    /// before them.
    #[unsafe(export_name = "_rjem_malloc_conf")]
    static SETTINGS: &[u8] = b"thp:always,metadata_thp:always\0";
}
