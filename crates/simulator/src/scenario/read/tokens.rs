//! The words of a sentence, such as `fail store-17 for 2h`, one after another.

use std::sync::Arc;
use std::time::Duration;

use engine::promotion::step::RENDERER;
use model::duration;

use super::Names;
use crate::scenario::definition::{APPLICATION, ChangeOrRelease, FolderScope, LabelPair, MemberSelection, VALUES, Who};
use crate::scenario::names::NamePattern;

/// A sentence that can't be read: what is expected instead.
pub(super) type Expected = String;

/// The rest of a sentence.
pub(super) struct Words<'t> {
    rest: Vec<&'t str>,
}

impl<'t> Words<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let mut rest: Vec<_> = text.split_whitespace().collect();
        rest.reverse();
        Self { rest }
    }

    /// The next word, which stays.
    pub(super) fn peek(&self) -> Option<&'t str> {
        self.rest.last().copied()
    }

    /// The next word. `what` says what it is.
    pub(super) fn word(&mut self, what: &str) -> Result<&'t str, Expected> {
        self.rest.pop().ok_or_else(|| format!("{what} is missing at the end"))
    }

    /// The next word as a name.
    pub(super) fn name(&mut self, what: &str) -> Result<Arc<str>, Expected> {
        self.word(what).map(Into::into)
    }

    /// Takes these words if they come next.
    pub(super) fn take(&mut self, words: &str) -> bool {
        let expected: Vec<_> = words.split(' ').rev().collect();
        let is_next = self.rest.ends_with(&expected);
        if is_next {
            self.rest.truncate(self.rest.len() - expected.len());
        }
        is_next
    }

    /// Takes these words, which must come next.
    pub(super) fn must(&mut self, words: &str) -> Result<(), Expected> {
        if self.take(words) {
            return Ok(());
        }
        Err(match self.peek() {
            Some(found) => format!("`{words}` is expected before `{found}`"),
            None => format!("`{words}` is missing at the end"),
        })
    }

    /// The text after a word, up to the end. Empty if the word does not come next.
    pub(super) fn rest_after(&mut self, word: &str) -> Arc<str> {
        if !self.take(word) {
            return "".into();
        }
        let mut rest = std::mem::take(&mut self.rest);
        rest.reverse();
        rest.join(" ").into()
    }

    /// The end of the sentence.
    pub(super) fn end(&self) -> Result<(), Expected> {
        match self.peek() {
            Some(found) => Err(format!("nothing is expected at `{found}`")),
            None => Ok(()),
        }
    }

    /// A duration.
    pub(super) fn duration(&mut self) -> Result<Duration, Expected> {
        let word = self.word("a duration")?;
        duration::parse(word).map_err(|error| format!("`{word}`: {error}"))
    }

    /// `for DURATION`, which may be left out.
    pub(super) fn lasts(&mut self) -> Result<Option<Duration>, Expected> {
        if self.take("for") { self.duration().map(Some) } else { Ok(None) }
    }

    /// `KEY=VALUE`
    pub(super) fn label(&mut self) -> Result<LabelPair, Expected> {
        let word = self.word("a label")?;
        let (key, value) = word.split_once('=').ok_or_else(|| format!("`{word}` is no label: write `KEY=VALUE`"))?;
        Ok((key.into(), value.into()))
    }

    /// `where KEY=VALUE`, which may be left out.
    pub(super) fn only(&mut self) -> Result<Option<LabelPair>, Expected> {
        if self.take("where") { self.label().map(Some) } else { Ok(None) }
    }

    /// `of WORKLOAD where KEY=VALUE`, both of which may be left out.
    pub(super) fn scope(&mut self, names: &Names) -> Result<FolderScope, Expected> {
        let workload = if self.take("of") { Some(names.workload(self)?) } else { None };
        Ok(FolderScope { workload, label: self.only()? })
    }

    /// Clusters: `store-17`, `store-[1-3] of prod`, `3 of prod`, `5% of prod`, `all of prod where region=west`, `prod`.
    pub(super) fn who(&mut self, environments: &[Arc<str>]) -> Result<Who, Expected> {
        let word = self.word("the clusters")?;
        if environments.iter().any(|name| **name == *word) {
            return Ok(Who { members: MemberSelection::All, environment: Some(word.into()), label: self.only()? });
        }
        let number = |text: &str| text.parse::<usize>().ok();
        let members = if word == "all" {
            MemberSelection::All
        } else if let Some(percent) = word.strip_suffix('%').and_then(number).filter(|percent| *percent <= 100) {
            MemberSelection::Percent(percent)
        } else if let Some(count) = number(word) {
            MemberSelection::Count(count)
        } else {
            let names = NamePattern::parse(word);
            MemberSelection::Named(
                names.ok_or_else(|| format!("`{word}` is no name: write `store-17` or `store-[1-3]`"))?,
            )
        };
        let _ = self.take("clusters");
        let environment = if self.take("of") { Some(self.environment(environments)?) } else { None };
        Ok(Who { members, environment, label: self.only()? })
    }

    /// A change by its name, or a release: `shop 2.4.0`.
    pub(super) fn content(&mut self, names: &Names) -> Result<ChangeOrRelease, Expected> {
        let word = self.name("a change")?;
        if names.workloads.contains(&word) {
            return Ok(ChangeOrRelease::Release(word, self.name("the version")?));
        }
        Ok(ChangeOrRelease::Change(word))
    }

    /// The subject of a decision or of a state: a workload, the values of the environment, or a target of an application team. None: the commits of the main branch.
    pub(super) fn subject(&mut self, names: &Names) -> Result<Option<Arc<str>>, Expected> {
        let is_workload = |word: &str| names.workloads.iter().any(|name| **name == *word);
        let is_subject = |word: &str| {
            matches!(word, VALUES | RENDERER)
                || is_workload(word)
                || word.strip_prefix(APPLICATION).is_some_and(is_workload)
        };
        if self.peek().is_some_and(is_subject) { self.name("the workload").map(Some) } else { Ok(None) }
    }

    /// The name of an environment.
    pub(super) fn environment(&mut self, environments: &[Arc<str>]) -> Result<Arc<str>, Expected> {
        let word = self.word("an environment")?;
        let found = environments.iter().find(|name| ***name == *word);
        found.cloned().ok_or_else(|| {
            let known: Vec<_> = environments.iter().map(|name| &**name).collect();
            format!("there is no environment `{word}`: there are {}", super::fields::listed(&known))
        })
    }
}
