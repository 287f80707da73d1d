//! Reads environments in the state of the control plane that the arguments select: the current one, a commit, a patch, or the working trees.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use delivery::access::RepositoryAccess;
use delivery::reading::ReadAt;
use delivery::sources::loaded::Loaded;
use workbench::Failure;
use workbench::change::{PATCH_BYTES_MAX, PatchText};
use workbench::checkout_paths::CheckoutPaths;
use workbench::source::environment_name;
use workbench::states::{self, ControlPlaneState, Note};
use workbench::working_trees::WorkingTrees;

use crate::arguments::{SourceOptions, StateOptions};
use crate::progress::Watch;
use crate::{loading, terminal};

/// The file name that stands for standard input, for a patch from a pipe.
const STANDARD_INPUT: &str = "-";

/// Environments that were read. They may be incomplete.
pub(crate) struct ReadStates {
    pub(crate) environments: Vec<Arc<Loaded>>,
    /// The working trees that were read.
    pub(crate) checkouts: Vec<CheckoutPaths>,
}

/// Which environments are read, and in which state.
pub(crate) struct StatesRequest<'a> {
    pub(crate) source: &'a SourceOptions,
    pub(crate) state: &'a StateOptions,
    /// The commits to read for the current state. A change of it is laid over the heads.
    pub(crate) at: ReadAt,
    /// The environment. None: all environments.
    pub(crate) environment: Option<&'a str>,
}

/// Reads environments.
pub(crate) fn read(request: &StatesRequest<'_>, watch: &Watch) -> anyhow::Result<ReadStates> {
    let StatesRequest { source, state, at, environment } = *request;
    let environment = environment.map(environment_name).transpose()?;
    if let Some(folder) = &state.working_tree {
        let access = loading::access(source.config.as_deref(), watch.progress())?;
        let read = states::read_working_trees(&access, folder.as_deref(), environment.as_ref())?;
        print(&read.notes);
        return Ok(ReadStates { environments: read.environments, checkouts: read.checkouts });
    }
    let patch = state.patch.as_deref().map(PatchFile::read).transpose()?;
    let state = match (&state.commit, &patch) {
        (Some(text), _) => ControlPlaneState::Commit(text),
        (None, Some(patch)) => ControlPlaneState::Patch(patch.text()),
        (None, None) => ControlPlaneState::Current(at),
    };
    let source = loading::source(source, watch.progress())?;
    Ok(ReadStates { environments: states::read(&source, state, environment.as_ref())?, checkouts: Vec::new() })
}

/// Opens the working trees for `--working-tree`, and prints what of them is not as it seems.
pub(crate) fn working_trees(access: &RepositoryAccess, folder: Option<&Path>) -> anyhow::Result<WorkingTrees> {
    let (trees, notes) = states::working_trees(access, folder)?;
    print(&notes);
    Ok(trees)
}

fn print(notes: &[Note]) {
    for note in notes {
        match note {
            Note::Warning(text) => terminal::warn(text),
            Note::Information(text) => terminal::note(text),
        }
    }
}

/// A patch that was read from a file, or from standard input.
pub(crate) struct PatchFile {
    file: String,
    bytes: Vec<u8>,
}

impl PatchFile {
    /// Reads a patch.
    pub(crate) fn read(file: &Path) -> Result<Self, Failure> {
        let mut bytes = Vec::new();
        let read = if file == Path::new(STANDARD_INPUT) {
            std::io::stdin().take(PATCH_BYTES_MAX + 1).read_to_end(&mut bytes)
        } else {
            fs::File::open(file).and_then(|file| file.take(PATCH_BYTES_MAX + 1).read_to_end(&mut bytes))
        };
        let file = file.display().to_string();
        read.map_err(|error| Failure::usage(format!("the patch `{file}` can't be read: {error}")))?;
        if bytes.len() as u64 > PATCH_BYTES_MAX {
            let limit = PATCH_BYTES_MAX >> 20;
            return Err(Failure::usage(format!("the patch `{file}` is larger than {limit} MiB")));
        }
        Ok(Self { file, bytes })
    }

    /// The text of the patch.
    pub(crate) fn text(&self) -> PatchText<'_> {
        let shown = if self.file == STANDARD_INPUT { "patch" } else { &self.file };
        PatchText { file: &self.file, shown, text: &self.bytes }
    }
}
