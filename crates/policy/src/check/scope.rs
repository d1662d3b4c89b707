//! The entities and names that a body can refer to.

use super::constants::Constants;
use crate::normal::expression::{BufferField, PacketField, Place, PortField, QueueField, Which};
use crate::syntax::tree::Spanned;

/// The use of a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Two packets are compared.
    Packets,
    /// Two queues are compared.
    Queues,
    /// A hook of a queue.
    Queue,
    /// A hook of a buffer.
    Buffer,
    /// A hook of a port.
    Port,
    /// A packet chooses a queue.
    Selection,
}

/// The entities and names that a body can refer to.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'s> {
    /// The use of the body.
    pub role: Role,
    /// Its parameters.
    pub parameters: &'s [Spanned<String>],
    /// Constants.
    pub constants: &'s Constants,
    /// The body is in `inline { }`, where `Packet` and `Queue` are the entities of the use.
    pub is_inline: bool,
}

/// An entity with fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subject {
    /// A packet.
    Packet(Which),
    /// A queue.
    Queue(Which),
    /// The buffer.
    Buffer,
    /// The port.
    Port,
}

impl Subject {
    /// The word for messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::Packet(_) => "packet",
            Self::Queue(_) => "queue",
            Self::Buffer => "buffer",
            Self::Port => "port",
        }
    }
    /// The names of all its fields.
    pub fn fields(self) -> String {
        let words = match self {
            Self::Packet(_) => PacketField::ALL.iter().map(|field| field.word()).collect::<Vec<_>>(),
            Self::Queue(_) => QueueField::ALL.iter().map(|field| field.word()).collect(),
            Self::Buffer => BufferField::ALL.iter().map(|field| field.word()).collect(),
            Self::Port => PortField::ALL.iter().map(|field| field.word()).collect(),
        };
        words.join(", ")
    }
    /// The field with this name.
    pub fn field(self, word: &str) -> Option<Place> {
        match self {
            Self::Packet(which) => PacketField::of(word).map(|field| Place::Packet(which, field)),
            Self::Queue(which) => QueueField::of(word).map(|field| Place::Queue(which, field.place())),
            Self::Buffer => BufferField::of(word).map(Place::Buffer),
            Self::Port => PortField::of(word).map(Place::Port),
        }
    }
}

impl<'s> Scope<'s> {
    /// The scope of a body with these parameters.
    pub fn new(role: Role, parameters: &'s [Spanned<String>], constants: &'s Constants) -> Self {
        Self { role, parameters, constants, is_inline: false }
    }

    /// The scope of `inline { }`.
    pub fn inline(role: Role, constants: &'s Constants) -> Self {
        Self { role, parameters: &[], constants, is_inline: true }
    }

    /// The smallest and the largest number of parameters of a body with this role.
    pub fn takes(&self) -> (usize, usize) {
        match self.role {
            Role::Packets | Role::Queues => (2, 2),
            Role::Selection => (1, 1),
            Role::Queue | Role::Buffer | Role::Port => (0, 2),
        }
    }

    /// The entity that a word at the head of a path refers to.
    pub fn subject(&self, word: &str) -> Option<Subject> {
        let nth = self.parameters.iter().position(|one| one.node == word);
        match (self.role, nth) {
            (Role::Packets | Role::Selection, Some(0)) => Some(Subject::Packet(Which::First)),
            (Role::Packets, Some(_)) => Some(Subject::Packet(Which::Second)),
            (Role::Queues, Some(0)) => Some(Subject::Queue(Which::First)),
            (Role::Queues, Some(_)) => Some(Subject::Queue(Which::Second)),
            (Role::Queue, Some(0)) => Some(Subject::Queue(Which::First)),
            (Role::Buffer, Some(0)) => Some(Subject::Buffer),
            (Role::Port, Some(0)) => Some(Subject::Port),
            (_, Some(_)) => Some(Subject::Packet(Which::First)),
            (_, None) if self.is_inline => self.inline_subject(word),
            (_, None) => None,
        }
    }

    fn inline_subject(&self, word: &str) -> Option<Subject> {
        match (self.role, word) {
            (Role::Packets | Role::Selection | Role::Queue | Role::Buffer | Role::Port, "Packet") => {
                Some(Subject::Packet(Which::First))
            }
            (Role::Queues | Role::Queue, "Queue") => Some(Subject::Queue(Which::First)),
            (Role::Buffer, "Buffer") => Some(Subject::Buffer),
            (Role::Port, "Port") => Some(Subject::Port),
            _ => None,
        }
    }

    /// The entity whose field a word alone is, in a condition.
    ///
    /// CHOICE OpenQueue §2.3.2: after scheduling it is the queue that was served; the port's own fields are reached by
    /// the parameter. Other reading: the port; but Figure 2.9's crr changes the `schedState` that it compares.
    pub fn itself(&self) -> Option<Subject> {
        match self.role {
            Role::Queue | Role::Port => Some(Subject::Queue(Which::First)),
            Role::Buffer => Some(Subject::Buffer),
            Role::Packets | Role::Queues | Role::Selection => None,
        }
    }

    /// From an entity to another one that belongs to it.
    pub fn related(&self, subject: Subject, word: &str) -> Option<Subject> {
        match (subject, word, self.role) {
            (Subject::Queue(_), "buffer", Role::Queue) => Some(Subject::Buffer),
            (Subject::Buffer, "currQueue", Role::Buffer) => Some(Subject::Queue(Which::First)),
            (Subject::Port, "currQueue", Role::Port) => Some(Subject::Queue(Which::First)),
            _ => None,
        }
    }

    /// The state that `[whose.]word` refers to, as a place.
    pub fn state(&self, whose: Option<&str>, word: &str) -> Option<Place> {
        let subject = match whose {
            None => self.itself()?,
            Some("currQueue") if matches!(self.role, Role::Buffer | Role::Port) => {
                Subject::Queue(Which::First)
            }
            Some(whose) => self.subject(whose)?,
        };
        subject.field(word)
    }
}
