//! Compares the requests to git hosts, and the answers of their doubles, with descriptions of their APIs.
//!
//! | kind | description | variable with the folder |
//! |---|---|---|
//! | GitHub | GitHub's own, OpenAPI 3.0: npm package `@octokit/openapi` | `KALYPSO_GITHUB_OPENAPI` |
//! | Gitea, Forgejo | Forgejo's own, Swagger 2.0: crate `forgejo-api` | `KALYPSO_FORGEJO_SWAGGER` |
//! | Azure DevOps | a client that was generated from Microsoft's description: crate `azure_devops_rust_api` | `KALYPSO_AZURE_DEVOPS_CLIENT` |
//! | GitLab | ours, from GitLab's documentation and its examples: `gitlab.json` | none |
//!
//! No registry has Microsoft's own description, or one of GitLab's current API. The client for Azure DevOps contains each path, parameter and field of Microsoft's
//! description in code that is always of the same form, see [`rust_client`]. Clients of GitLab are written by hand, and say less than its documentation.

#[cfg(test)]
mod description;
#[cfg(test)]
mod examples;
#[cfg(test)]
mod kinds;
#[cfg(test)]
mod mistakes;
#[cfg(test)]
mod rust_client;
#[cfg(test)]
mod scenario;
#[cfg(test)]
mod swagger;

#[cfg(test)]
use libtest_mimic::{Arguments, Failed, Trial};

#[cfg(test)]
use self::kinds::Published;

#[cfg(test)]
fn main() {
    let trials = kinds::ALL.iter().flat_map(|published| {
        let is_absent = published.folder().is_none();
        let trials = [
            Trial::test(format!("{}_describes_requests_and_answers", published.name), || agrees(published)),
            Trial::test(format!("{}_does_not_describe_mistakes", published.name), || finds_mistakes(published)),
        ];
        trials.map(|trial| trial.with_ignored_flag(is_absent))
    });
    let trials = trials.chain(examples::trials());
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit();
}

#[cfg(test)]
fn agrees(published: &Published) -> Result<(), Failed> {
    let exchanges = scenario::exchanges(published.kind);
    assert!(exchanges.len() > 35, "the scenario has only {} requests", exchanges.len());
    let problems = published.read()?.problems(&exchanges);
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
}

/// Changes single requests and answers. The description must not allow the result.
#[cfg(test)]
fn finds_mistakes(published: &Published) -> Result<(), Failed> {
    let description = published.read()?;
    let exchanges = scenario::exchanges(published.kind);
    for mistake in published.mistakes {
        let exchange = mistake.made_in(&exchanges);
        if description.problems_of(&exchange).is_empty() {
            let (method, target) = (&exchange.method, &exchange.target);
            return Err(format!("a mistake is not found: {method} {target}: {mistake:?}").into());
        }
    }
    Ok(())
}

#[cfg(not(test))]
fn main() {}
