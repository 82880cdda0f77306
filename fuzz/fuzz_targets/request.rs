//! Any bytes as a request, as JSON or as protobuf: refused with reasons, or planned and verified.

#![no_main]

mod planned;

use libfuzzer_sys::fuzz_target;
use prost::Message;
use shardflow::json::from_json;
use shardflow::pb;

fuzz_target!(|bytes: &[u8]| {
    // No protobuf of a request begins with a brace.
    let request = match bytes.first() {
        Some(b'{') => (std::str::from_utf8(bytes).ok()).and_then(|text| from_json(text).ok()),
        _ => pb::OptimizeRequest::decode(bytes).ok(),
    };
    if let Some(request) = request {
        planned::check(request);
    }
});
