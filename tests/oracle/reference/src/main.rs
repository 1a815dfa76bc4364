//! Asks the reference implementation: what it accepts and writes again, and how it describes itself.
//!
//! `reference schema SURFACE` and `reference meta SURFACE` print a document; `reference verdicts SURFACE` reads lines
//! `{"type", "json"}` and writes for each of them `{"type", "json", "ok", "out"}`; `reference types SURFACE` tells of
//! each definition whether the crate has it. One build serves one surface, the one that its features select.

mod schema;
mod verdicts;

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

#[cfg(all(feature = "v2", feature = "unstable"))]
const SURFACE: &str = "v2_unstable";
#[cfg(all(feature = "v2", not(feature = "unstable")))]
const SURFACE: &str = "v2";
#[cfg(all(not(feature = "v2"), feature = "unstable"))]
const SURFACE: &str = "v1_unstable";
#[cfg(not(any(feature = "v2", feature = "unstable")))]
const SURFACE: &str = "v1";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, surface] = arguments.as_slice() else {
        return fail("usage: reference schema|meta|types|verdicts SURFACE");
    };
    if surface != SURFACE {
        return fail(&format!("this build is of the surface {SURFACE}, not of {surface}"));
    }
    match run(mode) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => fail(&why),
    }
}

fn run(mode: &str) -> Result<(), String> {
    let mut out = BufWriter::new(io::stdout().lock());
    match mode {
        "schema" => print(&mut out, &schema::document()),
        "meta" => print(&mut out, &schema::meta()),
        "types" => print(&mut out, &verdicts::types()),
        "verdicts" => verdicts::answer(io::stdin().lock(), &mut out),
        _ => Err(format!("there is no mode {mode:?}")),
    }?;
    out.flush().map_err(|why| why.to_string())
}

fn print(out: &mut impl Write, document: &serde_json::Value) -> Result<(), String> {
    writeln!(out, "{document:#}").map_err(|why| why.to_string())
}

fn fail(why: &str) -> ExitCode {
    eprintln!("error: {why}");
    ExitCode::FAILURE
}
