//! Columns cross to Python without a copy: a Rust vector behind Python's buffer protocol.
//!
//! The only file of the package with `unsafe`: CPython hands out raw views.

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{c_int, c_void};

/// A column's values, owned; read-only bytes for Python.
pub enum Values {
    /// Bytes, and booleans as 0 and 1.
    U8(Vec<u8>),
    /// 32-bit counts.
    U32(Vec<u32>),
    /// 64-bit counts.
    U64(Vec<u64>),
    /// Signed values.
    I64(Vec<i64>),
    /// Floating-point values.
    F64(Vec<f64>),
}

/// One column of a table. `numpy.frombuffer(column, dtype=column.dtype)` sees the values in place.
#[pyclass(frozen, module = "thalweg._core")]
pub struct Buffer {
    values: Values,
    dtype: &'static str,
}

impl Buffer {
    pub fn new(values: Values, dtype: &'static str) -> Self {
        Self { values, dtype }
    }
}

#[pymethods]
impl Buffer {
    /// NumPy's name for one value (native byte order); `int64?`: negative values are missing; `float64?`: those that
    /// are no numbers.
    #[getter]
    fn dtype(&self) -> &'static str {
        self.dtype
    }

    /// Fills a read-only view of all bytes.
    ///
    /// # Safety
    /// CPython calls this with a valid `view`; the vector never moves or changes while `slf` lives,
    /// because the class is frozen and the view holds a reference to it.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        if flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE {
            return Err(PyBufferError::new_err("columns of a result are read-only"));
        }
        let this = slf.get();
        let (start, bytes): (*const c_void, usize) = match &this.values {
            Values::U8(v) => (v.as_ptr().cast(), v.len()),
            Values::U32(v) => (v.as_ptr().cast(), size_of_val(v.as_slice())),
            Values::U64(v) => (v.as_ptr().cast(), size_of_val(v.as_slice())),
            Values::I64(v) => (v.as_ptr().cast(), size_of_val(v.as_slice())),
            Values::F64(v) => (v.as_ptr().cast(), size_of_val(v.as_slice())),
        };
        // SAFETY: `start` and `bytes` describe a live vector (see above); read-only is passed as 1.
        let filled = unsafe {
            ffi::PyBuffer_FillInfo(view, slf.as_ptr(), start.cast_mut(), bytes as ffi::Py_ssize_t, 1, flags)
        };
        if filled == 0 { Ok(()) } else { Err(PyErr::fetch(slf.py())) }
    }
}
