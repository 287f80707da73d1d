//! Repositories over ssh, with a real server on the loopback interface.

use std::path::Path;

use git::{GitRepositories, Repositories, RepositoryError, RepositoryUrl, Revision, Settings};
use testkit::ssh_server::{SshServer, create_key};

use crate::playground::{Disk, commit, tree};

/// Settings for an ssh client that has the server's key, and ignores the configuration of this machine.
pub(crate) fn settings(disk: &Disk, identity: &str) -> Settings {
    let folder = disk.folder.path();
    let ssh = format!(
        "ssh -F /dev/null -o IdentitiesOnly=yes -i {} -o UserKnownHostsFile={} -o StrictHostKeyChecking=accept-new",
        folder.join(identity).display(),
        folder.join("known").display(),
    );
    Settings { ssh_command: Some(ssh), ..Settings::new(disk.cache()) }
}

/// The URL of a repository on this machine.
pub(crate) fn url(server: &SshServer, path: &Path) -> RepositoryUrl {
    RepositoryUrl::from_object(&server.url(server.port, path)).unwrap()
}

#[test]
fn a_repository_is_read_and_written_over_ssh() {
    if let Err(reason) = SshServer::availability() {
        println!("skipped: {reason}");
        return;
    }
    let disk = Disk::new();
    let path = disk.create("app");
    let server = SshServer::start(disk.folder.path());
    let url = url(&server, &path);
    let repositories = GitRepositories::new(settings(&disk, "client"));
    commit(&repositories, &url, "main", &[("a", "1")]);
    let head = GitRepositories::new(settings(&disk, "client")).resolve(&url, &Revision::branch("main")).unwrap();
    assert_eq!(repositories.tree(&head).unwrap(), tree(&[("a", "1")]));
    create_key(&disk.folder.path().join("stranger"));
    let refused = GitRepositories::new(settings(&disk, "stranger")).resolve(&url, &Revision::branch("main"));
    assert!(
        matches!(&refused, Err(RepositoryError::Unreachable { reason, .. }) if reason.contains("denied")),
        "{refused:?}"
    );
}
