//! Names of reconcilers that contain the name of a deployment target.

/// The parts of a dotted name of a reconciler, in the format of Microsoft's Kalypso:
/// `environment.workspace.application.workload.target[.clusterType]`, or `environment.workload.target`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetName {
    /// The environment.
    pub environment: String,
    /// The workspace, if the name has the long form.
    pub workspace: Option<String>,
    /// The application, if the name has the long form.
    pub application: Option<String>,
    /// The workload.
    pub workload: String,
    /// The deployment target.
    pub target: String,
    /// The cluster type, if the name has one: the whole rest, including dots.
    pub cluster_type: Option<String>,
}

impl TargetName {
    /// Parses a name. None if it does not have this form. The caller must check that the target exists, because a name may have this form by accident.
    pub fn parse(name: &str) -> Option<Self> {
        let parts: Vec<&str> = name.splitn(6, '.').collect();
        if parts.iter().any(|part| part.is_empty()) {
            return None;
        }
        let text = |part: &&str| (*part).to_owned();
        match parts.as_slice() {
            [environment, workload, target, rest @ ..] if rest.len() < 2 => Some(Self {
                environment: text(environment),
                workspace: None,
                application: None,
                workload: text(workload),
                target: text(target),
                cluster_type: rest.first().map(text),
            }),
            [environment, workspace, application, workload, target, rest @ ..] => Some(Self {
                environment: text(environment),
                workspace: Some(text(workspace)),
                application: Some(text(application)),
                workload: text(workload),
                target: text(target),
                cluster_type: rest.first().map(text),
            }),
            _ => None,
        }
    }
}

/// The namespace that `flux bootstrap` creates. Names of reconcilers omit it.
const FLUX_NAMESPACE: &str = "flux-system";

/// The name of the reconciler for an object of Flux. For a `Kustomization`, it is the name of the object. The namespace precedes it, unless it is that of Flux or
/// the name contains a deployment target. For other kinds, the kind precedes both, so that a release and a source can have the same name as a
/// `Kustomization`.
pub fn flux_reconciler(kind: &str, namespace: &str, name: &str) -> String {
    let is_plain = matches!(namespace, "" | FLUX_NAMESPACE);
    let is_target = || kind == "Kustomization" && TargetName::parse(name).is_some();
    let name = if is_plain || is_target() { name.to_owned() } else { format!("{namespace}/{name}") };
    if kind == "Kustomization" { name } else { format!("{kind}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str) -> String {
        let none = || "-".to_owned();
        TargetName::parse(name).map_or_else(none, |name| {
            let (workspace, application) = (name.workspace.unwrap_or_else(none), name.application.unwrap_or_else(none));
            let cluster_type = name.cluster_type.unwrap_or_else(none);
            format!("{}/{workspace}/{application}/{}/{}/{cluster_type}", name.environment, name.workload, name.target)
        })
    }

    #[test]
    fn long_and_short_names() {
        assert_eq!(check("dev.kaizen.greeting.hello.functional-test"), "dev/kaizen/greeting/hello/functional-test/-");
        assert_eq!(
            check("dev.kaizen.greeting.hello.functional-test.drone"),
            "dev/kaizen/greeting/hello/functional-test/drone"
        );
        assert_eq!(check("dev.hello.functional-test"), "dev/-/-/hello/functional-test/-");
        assert_eq!(check("dev.hello.functional-test.drone"), "dev/-/-/hello/functional-test/drone");
        assert_eq!(check("a.b.c.d.e.f.g"), "a/b/c/d/e/f.g");
    }

    #[test]
    fn other_names_are_not_parsed() {
        for name in ["", "flux-system", "a.b", "a..b.c", ".a.b", "a.b.", "a.b.c.d.e."] {
            assert_eq!(check(name), "-", "{name}");
        }
    }
}
