//! The `Application` of Argo CD that pulls a folder.

use super::{PulledFolder, quoted};
use crate::arguments::Bootstrap;
use crate::exit::Failure;

/// The `Application` that applies the folder on the cluster of Argo CD.
///
/// # Errors
/// If an option is for Flux only.
pub(super) fn application(pulled: &PulledFolder<'_>, options: &Bootstrap) -> Result<String, Failure> {
    if options.secret.is_some() {
        let help = "add the repository to Argo CD: argocd repo add URL";
        return Err(Failure::usage("`--secret` is for Flux: Argo CD stores its own credentials").help(help));
    }
    if options.hub.is_some() {
        let help = "apply deploy/argocd/notifications.yaml, as the page `Connect Argo CD` shows";
        return Err(Failure::usage("`--hub` is for Flux: Argo CD reports by its notifications").help(help));
    }
    let PulledFolder { environment, place, repository, branch, path } = pulled;
    Ok(format!(
        "\
# {place} pulls its folder of {environment}. Apply this once: kubectl apply -f -
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: kalypso-{environment}-{place}
  namespace: argocd
spec:
  project: default
  source:
    repoURL: {url}
    targetRevision: {branch}
    path: {path}
    directory:
      recurse: true
  destination:
    server: https://kubernetes.default.svc
    namespace: argocd
  syncPolicy:
    automated:
      prune: true
      selfHeal: true
",
        url = quoted(repository),
        branch = quoted(branch),
        path = quoted(path),
    ))
}
