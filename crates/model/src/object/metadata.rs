//! Finds words in the metadata of objects that have no effect and are probably misspelled.

use super::annotation;
use super::config_map::PLATFORM_CONFIG;
use super::deployment_target::WORKLOAD_LABEL;
use crate::decode::{self, Decoder, cut, is_null, scalar_text};
use crate::diagnostic::Code;
use crate::earlier_names;
use crate::kind::{HUB_GROUP, Kind};
use crate::owners::{self, OWNERS};
use crate::similar::{is_spelling_of, nearest};
use crate::yaml::Node;

/// The fields that Kubernetes defines. Kalypso uses few of them.
const FIELDS: [&str; 15] = [
    "annotations",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "managedFields",
    "name",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// The labels of a `ConfigMap` or `ConfigSchema` that select assignments.
const SCOPES: [&str; 4] = ["cluster-type", "cluster", "deployment-target", WORKLOAD_LABEL];

impl Decoder<'_> {
    /// Warns of unknown words in the metadata of an object.
    pub(crate) fn check_metadata(&mut self, root: &Node, kind: Kind) {
        for (key, value) in entries(root, &["metadata"]) {
            let name = scalar_text(key);
            if FIELDS.contains(&&*name) {
                continue;
            }
            let message = format!("metadata has no field `{}`: it is ignored", cut(&name));
            self.warning(Code::UnknownField, key.span, message);
            // Another frequent mistake is a label beside `labels` instead of in it.
            let is_text = value.as_scalar().is_some() && !is_null(value);
            match nearest(&name, FIELDS) {
                Some(known) => self.help(format!("did you mean `{known}`?")),
                None if is_text => self.help("is it a label? It has to be below `labels`"),
                None => {}
            }
        }
        for (key, value) in entries(root, &["metadata", "annotations"]) {
            if let Some(code) = scalar_text(key).strip_prefix(annotation::ACKNOWLEDGE) {
                self.check_acknowledgement((key, value), code);
            } else {
                self.check_annotation(key, kind);
                self.check_owners((key, value));
                self.check_earlier_names((key, value));
            }
        }
        self.check_label_rules(root, &["metadata", "labels"]);
        if matches!(kind, Kind::ConfigMap | Kind::ConfigSchema) {
            self.check_labels(root, kind);
        }
    }

    fn check_acknowledgement(&mut self, (key, value): (&Node, &Node), code: &str) {
        if Code::find(code).is_none() {
            let message = format!("there is no code `{}` to acknowledge", cut(code));
            self.warning(Code::UnknownAnnotation, key.span, message);
            self.help(format!("write the code that the warning has: `{}K0202`", annotation::ACKNOWLEDGE));
        } else if annotation::acknowledgement(&scalar_text(value)).is_none() {
            let message = "this acknowledgement does not count: it gives no reason, or no day as `2027-01-31`";
            self.warning(Code::InvalidAnnotation, value.span, message);
            self.help(
                "give the reason why the warning is acceptable here: `the reason`, or `until 2027-01-31: the reason`",
            );
        }
    }

    fn check_owners(&mut self, (key, value): (&Node, &Node)) {
        let text = scalar_text(value);
        let Some(word) = owners::first_wrong(&text).filter(|_| *scalar_text(key) == *OWNERS) else { return };
        self.warning(Code::InvalidAnnotation, value.span, format!("`{}` is no owner: it is ignored", cut(word)));
        self.help("write `@user`, `@organization/team` or an e-mail address, with spaces between several");
    }

    fn check_earlier_names(&mut self, (key, value): (&Node, &Node)) {
        let text = scalar_text(value);
        let Some(word) = earlier_names::first_wrong(&scalar_text(key), &text) else { return };
        self.warning(Code::InvalidAnnotation, value.span, format!("`{}` is no earlier name: it is ignored", cut(word)));
        self.help(match &*scalar_text(key) {
            earlier_names::RENAMED_TARGETS => "write `NEW=OLD`, with commas between several; `kalypso rename` does",
            _ => "write the names that it had, with commas between several; `kalypso rename` does",
        });
    }

    fn check_annotation(&mut self, key: &Node, kind: Kind) {
        let written = scalar_text(key);
        let known = annotation::ALL.iter().find(|(known, _)| **known == *written);
        if known.is_some_and(|(_, kinds)| kinds.contains(&kind)) {
            return;
        }
        let (domain, name) = written.split_once('/').unwrap_or_default();
        let is_of_domain = |rest: &str| rest.ends_with('.') && domain != HUB_GROUP;
        let is_ours = domain.strip_suffix(annotation::DOMAIN).is_some_and(is_of_domain);
        // Objects have many annotations of other systems. Only those with a name similar to Kalypso's are compared in detail.
        let is_candidate =
            |known: &&str| is_ours || known.rsplit_once('/').is_some_and(|(_, of_known)| of_known == name);
        let acknowledges = || name.split('.').next().is_some_and(|word| is_spelling_of("acknowledge", word));
        let acknowledge = (domain == annotation::DOMAIN && acknowledges()).then_some(annotation::ACKNOWLEDGE);
        let nearest = nearest(&written, annotation::ALL.iter().map(|(known, _)| *known).filter(is_candidate));
        let nearest = nearest.or(acknowledge);
        if !is_ours && nearest.is_none() {
            return;
        }
        let written = cut(&written);
        let message = match known {
            Some(_) => format!("the annotation `{written}` has no effect on a `{kind}`"),
            None => format!("there is no annotation `{written}`: it is ignored"),
        };
        self.warning(Code::UnknownAnnotation, key.span, message);
        match (known, nearest) {
            (Some((_, kinds)), _) => {
                let kinds: Vec<_> = kinds.iter().map(|kind| format!("`{kind}`")).collect();
                self.help(format!("it is for {}", kinds.join(" and ")));
            }
            (None, Some(nearest)) => self.help(format!("did you mean `{nearest}`?")),
            (None, None) => self.help("the reference of kinds lists the annotations of each kind"),
        }
    }

    fn check_labels(&mut self, root: &Node, kind: Kind) {
        let labels = entries(root, &["metadata", "labels"]);
        let is_absent = |known: &&str| labels.iter().all(|(key, _)| *scalar_text(key) != **known);
        let composed = (kind == Kind::ConfigMap).then_some(PLATFORM_CONFIG);
        let known: Vec<_> = SCOPES.into_iter().chain(composed).filter(is_absent).collect();
        for (key, value) in labels {
            let (written, text) = (scalar_text(key), scalar_text(value));
            if composed.is_some() && *written == *PLATFORM_CONFIG && !matches!(&*text, "true" | "false") {
                let message = format!("`{PLATFORM_CONFIG}: {:?}` does not make the map take part", cut(&text));
                self.warning(Code::AlmostKnownLabel, value.span, message);
                self.help(format!("only `{PLATFORM_CONFIG}: \"true\"` does"));
            }
            let is_known = SCOPES.contains(&&*written) || *written == *PLATFORM_CONFIG;
            if let Some(known) = known.iter().find(|known| !is_known && is_spelling_of(known, &written)) {
                let message = format!("the label `{}` has no effect; its name is similar to `{known}`", cut(&written));
                self.warning(Code::AlmostKnownLabel, key.span, message);
                self.help(format!("did you mean `{known}`?"));
            }
        }
    }
}

fn entries<'n>(root: &'n Node, keys: &[&str]) -> &'n [(Node, Node)] {
    decode::node(root, keys).and_then(Node::as_mapping).unwrap_or_default()
}
