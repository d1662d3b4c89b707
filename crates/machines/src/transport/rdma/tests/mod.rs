//! The cores on their own, then whole queue pairs packet by packet.

mod irn_golden;
mod irn_oracle;
mod irn_properties;
