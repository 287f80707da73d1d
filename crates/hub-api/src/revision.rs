//! Finds the commit in revisions of reconcilers.

/// The commit of a revision: the part after `sha1:` or `sha256:`, or else the whole revision (a tag, a version, a bare commit).
///
/// Flux writes `main@sha1:<commit>`, `sha1:<commit>`, `refs/tags/v1@sha1:<commit>`, `6.7.2@sha256:<digest>` and, for Helm charts, `6.7.2`
/// (<https://fluxcd.io/flux/components/source/gitrepositories/#artifact>); before version 2 it wrote `main/<commit>`. Argo CD writes the bare commit.
pub fn commit(revision: &str) -> &str {
    let revision = revision.trim();
    let digest = ["sha1:", "sha256:"].iter().find_map(|algorithm| revision.rsplit_once(algorithm));
    if let Some((_, digits)) = digest.filter(|(_, digits)| is_hash(digits)) {
        return digits;
    }
    match revision.rsplit_once('/') {
        Some((_, digits)) if is_hash(digits) => digits,
        _ => revision,
    }
}

/// The branch or reference before the commit, if the revision names one.
pub fn branch(revision: &str) -> Option<&str> {
    let (branch, _) = revision.trim().rsplit_once('@')?;
    Some(branch.strip_prefix("refs/heads/").unwrap_or(branch)).filter(|branch| !branch.is_empty())
}

/// Whether a text is a full git object id or digest.
pub fn is_hash(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMIT: &str = "41c77fe0a2b3c4d5e6f708192a3b4c5d6e7f8091";

    #[test]
    fn every_form_of_flux_and_argo_gives_the_commit() {
        for form in ["main@sha1:C", "sha1:C", "refs/tags/v1@sha1:C", "refs/heads/main@sha1:C", "main/C", "C", " C\n"] {
            assert_eq!(commit(&form.replace('C', COMMIT)), COMMIT, "{form}");
        }
        assert_eq!(commit("6.7.2"), "6.7.2");
        assert_eq!(commit("main@sha1:short"), "main@sha1:short");
        assert_eq!(commit(&format!("6.7.2@sha256:{}", "ab".repeat(32))), "ab".repeat(32));
    }

    #[test]
    fn branch_is_the_part_before_the_revision() {
        assert_eq!(branch("feature/a@b@sha1:C"), Some("feature/a@b"));
        assert_eq!(branch("refs/heads/main@sha1:C"), Some("main"));
        assert_eq!(branch("sha1:C"), None);
        assert_eq!(branch("@sha1:C"), None);
    }
}
