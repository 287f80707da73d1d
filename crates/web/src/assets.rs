//! The style sheet, the scripts and the icon, inside the program.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::response::{IntoResponse as _, Response};
use data_encoding::HEXLOWER;
use http::{StatusCode, header};
use sha2::{Digest as _, Sha256};

/// A file that pages refer to.
struct Asset {
    name: &'static str,
    media_type: &'static str,
    content: &'static str,
}

const SCRIPT: &str = "text/javascript; charset=utf-8";

const ASSETS: [Asset; 5] = [
    Asset { name: "style.css", media_type: "text/css; charset=utf-8", content: include_str!("../assets/style.css") },
    Asset { name: "page.js", media_type: SCRIPT, content: include_str!("../assets/page.js") },
    Asset { name: "live.js", media_type: SCRIPT, content: include_str!("../assets/live.js") },
    Asset { name: "idiomorph.js", media_type: SCRIPT, content: include_str!("../assets/idiomorph.js") },
    Asset { name: "icon.svg", media_type: "image/svg+xml", content: include_str!("../assets/icon.svg") },
];

/// A digest of all assets: pages name it in the addresses, so that browsers can keep the files until they change.
static DIGEST: LazyLock<String> = LazyLock::new(|| {
    let mut digest = Sha256::new();
    ASSETS.iter().for_each(|asset| digest.update(asset.content));
    HEXLOWER.encode(digest.finalize().get(..6).unwrap_or_default())
});

/// The folder of the assets.
pub(crate) fn folder() -> String {
    format!("/assets/{}", *DIGEST)
}

/// Answers with an asset.
pub(crate) async fn asset(Path((_, name)): Path<(String, String)>) -> Response {
    let Some(asset) = ASSETS.iter().find(|asset| asset.name == name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let headers = [
        (header::CONTENT_TYPE, asset.media_type),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
        (header::CONTENT_SECURITY_POLICY, crate::CONTENT_SECURITY_POLICY),
    ];
    (headers, asset.content).into_response()
}
