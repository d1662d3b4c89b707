//! The rtnetlink messages (rtnetlink(7)) that build a path. Each applies to the network namespace in which the socket
//! was opened.

use crate::sys;
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// An Ethernet address.
pub type Mac = [u8; 6];

/// A socket of one network namespace.
pub struct Netlink {
    socket: OwnedFd,
    number: u32,
}

/// A message, or nested attributes.
struct Message(Vec<u8>);

const IFF_UP: u32 = libc::IFF_UP as u32;
/// linux/veth.h
const VETH_INFO_PEER: u16 = 1;
const NESTED: u16 = 0x8000;

impl Message {
    fn attribute(&mut self, kind: u16, value: &[u8]) -> &mut Self {
        self.0.extend((4 + value.len() as u16).to_ne_bytes());
        self.0.extend(kind.to_ne_bytes());
        self.0.extend(value);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self
    }

    fn nested(&mut self, kind: u16, fill: impl FnOnce(&mut Self)) -> &mut Self {
        let mut inner = Self(Vec::new());
        fill(&mut inner);
        self.attribute(kind | NESTED, &inner.0)
    }

    fn name(&mut self, name: &str) -> &mut Self {
        let bytes: Vec<u8> = name.bytes().chain([0]).collect();
        self.attribute(libc::IFLA_IFNAME, &bytes)
    }
}

/// The family and the bytes of an address.
fn parts(address: IpAddr) -> (u8, Vec<u8>) {
    match address {
        IpAddr::V4(v4) => (libc::AF_INET as u8, v4.octets().to_vec()),
        IpAddr::V6(v6) => (libc::AF_INET6 as u8, v6.octets().to_vec()),
    }
}

/// struct ifinfomsg.
fn link(index: u32, flags: u32, change: u32) -> Vec<u8> {
    [0, index, flags, change].iter().flat_map(|word| word.to_ne_bytes()).collect()
}

impl Netlink {
    /// Opens a socket of this thread's network namespace.
    ///
    /// # Errors
    /// If netlink is not available.
    pub fn open() -> io::Result<Self> {
        let socket = sys::socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE)?;
        Ok(Self { socket, number: 0 })
    }

    /// Makes a pair of devices: one here, the other, `there`, in another namespace.
    ///
    /// # Errors
    /// The kernel's.
    pub fn veth(&mut self, here: (&str, Mac), there: (&str, Mac), other: &OwnedFd) -> io::Result<()> {
        let mut message = Message(link(0, 0, 0));
        message.name(here.0).attribute(libc::IFLA_ADDRESS, &here.1);
        message.nested(libc::IFLA_LINKINFO, |info| {
            info.attribute(libc::IFLA_INFO_KIND, b"veth");
            info.nested(libc::IFLA_INFO_DATA, |data| {
                let mut peer = Message(link(0, 0, 0));
                peer.name(there.0).attribute(libc::IFLA_ADDRESS, &there.1);
                peer.attribute(libc::IFLA_NET_NS_FD, &other.as_fd().as_raw_fd().to_ne_bytes());
                data.attribute(VETH_INFO_PEER | NESTED, &peer.0);
            });
        });
        self.make(libc::RTM_NEWLINK, message)
    }

    /// Brings a device up.
    ///
    /// # Errors
    /// The kernel's.
    pub fn up(&mut self, device: &str) -> io::Result<()> {
        let message = Message(link(sys::device(device)?, IFF_UP, IFF_UP));
        self.request(libc::RTM_NEWLINK, 0, message)
    }

    /// Adds an address to a device. For IPv6 without duplicate detection (RFC 4862 §5.4), because there are no other
    /// hosts.
    ///
    /// # Errors
    /// The kernel's.
    pub fn address(&mut self, device: &str, address: IpAddr, prefix: u8) -> io::Result<()> {
        let (family, bytes) = parts(address);
        let flags = if address.is_ipv6() { libc::IFA_F_NODAD as u8 } else { 0 };
        let mut header = vec![family, prefix, flags, 0];
        header.extend(sys::device(device)?.to_ne_bytes());
        let mut message = Message(header);
        message.attribute(libc::IFA_LOCAL, &bytes).attribute(libc::IFA_ADDRESS, &bytes);
        self.make(libc::RTM_NEWADDR, message)
    }

    /// Adds a route to a network (length 0: the default route) via a neighbour.
    ///
    /// # Errors
    /// The kernel's.
    pub fn route(&mut self, to: (IpAddr, u8), via: IpAddr) -> io::Result<()> {
        let table = libc::RT_TABLE_MAIN;
        let (protocol, scope, kind) = (libc::RTPROT_STATIC, libc::RT_SCOPE_UNIVERSE, libc::RTN_UNICAST);
        let (family, network) = parts(to.0);
        let mut message = Message(vec![family, to.1, 0, 0, table, protocol, scope, kind, 0, 0, 0, 0]);
        if to.1 > 0 {
            message.attribute(libc::RTA_DST, &network);
        }
        message.attribute(libc::RTA_GATEWAY, &parts(via).1);
        self.make(libc::RTM_NEWROUTE, message)
    }

    /// Adds the Ethernet address of a neighbour permanently, so that it need not be resolved.
    ///
    /// # Errors
    /// The kernel's.
    pub fn neighbour(&mut self, device: &str, address: IpAddr, mac: Mac) -> io::Result<()> {
        let (family, bytes) = parts(address);
        let mut header = vec![family, 0, 0, 0];
        header.extend(sys::device(device)?.to_ne_bytes());
        header.extend(libc::NUD_PERMANENT.to_ne_bytes());
        header.extend([0, 0]);
        let mut message = Message(header);
        message.attribute(libc::NDA_DST, &bytes).attribute(libc::NDA_LLADDR, &mac);
        self.make(libc::RTM_NEWNEIGH, message)
    }

    fn make(&mut self, kind: u16, message: Message) -> io::Result<()> {
        self.request(kind, libc::NLM_F_CREATE | libc::NLM_F_EXCL, message)
    }

    fn request(&mut self, kind: u16, flags: i32, message: Message) -> io::Result<()> {
        self.number += 1;
        let flags = (flags | libc::NLM_F_REQUEST | libc::NLM_F_ACK) as u16;
        let mut bytes = (16 + message.0.len() as u32).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(flags.to_ne_bytes());
        bytes.extend(self.number.to_ne_bytes());
        bytes.extend([0; 4]);
        bytes.extend(message.0);
        sys::send(self.socket.as_fd(), &bytes)?;
        let mut answer = [0; 4096];
        let length = sys::receive(self.socket.as_fd(), &mut answer)?;
        // struct nlmsghdr, then the error code of an error or acknowledgement, 0 or negative.
        let word = |at: usize| answer[..length].get(at..at + 4).and_then(|b| <[u8; 4]>::try_from(b).ok());
        match word(16).map(i32::from_ne_bytes) {
            Some(0) => Ok(()),
            Some(error) if error < 0 => Err(io::Error::from_raw_os_error(-error)),
            _ => Err(io::Error::other("the kernel's answer by netlink is no acknowledgement")),
        }
    }
}
