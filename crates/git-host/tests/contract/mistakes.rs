//! Wrong requests and answers, which the checks must find.

use git_host::double::Exchange;

/// A text to replace, and its replacement.
type Edit = (&'static str, &'static str);

/// A wrong request or answer.
#[derive(Debug)]
pub(crate) struct Mistake {
    pub(crate) method: &'static str,
    /// A part of the path and query of the right request.
    pub(crate) target: &'static str,
    pub(crate) part: Part,
}

/// What is wrong.
#[derive(Debug)]
pub(crate) enum Part {
    Target(Edit),
    Body(Edit),
    Answer(Edit),
    Status(u16),
}

impl Mistake {
    /// The first exchange that it is of, with the mistake.
    pub(crate) fn made_in(&self, exchanges: &[Exchange]) -> Exchange {
        let is_of = |exchange: &&Exchange| exchange.method == self.method && exchange.target.contains(self.target);
        let mut exchange =
            exchanges.iter().find(is_of).unwrap_or_else(|| panic!("no {} {}", self.method, self.target)).clone();
        match self.part {
            Part::Target(edit) => exchange.target = changed(exchange.target.as_bytes(), edit),
            Part::Body(edit) => exchange.body = changed(&exchange.body, edit).into_bytes(),
            Part::Answer(edit) => exchange.answer = changed(&exchange.answer, edit).into_bytes(),
            Part::Status(status) => exchange.status = status,
        }
        exchange
    }
}

fn changed(bytes: &[u8], (from, to): Edit) -> String {
    let text = String::from_utf8_lossy(bytes).into_owned();
    assert!(text.contains(from), "{text} has no {from}");
    text.replacen(from, to, 1)
}

const fn mistake(method: &'static str, target: &'static str, part: Part) -> Mistake {
    Mistake { method, target, part }
}

/// Those of GitHub.
pub(crate) const GITHUB: &[Mistake] = &[
    mistake("POST", "/orgs/", Part::Body(("\"private\"", "\"is_private\""))),
    mistake("POST", "/pulls", Part::Body(("\"head\"", "\"haed\""))),
    mistake("POST", "/pulls", Part::Body(("\"plan\"", "7"))),
    mistake("POST", "/pulls", Part::Body(("\"title\"", "\"titel\""))),
    mistake("POST", "/pulls", Part::Answer(("\"mergeable_state\"", "\"mergeable_status\""))),
    mistake("POST", "/pulls", Part::Answer(("\"open\"", "\"opened\""))),
    mistake("POST", "/pulls", Part::Answer(("\"site_admin\":false", "\"site_admin\":null"))),
    mistake("POST", "/pulls", Part::Status(200)),
    mistake("GET", "/pulls?state=", Part::Target(("state=", "status="))),
    mistake("GET", "/pulls?state=", Part::Target(("state=open", "state=opened"))),
    mistake("GET", "/pulls?state=", Part::Target(("/pulls", "/pull_requests"))),
    mistake("GET", "/pulls?state=", Part::Answer(("[", "{\"items\":["))),
    mistake("GET", "/reviews", Part::Answer(("\"commit_id\"", "\"commit\""))),
    mistake("GET", "/statuses", Part::Answer(("\"creator\"", "\"author\""))),
    mistake("GET", "/commits/", Part::Target(("/commits/", "/commit/"))),
    mistake("GET", "/rules/branches/", Part::Answer(("\"required_status_checks\"", "\"status_checks\""))),
    mistake("GET", "/gitops/branches/main", Part::Answer(("\"protected\"", "\"is_protected\""))),
];

/// Those of Gitea and Forgejo.
pub(crate) const GITEA: &[Mistake] = &[
    mistake("POST", "/orgs/", Part::Body(("\"private\"", "\"is_private\""))),
    mistake("POST", "/pulls", Part::Body(("\"head\"", "\"haed\""))),
    mistake("POST", "/pulls", Part::Body(("\"plan\"", "7"))),
    mistake("POST", "/pulls", Part::Answer(("\"merge_commit_sha\"", "\"merge_commit\""))),
    mistake("POST", "/pulls", Part::Answer(("\"open\"", "\"opened\""))),
    mistake("POST", "/pulls", Part::Answer(("\"login\"", "\"name\""))),
    mistake("POST", "/pulls", Part::Answer(("\"mergeable\":true", "\"mergeable\":\"yes\""))),
    mistake("POST", "/pulls", Part::Status(200)),
    mistake("POST", "/merge", Part::Body(("\"Do\"", "\"do\""))),
    mistake("POST", "/statuses/", Part::Body(("\"target_url\"", "\"url\""))),
    mistake("GET", "/pulls?state=", Part::Target(("state=open", "state=opened"))),
    mistake("GET", "/pulls?state=", Part::Target(("limit=", "per_page="))),
    mistake("GET", "/reviews", Part::Answer(("\"dismissed\"", "\"withdrawn\""))),
    mistake("GET", "/statuses", Part::Answer(("\"creator\"", "\"author\""))),
    mistake("GET", "/commits/", Part::Target(("/commits/", "/commit/"))),
    mistake("GET", "/pulls?state=", Part::Target(("/pulls", "/pull_requests"))),
    mistake("GET", "/branches/main", Part::Answer(("\"enable_status_check\"", "\"status_check\""))),
];

/// Those of GitLab.
pub(crate) const GITLAB: &[Mistake] = &[
    mistake("POST", "/projects", Part::Body(("\"private\"", "\"secret\""))),
    mistake("POST", "/merge_requests", Part::Body(("\"source_branch\"", "\"head\""))),
    mistake("POST", "/merge_requests", Part::Body(("\"plan\"", "7"))),
    mistake("POST", "/merge_requests", Part::Answer(("\"iid\"", "\"number\""))),
    mistake("POST", "/merge_requests", Part::Answer(("\"opened\"", "\"open\""))),
    mistake("POST", "/merge_requests", Part::Answer(("\"has_conflicts\":false", "\"has_conflicts\":null"))),
    mistake("POST", "/merge_requests", Part::Status(200)),
    mistake("PUT", "/2/merge", Part::Body(("\"sha\"", "\"head_sha\""))),
    mistake("POST", "/statuses/", Part::Body(("\"pending\"", "\"waiting\""))),
    mistake("GET", "/merge_requests?state=", Part::Target(("state=opened", "state=open"))),
    mistake("GET", "/merge_requests?state=", Part::Target(("source_branch=", "head="))),
    mistake("GET", "/merge_requests?state=", Part::Target(("/merge_requests", "/pulls"))),
    mistake("GET", "/approvals", Part::Answer(("\"approved_by\"", "\"approvers\""))),
    mistake("GET", "all=true", Part::Target(("all=true", "latest=false"))),
    mistake("GET", "/repository/branches/main", Part::Answer(("\"protected\"", "\"is_protected\""))),
    mistake("GET", "/projects/acme%2Fgitops", Part::Answer(("\"only_allow_merge_if_", "\"allow_merge_if_"))),
];

/// Those of Azure DevOps.
pub(crate) const AZURE_DEVOPS: &[Mistake] = &[
    mistake("POST", "/git/repositories?", Part::Body(("\"name\"", "\"title\""))),
    mistake("POST", "/pullrequests?", Part::Body(("\"sourceRefName\"", "\"sourceRef\""))),
    mistake("POST", "/pullrequests?", Part::Body(("\"plan\"", "7"))),
    mistake("POST", "/pullrequests?", Part::Answer(("\"pullRequestId\"", "\"id\""))),
    mistake("POST", "/pullrequests?", Part::Answer(("\"active\"", "\"open\""))),
    mistake("POST", "/pullrequests?", Part::Answer(("\"displayName\"", "\"display\""))),
    mistake("POST", "/pullrequests?", Part::Target(("/pullrequests", "/pulls"))),
    mistake("PATCH", "/pullrequests/", Part::Body(("\"description\"", "\"body\""))),
    mistake("POST", "/statuses", Part::Body(("\"pending\"", "\"waiting\""))),
    mistake("POST", "/threads", Part::Body(("\"closed\"", "\"done\""))),
    mistake("GET", "searchCriteria.status=", Part::Target(("searchCriteria.status=", "status="))),
    mistake("GET", "searchCriteria.status=", Part::Target(("status=active", "status=open"))),
    mistake("GET", "searchCriteria.status=", Part::Answer(("\"value\"", "\"values\""))),
    mistake("GET", "/reviewers", Part::Answer(("\"vote\"", "\"voted\""))),
    mistake("GET", "/statuses", Part::Target(("top=", "limit="))),
    mistake("POST", "/pullrequestquery", Part::Body(("\"lastMergeCommit\"", "\"merge\""))),
    mistake("POST", "/workitems/$Issue", Part::Target(("/$Issue", "/Issue"))),
    mistake("POST", "/workitems/$Issue", Part::Body(("\"op\"", "\"operation\""))),
    mistake("POST", "/workitems/$Issue", Part::Body(("\"add\"", "\"set\""))),
    mistake("POST", "/wiql", Part::Body(("\"query\"", "\"wiql\""))),
    mistake("GET", "/workitems?", Part::Target(("ids=", "id="))),
    mistake("GET", "/workitems?", Part::Target(("=omit", "=none"))),
    mistake("GET", "/workitemtypes/Issue/states", Part::Answer(("\"category\"", "\"kind\""))),
    mistake("GET", "/policy/configurations", Part::Target(("refName=", "branch="))),
    mistake("GET", "/policy/configurations", Part::Answer(("\"isBlocking\"", "\"blocking\""))),
];
