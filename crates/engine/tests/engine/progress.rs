//! The progress of each phase reaches its total.

use std::io::{self, Result};
use std::sync::Arc;

use engine::compile::{CompileOptions, Compiled, Prepared};
use engine::output::{Destination, assemble};
use engine::plan::{PlanInput, plan};
use model::fleet::Fleet;
use model::progress::{Progress, ProgressPhase};
use model::tree::{OpenError, Sealed, Tree};
use testkit::generator::change::GeneratedChange;
use testkit::generator::{self, ENVIRONMENT, Size};

const SIZE: Size = Size { cluster_types: 10, targets: 8, config_maps: 21, schemas: 2 };

/// A fleet after a change. None: without a change.
fn fleet(change: Option<&GeneratedChange>) -> Result<Arc<Fleet>> {
    let mut files = generator::fleet(SIZE, 1);
    if let Some(change) = change {
        let text = change.apply(&files[&change.path], 0);
        files.insert(change.path.clone(), text);
    }
    let texts = files.into_iter().map(|(path, text)| (path, text.into_bytes())).collect();
    Ok(testkit::directory::fleet_of(texts, ENVIRONMENT)?.0.into())
}

/// A compiled fleet, with its progress.
fn compiled(change: Option<&GeneratedChange>, is_earlier: bool) -> Result<(Compiled, Progress)> {
    let progress = Progress::watched();
    let options = CompileOptions { progress: progress.clone(), is_earlier, ..CompileOptions::default() };
    Ok((Compiled::with(&fleet(change)?, options), progress))
}

/// Checks that the last phase reached its total, and that the total is `count`.
fn check(progress: &Progress, phase: ProgressPhase, count: usize) {
    let seen = progress.seen().map(|seen| (seen.phase, seen.done, seen.total));
    assert_eq!(seen, Some((phase, count as u64, count as u64)));
}

#[test]
fn every_place_is_counted() -> Result<()> {
    let (fleet, progress) = (fleet(None)?, Progress::watched());
    Prepared::with_progress(&fleet, &progress);
    check(&progress, ProgressPhase::Preparing, SIZE.cluster_types);
    Ok(())
}

#[test]
fn every_set_of_values_is_counted_while_it_is_composed() -> Result<()> {
    let (_, progress) = compiled(None, false)?;
    // Rendering began later. Select the composing phase again: it has reached its total, too.
    progress.begin(ProgressPhase::Composing);
    let seen = progress.seen().map(|seen| (seen.phase, seen.done == seen.total, seen.total > 0));
    assert_eq!(seen, Some((ProgressPhase::Composing, true, true)));
    Ok(())
}

#[test]
fn every_assignment_is_counted() -> Result<()> {
    let (compiled, progress) = compiled(None, false)?;
    check(&progress, ProgressPhase::Compiling, compiled.len());
    Ok(())
}

#[test]
fn folders_that_differ_are_counted() -> Result<()> {
    let change = GeneratedChange::value_on_cluster_type(SIZE);
    let ((old, _), (new, progress)) = (compiled(None, true)?, compiled(Some(&change), false)?);
    let open = |sealed: &Sealed| old.open(sealed).or_else(|_| new.open(sealed));
    let tree = |compiled, previous: &Tree| assemble(compiled, previous, &Destination::default(), &open);
    let planned = || {
        let before = tree(&old, &Tree::default())?.tree;
        let output = tree(&new, &before)?;
        let folder = &Destination::default().folder;
        let (content, old) = (&|_| None, Some(&old));
        plan(&PlanInput {
            previous: &before,
            is_published: true,
            output: &output,
            folder,
            new: &new,
            old,
            open: &open,
            content,
        })
    };
    let planned: std::result::Result<_, OpenError> = planned();
    let planned = planned.map_err(io::Error::other)?;
    // The folders of the root and of the place changed, too.
    assert_eq!((planned.changes.len(), planned.new_folders()), (change.reached, change.reached + 2));
    // Two steps for the place: its folder is found, and compared. One step for the reasons of each assignment.
    check(&progress, ProgressPhase::Comparing, 2 + change.reached);
    Ok(())
}
