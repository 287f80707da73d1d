//! Reads texts with several documents.

use std::collections::HashMap;
use std::sync::Arc;

use granit_parser::{Event, ScanError};

use super::build::Builder;
use super::explain::{Scene, explain};
use super::repair::{Repaired, TextParser, is_repairable, parser, repaired};
use super::{Node, ProblemKind, Span, YamlLimits, YamlOptions, YamlProblem};

/// The content of a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// The documents without errors. Empty documents are left out.
    pub documents: Vec<Document>,
    /// The problems, in the order of the text.
    pub problems: Vec<YamlProblem>,
    /// The parts of broken documents that could be read, to find out which objects they are. They are incomplete.
    pub fragments: Vec<Document>,
}

/// A document of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// The value of the document.
    pub root: Node,
}

/// Reads all documents of `text`.
pub fn read(text: &str, options: &YamlOptions) -> Reading {
    collect(text, options, Until::End)
}

/// Reads `text`, and passes each document without errors to `each` as soon as it is read.
pub(super) fn read_each(text: &str, options: &YamlOptions, mut each: impl FnMut(Document)) -> Vec<YamlProblem> {
    let mut take = |found| match found {
        FoundDocument::Document(document) => each(document),
        FoundDocument::Fragment(_) => {}
    };
    read_until(text, options, (Until::End, &mut take))
}

/// Reads the first document of `text`. The rest is not read.
pub(super) fn read_first(text: &str, options: &YamlOptions) -> Reading {
    collect(text, options, Until::FirstDocument)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    FirstDocument,
    End,
}

/// A document, or the part of a broken one that could be read.
enum FoundDocument {
    Document(Document),
    Fragment(Document),
}

fn collect(text: &str, options: &YamlOptions, until: Until) -> Reading {
    let (mut documents, mut fragments) = (Vec::new(), Vec::new());
    let mut take = |found| match found {
        FoundDocument::Document(document) => documents.push(document),
        FoundDocument::Fragment(document) => fragments.push(document),
    };
    let problems = read_until(text, options, (until, &mut take));
    Reading { documents, problems, fragments }
}

fn read_until(
    text: &str,
    options: &YamlOptions,
    (until, take): (Until, &mut dyn FnMut(FoundDocument)),
) -> Vec<YamlProblem> {
    if let Some(problem) = unreadable(text, &options.limits) {
        return vec![problem];
    }
    let mut reader = Reader::new(text, options, take);
    if let Read::Repaired(repaired) = reader.run(parser(text, options.limits.depth), until) {
        reader.restart(options, repaired.scalars);
        reader.run(parser(&repaired.text, options.limits.depth), until);
    }
    reader.builder.into_problems()
}

/// How the reading of a text ended.
enum Read {
    End,
    /// The parser refuses a form that Go's libraries read. Another text without this form must be read instead.
    Repaired(Repaired),
}

/// The problem if a text cannot be parsed at all.
fn unreadable(text: &str, limits: &YamlLimits) -> Option<YamlProblem> {
    if text.len() > limits.text_bytes {
        let (size, limit) = (text.len().div_ceil(1 << 20), limits.text_bytes >> 20);
        let message = format!("the text has {size} MB, the limit is {limit} MB: it was not read");
        return Some(YamlProblem::new(ProblemKind::Limit, Span::at(0), message).hint("split it into several files"));
    }
    let is_mark = |at: usize, c: char| at == 0 && c == '\u{feff}';
    let (at, character) = text.char_indices().find(|&(at, c)| !is_readable(c) && !is_mark(at, c))?;
    let message = format!("there is a control character (U+{:04X}) in the text", u32::from(character));
    Some(
        YamlProblem::new(ProblemKind::Encoding, Span::new(at, at + character.len_utf8()), message)
            .hint("remove it, or write it as an escape in double quotes"),
    )
}

/// Whether YAML allows a character, according to Go's libraries.
fn is_readable(character: char) -> bool {
    match character {
        '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' => true,
        '\0'..='\u{9f}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => false,
        _ => true,
    }
}

struct Reader<'t, 'a> {
    builder: Builder<'t>,
    take: &'a mut dyn FnMut(FoundDocument),
    limits: YamlLimits,
    text: &'t str,
    /// The number of documents so far, also broken and empty ones.
    documents: usize,
    /// The number of errors up to the end of the last document.
    errors: usize,
    /// The number of documents at the begin that were taken already.
    taken: usize,
    can_repair: bool,
}

impl<'t, 'a> Reader<'t, 'a> {
    fn new(text: &'t str, options: &YamlOptions, take: &'a mut dyn FnMut(FoundDocument)) -> Self {
        let (builder, limits) = (Builder::new(text, options), options.limits);
        Self { builder, take, limits, text, documents: 0, errors: 0, taken: 0, can_repair: true }
    }

    /// Prepares for reading all documents again, with other contents of scalars.
    fn restart(&mut self, options: &YamlOptions, contents: HashMap<usize, Arc<str>>) {
        self.builder = Builder::new(self.text, options).with_contents(contents);
        (self.taken, self.documents, self.errors) = (self.documents, 0, 0);
    }

    fn run(&mut self, mut parser: TextParser<'_>, until: Until) -> Read {
        loop {
            let goes_on = match parser.next_event() {
                None => false,
                Some(Ok((event, span))) => match self.process(event, &span) {
                    Ok(goes_on) => goes_on,
                    Err(problem) => self.give_up(*problem, &mut parser),
                },
                Some(Err(error)) => {
                    if let Some(repaired) = self.repaired(&error) {
                        return Read::Repaired(repaired);
                    }
                    let scene = Scene { text: self.text, last: self.builder.last(), open: self.builder.open_bracket() };
                    self.give_up(explain(&error, &scene), &mut parser)
                }
            };
            if !goes_on || until == Until::FirstDocument && self.documents > 0 {
                return Read::End;
            }
        }
    }

    fn repaired(&mut self, error: &ScanError) -> Option<Repaired> {
        let tries = self.can_repair && is_repairable(error);
        self.can_repair &= !tries;
        if tries { repaired(self.text, self.limits.depth) } else { None }
    }

    /// Processes an event. False if the limit of documents is reached.
    fn process(&mut self, event: Event<'_>, span: &granit_parser::Span) -> Result<bool, Box<YamlProblem>> {
        match event {
            Event::DocumentEnd => {
                self.builder.add(event, span)?;
                Ok(self.end_document())
            }
            _ => self.builder.add(event, span).map(|()| true),
        }
    }

    /// Ends a document that cannot be read to its end.
    fn give_up(&mut self, problem: YamlProblem, parser: &mut TextParser<'_>) -> bool {
        let stop = problem.kind == ProblemKind::Limit;
        self.builder.findings().add(problem);
        self.builder.skip_document();
        !stop && self.end_document() && parser.proceed_next_document().unwrap_or(false)
    }

    /// Keeps the part of a document that was read. False if the limit of documents is reached.
    fn end_document(&mut self) -> bool {
        self.documents += 1;
        let root = self.builder.finish();
        let errors = self.builder.findings().errors();
        if let Some(root) = root.filter(|_| self.documents > self.taken) {
            let kept = if errors == self.errors { FoundDocument::Document } else { FoundDocument::Fragment };
            (self.take)(kept(Document { root }));
        }
        self.errors = errors;
        if self.documents < self.limits.documents {
            return true;
        }
        let message = format!("the text has {} documents; reading stopped here", self.documents);
        let here = Span::at(self.builder.last().end as usize);
        self.builder
            .findings()
            .add(YamlProblem::new(ProblemKind::Limit, here, message).hint("split it into several files"));
        false
    }
}

#[cfg(test)]
mod tests;
