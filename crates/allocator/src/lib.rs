//! The memory allocator of thalweg's programs (the Python extension, the benchmark): mimalloc, in huge pages
//! where Linux grants them on request (`/sys/kernel/mm/transparent_hugepage/enabled`: `madvise` or `always`).
//!
//! A large network is a few hundred thousand small objects that events touch in no order, and with small pages the
//! translation of their addresses is a good part of what an event waits for: a fat-tree of 1024 hosts takes
//! 87 instead of 102 ns per packet-hop, one of 8192 hosts 200 instead of 245.
//!
//! `use thalweg_allocator as _;` is all there is to do. Libraries must not: the choice is the program's.

#[cfg(target_os = "linux")]
mod huge_pages {
    use libmimalloc_sys::{_mi_option_last, mi_option_set};

    #[global_allocator]
    static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

    /// Experimental options, which the bindings do not name (`mimalloc.h`). `allow_thp` 2: memory goes back in whole
    /// huge pages only, so that none is split. `purge_delay` 0: it goes back at once, not a second after its last use;
    /// what a growing table has left is most of what a large run would hold for nothing.
    const OPTIONS: [(i32, std::ffi::c_long); 2] = [(43, 2), (15, 0)];
    const _: () = assert!(_mi_option_last == 47, "the options have other numbers: see mimalloc.h");

    /// Runs as the program or the extension is loaded, before anything is allocated.
    #[used]
    #[unsafe(link_section = ".init_array.00099")]
    static SET: extern "C" fn() = {
        extern "C" fn set() {
            for (option, value) in OPTIONS {
                // SAFETY: an option is a word of the allocator's own, and no other thread runs yet.
                unsafe { mi_option_set(option, value) };
            }
        }
        set
    };
}
