//! Files of other tools, for Python: it hands over columns, blocks are written here.

use crate::replay::values;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::fs::File;
use std::io::BufWriter;
use std::sync::Mutex;
use thalweg_capture::frame::{Frame, address};
use thalweg_capture::pcapng::{self, Seen, Way, Writer};
use thalweg_lab::decisions;

/// A pcapng file being written.
#[pyclass(frozen, module = "thalweg._core")]
pub struct PcapWriter {
    writer: Mutex<Option<Writer<BufWriter<File>>>>,
}

impl PcapWriter {
    fn with<T>(&self, work: impl FnOnce(&mut Writer<BufWriter<File>>) -> std::io::Result<T>) -> PyResult<T> {
        let mut held = self.writer.lock().unwrap_or_else(|e| e.into_inner());
        let writer = held.as_mut().ok_or_else(|| PyValueError::new_err("the file is closed"))?;
        work(writer).map_err(|e| PyOSError::new_err(e.to_string()))
    }
}

#[pymethods]
impl PcapWriter {
    /// Begins `path`; `hosts` are the names of hosts 0, 1, ..
    #[new]
    fn new(path: &str, comment: &str, hosts: Vec<String>) -> PyResult<Self> {
        let begin = || {
            let mut writer = Writer::new(BufWriter::with_capacity(1 << 20, File::create(path)?), comment)?;
            writer.names(hosts.iter().enumerate().map(|(n, name)| (address(n as u32), name.as_str())))?;
            Ok(writer)
        };
        let writer = begin().map_err(|e: std::io::Error| PyOSError::new_err(e.to_string()))?;
        Ok(Self { writer: Mutex::new(Some(writer)) })
    }

    /// One more interface; its number.
    fn interface(&self, name: &str, bits_per_second: u64) -> PyResult<u32> {
        self.with(|writer| writer.interface(pcapng::IPV4, name, Some(bits_per_second)))
    }

    /// Packets as columns of one length: `at_ns`, `interface`, `src`, `dst`, `flow`, `forward`, `seq`, `wire`,
    /// `header`, `tcp`, `marked`, and `comment`, a number in `comments` (0: none).
    fn write(&self, py: Python<'_>, columns: &Bound<'_, PyDict>, comments: Vec<String>) -> PyResult<()> {
        let [at, seq] = [values::<u64>(columns, "at_ns")?, values::<u64>(columns, "seq")?];
        let [interface, src, dst, flow, wire, header] = [
            values::<u32>(columns, "interface")?,
            values::<u32>(columns, "src")?,
            values::<u32>(columns, "dst")?,
            values::<u32>(columns, "flow")?,
            values::<u32>(columns, "wire")?,
            values::<u32>(columns, "header")?,
        ];
        let [forward, tcp, marked, comment] = [
            values::<u8>(columns, "forward")?,
            values::<u8>(columns, "tcp")?,
            values::<u8>(columns, "marked")?,
            values::<u8>(columns, "comment")?,
        ];
        let lengths =
            [seq.len(), interface.len(), src.len(), dst.len(), flow.len(), wire.len(), header.len()];
        let bytes = [forward.len(), tcp.len(), marked.len(), comment.len()];
        if lengths.iter().chain(&bytes).any(|n| *n != at.len()) {
            return Err(PyValueError::new_err("columns of different lengths"));
        }
        py.detach(|| {
            for row in 0..at.len() {
                let frame = Frame {
                    from: src[row],
                    to: dst[row],
                    flow: flow[row],
                    forward: forward[row] != 0,
                    seq: seq[row],
                    wire: wire[row],
                    header: header[row],
                    tcp: tcp[row] != 0,
                    marked: marked[row] != 0,
                };
                let comment = usize::from(comment[row]).checked_sub(1).and_then(|at| comments.get(at));
                self.with(|writer| {
                    writer.packet(&Seen {
                        at_ns: at[row],
                        interface: interface[row],
                        way: Way::Out,
                        wire: wire[row],
                        bytes: &frame.bytes(),
                        comment: comment.map(String::as_str),
                    })
                })?;
            }
            Ok(())
        })
    }

    /// Ends the file.
    fn close(&self) -> PyResult<()> {
        let writer = self.writer.lock().unwrap_or_else(|e| e.into_inner()).take();
        match writer.map(Writer::finish) {
            Some(Err(e)) => Err(PyOSError::new_err(e.to_string())),
            _ => Ok(()),
        }
    }
}

/// By flow, its decisions as a qlog file.
#[pyfunction]
pub fn qlog<'py>(py: Python<'py>, file: &[u8], title: &str) -> PyResult<Vec<(u32, Bound<'py, PyBytes>)>> {
    let write = || -> Result<Vec<(u32, Vec<u8>)>, String> {
        let logs = decisions::read(file).map_err(|e| e.to_string())?;
        let one = |log: &decisions::Log| {
            let mut out = Vec::new();
            thalweg_capture::qlog::write(&mut out, log, title).map_err(|e| e.to_string())?;
            Ok((log.flow().0, out))
        };
        logs.iter().map(one).collect()
    };
    let files = py.detach(write).map_err(PyValueError::new_err)?;
    Ok(files.into_iter().map(|(flow, bytes)| (flow, PyBytes::new(py, &bytes))).collect())
}
