//! Files that several assignments have: rendered once for all of them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use model::digest::Digest;
use model::git_id::GitId;

/// More parts than processors, so that they seldom want the same one.
const PARTS: usize = 64;

/// Ids of rendered files, by all that they were rendered of.
#[derive(Debug)]
pub(crate) struct SharedFiles {
    parts: [Mutex<HashMap<Digest, Arc<OnceLock<Known>>>>; PARTS],
    rendered: AtomicUsize,
}

/// What is known about a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// It has this content.
    File(GitId),
    /// There is no such file.
    NoFile,
    /// It can't be rendered, or it read what nobody expected: each assignment has to see for itself.
    Nothing,
}

impl Default for SharedFiles {
    fn default() -> Self {
        Self { parts: std::array::from_fn(|_| Mutex::default()), rendered: AtomicUsize::new(0) }
    }
}

impl SharedFiles {
    /// The file that is rendered of these inputs, by `render` if nobody has done it yet.
    pub(crate) fn get(&self, inputs: Digest, render: impl FnOnce() -> Known) -> Known {
        let part = usize::from(inputs.as_bytes()[0]) % PARTS;
        let Some(part) = self.parts.get(part) else { return render() };
        let known = Arc::clone(part.lock().unwrap_or_else(PoisonError::into_inner).entry(inputs).or_default());
        *known.get_or_init(|| {
            self.rendered.fetch_add(1, Ordering::Relaxed);
            render()
        })
    }

    /// How many files were rendered here since this was asked last.
    pub(crate) fn take_rendered(&self) -> usize {
        self.rendered.swap(0, Ordering::Relaxed)
    }

    /// Forgets everything, if there are more than so many.
    pub(crate) fn bound(&mut self, files_max: usize) {
        let count = |part: &mut Mutex<HashMap<_, _>>| part.get_mut().unwrap_or_else(PoisonError::into_inner).len();
        if self.parts.iter_mut().map(count).sum::<usize>() > files_max {
            *self = Self::default();
        }
    }
}
