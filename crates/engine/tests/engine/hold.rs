//! The earlier publications that are needed for held assignments.

use std::collections::BTreeMap;
use std::io::{self, Result};

use engine::compile::Compiled;
use engine::hold::{FLEETS_MAX, Held, NotHeldReason, PublicationHistory, Search, needs_search};
use engine::output::{Destination, assemble};
use model::diagnostic::AssignmentId;
use model::git_id::GitId;
use model::tree::{OpenError, Sealed, Tree};
use testkit::generator::ENVIRONMENT;

/// Two targets that are assigned to all places.
const FLEET: &str = "
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata: {name: flux}
spec: {type: reconciler, manifests: ['branch: {{ .Manifests.branch }}']}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: DeploymentTarget
metadata: {name: shop-live, labels: {size: small}}
spec: {environment: prod, manifests: {branch: prod}}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: DeploymentTarget
metadata: {name: till-live}
spec: {environment: prod, manifests: {branch: prod}}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: SchedulingPolicy
metadata: {name: all}
spec: {deploymentTargetSelector: {labelSelector: {}}, clusterTypeSelector: {labelSelector: {}}}
";

/// A value and a schema that stop all assignments.
const BROKEN: &str = "
---
apiVersion: v1
kind: ConfigMap
metadata: {name: common, labels: {platform-config: 'true'}}
data: {PORT: many}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ConfigSchema
metadata: {name: ports}
spec: {schema: '{\"properties\": {\"PORT\": {\"type\": \"integer\"}}}'}
";

fn pin(name: &str, targets: &str, branch: &str) -> String {
    format!(
        "\n---\napiVersion: fleet.kalypso.io/v1alpha1\nkind: ReleasePin\nmetadata: {{name: {name}}}\nspec:\n  \
         deploymentTargetSelector: {{labelSelector: {{{targets}}}}}\n  clusterTypeSelector: {{labelSelector: {{}}}}\n  \
         manifests: {{branch: {branch}}}\n"
    )
}

fn places(count: usize) -> String {
    let place = |number: usize| {
        format!(
            "\n---\napiVersion: scheduler.kalypso.io/v1alpha1\nkind: ClusterType\nmetadata: {{name: p{number:02}}}\n\
             spec: {{reconciler: flux, namespaceService: flux, configType: flux}}\n"
        )
    };
    (0..count).map(place).collect()
}

fn compiled(texts: &[&str]) -> Result<Compiled> {
    let files = vec![("all.yaml".to_owned(), texts.concat().into_bytes())];
    let (fleet, _) = testkit::directory::fleet_of(files, ENVIRONMENT)?;
    Ok(Compiled::new(&fleet.into()))
}

fn commit(number: usize) -> GitId {
    GitId::of_blob(number.to_string().as_bytes())
}

/// Runs a search on a branch that contains the output of `good`, with one publication. `held` contains the assignments that the publication
/// held. `give` returns whether the fleet of a publication can be read. Returns the number of fleets read, and the result.
fn check(
    (good, now): (&Compiled, &Compiled),
    held: &BTreeMap<AssignmentId, GitId>,
    give: &dyn Fn(GitId) -> std::result::Result<(), String>,
) -> std::result::Result<(usize, Held), OpenError> {
    let open = |sealed: &Sealed| good.open(sealed);
    let destination = Destination::default();
    let head = assemble(good, &Tree::default(), &destination, &open)?.tree;
    let history = PublicationHistory {
        head: &head,
        folder: &destination.folder,
        publications: &[commit(0)],
        held: &|_| held.clone(),
        tree: &|_| Ok(head.clone()),
        open: &open,
    };
    let mut search = Search::begin(now.prepared(), now.failing(), &history)?;
    let mut given = 0;
    while let Some(commit) = search.next() {
        given += 1;
        search.add_fleet(commit, give(commit).map(|()| good.prepared()))?;
    }
    Ok((given, search.finish()))
}

#[test]
fn only_assignments_that_a_pin_holds_are_searched() -> Result<()> {
    let (places, small) = (places(2), pin("hold", "matchLabels: {size: small}", "old"));
    let good = compiled(&[FLEET, &places])?;
    let nothing = BTreeMap::new();
    let check = |now: &Compiled, given: usize, expected: &[&str]| {
        let (count, held) = check((&good, now), &nothing, &|_| Ok(())).map_err(io::Error::other)?;
        let found: Vec<_> = held.folders.keys().map(ToString::to_string).collect();
        assert_eq!((count, found.iter().map(String::as_str).collect::<Vec<_>>()), (given, expected.to_vec()));
        assert!(held.failures.is_empty(), "{:?}", held.failures);
        assert_eq!(needs_search(now.prepared(), || now.failing()), given > 0);
        io::Result::Ok(())
    };
    check(&compiled(&[FLEET, &places, &small])?, 0, &[])?;
    check(&compiled(&[FLEET, &places, BROKEN])?, 0, &[])?;
    check(&compiled(&[FLEET, &places, BROKEN, &small])?, 1, &["p00/shop-live", "p01/shop-live"])?;
    let conflict = pin("other", "matchLabels: {size: small}", "older");
    check(&compiled(&[FLEET, &places, BROKEN, &small, &conflict])?, 0, &[])
}

#[test]
fn number_of_earlier_fleets_is_limited() -> Result<()> {
    let (places, any) = (places(FLEETS_MAX + 2), pin("hold", "", "old"));
    let (good, now) = (compiled(&[FLEET, &places])?, compiled(&[FLEET, &places, BROKEN, &any])?);
    // Each place was held from another publication.
    let number = |id: &AssignmentId| id.place.as_str().trim_start_matches('p').parse::<usize>().unwrap_or_default();
    let held: BTreeMap<_, _> = now.failing().map(|id| (id.clone(), commit(number(&id) + 1))).collect();
    let (given, found) = check((&good, &now), &held, &|_| Ok(())).map_err(io::Error::other)?;
    assert_eq!((given, found.folders.len()), (FLEETS_MAX, 2 * FLEETS_MAX));
    let too_many = found.failures.values().filter(|not_held| matches!(not_held.reason, NotHeldReason::TooManyFleets));
    assert_eq!(too_many.count(), 4);
    Ok(())
}

#[test]
fn held_folder_stays_without_its_pin_or_has_a_reason() -> Result<()> {
    let places = places(1);
    let (good, now) = (compiled(&[FLEET, &places])?, compiled(&[FLEET, &places, BROKEN])?);
    let held: BTreeMap<_, _> = now.failing().take(1).map(|id| (id, commit(7))).collect();
    let (_, found) = check((&good, &now), &held, &|_| Ok(())).map_err(io::Error::other)?;
    let folder = found.folders.values().next().map(|folder| (folder.from, folder.pins.len(), folder.tree.id()));
    let id = held.keys().next().and_then(|id| good.get(id)?.folder());
    assert_eq!(folder, id.map(|id| (commit(7), 0, id)));
    let (_, found) = check((&good, &now), &held, &|_| Err("gone".to_owned())).map_err(io::Error::other)?;
    let codes: Vec<_> = found.diagnostics().iter().map(|found| (found.code.id(), found.assignments.len())).collect();
    assert_eq!(codes, [("K0221", 1)]);
    Ok(())
}
