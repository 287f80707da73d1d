//! Requests that send reports or publications: their sender and their body, within limits.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Uri, header};
use http_body_util::BodyExt as _;
use hub_api::limits::REPORT_BYTES_MAX;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::problem::{ProblemResponse, ProblemType};
use super::{App, caller};
use crate::authentication::tokens::Identity;
use crate::limits::{BODIES_BYTES_MAX, BODY_TIMEOUT, REQUEST_BYTES_MAX};

/// The header with the signature of the body that Flux' provider `generic-hmac` sends.
const SIGNATURE: &str = "x-signature";
/// Bytes of a body for which one permit is needed.
const PERMIT_BYTES: usize = 64 * 1024;
/// The `Retry-After` of a request for which there is not enough memory.
const ROOM_RETRY: Duration = Duration::from_secs(1);

/// A request with a body, from a caller that has the permission to report or to publish.
#[derive(Debug)]
pub(super) struct Submission {
    /// The sender.
    pub(super) identity: Identity,
    /// The media type of the body in lower case, without parameters; empty without a `Content-Type`.
    pub(super) media_type: String,
    /// The whole body, decompressed.
    pub(super) body: Bytes,
    /// Reserves the memory that the body takes.
    _permit: OwnedSemaphorePermit,
}

/// The permits for the memory that all bodies together may take.
pub(super) fn room() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(BODIES_BYTES_MAX / PERMIT_BYTES))
}

impl FromRequest<App> for Submission {
    type Rejection = ProblemResponse;

    async fn from_request(request: Request, app: &App) -> Result<Self, ProblemResponse> {
        let (parts, body) = request.into_parts();
        check_encoding(&parts.headers)?;
        let media_type = media_type(&parts.headers);
        let signature = parts.headers.get(SIGNATURE).filter(|_| !parts.headers.contains_key(header::AUTHORIZATION));
        let (identity, (body, permit)) = if let Some(signature) = signature {
            let id = token_id(&parts.uri).ok_or_else(no_token_id)?;
            // The caller is not authenticated yet: its body is limited to the size of one report.
            let (body, permit) = read(app, body, REPORT_BYTES_MAX).await?;
            let signature = signature.to_str().unwrap_or_default();
            (app.authority.identify_signature(id, &body, signature).await?, (body, permit))
        } else {
            let identity = caller::identify(app, &parts).await?;
            // The body of a caller that may only read is not read.
            check_may_send(&identity)?;
            (identity, read(app, body, REQUEST_BYTES_MAX).await?)
        };
        check_may_send(&identity)?;
        Ok(Self { identity, media_type, body, _permit: permit })
    }
}

impl Submission {
    /// Refuses a body whose media type is none of these.
    pub(super) fn check_type(&self, types: &[&str]) -> Result<(), ProblemResponse> {
        if types.contains(&self.media_type.as_str()) {
            return Ok(());
        }
        let detail = format!("`Content-Type: {}` is not supported", self.media_type);
        Err(ProblemResponse::new(ProblemType::MediaType, detail).hint(format!("it can be {}", types.join(", "))))
    }
}

/// Refuses an identity that may neither report nor publish.
fn check_may_send(identity: &Identity) -> Result<(), ProblemResponse> {
    if identity.may_publish() { Ok(()) } else { check_may_report(identity) }
}

/// Refuses an identity that may report nothing.
pub(super) fn check_may_report(identity: &Identity) -> Result<(), ProblemResponse> {
    let hint = "`kalypso hub token create NAME --host HOST` makes a token that is";
    let problem = || ProblemResponse::new(ProblemType::Forbidden, "this token is not for reporting").hint(hint);
    if identity.may_report() { Ok(()) } else { Err(problem()) }
}

/// Refuses a body that is still encoded: a layer has already decompressed the supported encodings.
fn check_encoding(headers: &HeaderMap) -> Result<(), ProblemResponse> {
    match headers.get(header::CONTENT_ENCODING).map(|value| value.to_str().unwrap_or_default()) {
        None | Some("identity") => Ok(()),
        Some(_) => Err(ProblemResponse::new(ProblemType::MediaType, "the body's `Content-Encoding` is not supported")
            .hint("use gzip, or none")),
    }
}

fn media_type(headers: &HeaderMap) -> String {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// The id of the token whose key signs the body: `?token=ID`.
fn token_id(uri: &Uri) -> Option<&str> {
    uri.query()?.split('&').find_map(|pair| pair.strip_prefix("token=")).filter(|id| !id.is_empty())
}

fn no_token_id() -> ProblemResponse {
    ProblemResponse::new(ProblemType::Unauthenticated, "the body is signed, but the request does not name the token")
        .hint("end the address with ?token=ID, the part of the token between the underscores")
}

/// Reads a body. The permit reserves memory for it until it is dropped.
async fn read(app: &App, body: Body, max: usize) -> Result<(Bytes, OwnedSemaphorePermit), ProblemResponse> {
    let slow =
        || ProblemResponse::new(ProblemType::Slow, format!("its body took more than {} s", BODY_TIMEOUT.as_secs()));
    tokio::time::timeout(BODY_TIMEOUT, read_all(app, body, max)).await.map_err(|_| slow())?
}

async fn read_all(app: &App, mut body: Body, max: usize) -> Result<(Bytes, OwnedSemaphorePermit), ProblemResponse> {
    let mut room = app.room(PERMIT_BYTES)?;
    let mut read = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            ProblemResponse::new(ProblemType::Malformed, format!("its body can't be read: {error}"))
        })?;
        let Ok(data) = frame.into_data() else { continue };
        if read.len() + data.len() > max {
            let hint = "send fewer reports at a time";
            return Err(
                ProblemResponse::new(ProblemType::TooLarge, format!("its body has more than {max} bytes")).hint(hint)
            );
        }
        let taken = room.num_permits() * PERMIT_BYTES;
        if read.len() + data.len() > taken {
            room.merge(app.room(read.len() + data.len() - taken)?);
        }
        read.extend_from_slice(&data);
    }
    Ok((read.freeze(), room))
}

impl App {
    /// Reserves memory for that many bytes. Returns a problem of the kind `Busy` if there is not enough.
    pub(super) fn room(&self, bytes: usize) -> Result<OwnedSemaphorePermit, ProblemResponse> {
        let count = u32::try_from(bytes.div_ceil(PERMIT_BYTES).max(1)).unwrap_or(u32::MAX);
        let busy = |_| {
            ProblemResponse::new(ProblemType::Busy, "the current requests use all memory for bodies")
                .hint("send it again after the time in `Retry-After`; nothing of this request was stored")
                .retry_after(ROOM_RETRY)
        };
        Arc::clone(&self.room).try_acquire_many_owned(count).map_err(busy)
    }
}
