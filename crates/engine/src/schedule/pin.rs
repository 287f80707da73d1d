//! Release pins: their manifests override the manifests of deployment targets.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::digest::Digest;
use model::field_path::FieldPath;
use model::fleet::Fleet;
use model::name::ReleasePinName;
use model::object::release::RELEASE_KEYS;
use model::object::release_pin::MANIFESTS;
use model::object::{AnyObject, Object, ReleasePin};
use model::selector::{LabelSelector, Operator};

use crate::schedule::label_pairs::LabelPairIndex;
use crate::schedule::target::Target;

/// A release pin.
pub type Pin = Arc<Object<ReleasePin>>;

/// The `manifests` field of a target, as the data of its reconciler template.
pub type Manifests = BTreeMap<Arc<str>, Arc<str>>;

/// The pins that hold a target at a place, and the manifests that they set.
pub type HoldingPins<'p> = (Vec<&'p Pin>, Manifests);

/// The release pins of a fleet.
#[derive(Debug, Default)]
pub struct Pins {
    /// By name, followed by the additional copies of pins that exist more than once.
    objects: Vec<Pin>,
    /// The index by a label pair that the pin requires of targets.
    index: LabelPairIndex,
    /// Diagnostics about pins that exist more than once.
    duplicates: BTreeMap<ReleasePinName, Diagnostic>,
}

impl Pins {
    /// Reads the pins of a fleet.
    pub fn new(fleet: &Fleet) -> Self {
        let copies = fleet.duplicates.values().flatten().filter_map(|copy| match copy {
            AnyObject::ReleasePin(object) => Some(object),
            _ => None,
        });
        let objects: Vec<_> = fleet.release_pins.values().chain(copies).cloned().collect();
        let mut index = LabelPairIndex::default();
        for (position, pin) in objects.iter().enumerate() {
            index.insert(position, pair(&pin.spec.selection.targets));
        }
        let duplicate = |pin: &Pin| Some((pin.name.clone(), fleet.duplicate_diagnostic(&pin.key())?));
        let duplicates = objects.iter().filter_map(duplicate).collect();
        Self { objects, index, duplicates }
    }

    /// The digest of the pins' names, selections and manifests. Reasons and expiry dates are not part of it.
    pub fn digest(&self) -> Digest {
        let effect = |pin: &Pin| Digest::from_value(&(&pin.name, &pin.spec.selection, &pin.spec.manifests));
        Digest::from_value(&self.objects.iter().map(effect).collect::<Vec<_>>())
    }

    /// All pins, including the additional copies of pins that exist more than once.
    pub(crate) fn all(&self) -> &[Pin] {
        &self.objects
    }

    /// Returns the pins that hold a target at a place. `label` returns the value of a label of the place by its key.
    pub fn holding<'p, 'l>(&'p self, label: impl Fn(&str) -> Option<&'l Arc<str>>, target: &Target) -> Vec<&'p Pin> {
        if self.objects.is_empty() {
            return Vec::new();
        }
        let candidates = self.index.candidates(&target.labels).into_iter();
        let holds = |pin: &&Pin| {
            let selection = &pin.spec.selection;
            (selection.workspace.is_empty() || *selection.workspace == *target.workspace())
                && selection.targets.matches(&target.labels)
                && selection.cluster_types.matches_by(&label)
        };
        candidates.filter_map(|position| self.objects.get(position)).filter(holds).collect()
    }

    /// What the pins that hold a target at a place say about its manifests, in their own words: a commit is still part of the tag or branch that a promotion wrote. The
    /// pins of people override what promotions wrote. Also returns whether a person pinned the release.
    pub(crate) fn said<'l>(&self, label: impl Fn(&str) -> Option<&'l Arc<str>>, target: &Target) -> (Manifests, bool) {
        said(self.holding(label, target), &target.manifests)
    }

    /// Returns the manifests of a target with the pins applied. `label` returns the value of a label of the place by its key. None if no pin
    /// holds the target at the place.
    ///
    /// # Errors
    /// If two pins set one key differently, or if a pin exists more than once.
    pub fn apply<'l>(
        &self,
        label: impl Fn(&str) -> Option<&'l Arc<str>>,
        target: &Target,
    ) -> Result<Option<Manifests>, Vec<Diagnostic>> {
        let (pins, manifests) = self.holding_manifests(label, target)?;
        Ok((!pins.is_empty()).then(|| target.manifests.clone().into_iter().chain(manifests).collect()))
    }

    /// Returns the pins that hold a target at a place, and the manifests that they set.
    ///
    /// # Errors
    /// As [`Self::apply`].
    pub fn holding_manifests<'p, 'l>(
        &'p self,
        label: impl Fn(&str) -> Option<&'l Arc<str>>,
        target: &Target,
    ) -> Result<HoldingPins<'p>, Vec<Diagnostic>> {
        let pins = self.holding(label, target);
        let mut set: BTreeMap<Arc<str>, (Arc<str>, &Object<ReleasePin>)> = BTreeMap::new();
        let names: BTreeSet<_> = pins.iter().map(|pin| &pin.name).collect();
        let mut problems: Vec<_> = names.into_iter().filter_map(|name| self.duplicates.get(name).cloned()).collect();
        // What people pin is an exception from the release that a promotion wrote, so it never conflicts with it.
        let (promoted, exceptions): (Vec<&Pin>, Vec<&Pin>) = pins.iter().partition(|pin| pin.is_promoted());
        for pin in exceptions.into_iter().chain(promoted) {
            let is_exception = |key: &Arc<str>| set.get(key).is_some_and(|(_, by)| !by.is_promoted());
            let said = pin.of_target(&target.manifests).filter(|(key, _)| !pin.is_promoted() || !is_exception(key));
            let all: Vec<_> = said.flat_map(|(key, version)| pin.set_by(key, version)).collect();
            for (key, value) in all {
                let (first, by) = set.entry(Arc::clone(&key)).or_insert_with(|| (Arc::clone(&value), pin));
                if *first != value && by.name != pin.name && by.is_promoted() == pin.is_promoted() {
                    problems.push(conflict(&key, [(first, by), (&value, pin)]));
                }
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let manifests = set.into_iter().map(|(key, (value, _))| (key, value)).collect();
        Ok((pins, manifests))
    }
}

/// What pins say about a target with these manifests, as [`Pins::said`].
pub(crate) fn said<'p>(pins: impl IntoIterator<Item = &'p Pin>, manifests: &Manifests) -> (Manifests, bool) {
    let (promoted, exceptions): (Vec<&Pin>, Vec<&Pin>) = pins.into_iter().partition(|pin| pin.is_promoted());
    let sets_release = |pin: &&Pin| pin.spec.manifests.keys().any(|key| RELEASE_KEYS.contains(&&**key));
    let is_pinned = exceptions.iter().any(sets_release);
    let all = promoted.into_iter().chain(exceptions).flat_map(|pin| pin.of_target(manifests));
    (all.map(|(key, version)| (Arc::clone(key), Arc::clone(version))).collect(), is_pinned)
}

/// The first label pair of a selector whose requirement allows only one value.
fn pair(selector: &LabelSelector) -> Option<(&Arc<str>, &Arc<str>)> {
    selector.requirements.iter().find_map(|requirement| match &requirement.operator {
        Operator::In(values) => match values.as_slice() {
            [value] => Some((&requirement.key, value)),
            _ => None,
        },
        _ => None,
    })
}

fn conflict(key: &str, pins: [(&Arc<str>, &Object<ReleasePin>); 2]) -> Diagnostic {
    let [(_, first), (_, second)] = pins;
    let message = format!("release pins `{}` and `{}` set `{key}` to different values", first.name, second.name);
    let mut diagnostic = Diagnostic::error(Code::ConflictingPins, message);
    for (value, pin) in pins {
        let origin = Origin::field(&pin.key(), FieldPath::from(MANIFESTS).key(key));
        diagnostic = diagnostic.at(origin, format!("`{value}` of pin `{}`", pin.name));
    }
    diagnostic.help("remove one of the two pins, or change their selectors so that they do not overlap")
}

#[cfg(test)]
mod tests {
    use model::fleet::{AuthorRole, FleetFile, FleetInput};
    use model::git_id::GitId;
    use model::label::Labels;
    use model::name::EnvironmentName;
    use model::source::{File, Files, Source};

    use super::*;

    const TARGET: &str = "
apiVersion: scheduler.kalypso.io/v1alpha1
kind: DeploymentTarget
metadata: {name: checkout-eu, labels: {workload: checkout, workspace: shop, purpose: sale}}
spec: {environment: dev, manifests: {repo: r, branch: main, path: p}}
";

    fn pin(name: &str, spec: &str) -> String {
        format!(
            "---\napiVersion: fleet.kalypso.io/v1alpha1\nkind: ReleasePin\nmetadata: {{name: {name}}}\nspec: {spec}\n"
        )
    }

    /// Compares the target's manifests with the pins applied, at a place in Chicago, or the problems.
    fn check(pins: &[(&str, &str)], expected: Result<Option<&str>, &[&str]>) {
        let text: String =
            [TARGET.to_owned()].into_iter().chain(pins.iter().map(|(name, spec)| pin(name, spec))).collect();
        let mut files = Files::default();
        let (source, id, content) = (Source::directory().into(), GitId::of_blob(b""), text.as_bytes().into());
        let file = files.add(File { source, path: "a.yaml".into(), id, content });
        let contents = vec![FleetFile::read(AuthorRole::Platform, file, &files)];
        let (environment, unavailable) = (EnvironmentName::new("dev").unwrap(), BTreeSet::new());
        let (fleet, _) = Fleet::build(FleetInput { environment, files: files.into(), contents, unavailable });
        let place = Labels::from_iter([("site", "chicago"), ("size", "large")]);
        let (targets, _) = crate::schedule::mapping::targets(&fleet);
        let found = Pins::new(&fleet).apply(|key| place.get(key), &targets[0]);
        let shown = found.map(|applied| {
            applied.map(|manifests| manifests.values().map(|value| &**value).collect::<Vec<_>>().join(" "))
        });
        let shown = shown.map_err(|problems| problems.into_iter().map(|problem| problem.message).collect::<Vec<_>>());
        let expected = expected.map(|values| values.map(str::to_owned));
        assert_eq!(shown, expected.map_err(|messages| messages.iter().map(|message| (*message).to_owned()).collect()));
    }

    const ANY: &str = "clusterTypeSelector: {labelSelector: {}}, deploymentTargetSelector: {labelSelector: {}}";

    #[test]
    fn a_pin_is_applied_key_by_key_where_its_selectors_match() {
        let of = |targets: &str, places: &str| {
            format!(
                "{{deploymentTargetSelector: {{{targets}}}, clusterTypeSelector: {{labelSelector: {{{places}}}}}, manifests: {{branch: release-1, tag: t}}}}"
            )
        };
        let held = Ok(Some("release-1 p r t"));
        check(
            &[(
                "a",
                &of(
                    "labelSelector: {matchLabels: {workload: checkout, purpose: sale}}",
                    "matchLabels: {site: chicago}",
                ),
            )],
            held,
        );
        check(
            &[("a", &of("workspace: shop, labelSelector: {matchExpressions: [{key: purpose, operator: Exists}]}", ""))],
            held,
        );
        check(&[("a", &of("workspace: other, labelSelector: {}", ""))], Ok(None));
        check(&[("a", &of("labelSelector: {matchLabels: {workload: checkout, purpose: test}}", ""))], Ok(None));
        check(&[("a", &of("labelSelector: {}", "matchLabels: {site: boston}"))], Ok(None));
        check(&[], Ok(None));
    }

    #[test]
    fn a_pin_of_a_person_overrides_the_release_that_a_promotion_wrote() {
        let of = |site: &str, branch: &str| {
            format!(
                "{{deploymentTargetSelector: {{labelSelector: {{}}}}, clusterTypeSelector: {{labelSelector: {{{site}}}}}, manifests: {{branch: {branch}}}}}"
            )
        };
        let release = of("", "b2");
        check(&[("promoted-checkout", &release)], Ok(Some("b2 p r")));
        check(
            &[("promoted-checkout", &release), ("hold", &of("matchLabels: {site: chicago}", "b1"))],
            Ok(Some("b1 p r")),
        );
        check(
            &[("a-hold", &of("matchLabels: {site: boston}", "b1")), ("promoted-checkout", &release)],
            Ok(Some("b2 p r")),
        );
    }

    #[test]
    fn a_pin_of_a_person_replaces_the_commit_too() {
        let of = |manifests: &str| format!("{{{ANY}, manifests: {{{manifests}}}}}");
        let commit = "41c77fe5de0c8ae0d5ca2ae0d5ca2ae0d5ca2ae0";
        let release = of(&format!("branch: b2@{commit}"));
        check(&[("promoted-checkout", &release)], Ok(Some(&format!("b2 {commit} p r"))));
        check(&[("promoted-checkout", &release), ("hold", &of("branch: b1"))], Ok(Some("b1 p r")));
        check(&[("promoted-checkout", &release), ("hold", &of("path: q"))], Ok(Some(&format!("b2 {commit} q r"))));
        // What a person writes is a name, whatever it looks like.
        check(&[("hold", &release)], Ok(Some(&format!("b2@{commit} p r"))));
    }

    #[test]
    fn promoted_release_sets_only_keys_of_the_target() {
        let of = |manifests: &str| format!("{{{ANY}, manifests: {{{manifests}}}}}");
        check(&[("promoted-checkout", &of("branch: b2, tag: v2"))], Ok(Some("b2 p r")));
        check(&[("mine", &of("branch: b2, tag: v2"))], Ok(Some("b2 p r v2")));
    }

    #[test]
    fn pins_go_together_unless_they_set_one_key_differently() {
        let of = |manifests: &str| format!("{{{ANY}, manifests: {{{manifests}}}}}");
        check(&[("a", &of("branch: b1")), ("b", &of("branch: b1, path: p2"))], Ok(Some("b1 p2 r")));
        let conflict = "release pins `a` and `b` set `branch` to different values";
        check(&[("a", &of("branch: b1")), ("b", &of("branch: b2, path: p2"))], Err(&[conflict]));
    }

    #[test]
    fn a_pin_that_exists_twice_holds_nothing() {
        let of = |manifests: &str| format!("{{{ANY}, manifests: {{{manifests}}}}}");
        let duplicate = "ReleasePin `a` exists 2 times";
        check(&[("a", &of("branch: b1")), ("a", &of("branch: b2"))], Err(&[duplicate]));
    }
}
