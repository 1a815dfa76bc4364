//! The reference crate: `serde_json` into and out of the types of `agent-client-protocol-schema`.
//!
//! Usage: `acp-msgspec-bench LINES SIDE`; `../serve.py` tells what is said on standard input and output.

use std::collections::HashMap;
use std::fs;
use std::hint::black_box;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;

use agent_client_protocol_schema::v1::{InitializeResponse, NewSessionRequest, PromptRequest, SessionNotification};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Seconds of one sample.
const TARGET: f64 = 0.001;
const SAMPLES: u32 = 3;

/// Gives the seconds that a number of calls take in all.
type Timed = Box<dyn Fn(u64) -> f64>;

fn timed<R>(repeats: u64, call: impl Fn() -> R) -> f64 {
    let start = Instant::now();
    for _ in 0..repeats {
        black_box(call());
    }
    start.elapsed().as_secs_f64()
}

fn add<T>(cases: &mut Vec<(String, Timed)>, side: &str, name: &str, params: &Rc<Vec<u8>>)
where
    T: DeserializeOwned + Serialize + 'static,
{
    let data = Rc::clone(params);
    let value: T = serde_json::from_slice(&data).expect("the payload does not fit");
    cases.push((
        format!("decode params|{side}|{name}"),
        Box::new(move |repeats| {
            timed(repeats, || {
                serde_json::from_slice::<T>(black_box(&data)).expect("it fitted before")
            })
        }),
    ));
    cases.push((
        format!("encode params|{side}|{name}"),
        Box::new(move |repeats| {
            timed(repeats, || {
                serde_json::to_vec(black_box(&value)).expect("it was JSON before")
            })
        }),
    ));
}

fn repeats_of(case: &Timed) -> u64 {
    let mut repeats = 1;
    loop {
        let spent = case(repeats);
        if spent > TARGET / 4.0 {
            return ((repeats as f64 * TARGET / spent) as u64).max(1);
        }
        repeats *= 4;
    }
}

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().expect("the folder of the lines"));
    let side = arguments.next().expect("the name of this side");
    let manifest: Value = serde_json::from_slice(&fs::read(folder.join("manifest.json"))?)?;
    let mut cases = Vec::new();
    for entry in manifest.as_array().expect("a list") {
        let name = entry["name"].as_str().expect("a name");
        let params = Rc::new(fs::read(folder.join(format!("{name}.params.json")))?);
        match entry["kind"].as_str().expect("a kind") {
            "session/update" => add::<SessionNotification>(&mut cases, &side, name, &params),
            "session/prompt" => add::<PromptRequest>(&mut cases, &side, name, &params),
            "session/new" => add::<NewSessionRequest>(&mut cases, &side, name, &params),
            _ => add::<InitializeResponse>(&mut cases, &side, name, &params),
        }
    }
    let names: Vec<&String> = cases.iter().map(|(name, _)| name).collect();
    let about = json!({"agent-client-protocol-schema": "1.7.0"});
    let mut out = io::stdout();
    writeln!(out, "{}", json!({"cases": names, "cannot": {}, "about": about}))?;
    out.flush()?;
    let cases: HashMap<String, Timed> = cases.into_iter().collect();
    let mut repeats: HashMap<String, u64> = HashMap::new();
    for line in io::stdin().lock().lines() {
        let name = line?;
        let case = &cases[&name];
        let count = *repeats.entry(name).or_insert_with(|| repeats_of(case));
        case(count / 4 + 1);
        let best = (0..SAMPLES).map(|_| case(count)).fold(f64::INFINITY, f64::min);
        writeln!(out, "{}", best / count as f64)?;
        out.flush()?;
    }
    Ok(())
}
