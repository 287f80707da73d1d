//! Gives the images of rendered targets their digests.

use model::diagnostic::Diagnostic;
use model::source::FileId;
use rayon::prelude::*;

use super::{PreparedTarget, RenderedManifests, TargetOutput, TargetState};
use crate::images::{ImageDigests, Pinning, list};
use crate::manifests::{self, is_manifest};

/// Writes digests into the manifests of all rendered targets. A target fails if one of its images has no digest. Diagnostics of a target refer to its file in `files`.
pub(super) fn pin(
    digests: &ImageDigests,
    (targets, files): (&[PreparedTarget], &[FileId]),
    results: Vec<TargetOutput>,
) -> Vec<TargetOutput> {
    let rendered = targets.iter().zip(&results).filter_map(|(target, output)| match &output.state {
        TargetState::Rendered(manifests) if !manifests.are_files => Some((&target.path, &*manifests.objects)),
        _ => None,
    });
    let pinning = Pinning::new(digests, &list(rendered));
    let pinned = |(mut output, file): (TargetOutput, &FileId)| {
        output.state = match output.state {
            TargetState::Rendered(manifests) if !manifests.are_files => match pinned(&pinning, manifests, *file) {
                Ok(manifests) => TargetState::Rendered(manifests),
                Err(own) => {
                    output.problems.extend(own);
                    TargetState::Failed
                }
            },
            state => state,
        };
        output
    };
    results.into_par_iter().zip(files).map(pinned).collect()
}

fn pinned(pinning: &Pinning, manifests: RenderedManifests, file: FileId) -> Result<RenderedManifests, Vec<Diagnostic>> {
    let RenderedManifests { files, objects, are_files, unvalidated, pinned: _ } = manifests;
    let pinned = pinning.added(&objects);
    let mut result = RenderedManifests { are_files, unvalidated, pinned, ..RenderedManifests::default() };
    let mut problems = Vec::new();
    for (name, content) in files {
        match pinning.pinned(&content) {
            Ok(pinned) if is_manifest(&name) => {
                result.objects.extend(manifests::parse(&pinned, file).objects);
                result.files.insert(name, pinned.into());
            }
            Err(own) if is_manifest(&name) => problems.extend(own),
            _ => drop(result.files.insert(name, content)),
        }
    }
    if problems.is_empty() { Ok(result) } else { Err(problems) }
}
