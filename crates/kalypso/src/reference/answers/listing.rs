//! The fields of lists.

use utoipa::ToSchema as _;
use workbench::listing::kind::ListedKind;
use workbench::listing::rows::{KeyRow, ObjectFields, ValueRow, schema_name};

use super::schema::Schemas;
use super::{AnswerField, Described, owned};

/// The fields that describe the page of a list.
const PAGE: &[Described] =
    &[("more", "Whether there are more than `--limit`."), ("total", "The total number, independent of the limit.")];
/// The prefix of the fields of a row.
const ITEMS: &str = "items[].";

/// The output of `kalypso get`, by command. The fields of lists are those of their types.
pub(super) fn lists() -> Vec<(String, Vec<AnswerField>)> {
    let schemas = Schemas::of_lists();
    let page = |fields: [Vec<AnswerField>; 2]| fields.into_iter().flatten().chain(owned(PAGE)).collect();
    let of_kind = |kind: ListedKind| {
        let common =
            if kind.of_objects().is_some() { schemas.fields(&ObjectFields::name(), ITEMS) } else { Vec::new() };
        (format!("get {}", kind.words().1), page([common, schemas.fields(&schema_name(kind), ITEMS)]))
    };
    let kinds = ListedKind::ALL.into_iter().filter(|kind| *kind != ListedKind::Value).map(of_kind);
    let values = [("get values", KeyRow::name()), ("get values --key", ValueRow::name())];
    let values = values.map(|(title, name)| (title.to_owned(), page([schemas.fields(&name, ITEMS), Vec::new()])));
    kinds.chain(values).collect()
}
