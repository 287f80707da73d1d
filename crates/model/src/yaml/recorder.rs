//! Records the outline of a text while the fast scan reads it.

use super::scalar_class::ScalarClass;
use super::{Resolved, resolve_plain};
use crate::name;

/// The keys whose values are in the outline as they are: they say which object it is.
pub(super) const IDENTIFYING: [&[u8]; 2] = [b"apiVersion", b"kind"];
/// The objects whose data are texts, and the fields with these data.
const WITH_DATA: ([&str; 2], [&[u8]; 2]) = (["ConfigMap", "Secret"], [b"data", b"stringData"]);

/// In an outline: a marked line.
const MARK: u8 = 1;
/// In an outline: the end of a part.
const END: u8 = 2;
/// In an outline: a class instead of a scalar.
const CLASS: u8 = 3;
/// In an outline: the text from here on is as it is.
pub(super) const REST: u8 = 4;

/// The style of a scalar in one line.
#[derive(Clone, Copy, Debug)]
pub(super) enum ScalarForm {
    /// In quotes. The text begins after the first one.
    Quoted(u8),
    Plain,
}

/// The parts of a text that a recorded outline has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Detail {
    /// All entries.
    #[default]
    All,
    /// All but the entries of data that are texts.
    WithoutData,
}

/// An outline while it is written.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    /// None if no outline is needed.
    bytes: Option<Vec<u8>>,
    detail: Detail,
    is_marked: bool,
    key: KeyRole,
    data: DataPlace,
    /// The offset at which the current entry of the data begins.
    data_entry: Option<usize>,
}

/// What the value after the last key says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum KeyRole {
    #[default]
    Other,
    /// Which object it is. The value stays as it is.
    Identifying,
    /// The kind of the object. The value stays as it is.
    Kind,
}

/// Where the current entry is in relation to data that may be left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum DataPlace {
    /// The object has no such data, as far as it is known.
    #[default]
    None,
    /// In an object with data, outside of them.
    Outside,
    /// In the data.
    Inside,
}

impl Recorder {
    /// Records the outline of a text with this length.
    pub(super) fn new(length: usize, detail: Detail) -> Self {
        Self { bytes: Some(Vec::with_capacity(length)), detail, ..Self::default() }
    }

    pub(super) fn is_recording(&self) -> bool {
        self.bytes.is_some()
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes.unwrap_or_default()
    }

    /// Begins a line.
    pub(super) fn line(&mut self, is_marked: bool) {
        self.is_marked = is_marked;
    }

    /// Begins a document.
    pub(super) fn document(&mut self) {
        self.add(b"---");
        (self.data, self.data_entry) = (DataPlace::None, None);
    }

    /// Adds the begin of an item or entry at a column. `depth` is the number of open collections.
    pub(super) fn enter(&mut self, kind: u8, column: usize, depth: usize) {
        let Some(bytes) = &mut self.bytes else { return };
        self.key = KeyRole::Other;
        if self.data == DataPlace::Inside && depth <= 1 {
            self.data = DataPlace::Outside;
        }
        let is_entry = self.data == DataPlace::Inside && depth == 2 && kind == b':';
        self.data_entry = is_entry.then_some(bytes.len());
        if std::mem::take(&mut self.is_marked) {
            bytes.push(MARK);
        }
        bytes.push(kind);
        bytes.extend_from_slice(&(column as u32).to_le_bytes());
    }

    /// Adds a key.
    pub(super) fn key(&mut self, key: &[u8], depth: usize) {
        if self.bytes.is_none() {
            return;
        }
        self.key = match key {
            b"kind" if depth == 1 => KeyRole::Kind,
            _ if IDENTIFYING.contains(&key) => KeyRole::Identifying,
            _ => KeyRole::Other,
        };
        if self.data == DataPlace::Outside && depth == 1 && WITH_DATA.1.contains(&key) {
            self.data = DataPlace::Inside;
        }
        self.data_entry = self.data_entry.filter(|_| std::str::from_utf8(key).is_ok_and(name::is_data_key));
        self.add(key);
    }

    /// Adds text that stays as it is.
    pub(super) fn add(&mut self, text: &[u8]) {
        if let Some(bytes) = &mut self.bytes {
            bytes.extend_from_slice(text);
            bytes.push(END);
        }
    }

    /// Adds a block scalar.
    pub(super) fn block(&mut self, header: &[u8]) {
        if !self.leave_out() {
            self.add(header);
        }
    }

    /// Removes the current entry if it is one of the data. Its value is a text.
    fn leave_out(&mut self) -> bool {
        let begin = self.data_entry.take();
        if let Some((begin, bytes)) = begin.zip(self.bytes.as_mut()) {
            bytes.truncate(begin);
        }
        begin.is_some()
    }

    /// Adds a scalar.
    pub(super) fn scalar(&mut self, form: ScalarForm, text: &[u8]) {
        if self.bytes.is_none() {
            return;
        }
        let content = content(form, text);
        if self.key == KeyRole::Kind {
            let has_data = content.is_some_and(|kind| WITH_DATA.0.contains(&kind));
            self.data =
                if has_data && self.detail == Detail::WithoutData { DataPlace::Outside } else { DataPlace::None };
        }
        if self.data_entry.is_some() && content.is_none_or(|content| is_text(form, content)) {
            self.leave_out();
            return;
        }
        let class = content.map(|content| class(form, content));
        if let Some(class) = class.filter(|_| self.key == KeyRole::Other) {
            self.add(&[CLASS, class.form as u8, class.fits]);
            return;
        }
        let quote = match form {
            ScalarForm::Quoted(quote) => quote,
            ScalarForm::Plain => b' ',
        };
        self.add(&[quote]);
        self.add(text);
    }
}

/// Whether two scalars of one line have the same class. Scalars with escapes have none.
pub(super) fn have_equal_classes(form: ScalarForm, one: &[u8], other: &[u8]) -> bool {
    let class = |text| content(form, text).map(|content| class(form, content));
    class(one).is_some_and(|one| class(other) == Some(one))
}

fn class(form: ScalarForm, content: &str) -> ScalarClass {
    match form {
        ScalarForm::Plain => ScalarClass::of_plain(content),
        ScalarForm::Quoted(_) => ScalarClass::of_text(content),
    }
}

fn is_text(form: ScalarForm, content: &str) -> bool {
    matches!(form, ScalarForm::Quoted(_)) || matches!(resolve_plain(content), Resolved::Text(_))
}

/// The content of a scalar of one line. None if it contains escapes.
fn content(form: ScalarForm, text: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(text).ok()?;
    match form {
        ScalarForm::Plain => {
            let comment = if text.contains('#') { text.find(" #") } else { None };
            Some(text.get(..comment.unwrap_or(text.len()))?.trim_end_matches(' '))
        }
        ScalarForm::Quoted(quote) => {
            let (content, behind) = text.split_once(char::from(quote))?;
            let is_escaped = content.contains('\\') && quote == b'"' || behind.starts_with(char::from(quote));
            (!is_escaped).then_some(content)
        }
    }
}
