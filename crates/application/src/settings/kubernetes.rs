//! How manifests are compared with the schemas of their kinds.

use super::Resolving;
use super::options::KubernetesOptions;

/// How manifests are compared with the schemas of their kinds.
#[derive(Clone, Debug)]
pub struct KubernetesSettings {
    /// Whether they are compared.
    pub is_validated: bool,
    /// The folder with schemas, from the folder of the configuration file. None: there is none.
    pub schemas: Option<String>,
    /// The kinds that are not compared.
    skipped: Vec<SkippedKind>,
}

/// A kind that is not compared.
#[derive(Clone, Debug)]
struct SkippedKind {
    /// The API group. None: any group.
    group: Option<String>,
    kind: String,
}

impl KubernetesSettings {
    /// Whether objects of a kind are not compared.
    pub fn skips(&self, group: &str, kind: &str) -> bool {
        self.skipped.iter().any(|one| one.kind == kind && one.group.as_ref().is_none_or(|own| own == group))
    }
}

impl Resolving {
    pub(super) fn kubernetes(&mut self, options: KubernetesOptions) -> KubernetesSettings {
        let KubernetesOptions { validate, schemas, skip_kinds } = options;
        let schemas = schemas.filter(|_| validate).and_then(|folder| self.folder(&folder));
        let skipped = skip_kinds.into_iter().map(|text| match text.rsplit_once('/') {
            Some((group, kind)) => SkippedKind { group: Some(group.to_owned()), kind: kind.to_owned() },
            None => SkippedKind { group: None, kind: text },
        });
        KubernetesSettings { is_validated: validate, schemas, skipped: skipped.collect() }
    }
}
