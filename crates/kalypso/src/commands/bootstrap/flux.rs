//! The objects of Flux that pull a folder, and report to the hub.

use std::fmt::Write as _;

use super::{PulledFolder, quoted};
use crate::arguments::Bootstrap;

/// The `GitRepository` and the `Kustomization`, and with a hub the `Provider` and the `Alert`.
pub(super) fn objects(pulled: &PulledFolder<'_>, options: &Bootstrap) -> String {
    let PulledFolder { environment, place, repository, branch, path } = pulled;
    let interval = &options.interval;
    let secret = options.secret.as_ref().map_or_else(String::new, |name| {
        format!("  # The credentials: https://fluxcd.io/flux/components/source/gitrepositories/#secret-reference\n  secretRef:\n    name: {}\n", quoted(name))
    });
    let [url, quoted_branch, folder] = [repository, branch, &path.as_str()].map(|text| quoted(text));
    let mut text = format!(
        "\
# {place} pulls its folder of {environment}. Apply this once: kubectl apply -f -
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: kalypso-{environment}
  namespace: flux-system
spec:
  interval: {interval}
  url: {url}
  ref:
    branch: {quoted_branch}
{secret}  # Only this folder is stored on the cluster.
  ignore: |
{patterns}---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: kalypso-{environment}
  namespace: flux-system
  # The hub reads the folder from these annotations.
  annotations:
    event.toolkit.fluxcd.io/repository: {url}
    event.toolkit.fluxcd.io/branch: {quoted_branch}
    event.toolkit.fluxcd.io/path: {folder}
spec:
  interval: {interval}
  sourceRef:
    kind: GitRepository
    name: kalypso-{environment}
  path: {applied}
  prune: true
",
        patterns = everything_except(path),
        applied = quoted(&format!("./{path}")),
    );
    if let (Some(hub), Some(secret)) = (&options.hub, &options.token_secret) {
        text.push_str(&reports(place, (hub, secret)));
    }
    text
}

/// The lines of an `ignore` that leave only a folder. Git's patterns can bring nothing back below a folder that is left out, so each folder on the way is
/// brought back, and what is beside it left out.
fn everything_except(path: &str) -> String {
    let (mut lines, mut above) = (String::new(), String::new());
    for folder in path.split('/') {
        let folder = escaped(folder);
        let _ = writeln!(lines, "    {above}/*\n    !{above}/{folder}");
        above = format!("{above}/{folder}");
    }
    lines
}

/// A name that git's patterns take literally.
fn escaped(name: &str) -> String {
    name.chars().flat_map(|c| matches!(c, '*' | '?' | '[' | '\\').then_some('\\').into_iter().chain([c])).collect()
}

/// The objects that send the events of Flux to the hub.
fn reports(place: &str, (hub, secret): (&str, &str)) -> String {
    let (address, secret) = (quoted(&format!("{}/api/v1/reports/flux", hub.trim_end_matches('/'))), quoted(secret));
    format!(
        "\
---
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Provider
metadata:
  name: kalypso-hub
  namespace: flux-system
spec:
  type: generic
  address: {address}
  # Its key `headers` has the token: Authorization: Bearer TOKEN
  secretRef:
    name: {secret}
---
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Alert
metadata:
  name: kalypso-hub
  namespace: flux-system
spec:
  providerRef:
    name: kalypso-hub
  eventSeverity: info
  eventSources:
    - kind: Kustomization
      name: \"*\"
    - kind: HelmRelease
      name: \"*\"
    - kind: GitRepository
      name: \"*\"
    - kind: OCIRepository
      name: \"*\"
  eventMetadata:
    cluster: {host}
    heartbeatSeconds: \"1800\"
",
        host = quoted(place),
    )
}
