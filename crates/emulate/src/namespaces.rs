//! The network of one emulated path: three unnamed network namespaces and two pairs of devices.
//!
//! ```text
//! application: eth0 100.64+L.x.2  <-->  app   emulator   far  <-->  eth0 100.64+L.x.1 :far end
//!            fd74:6861:6c77:L::n:2                                fd74:6861:6c77:L::n:1
//! ```
//!
//! Only file descriptors and processes refer to them, so the kernel removes them when the emulator's process ends,
//! however that happens. For a path within an emulated path (level L > 1), the far end is the application's namespace
//! of the outer path.

use crate::netlink::{Mac, Netlink};
use crate::outside::{self, Outside};
use crate::resolver;
use crate::sys::{self, wrong};
use crate::task;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

/// The two ends of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Addresses {
    /// Number of nested emulated paths around the application, including this one.
    pub level: u32,
    /// Address of the application.
    pub application: Ipv4Addr,
    /// Address of the far end.
    pub far: Ipv4Addr,
    /// IPv6 address of the application, if the kernel has IPv6.
    pub application6: Option<Ipv6Addr>,
    /// IPv6 address of the far end.
    pub far6: Option<Ipv6Addr>,
}

/// Device names in the emulator's namespace.
pub const DEVICES: [&str; 2] = ["app", "far"];

/// The network that was made.
pub struct Network {
    /// Namespace in which the command runs.
    pub application: OwnedFd,
    /// Namespace in which the peer runs.
    pub far: OwnedFd,
    /// The ends.
    pub addresses: Addresses,
    /// The way from the far end to the surrounding network.
    pub outside: Option<Outside>,
    /// Messages about features that are not available.
    pub notes: Vec<String>,
}

/// Locally administered Ethernet addresses (IEEE 802) from the end and its side of the pair.
fn mac(end: u8, side: u8) -> Mac {
    [0x02, 0x7a, 0x6c, 0x77, end, side]
}

/// Addresses of level L are in 100.(64 + L).0.0/16, out of 100.64.0.0/10 (RFC 6598); each path takes four.
const SHARED: (Ipv4Addr, u8) = (Ipv4Addr::new(100, 64, 0, 0), 10);
const LEVELS: u32 = 62;
/// The same for IPv6 (unique local addresses, RFC 4193): level L has fd74:6861:6c77:L::/64, each path 2^16 of them.
const SHARED6: (Ipv6Addr, u8) = (Ipv6Addr::new(0xfd74, 0x6861, 0x6c77, 0, 0, 0, 0, 0), 48);
const ALL: (Ipv4Addr, u8) = (Ipv4Addr::UNSPECIFIED, 0);
const ALL6: (Ipv6Addr, u8) = (Ipv6Addr::UNSPECIFIED, 0);

/// Addresses for a path started here, and whether there is an outer path.
fn place() -> io::Result<(Addresses, bool)> {
    let mut known: Vec<[u8; 4]> = sys::addresses()?.into_iter().map(|a| a.octets()).collect();
    known.retain(|a| a[0] == 100 && (65..=126).contains(&a[1]));
    // The last two bits of an address are 2 at an application and 1 at a far end.
    let around = known.iter().filter(|a| a[3] % 4 == 2).map(|a| u32::from(a[1]) - 64).max();
    let level = around.unwrap_or(0) + 1;
    if level > LEVELS {
        return Err(io::Error::other(format!("paths are nested in each other {LEVELS} times at most")));
    }
    let net = |n: u32, host: u8| Ipv4Addr::new(100, 64 + level as u8, (n >> 6) as u8, (n << 2) as u8 | host);
    let free = (0..1 << 14).find(|n| !known.contains(&net(*n, 1).octets()));
    let n = free.ok_or_else(|| io::Error::other("too many paths start here"))?;
    let net6 = |host: u16| {
        let [a, b, c, ..] = SHARED6.0.segments();
        Ipv6Addr::new(a, b, c, level as u16, 0, 0, n as u16, host)
    };
    let has6 = Path::new("/proc/sys/net/ipv6").exists();
    let (application6, far6) = (has6.then(|| net6(2)), has6.then(|| net6(1)));
    Ok((Addresses { level, application: net(n, 2), far: net(n, 1), application6, far6 }, around.is_some()))
}

/// Enters new namespaces if that is allowed: directly for root, otherwise in a user namespace in which the user has the
/// rights.
fn isolate() -> io::Result<bool> {
    match sys::unshare(libc::CLONE_NEWNS) {
        Ok(()) => return Ok(false),
        Err(error) if error.kind() != io::ErrorKind::PermissionDenied => {
            return Err(wrong("unshare", &error));
        }
        Err(_) => {}
    }
    let (user, group) = task::ids();
    sys::unshare(libc::CLONE_NEWUSER).map_err(|error| {
        let way_out = "run as root, or allow user namespaces (sysctl user.max_user_namespaces, \
                       kernel.apparmor_restrict_unprivileged_userns=0)";
        io::Error::new(error.kind(), format!("namespaces are not allowed here ({error}); {way_out}"))
    })?;
    let write = |file: &str, text: String| fs::write(file, text).map_err(|error| wrong(file, &error));
    write("/proc/self/setgroups", "deny".into())?;
    write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    sys::unshare(libc::CLONE_NEWNS).map_err(|error| wrong("unshare", &error))?;
    Ok(true)
}

fn this_namespace() -> io::Result<OwnedFd> {
    Ok(File::open("/proc/thread-self/ns/net")
        .map_err(|error| wrong("/proc/thread-self/ns/net", &error))?
        .into())
}

fn new_namespace() -> io::Result<OwnedFd> {
    sys::unshare(libc::CLONE_NEWNET).map_err(|error| wrong("a network namespace", &error))?;
    this_namespace()
}

impl Network {
    /// Makes the network, and leaves this process, which must have one thread, in the emulator's namespace.
    /// `receivers`: the CPUs on which the ends process received packets; if empty, wherever packets arrive. Makes a way
    /// out if `outside` is set.
    ///
    /// # Errors
    /// If namespaces or devices are not allowed, or a way out is not possible, with a hint.
    pub fn make(receivers: &[usize], outside: bool) -> io::Result<Self> {
        let outer = this_namespace()?;
        let (addresses, mut nested) = place()?;
        let own_users = isolate()?;
        let mut notes = Vec::new();
        if nested && own_users {
            nested = false;
            notes.push(
                "the path around this one belongs to another user: the far end is this machine's own".into(),
            );
        }
        sys::mount(c"none", c"/", c"none", libc::MS_REC | libc::MS_PRIVATE)
            .map_err(|e| wrong("mounts", &e))?;
        let outside = if outside { way_out(nested, &mut notes)? } else { None };
        let application = new_namespace()?;
        let far = if nested { outer } else { new_namespace()? };
        let emulator = new_namespace()?;
        let there = if nested { format!("shell{}", task::process()) } else { "eth0".into() };
        let mut netlink = Netlink::open()?;
        let made = |error| wrong("a pair of devices", &error);
        netlink.veth((DEVICES[0], mac(0, 1)), ("eth0", mac(0, 0)), &application).map_err(made)?;
        netlink.veth((DEVICES[1], mac(1, 1)), (&there, mac(1, 0)), &far).map_err(made)?;
        for device in DEVICES {
            no_offloads(device)?;
            no_ipv6(device);
            netlink.up(device)?;
        }
        let here = (addresses.application, addresses.application6);
        let beyond = (addresses.far, addresses.far6);
        if here.1.is_none() {
            notes.push("the ends have no IPv6: this kernel has none".into());
        }
        inside(&application, &emulator, || {
            end("eth0", here, (beyond, mac(1, 0)), receivers, &mut notes)?;
            usable()?;
            routes(ALL, ALL6, beyond)
        })
        .map_err(|error| wrong("the application's end", &error))?;
        inside(&far, &emulator, || {
            end(&there, beyond, (here, mac(0, 0)), receivers, &mut notes)?;
            if nested {
                return Ok(());
            }
            usable()?;
            // Routes to paths that are started within this one.
            routes(SHARED, SHARED6, here)
        })
        .map_err(|error| wrong("the far end", &error))?;
        if let Some(outside) = &outside {
            outside.lead(&far)?;
            inside(&far, &emulator, answer_for_paths).map_err(|error| wrong("the way out", &error))?;
        }
        Ok(Self { application, far, addresses, outside, notes })
    }
}

/// Prepares the way out of the far end; none within a path that already has one.
fn way_out(nested: bool, notes: &mut Vec<String>) -> io::Result<Option<Outside>> {
    if nested && !resolver::is_beyond() {
        let why =
            "the path around this one has no way out, so this one has none: give it to the outermost path";
        return Err(io::Error::other(why));
    }
    if !resolver::is_there() {
        notes.push("names are not looked up: there is no /etc/resolv.conf to stand in for".into());
    }
    (!nested).then(Outside::begin).transpose()
}

/// Makes the far end answer immediately for the addresses of the paths behind it (by default it waits up to a second).
fn answer_for_paths() -> io::Result<()> {
    let (conf, neigh) = ("/proc/sys/net/ipv4/conf", "/proc/sys/net/ipv4/neigh");
    for (file, value) in [
        (format!("{conf}/{}/proxy_arp", outside::DEVICE), "1"),
        (format!("{neigh}/{}/proxy_delay", outside::DEVICE), "0"),
    ] {
        fs::write(&file, value).map_err(|error| wrong(&file, &error))?;
    }
    Ok(())
}

/// The addresses of an end.
type Ends = (Ipv4Addr, Option<Ipv6Addr>);

/// Adds routes to these networks via a neighbour.
fn routes(to: (Ipv4Addr, u8), to6: (Ipv6Addr, u8), via: Ends) -> io::Result<()> {
    let mut netlink = Netlink::open()?;
    netlink.route((to.0.into(), to.1), via.0.into())?;
    via.1.map_or(Ok(()), |via| netlink.route((to6.0.into(), to6.1), via.into()))
}

/// Enables the loopback device, ping without privileges, and paths within this one.
fn usable() -> io::Result<()> {
    Netlink::open()?.up("lo")?;
    let group = task::ids().1;
    set("/proc/sys/net/ipv4/ping_group_range", &format!("{group}\t{group}"));
    set("/proc/sys/net/ipv4/ip_forward", "1");
    set("/proc/sys/net/ipv6/conf/all/forwarding", "1");
    Ok(())
}

/// Executes something in a namespace and returns to the previous one.
fn inside<T>(there: &OwnedFd, back: &OwnedFd, what: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    sys::enter_net(there.as_fd())?;
    let done = what();
    sys::enter_net(back.as_fd())?;
    done
}

/// Sets up an end: its device, its addresses, its only neighbour.
fn end(
    device: &str,
    (own, own6): Ends,
    ((neighbour, neighbour6), mac): (Ends, Mac),
    receivers: &[usize],
    notes: &mut Vec<String>,
) -> io::Result<()> {
    no_offloads(device)?;
    quiet_ipv6(device);
    let mut netlink = Netlink::open()?;
    netlink.up(device)?;
    let pairs = own6.zip(neighbour6).map(|(own, neighbour)| (IpAddr::V6(own), 112, IpAddr::V6(neighbour)));
    for (own, prefix, neighbour) in [(own.into(), 30, neighbour.into())].into_iter().chain(pairs) {
        netlink.address(device, own, prefix)?;
        netlink.neighbour(device, neighbour, mac)?;
    }
    if !receivers.is_empty() && !steer(device, receivers) {
        let note = "receive processing stays on the emulator's CPU: sysfs cannot be mounted here".to_owned();
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    Ok(())
}

/// Makes packets as on a wire: not aggregated, and with checksums. Otherwise ping works and TCP stalls.
fn no_offloads(device: &str) -> io::Result<()> {
    const OFFLOADS: [(&str, u32, bool); 5] = [
        ("tso", 0x1f, false), // ETHTOOL_STSO of linux/ethtool.h, ..
        ("gso", 0x24, false),
        ("gro", 0x2c, false),
        ("sg", 0x19, false),
        ("tx", 0x17, true),
    ];
    for (name, command, needed) in OFFLOADS {
        let set = sys::set_offload(device, command, false);
        if needed {
            set.map_err(|error| {
                wrong(&format!("the offload `{name}` of {device} cannot be turned off"), &error)
            })?;
        }
    }
    Ok(())
}

/// Disables IPv6 on the emulator's own devices, which have no addresses and would send discovery messages.
fn no_ipv6(device: &str) {
    set(&format!("/proc/sys/net/ipv6/conf/{device}/disable_ipv6"), "1");
}

/// Limits an end to the address that it is given: no link-local address, no router advertisements.
fn quiet_ipv6(device: &str) {
    for (key, value) in
        [("addr_gen_mode", "1"), ("accept_ra", "0"), ("router_solicitations", "0"), ("disable_ipv6", "0")]
    {
        set(&format!("/proc/sys/net/ipv6/conf/{device}/{key}"), value);
    }
}

/// Sets a value that may not exist.
fn set(file: &str, value: &str) -> bool {
    fs::write(file, value).is_ok()
}

/// Receive packet steering: packets received by this device are processed on these CPUs, not within the emulator's
/// call.
fn steer(device: &str, cpus: &[usize]) -> bool {
    let mut mask = vec![0u32; cpus.iter().max().map_or(1, |most| most / 32 + 1)];
    cpus.iter().for_each(|cpu| mask[cpu / 32] |= 1 << (cpu % 32));
    let words: Vec<String> = mask.iter().rev().map(|word| format!("{word:x}")).collect();
    // The contents of sysfs depend on the namespace in which it was mounted.
    if sys::mount(c"sysfs", c"/sys", c"sysfs", 0).is_err() {
        return false;
    }
    let done = set(&format!("/sys/class/net/{device}/queues/rx-0/rps_cpus"), &words.join(","));
    let _ = sys::unmount(c"/sys");
    done
}
