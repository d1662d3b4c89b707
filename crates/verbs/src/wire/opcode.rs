//! Operation codes of the reliable connection, and which headers each of them carries.

/// What the two ends of a queue pair speak.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// RoCE: InfiniBand's headers as they are; losses are repaired by go-back-N.
    Roce,
    /// IRN: more header fields (§4.4), so that every packet can be placed the moment it arrives.
    Irn,
}

/// Where a packet stands in its message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// The first of several.
    First,
    /// Neither first nor last.
    Middle,
    /// The last of several.
    Last,
    /// The only one.
    Only,
}

impl Place {
    /// Of packet `index` of `count`.
    pub fn of(index: u32, count: u32) -> Self {
        match (index == 0, index + 1 >= count) {
            (true, true) => Self::Only,
            (true, false) => Self::First,
            (false, true) => Self::Last,
            (false, false) => Self::Middle,
        }
    }
    /// Its message begins with it.
    pub fn begins(self) -> bool {
        matches!(self, Self::First | Self::Only)
    }
    /// Its message ends with it.
    pub fn ends(self) -> bool {
        matches!(self, Self::Last | Self::Only)
    }
}

/// A packet's purpose. What InfiniBand counts as separate codes for place and immediate data is distinguished
/// here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Opcode {
    /// Part of a Send without more.
    Send(Place),
    /// The end of a Send with immediate data; `true`: its only packet.
    SendImmediate(bool),
    /// The end of a Send that invalidates a key; `true`: its only packet.
    SendInvalidate(bool),
    /// Part of a Write without immediate data, or of one with, but for its last packet.
    Write(Place),
    /// The end of a Write with immediate data; `true`: its only packet.
    WriteImmediate(bool),
    /// Requests data.
    ReadRequest,
    /// Part of the answer to a Read.
    ReadResponse(Place),
    /// Acknowledges requests: ACK or NACK, as the syndrome states.
    Acknowledge,
    /// The answer to an atomic: what was there before.
    AtomicAcknowledge,
    /// Compare and swap, 8 bytes.
    CompareSwap,
    /// Fetch and add, 8 bytes.
    FetchAdd,
    /// IRN: acknowledges responses to Reads and Atomics: read ACK or read NACK, as the syndrome states.
    ReadAcknowledge,
}

/// Which headers follow the base header, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Layout {
    /// RDMA extended header: address, key, length.
    pub reth: bool,
    /// Immediate data.
    pub immediate: bool,
    /// The key to invalidate.
    pub invalidate: bool,
    /// Syndrome and MSN.
    pub aeth: bool,
    /// Address, key, two operands.
    pub atomic: bool,
    /// The original value.
    pub original: bool,
    /// IRN: recv_WQE_SN.
    pub recv_wqe: bool,
    /// IRN: the packet's offset in its Send.
    pub offset: bool,
    /// IRN: read_WQE_SN, padded.
    pub read_wqe: bool,
    /// IRN: the SACK PSN follows if the syndrome is an out-of-order NACK.
    pub sack: bool,
    /// May carry payload.
    pub payload: bool,
}

impl Opcode {
    /// The five low bits of the opcode byte; the three high ones, 0, mean "reliable connection".
    pub fn code(self) -> u8 {
        use Place::*;
        match self {
            Self::Send(First) => 0,
            Self::Send(Middle) => 1,
            Self::Send(Last) => 2,
            Self::SendImmediate(false) => 3,
            Self::Send(Only) => 4,
            Self::SendImmediate(true) => 5,
            Self::Write(First) => 6,
            Self::Write(Middle) => 7,
            Self::Write(Last) => 8,
            Self::WriteImmediate(false) => 9,
            Self::Write(Only) => 10,
            Self::WriteImmediate(true) => 11,
            Self::ReadRequest => 12,
            Self::ReadResponse(First) => 13,
            Self::ReadResponse(Middle) => 14,
            Self::ReadResponse(Last) => 15,
            Self::ReadResponse(Only) => 16,
            Self::Acknowledge => 17,
            Self::AtomicAcknowledge => 18,
            Self::CompareSwap => 19,
            Self::FetchAdd => 20,
            Self::SendInvalidate(false) => 22,
            Self::SendInvalidate(true) => 23,
            // CHOICE IRN §4.4: one of the eight unused codes; the paper only states that they suffice.
            Self::ReadAcknowledge => 24,
        }
    }

    /// The name that InfiniBand gives it, in small letters: `write-last-immediate`.
    pub fn name(self) -> &'static str {
        use Place::*;
        match self {
            Self::Send(First) => "send-first",
            Self::Send(Middle) => "send-middle",
            Self::Send(Last) => "send-last",
            Self::Send(Only) => "send-only",
            Self::SendImmediate(false) => "send-last-immediate",
            Self::SendImmediate(true) => "send-only-immediate",
            Self::SendInvalidate(false) => "send-last-invalidate",
            Self::SendInvalidate(true) => "send-only-invalidate",
            Self::Write(First) => "write-first",
            Self::Write(Middle) => "write-middle",
            Self::Write(Last) => "write-last",
            Self::Write(Only) => "write-only",
            Self::WriteImmediate(false) => "write-last-immediate",
            Self::WriteImmediate(true) => "write-only-immediate",
            Self::ReadRequest => "read-request",
            Self::ReadResponse(First) => "read-response-first",
            Self::ReadResponse(Middle) => "read-response-middle",
            Self::ReadResponse(Last) => "read-response-last",
            Self::ReadResponse(Only) => "read-response-only",
            Self::Acknowledge => "acknowledge",
            Self::AtomicAcknowledge => "atomic-acknowledge",
            Self::CompareSwap => "compare-swap",
            Self::FetchAdd => "fetch-add",
            Self::ReadAcknowledge => "read-acknowledge",
        }
    }

    /// All that a dialect has, in the order of their codes.
    pub fn all(dialect: Dialect) -> impl Iterator<Item = Self> {
        (0..32).filter_map(move |code| Self::from_code(code, dialect))
    }

    /// The inverse of [`Opcode::code`]; `None` if this dialect has no such code.
    pub fn from_code(code: u8, dialect: Dialect) -> Option<Self> {
        use Place::*;
        Some(match code {
            0 => Self::Send(First),
            1 => Self::Send(Middle),
            2 => Self::Send(Last),
            3 => Self::SendImmediate(false),
            4 => Self::Send(Only),
            5 => Self::SendImmediate(true),
            6 => Self::Write(First),
            7 => Self::Write(Middle),
            8 => Self::Write(Last),
            9 => Self::WriteImmediate(false),
            10 => Self::Write(Only),
            11 => Self::WriteImmediate(true),
            12 => Self::ReadRequest,
            13 => Self::ReadResponse(First),
            14 => Self::ReadResponse(Middle),
            15 => Self::ReadResponse(Last),
            16 => Self::ReadResponse(Only),
            17 => Self::Acknowledge,
            18 => Self::AtomicAcknowledge,
            19 => Self::CompareSwap,
            20 => Self::FetchAdd,
            22 => Self::SendInvalidate(false),
            23 => Self::SendInvalidate(true),
            24 if dialect == Dialect::Irn => Self::ReadAcknowledge,
            _ => return None,
        })
    }

    /// Its headers after the base header.
    pub fn layout(self, dialect: Dialect) -> Layout {
        let irn = dialect == Dialect::Irn;
        let none = Layout::default();
        let send = Layout { recv_wqe: irn, offset: irn, payload: true, ..none };
        match self {
            Self::Send(_) => send,
            Self::SendImmediate(_) => Layout { immediate: true, ..send },
            Self::SendInvalidate(_) => Layout { invalidate: true, ..send },
            Self::Write(place) => Layout { reth: irn || place.begins(), payload: true, ..none },
            Self::WriteImmediate(only) => {
                Layout { reth: irn || only, immediate: true, recv_wqe: irn, payload: true, ..none }
            }
            Self::ReadRequest => Layout { reth: true, read_wqe: irn, ..none },
            // InfiniBand: all but the middle ones carry the state of the responder.
            Self::ReadResponse(place) => Layout { aeth: place != Place::Middle, payload: true, ..none },
            Self::Acknowledge | Self::ReadAcknowledge => Layout { aeth: true, sack: irn, ..none },
            Self::AtomicAcknowledge => Layout { aeth: true, original: true, ..none },
            Self::CompareSwap | Self::FetchAdd => Layout { atomic: true, read_wqe: irn, ..none },
        }
    }

    /// A request, on its way to the responder (in the request packets' space of numbers).
    pub fn is_request(self) -> bool {
        use Opcode::*;
        matches!(
            self,
            Send(_)
                | SendImmediate(_)
                | SendInvalidate(_)
                | Write(_)
                | WriteImmediate(_)
                | ReadRequest
                | CompareSwap
                | FetchAdd
        )
    }

    /// Its place in its message. Acknowledgements are messages of one packet.
    pub fn place(self) -> Place {
        match self {
            Self::Send(place) | Self::Write(place) | Self::ReadResponse(place) => place,
            Self::SendImmediate(false) | Self::SendInvalidate(false) | Self::WriteImmediate(false) => {
                Place::Last
            }
            _ => Place::Only,
        }
    }

    /// A request's message ends with it: MSN rises when everything up to it has arrived.
    pub fn is_last(self) -> bool {
        self.is_request() && self.place().ends()
    }

    /// It also expires a Receive WQE, with a CQE for the responder's application.
    pub fn is_completion(self) -> bool {
        match self {
            Self::Send(place) => place.ends(),
            Self::SendImmediate(_) | Self::SendInvalidate(_) | Self::WriteImmediate(_) => true,
            _ => false,
        }
    }
}
