//! Output that no `GitOpsRepo` of the environment names any more: other folders of its branches, and other branches that the newest publication knew.
//!
//! Nothing removes it: clusters may still pull it.

use std::collections::BTreeSet;

use engine::layout::own_files::OWNER_FILE;
use engine::layout::{Folder, is_marked, is_text, own_folders};
use engine::schedule::place::Place;
use model::count::count;
use model::diagnostic::{Code, Diagnostic};
use model::fleet::Fleet;
use model::object::environment::comparable_url;
use model::tree::{OpenError, Sealed, Tree};

use crate::output::gitops_destination::{GitOpsDestination, folders_of_branch};
use crate::sources::loaded::Loaded;

/// The maximum number of folders around an output.
const DEPTH_MAX: usize = 4;
/// The maximum number of folders that are opened.
const FOLDERS_MAX: usize = 1_000;

/// The warnings about output that is left. `earlier` is the environment of the newest publication on the branch.
///
/// # Errors
/// If a folder of the branch can't be opened.
pub(crate) fn diagnostics(
    loaded: &Loaded,
    target: &GitOpsDestination,
    earlier: Option<&Loaded>,
) -> Result<Vec<Diagnostic>, OpenError> {
    let mut found: Vec<_> = left_folders(loaded, target)?.iter().map(|left| of_folder(loaded, target, left)).collect();
    let now = branches(&loaded.fleet);
    let before = earlier.map(|earlier| branches(&earlier.fleet)).unwrap_or_default();
    found.extend(before.difference(&now).map(|branch| of_branch(loaded, branch)));
    Ok(found)
}

/// The repositories and branches of an environment's output.
fn branches(fleet: &Fleet) -> BTreeSet<(&str, &str)> {
    let places = fleet.gitops_repos.values().map(|object| &object.spec.place);
    places.map(|place| (comparable_url(&place.repo), &*place.branch)).collect()
}

/// A folder with output.
struct LeftFolder {
    folder: Folder,
    /// The number of folders of cluster types and clusters in it.
    places: usize,
}

/// The folders of the branch with an owner file of this environment that no `GitOpsRepo` names.
fn left_folders(loaded: &Loaded, target: &GitOpsDestination) -> Result<Vec<LeftFolder>, OpenError> {
    let open = |sealed: &Sealed| target.branch.open(sealed);
    let named = folders_of_branch(&loaded.fleet, &target.place);
    let owner = loaded.owner_text();
    let (mut left, mut opened) = (Vec::new(), 0);
    let mut rest: Vec<(Folder, usize, Tree)> = vec![(Folder::default(), 0, target.branch.tree.clone())];
    while let Some((folder, depth, tree)) = rest.pop() {
        let own = tree.file(OWNER_FILE, &open)?;
        let is_own = own.as_ref().is_some_and(|own| is_text(&own.blob, &owner));
        if is_own && !named.contains(&folder) {
            let places = own_folders(&tree, &open)?.len();
            left.extend((places > 0).then(|| LeftFolder { folder: folder.clone(), places }));
        }
        if depth == DEPTH_MAX {
            continue;
        }
        // In and below the folders of places is only output, and prefix folders contain only such folders.
        let is_output = |name: &str| own.is_some() && (name.len() == 2 || Place::find(&loaded.fleet, name).is_some());
        for (name, child) in tree.children().filter(|(name, _)| !name.starts_with('.') && !is_output(name)) {
            let Some(path) = Folder::parse(&folder.join(name)).filter(|_| opened < FOLDERS_MAX) else { continue };
            if let Some(below) = child.opened(&open)? {
                opened += 1;
                rest.extend((!is_marked(&below)).then_some((path, depth + 1, below)));
            }
        }
    }
    left.sort_by(|one, other| one.folder.cmp(&other.folder));
    Ok(left)
}

fn of_folder(loaded: &Loaded, target: &GitOpsDestination, LeftFolder { folder, places }: &LeftFolder) -> Diagnostic {
    let environment = &loaded.fleet.environment;
    let (shown, remove) = match folder.as_str() {
        "" => {
            let remove =
                "remove `.kalypso` and the folders of cluster types and clusters there, in a commit of that branch";
            ("the root".to_owned(), remove.to_owned())
        }
        path => {
            let remove = format!("remove them in a clone of that repository: `git rm -r --quiet {path} && git commit`");
            (format!("`{path}`"), remove)
        }
    };
    let (stay, branch) = (if *places == 1 { "stays" } else { "stay" }, &target.branch.name);
    let message = format!(
        "{} in {shown} of {branch} {stay} published: no GitOpsRepo of {environment} names this path any more",
        count(*places, "folder")
    );
    warning(message, environment.as_str(), &remove)
}

fn of_branch(loaded: &Loaded, (repo, branch): &(&str, &str)) -> Diagnostic {
    let environment = &loaded.fleet.environment;
    let repo = git::without_credential(repo);
    let message =
        format!("branch `{branch}` of {repo} stays published: no GitOpsRepo of {environment} names it any more");
    warning(message, environment.as_str(), &format!("delete it: `git push {repo} --delete {branch}`"))
}

fn warning(message: String, environment: &str, remove: &str) -> Diagnostic {
    Diagnostic::warning(Code::LeftOutput, message)
        .note(format!("clusters that pull it keep what they have, and get no later change of {environment}"))
        .help(format!("when no cluster pulls it any more, {remove}"))
}
