//! `congestion`: which controllers a transport supports. The controllers, with their keys and defaults, are declared
//! with the algorithms, in `thalweg_machines::congestion`.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use thalweg_machines::congestion::{ControllerSpec, Needs};

/// The controllers that TCP supports.
pub(super) fn over_tcp(generator: &mut SchemaGenerator) -> Schema {
    over(generator, Needs::fit_tcp)
}

/// The controllers that RDMA queue pairs support.
pub(super) fn over_rdma(generator: &mut SchemaGenerator) -> Schema {
    over(generator, Needs::fit_rdma)
}

fn over(generator: &mut SchemaGenerator, fits: fn(Needs) -> bool) -> Schema {
    let names: Vec<&str> =
        ControllerSpec::all().iter().filter(|spec| fits(spec.needs())).map(ControllerSpec::key).collect();
    let mut schema = ControllerSpec::json_schema(generator);
    super::keep_kinds(&mut schema, &names);
    schema
}
