//! Pull requests of the double on a real bare repository.

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use git_host::credential::Credential;
    use git_host::double::{BareRepository, HostDouble};
    use git_host::hosts::{self, memory::MemoryHost};
    use git_host::pull_request::{Merge, MergeRefusal, MergeRequest, NewPullRequest};
    use git_host::secret::Secret;
    use git_host::settings::HostSettings;
    use git_host::{HostKind, HostRepository};

    fn git(folder: &Path, arguments: &[&str]) -> String {
        let identity = ["-c", "user.name=Anna", "-c", "user.email=anna@example.com", "-c", "init.defaultBranch=main"];
        let output = Command::new("git").arg("-C").arg(folder).args(identity).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// Commits a text as file `a.yaml` on a branch that begins at another one, and pushes it.
    fn push(work: &Path, branch: &str, start: &str, text: &str) {
        git(work, &["checkout", "--quiet", "-B", branch, start]);
        std::fs::write(work.join("a.yaml"), text).unwrap();
        git(work, &["add", "--all"]);
        git(work, &["commit", "--quiet", "-m", text]);
        git(work, &["push", "--quiet", "origin", branch]);
    }

    #[test]
    fn a_pull_request_is_merged_in_a_real_repository() {
        let folder = tempfile::tempdir().unwrap();
        let (bare, work) = (folder.path().join("gitops.git"), folder.path().join("work"));
        git(folder.path(), &["init", "--quiet", "--bare", "gitops.git"]);
        git(folder.path(), &["clone", "--quiet", "gitops.git", "work"]);
        git(&work, &["commit", "--quiet", "--allow-empty", "-m", "begin"]);
        push(&work, "main", "HEAD", "a: 1\n");
        push(&work, "kalypso/dev", "main", "a: 2\n");
        push(&work, "kalypso/prod", "main", "a: 3\n");
        let host = MemoryHost::new(HostKind::Gitea);
        host.add_repository("acme/gitops", Box::new(BareRepository::open(&bare).unwrap()));
        let double = HostDouble::start(&host).unwrap();
        double.accept_token("token", "kalypso-bot");
        let credential = Credential::Token(Secret::new("token").into());
        let client = hosts::connect(&HostSettings::new(HostKind::Gitea, &double.url(), credential)).unwrap();
        let repository = HostRepository::from_path(&["acme", "gitops"]);
        let merge = |head: &str| {
            let (head, base, title) = (head.to_owned(), "main".to_owned(), "title".to_owned());
            let new = NewPullRequest { head, base, title, ..NewPullRequest::default() };
            let opened = client.open(&repository, &new).unwrap().pull_request;
            client.merge(&repository, opened.number, &MergeRequest::new(opened.head_commit.unwrap())).unwrap()
        };
        let Merge::Merged { commit: Some(commit) } = merge("kalypso/dev") else { panic!("not merged") };
        assert_eq!(git(&bare, &["rev-parse", "main"]), commit.to_string());
        assert_eq!(git(&bare, &["show", "main:a.yaml"]), "a: 2");
        assert_eq!(
            git(&bare, &["log", "-1", "--format=%an %s", "main"]),
            "Git host Merge branch 'kalypso/dev' into main"
        );
        assert!(matches!(merge("kalypso/prod"), Merge::Refused { reason: MergeRefusal::Conflict, .. }));
        assert!(BareRepository::open(&work.join("missing")).is_err());
    }
}
