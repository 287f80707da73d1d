//! Properties of every body in every format: the body of the fuzz target, which also runs with fixed seeds.

use hub_api::report::batch::Batch;
use hub_api::report::generic;
use hub_api::timestamp::Timestamp;

use super::{argocd, flux, otlp};

/// Reads bytes in the format that the first byte selects, and checks the result: reading does not panic; accepted reports can be stored; and each
/// equals itself after serialization and deserialization.
pub fn fuzz(input: &[u8]) {
    let Some((format, body)) = input.split_first() else { return };
    let now = Timestamp::MAX;
    let batch = match format % 5 {
        0 => generic::read(body, now),
        1 => flux::read(body, now),
        2 => argocd::read(body, now),
        3 => otlp::decode_json(body).and_then(|request| otlp::read(&request, now)),
        _ => otlp::decode_protobuf(body).and_then(|request| otlp::read(&request, now)),
    };
    check(batch.unwrap_or_default(), now);
}

fn check(batch: Batch, now: Timestamp) {
    let (taken, refused) = batch.and_then(|report| report.check(now)).into_parts();
    for report in taken {
        let again = generic::read_one(generic::write(&report).as_bytes(), now);
        assert_eq!(again.and_then(|report| report.check(now)).as_ref(), Ok(&report));
    }
    let _ = otlp::encode_protobuf(&otlp::answer(&refused, &[]));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::fuzz;

    /// JSON that resembles the formats.
    fn json() -> impl Strategy<Value = String> {
        let words = "[{}\\[\\]:,\" \\n]|true|null|-1|1e999|\"(host|status|success|place|metadata|involvedObject|kind|Kustomization|spec|resourceLogs|value)\"";
        proptest::collection::vec(words, 0..40).prop_map(|words| words.concat())
    }

    proptest! {
        #[test]
        fn any_bytes(input in proptest::collection::vec(any::<u8>(), 0..200)) {
            fuzz(&input);
        }

        #[test]
        fn anything_like_json(format in 0u8..5, json in json()) {
            fuzz(&[&[format], json.as_bytes()].concat());
        }
    }
}
