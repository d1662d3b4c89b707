//! `congestion`: which controllers a transport can carry. What each is, its keys and their defaults stand
//! with the algorithm, in `thalweg_machines::congestion`.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use thalweg_machines::congestion::{ControllerSpec, Needs};

/// Controllers of TCP.
pub(super) fn over_tcp(generator: &mut SchemaGenerator) -> Schema {
    over(generator, Needs::fit_tcp)
}

/// Controllers of queue pairs.
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
