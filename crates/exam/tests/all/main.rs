//! Tests of the exam, in one program.

mod aimd;
mod controllers;
mod exams;
