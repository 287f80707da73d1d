//! Files with everything that a list's filter selects, for spreadsheets and programs.

use std::borrow::Cow;
use std::str::FromStr;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream::{self, Stream, StreamExt as _};
use http::header;
use hub_api::client::ClientError;
use hub_api::limits::PAGE_MAX;
use hub_api::page::Page;

use super::{List, Slice};
use crate::part::Row;
use crate::refusal::Refusal;
use crate::visit::Visit;

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// The columns of the page, as RFC 4180.
    Csv,
    /// The items of the API, as one array.
    Json,
}

impl Format {
    pub(super) const ALL: [Self; 2] = [Self::Csv, Self::Json];

    /// The value in addresses.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Json => "json",
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Csv => "CSV",
            Self::Json => "JSON",
        }
    }

    fn media_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv; charset=utf-8; header=present",
            Self::Json => "application/json",
        }
    }
}

impl FromStr for Format {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let known = Self::ALL.into_iter().find(|format| format.as_str() == text);
        known.ok_or_else(|| Refusal::invalid("`format` is `csv` or `json`."))
    }
}

/// The answer with a file. The first page of the list is read before the answer begins, so that the reader learns what is wrong with the address. If a later
/// page can't be read, the transfer ends with an error: a part of a list never looks like all of it.
pub(super) async fn answer<L: List>(visit: Visit, list: L, format: Format) -> Response {
    let page = Page { cursor: None, limit: Some(PAGE_MAX) };
    let first = match list.fetch(&visit, &page).await {
        Ok(slice) => slice,
        Err(error) => return visit.refuse(Refusal::from(error)),
    };
    let name = visit.file_name();
    let disposition = format!("attachment; filename=\"{name}.{}\"", format.as_str());
    let headers = [
        (header::CONTENT_TYPE, format.media_type().to_owned()),
        (header::CONTENT_DISPOSITION, disposition),
        (header::CACHE_CONTROL, "private, no-store".to_owned()),
        (header::CONTENT_SECURITY_POLICY, crate::CONTENT_SECURITY_POLICY.to_owned()),
    ];
    let slices = slices(Arc::new((visit, list)), first, format);
    let parts = slices.map(move |slice| slice.and_then(|(own, slice, place)| part(&own, &slice, place)));
    (headers, Body::from_stream(parts)).into_response()
}

/// A page's place in a file.
#[derive(Clone, Copy, Debug)]
struct Place {
    format: Format,
    is_first: bool,
    is_last: bool,
    /// Whether earlier pages have items.
    follows: bool,
}

type Part<L> = (Arc<(Visit, L)>, Slice<<L as List>::Item>, Place);

/// All pages of a list, each read when the one before it was sent.
fn slices<L: List>(
    own: Arc<(Visit, L)>,
    first: Slice<L::Item>,
    format: Format,
) -> impl Stream<Item = Result<Part<L>, ClientError>> + Send + 'static {
    stream::unfold(Some(Next::Read(first)), move |next| {
        let own = Arc::clone(&own);
        async move {
            let (slice, is_first, follows) = match next? {
                Next::Read(slice) => (slice, true, false),
                Next::Unread { cursor, follows } => {
                    let page = Page { cursor: Some(cursor), limit: Some(PAGE_MAX) };
                    match own.1.fetch(&own.0, &page).await {
                        Ok(slice) => (slice, false, follows),
                        Err(error) => return Some((Err(error), None)),
                    }
                }
            };
            let place = Place { format, is_first, is_last: slice.next.is_none(), follows };
            let follows = follows || !slice.items.is_empty();
            let next = slice.next.clone().map(|cursor| Next::Unread { cursor, follows });
            Some((Ok((own, slice, place)), next))
        }
    })
}

/// The next page of a list.
enum Next<T> {
    Read(Slice<T>),
    Unread { cursor: String, follows: bool },
}

/// The bytes of one page.
fn part<L: List>(own: &(Visit, L), slice: &Slice<L::Item>, place: Place) -> Result<Bytes, ClientError> {
    let unexpected = |reason: String| ClientError::Unexpected { url: "this address".to_owned(), reason };
    let bytes = match place.format {
        Format::Csv => {
            let rows = slice.items.iter().map(|item| own.1.row(&own.0, item));
            csv(place.is_first.then(|| own.1.columns()), rows).map_err(|error| unexpected(error.to_string()))?
        }
        Format::Json => json(&slice.items, place).map_err(|error| unexpected(error.to_string()))?,
    };
    Ok(bytes.into())
}

fn csv(columns: Option<Vec<Cow<'static, str>>>, rows: impl Iterator<Item = Row>) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    if let Some(columns) = columns {
        writer.write_record(columns.iter().map(|name| name.as_bytes()))?;
    }
    for row in rows {
        writer.write_record(row.cells.iter().map(|cell| harmless(cell.text_only())))?;
    }
    writer.into_inner().map_err(|error| error.into_error().into())
}

/// A text that no spreadsheet reads as a formula (OWASP, "CSV injection").
fn harmless(text: String) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}") } else { text }
}

fn json<T: serde::Serialize>(items: &[T], place: Place) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = if place.is_first { b"[".to_vec() } else { Vec::new() };
    for (number, item) in items.iter().enumerate() {
        bytes.extend_from_slice(if number == 0 && !place.follows { b"\n" } else { b",\n" });
        serde_json::to_writer(&mut bytes, item)?;
    }
    if place.is_last {
        bytes.extend_from_slice(b"\n]\n");
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::super::columns;
    use super::*;
    use crate::part::Cell;

    #[test]
    fn cells_are_no_formulas_and_may_contain_anything() {
        let row = Row {
            key: String::new(),
            cells: vec![
                Cell::Text("=cmd|' /C calc'!A1".to_owned()),
                Cell::Message("a \"b\",\r\nc".to_owned()),
                Cell::Empty,
            ],
        };
        let bytes = csv(Some(columns(&["One", "Two", "Three"])), std::iter::once(row)).unwrap();
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            "One,Two,Three\r\n'=cmd|' /C calc'!A1,\"a \"\"b\"\",\r\nc\",\r\n"
        );
    }

    #[test]
    fn pages_of_json_are_one_array() {
        // Any page of a list may be empty and have a next one.
        let lists: [&[&[u8]]; 5] =
            [&[&[1, 2], &[], &[3]], &[&[], &[1, 2, 3]], &[&[1], &[2, 3], &[]], &[&[1, 2, 3]], &[&[], &[1, 2], &[3]]];
        for pages in lists {
            let mut text = String::new();
            for (number, items) in pages.iter().enumerate() {
                let follows = pages[..number].iter().any(|page| !page.is_empty());
                let place =
                    Place { format: Format::Json, is_first: number == 0, is_last: number + 1 == pages.len(), follows };
                text += &String::from_utf8(json(items, place).unwrap()).unwrap();
            }
            assert_eq!(serde_json::from_str::<Vec<u8>>(&text).unwrap(), [1, 2, 3], "{text}");
        }
    }
}
