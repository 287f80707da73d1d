//! OTLP in protobuf. Its parts are counted before it is decoded.

use opentelemetry_proto::tonic::collector::logs::v1::{ExportLogsServiceRequest, ExportLogsServiceResponse};
use prost::Message as _;
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};

use super::BodyError;
use crate::limits::OTLP_PARTS_MAX;

/// The numbers of the fields whose parts are counted, by level: the resources of a request; a resource and its scopes; the attributes of a resource,
/// or a scope and its records. Below these levels, each field with a length is counted.
const COUNTED: [&[u32]; 3] = [&[1], &[1, 2], &[1, 2]];

/// Decodes a request in protobuf, as OTLP/HTTP sends it with content type `application/x-protobuf`.
///
/// # Errors
/// The body is not such a request, or has too many parts.
pub fn decode_protobuf(body: &[u8]) -> Result<ExportLogsServiceRequest, BodyError> {
    if parts(body, &COUNTED).is_some_and(|parts| parts > OTLP_PARTS_MAX) {
        return Err(BodyError::TooManyParts);
    }
    ExportLogsServiceRequest::decode(body)
        .map_err(|error| BodyError::Syntax { format: "OTLP request in protobuf", message: error.to_string() })
}

/// The response in protobuf.
pub fn encode_protobuf(answer: &ExportLogsServiceResponse) -> Vec<u8> {
    answer.encode_to_vec()
}

/// The number of parts of a message; none if the bytes are not a message. Decoding rejects such bytes, too.
fn parts(mut message: &[u8], counted: &[&[u32]]) -> Option<usize> {
    let mut parts = 0;
    while !message.is_empty() {
        let (field, wire_type) = decode_key(&mut message).ok()?;
        if wire_type != WireType::LengthDelimited {
            skip_field(wire_type, field, &mut message, DecodeContext::default()).ok()?;
            continue;
        }
        let length = usize::try_from(decode_varint(&mut message).ok()?).ok()?;
        let (part, rest) = message.split_at_checked(length)?;
        parts += 1;
        if let Some((fields, below)) = counted.split_first()
            && fields.contains(&field)
        {
            parts += self::parts(part, below)?;
        }
        message = rest;
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A request with one resource, one scope and `count` empty records of two bytes each.
    fn request(count: usize) -> Vec<u8> {
        let part = |content: &[u8]| {
            let mut part = vec![0x12];
            prost::encoding::encode_varint(content.len() as u64, &mut part);
            [part.as_slice(), content].concat()
        };
        let mut request = part(&part(&[0x12, 0].repeat(count)));
        if let Some(key) = request.first_mut() {
            *key = 0x0a;
        }
        request
    }

    #[test]
    fn many_empty_records_are_refused_before_they_take_memory() {
        let decoded = decode_protobuf(&request(3)).unwrap();
        assert_eq!(decoded.resource_logs[0].scope_logs[0].log_records.len(), 3);
        assert_eq!(decode_protobuf(&request(OTLP_PARTS_MAX)), Err(BodyError::TooManyParts));
    }

    #[test]
    fn truncated_requests_are_refused() {
        let whole = request(3);
        assert!(matches!(decode_protobuf(&whole[..whole.len() - 1]), Err(BodyError::Syntax { .. })));
    }
}
