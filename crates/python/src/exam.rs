//! Exams for Python: the situations, and the marks of runs that Python holds as tables. What either is stands in
//! `thalweg_exam`.

use crate::buffer::{Buffer, Values};
use crate::replay::values;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use thalweg_exam::marks::{Flows, Link, Progress, Seen, Trips, measure};
use thalweg_exam::{Look, Settles, situations};

/// Every situation, as a dictionary.
#[pyfunction]
pub fn exam_situations(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let shown = |s: &thalweg_exam::Situation| {
        let dict = PyDict::new(py);
        dict.set_item("name", &s.name)?;
        dict.set_item("about", &s.about)?;
        dict.set_item("text", &s.text)?;
        dict.set_item("from_", s.look.from)?;
        dict.set_item("event", s.look.event)?;
        dict.set_item("settles", s.look.settles.word())?;
        dict.set_item("window", s.look.window)?;
        dict.set_item("bottleneck", &s.bottleneck)?;
        dict.set_item("base_rtt", &s.look.base_rtt)?;
        Ok(dict)
    };
    situations::all().iter().map(shown).collect()
}

/// How a run is looked at, of the fields of a situation.
fn look(situation: &Bound<'_, PyDict>) -> PyResult<Look> {
    let word: String = situation.as_any().get_item("settles")?.extract()?;
    let unknown = || PyValueError::new_err(format!("no situation settles by `{word}`"));
    let number = |name: &str| situation.as_any().get_item(name)?.extract::<f64>();
    Ok(Look {
        from: number("from_")?,
        event: number("event")?,
        settles: Settles::named(&word).ok_or_else(unknown)?,
        window: number("window")?,
        base_rtt: situation.as_any().get_item("base_rtt")?.extract()?,
    })
}

/// Negative values are missing.
fn maybe(values: Vec<i64>) -> Vec<Option<u64>> {
    values.into_iter().map(|value| u64::try_from(value).ok()).collect()
}

/// The marks of a run, and its curves. `situation`: a situation's fields; `columns`: those of its tables by
/// `TABLE.COLUMN`, of `links` the bottleneck's rows; `examined`: the traffic sections of the controller examined;
/// `base_rtt_ms`: the round trip of the empty path. `ValueError`: columns of one table have different lengths.
#[pyfunction]
pub fn exam_marks<'py>(
    py: Python<'py>,
    situation: &Bound<'py, PyDict>,
    columns: &Bound<'py, PyDict>,
    examined: Vec<u32>,
    base_rtt_ms: f64,
) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>)> {
    let look = look(situation)?;
    let seen = Seen {
        flows: Flows {
            id: values(columns, "flows.id")?,
            group: values(columns, "flows.group")?,
            start_ps: maybe(values(columns, "flows.start_ps")?),
            fct_ps: maybe(values(columns, "flows.fct_ps")?),
            packets: values(columns, "flows.packets")?,
            data_drops: values(columns, "flows.data_drops")?,
        },
        link: Link {
            time_ps: values(columns, "links.time_ps")?,
            bytes: values(columns, "links.bytes")?,
            capacity: values(columns, "links.capacity")?,
        },
        trips: Trips {
            time_ps: values(columns, "round_trips.time_ps")?,
            flow: values(columns, "round_trips.flow")?,
            rtt_ps: values(columns, "round_trips.rtt_ps")?,
        },
        progress: Progress {
            time_ps: values(columns, "controllers.time_ps")?,
            flow: values(columns, "controllers.flow")?,
            delivered: values(columns, "controllers.delivered")?,
        },
        examined,
        base_rtt_ms,
    };
    if !seen.is_even() {
        return Err(PyValueError::new_err("columns of different lengths"));
    }
    let (marks, curves) = py.detach(|| measure(&look, &seen));
    let (numbers, series) = (PyDict::new(py), PyDict::new(py));
    for (name, mark) in marks.row() {
        numbers.set_item(name, mark)?;
    }
    let all = [
        ("seconds", curves.seconds),
        ("capacity", curves.capacity),
        ("carried", curves.carried),
        ("got", curves.got),
        ("delay", curves.delay),
    ];
    for (name, values) in all {
        series.set_item(name, Py::new(py, Buffer::new(Values::F64(values), "float64"))?)?;
    }
    Ok((numbers, series))
}
