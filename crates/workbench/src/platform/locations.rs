//! Where the repositories of a new platform are, and the URLs by which objects name them.

use git::RepositoryUrl;
use git_host::HostKind;

use super::answers::RepositoryAnswer;
use super::{CONTROL_PLANE, GITOPS_NAME};
use crate::Failure;

/// The start of the URLs of repositories that are only on this machine. No host has this name.
const BASE_URL: &str = "https://git.example/platform";

/// An owner on a git host.
#[derive(Clone, Copy, Debug)]
pub struct Hosted<'a> {
    /// The kind of host.
    pub kind: HostKind,
    /// The address of its pages.
    pub url: &'a str,
    /// The owner.
    pub owner: &'a str,
}

/// The repositories of a platform.
#[derive(Clone, Debug)]
pub struct Locations {
    /// The start of the URLs of repositories.
    pub base_url: String,
    /// The control plane.
    pub control_plane: RepositoryAnswer,
    /// The GitOps repository.
    pub gitops: RepositoryAnswer,
}

impl Hosted<'_> {
    /// The start of the URLs of the owner's repositories, without a slash at the end.
    pub fn base_url(&self) -> String {
        let (url, owner) = (self.url.trim_end_matches('/'), self.owner.trim_matches('/'));
        match self.kind {
            HostKind::AzureDevOps => format!("{url}/{owner}/_git"),
            _ => format!("{url}/{owner}"),
        }
    }
}

/// Finds the repositories from the URLs of the control plane and the GitOps repository, if they are given.
///
/// # Errors
/// If a URL can't be used.
pub fn locations(
    (control_plane, gitops): (Option<&str>, Option<&str>),
    base_url: Option<&str>,
    hosted: Option<Hosted<'_>>,
) -> Result<Locations, Failure> {
    let of_host = hosted.map(|hosted| hosted.base_url());
    let base_url = base_url.map(|url| url.trim_end_matches('/').to_owned()).or_else(|| of_host.clone());
    let base_url = base_url.unwrap_or_else(|| BASE_URL.to_owned());
    let repository = |given: Option<&str>, name: &str| {
        let of_host = of_host.as_ref().map(|base| format!("{base}/{name}"));
        let own = format!("{base_url}/{name}");
        let Some(remote) = given.map(str::to_owned).or(of_host) else {
            return checked(RepositoryAnswer { url: own, remote: None });
        };
        RepositoryUrl::from_configuration(&remote)
            .map_err(|error| Failure::usage(format!("`{remote}` can't be used as a repository: {error}")))?;
        // Objects may not name http and local paths: such a repository gets a URL, and a rule that leads to it.
        let url = if RepositoryUrl::from_object(&remote).is_ok() { remote.clone() } else { own };
        checked(RepositoryAnswer { url, remote: Some(remote) })
    };
    Ok(Locations {
        control_plane: repository(control_plane, CONTROL_PLANE)?,
        gitops: repository(gitops, GITOPS_NAME)?,
        base_url,
    })
}

fn checked(answer: RepositoryAnswer) -> Result<RepositoryAnswer, Failure> {
    let wrong = |error| {
        Failure::usage(format!("objects can't name a repository `{}`: {error}", answer.url))
            .help("--base-url takes a URL such as https://git.example/acme")
    };
    RepositoryUrl::from_object(&answer.url).map_err(wrong)?;
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(urls: (Option<&str>, Option<&str>), hosted: Option<Hosted<'_>>, expected: [(&str, Option<&str>); 2]) {
        let found = locations(urls, None, hosted).unwrap();
        let shown = [&found.control_plane, &found.gitops].map(|answer| (&*answer.url, answer.remote.as_deref()));
        assert_eq!(shown, expected);
    }

    #[test]
    fn repositories_are_local_unless_a_url_or_a_host_is_given() {
        let own = ["https://git.example/platform/control-plane", "https://git.example/platform/platform-gitops"];
        check((None, None), None, [(own[0], None), (own[1], None)]);
        let url = "git@git.example:acme/cp";
        check((Some(url), Some("/srv/g.git")), None, [(url, Some(url)), (own[1], Some("/srv/g.git"))]);
    }

    #[test]
    fn the_urls_of_a_host_have_its_form() {
        let check = |kind, url, owner, expected: &str| {
            let found = locations((None, None), None, Some(Hosted { kind, url, owner })).unwrap();
            assert_eq!(found.control_plane.url, expected);
        };
        check(HostKind::GitHub, "https://github.com/", "acme", "https://github.com/acme/control-plane");
        let azure = "https://dev.azure.com/acme/fleet/_git/control-plane";
        check(HostKind::AzureDevOps, "https://dev.azure.com", "acme/fleet", azure);
    }

    #[test]
    fn a_password_in_a_url_is_refused() {
        assert!(locations((Some("https://me:s3cret@git.example/a/b"), None), None, None).is_err());
    }
}
