//! The files for Argo CD in `deploy/argocd`, with the hub.

#[cfg(test)]
mod template;
#[cfg(test)]
mod triggers;
