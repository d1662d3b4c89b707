//! Packets as columns of one length, behind the buffer protocol; columns that are left out have their defaults.

use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use thalweg_policy::Offered;
use thalweg_policy::datapath::Arrival;
use thalweg_units::Time;

fn column<T: Element + Clone>(
    columns: &Bound<'_, PyDict>,
    name: &str,
    rows: usize,
    default: T,
) -> PyResult<Vec<T>> {
    let Some(given) = columns.get_item(name)? else { return Ok(vec![default; rows]) };
    let values = PyBuffer::<T>::get(&given)?.to_vec(columns.py())?;
    if values.len() == rows { Ok(values) } else { Err(PyValueError::new_err("columns of different lengths")) }
}

/// Columns as arrivals; all are at 0 if there is no `at_ps`.
pub fn arrivals(columns: &Bound<'_, PyDict>) -> PyResult<Vec<Arrival>> {
    let queue = columns.get_item("queue")?.ok_or_else(|| PyValueError::new_err("no column `queue`"))?;
    let queue = PyBuffer::<u32>::get(&queue)?.to_vec(columns.py())?;
    let (rows, usual) = (queue.len(), Offered::default());
    let at = column(columns, "at_ps", rows, 0u64)?;
    let (size, flow) =
        (column(columns, "size", rows, usual.size)?, column(columns, "flow", rows, usual.flow)?);
    let (value, slack) =
        (column(columns, "value", rows, usual.value)?, column(columns, "slack_ps", rows, usual.slack)?);
    let (processing, tos) =
        (column(columns, "processing", rows, usual.processing)?, column(columns, "tos", rows, usual.tos)?);
    let dst = column(columns, "dst", rows, usual.dst)?;
    let arrival = |row: usize| Arrival {
        at: Time::from_ps(at[row]),
        offered: Offered {
            queue: queue[row],
            value: value[row],
            processing: processing[row],
            slack: slack[row],
            flow: flow[row],
            size: size[row],
            tos: tos[row],
            dst: dst[row],
        },
    };
    Ok((0..rows).map(arrival).collect())
}

/// A column of values in the machine's order of bytes.
pub fn bytes<'py, const N: usize>(
    py: Python<'py>,
    values: impl Iterator<Item = [u8; N]>,
) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &values.flatten().collect::<Vec<u8>>())
}

/// Arrivals as columns.
pub fn to_columns<'py>(py: Python<'py>, arrivals: &[Arrival]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let of = || arrivals.iter().map(|one| one.offered);
    dict.set_item("at_ps", bytes(py, arrivals.iter().map(|one| one.at.ps().to_ne_bytes())))?;
    dict.set_item("queue", bytes(py, of().map(|one| one.queue.to_ne_bytes())))?;
    dict.set_item("size", bytes(py, of().map(|one| one.size.to_ne_bytes())))?;
    dict.set_item("tos", bytes(py, of().map(|one| one.tos.to_ne_bytes())))?;
    dict.set_item("value", bytes(py, of().map(|one| one.value.to_ne_bytes())))?;
    dict.set_item("processing", bytes(py, of().map(|one| one.processing.to_ne_bytes())))?;
    dict.set_item("slack_ps", bytes(py, of().map(|one| one.slack.to_ne_bytes())))?;
    dict.set_item("flow", bytes(py, of().map(|one| one.flow.to_ne_bytes())))?;
    dict.set_item("dst", bytes(py, of().map(|one| one.dst.to_ne_bytes())))?;
    Ok(dict)
}
