//! How the ports of one switch share its memory.
