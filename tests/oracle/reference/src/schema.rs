//! Composes the schema and the list of methods, as upstream publishes them, from what the crate exports.
//!
//! What not every version of the crate has stands in `absent` as well. The functions below import the crate inside
//! their bodies, where its names go before those outside; so a name that the crate lacks is the one of `absent`.

use schemars::generate::SchemaSettings;
use schemars::transform::{RemoveRefSiblings, ReplaceBoolSchemas};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};
use std::any::TypeId;
use std::borrow::Cow;

#[allow(unused_imports)]
use absent::{JsonRpcBatch, PROXY_METHOD_NAMES, ProxyNotification, ProxyRequest, ProxyResponse};

mod absent {
    use schemars::JsonSchema;

    #[derive(JsonSchema)]
    pub struct ProxyRequest;
    #[derive(JsonSchema)]
    pub struct ProxyResponse;
    #[derive(JsonSchema)]
    pub struct ProxyNotification;
    #[derive(JsonSchema)]
    pub struct JsonRpcBatch<M>(M);
    pub const PROXY_METHOD_NAMES: () = ();
}

#[cfg(feature = "v2")]
const VERSION: u16 = 2;
#[cfg(not(feature = "v2"))]
const VERSION: u16 = 1;

/// The schema of the surface.
pub fn document() -> Value {
    let bool_schemas = {
        let mut transform = ReplaceBoolSchemas::default();
        transform.skip_additional_properties = true;
        transform
    };
    let mut settings = SchemaSettings::draft2020_12()
        .with_transform(RemoveRefSiblings::default())
        .with_transform(bool_schemas);
    settings.untagged_enum_variant_titles = true;
    let schema = settings.into_generator().into_root_schema_for::<Root>();
    // Serializing puts the keywords in the order of the published files.
    json!(schema)
}

/// The names of the methods, by who handles them.
pub fn meta() -> Value {
    #[cfg(not(feature = "v2"))]
    use agent_client_protocol_schema::v1::*;
    #[cfg(feature = "v2")]
    use agent_client_protocol_schema::v2::*;

    let tables = [
        ("agentMethods", json!(AGENT_METHOD_NAMES)),
        ("clientMethods", json!(CLIENT_METHOD_NAMES)),
        ("protocolMethods", json!(PROTOCOL_LEVEL_METHOD_NAMES)),
        ("proxyMethods", json!(PROXY_METHOD_NAMES)),
    ];
    let mut found = Map::from_iter([("version".to_owned(), json!(VERSION))]);
    for (name, table) in tables {
        if !table.is_null() {
            found.insert(name.to_owned(), table);
        }
    }
    Value::Object(found)
}

/// All that is sent.
struct Root;

impl JsonSchema for Root {
    fn schema_name() -> Cow<'static, str> {
        "Agent Client Protocol".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": parts(generator) })
    }
}

fn parts(generator: &mut SchemaGenerator) -> Vec<Value> {
    #[cfg(not(feature = "v2"))]
    use agent_client_protocol_schema::v1::*;
    #[cfg(feature = "v2")]
    use agent_client_protocol_schema::v2::*;

    macro_rules! one_of {
        ($name:ident { $($variant:ident($payload:ty)),* }) => {
            #[derive(JsonSchema)]
            #[schemars(untagged)]
            #[schemars(inline)]
            #[allow(dead_code, clippy::large_enum_variant)]
            enum $name { $($variant($payload)),* }
        };
    }
    macro_rules! sent {
        ($name:ident, $request:ty, $response:ty, $notification:ty) => {
            one_of!($name {
                Request(Request<$request>),
                Response(Response<$response>),
                Notification(Notification<$notification>)
            });
        };
    }
    macro_rules! called {
        ($name:ident, $request:ty, $notification:ty) => {
            one_of!($name {
                Request(Request<$request>),
                Notification(Notification<$notification>),
                ProtocolLevelNotification(Notification<ProtocolLevelNotification>)
            });
        };
    }
    sent!(FromAgent, AgentRequest, AgentResponse, AgentNotification);
    sent!(FromClient, ClientRequest, ClientResponse, ClientNotification);
    called!(CallsOfAgent, AgentRequest, AgentNotification);
    called!(CallsOfClient, ClientRequest, ClientNotification);

    let mut found = vec![
        part::<JsonRpcMessage<FromAgent>>("Agent", generator),
        part::<JsonRpcMessage<FromClient>>("Client", generator),
    ];
    // Version 1 has the type of a batch, too, but its schema has never told of it.
    if cfg!(feature = "v2") && has::<JsonRpcBatch<()>, absent::JsonRpcBatch<()>>() {
        found.extend([
            part::<JsonRpcBatch<CallsOfAgent>>("AgentBatchCall", generator),
            part::<JsonRpcBatch<Response<AgentResponse>>>("AgentBatchResponse", generator),
            part::<JsonRpcBatch<CallsOfClient>>("ClientBatchCall", generator),
            part::<JsonRpcBatch<Response<ClientResponse>>>("ClientBatchResponse", generator),
        ]);
    }
    type OfProtocol = Notification<ProtocolLevelNotification>;
    found.push(part::<JsonRpcMessage<OfProtocol>>("ProtocolLevel", generator));
    if has::<ProxyRequest, absent::ProxyRequest>() {
        sent!(FromProxy, ProxyRequest, ProxyResponse, ProxyNotification);
        found.push(part::<JsonRpcMessage<FromProxy>>("Proxy", generator));
    }
    found
}

fn has<T: 'static, Absent: 'static>() -> bool {
    TypeId::of::<T>() != TypeId::of::<Absent>()
}

fn part<T: JsonSchema>(title: &str, generator: &mut SchemaGenerator) -> Value {
    let mut found = Map::from_iter([("title".to_owned(), json!(title))]);
    if let Value::Object(more) = generator.subschema_for::<T>().to_value() {
        found.extend(more);
    }
    Value::Object(found)
}
