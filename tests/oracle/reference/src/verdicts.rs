//! The verdicts on single values: is a text accepted as a type, and what is written for the value that was read.
//!
//! The list of types is made of the schema; the environment variable `REFERENCE_TYPES` names its file at build time.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::any::TypeId;
use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::marker::PhantomData;

/// Reads a text as one type and writes it again; None where that type cannot be read and written.
type Judge = fn(&str) -> Option<Result<String, serde_json::Error>>;

#[derive(Deserialize)]
struct Question {
    r#type: String,
    json: String,
}

#[derive(Serialize)]
struct Verdict {
    r#type: String,
    json: String,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    out: Option<String>,
}

struct Type<T>(PhantomData<T>);

trait Readable {
    fn judge(&self, text: &str) -> Option<Result<String, serde_json::Error>>;
}

impl<T: DeserializeOwned + Serialize> Readable for Type<T> {
    fn judge(&self, text: &str) -> Option<Result<String, serde_json::Error>> {
        Some(serde_json::from_str::<T>(text).and_then(|value| serde_json::to_string(&value)))
    }
}

/// Found by one more reference, so only for types that are not `Readable`.
#[allow(dead_code)] // no type needs it as long as all can be read
trait Unreadable {
    fn judge(&self, text: &str) -> Option<Result<String, serde_json::Error>>;
}

impl<T> Unreadable for &Type<T> {
    fn judge(&self, _: &str) -> Option<Result<String, serde_json::Error>> {
        None
    }
}

macro_rules! types {
    ($($name:ident)*) => {
        mod absent {
            $(pub struct $name;)*
        }
        #[allow(unused_imports)]
        use absent::*;

        fn judges() -> Vec<(&'static str, Option<Judge>)> {
            // These names go before those of `absent`, which are left for what the crate lacks.
            #[allow(unused_imports)]
            use agent_client_protocol_schema::*;
            #[cfg(not(feature = "v2"))]
            use agent_client_protocol_schema::v1::*;
            #[cfg(feature = "v2")]
            use agent_client_protocol_schema::v2::*;

            vec![$({
                fn judge(text: &str) -> Option<Result<String, serde_json::Error>> {
                    (&Type::<$name>(PhantomData)).judge(text)
                }
                let absent = TypeId::of::<$name>() == TypeId::of::<absent::$name>();
                (stringify!($name), (!absent).then_some(judge as Judge))
            }),*]
        }
    };
}

include!(env!("REFERENCE_TYPES"));

/// Tell of each definition of the schema whether the crate has a type of that name that can be read and written.
pub fn types() -> Value {
    let told = judges().into_iter().map(|(name, judge)| {
        let state = match judge.map(|judge| judge("null")) {
            None => "absent",
            Some(None) => "unreadable",
            Some(Some(_)) => "readable",
        };
        (name.to_owned(), json!(state))
    });
    Value::Object(told.collect())
}

/// Answer each line that asks about a type.
pub fn answer(questions: impl BufRead, out: &mut impl Write) -> Result<(), String> {
    let known: HashMap<&str, Option<Judge>> = judges().into_iter().collect();
    for (index, line) in questions.lines().enumerate() {
        let place = |why: &dyn std::fmt::Display| format!("line {}: {why}", index + 1);
        let line = line.map_err(|why| place(&why))?;
        let Question { r#type, json } = serde_json::from_str(&line).map_err(|why| place(&why))?;
        let judge = known.get(r#type.as_str()).copied().flatten();
        let Some(read) = judge.and_then(|judge| judge(&json)) else {
            return Err(place(&format!("the crate has no type {type}", type = r#type)));
        };
        let out_text = read.ok();
        let verdict = Verdict { r#type, json, ok: out_text.is_some(), out: out_text };
        let text = serde_json::to_string(&verdict).map_err(|why| place(&why))?;
        writeln!(out, "{text}").map_err(|why| place(&why))?;
    }
    Ok(())
}
