//! From a push to the control plane to the updated branch of the GitOps repository.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use git_host::HostKind;
use git_host::double::events::RepositoryWebhooks;
use git_host::secret::Secret;
use testkit::company::git;
use testkit::generator::change::GeneratedChange;
use testkit::generator::{self, ENVIRONMENT, Size};

use super::company::{Company, WEBHOOK_SECRET, control_plane_url};
use super::eventually;
use super::program::Service;
use crate::report::{Row, grouped};
use crate::{Options, SEED};

/// The number of changes that are measured.
const CHANGES: usize = 9;
/// The branch with the proposed change.
const BRANCH: &str = "kalypso/prod";
/// The pause between two looks at a branch while its change is measured.
const MEASURED_PAUSE: Duration = Duration::from_micros(500);
/// The pause between two looks at other times.
const PAUSE: Duration = Duration::from_millis(50);

/// One measured change, in milliseconds.
struct Measured {
    /// From the end of the push until the branch moved.
    total: f64,
    /// Of the whole sync, as the service reports it. It ends with the pull request, after the branch moved.
    sync: f64,
    /// The processor time of the service itself, until the branch moved.
    own: f64,
    /// The same until it rests again: with the pull request, the hub, and the saved results.
    own_until_rest: f64,
    /// The processor time of the git processes that it started.
    git: f64,
}

/// Changes a value of one cluster type several times.
pub(super) fn rows(kalypso: &Path, options: &Options) -> Result<Vec<Row>> {
    let size = Size { cluster_types: options.share_of(Size::HUNDRED.cluster_types), ..Size::HUNDRED };
    let company = Company::new(&[ENVIRONMENT.to_owned()], size, "settle = \"200ms\"\n")?;
    let service = Service::start(kalypso, &company)?;
    merge_first(&company, &service, size)?;
    let change = GeneratedChange::value_on_cluster_type(size);
    let text = &generator::fleet(size, SEED)[&change.path];
    let mut all = Vec::new();
    let pusher = Pusher { company: &company, service: &service, change: &change };
    for turn in 0..CHANGES {
        all.push(pusher.measure(&change.apply(text, turn), turn)?);
    }
    let sorted = |figure: fn(&Measured) -> f64| {
        let mut figures: Vec<_> = all.iter().map(figure).collect();
        figures.sort_by(f64::total_cmp);
        (figures[CHANGES / 2], figures[CHANGES - 1])
    };
    let ((median, worst), (sync, _)) = (sorted(|one| one.total), sorted(|one| one.sync));
    let ((own, own_worst), (until_rest, _)) = (sorted(|one| one.own), sorted(|one| one.own_until_rest));
    let (of_git, _) = sorted(|one| one.git);
    let what = format!("push of one value, {} assignments, to the updated branch: median", grouped(size.assignments()));
    Ok(vec![
        Row::measured(what, median, "ms").at_most(1_000.0),
        Row::measured(format!("  the slowest of {CHANGES}"), worst, "ms").at_most(1_000.0),
        Row::measured("  processor time of the service itself: median", own, "ms").at_most(200.0),
        Row::measured(format!("  processor time of the service itself: the most of {CHANGES}"), own_worst, "ms"),
        Row::measured("  the same until it rests again, with the pull request: median", until_rest, "ms"),
        Row::measured("  processor time of its git processes: median", of_git, "ms"),
        Row::measured("  the whole sync, with the pull request: median", sync, "ms"),
    ])
}

/// Merges the first proposal, so that a change is compared with a full branch.
fn merge_first(company: &Company, service: &Service, size: Size) -> Result<()> {
    let environments = service.wait_until_quiet()?;
    let assignments = &environments[0]["last"]["assignments"];
    ensure!(*assignments == size.assignments(), "there are {assignments} assignments");
    ensure!(company.merge_all()? == 1, "there is not one pull request");
    service.connect()?.request("POST /api/v1/sync", &[], "")?;
    eventually("the removal of the merged branch", PAUSE, || Ok(company.gitops_head(BRANCH)?.is_none().then_some(())))?;
    service.wait_until_quiet()?;
    Ok(())
}

/// Pushes a change with another value each time.
#[derive(Clone, Copy)]
struct Pusher<'a> {
    company: &'a Company,
    service: &'a Service,
    change: &'a GeneratedChange,
}

impl Pusher<'_> {
    /// Pushes the change, announces it, and waits for the branch. Then checks what is on the branch.
    fn measure(self, text: &str, turn: usize) -> Result<Measured> {
        let Self { company, service, change } = self;
        let before = company.gitops_head(BRANCH)?;
        let mut connection = service.connect()?;
        let commit = company.change(ENVIRONMENT, &change.path, text)?;
        let (own_before, git_before) = service.processor_s()?;
        let start = Instant::now();
        let secret = Secret::new(WEBHOOK_SECRET);
        let webhooks = RepositoryWebhooks { kind: HostKind::GitHub, secret: &secret, url: &control_plane_url() };
        let event = webhooks.push(ENVIRONMENT, Some(commit));
        let answer = connection.request("POST /webhooks/github", &event.headers, &event.body)?;
        ensure!(answer.status == 202, "the webhook is answered with {}", answer.status);
        let after = eventually("the update of the branch", MEASURED_PAUSE, || {
            Ok(company.gitops_head(BRANCH)?.filter(|head| Some(head) != before.as_ref()))
        })?;
        let total = start.elapsed().as_secs_f64() * 1e3;
        let (own_at_move, _) = service.processor_s()?;
        let environments = service.wait_until_quiet()?;
        let (own_after, git_after) = service.processor_s()?;
        let last = &environments[0]["last"];
        let sources = last["sources"].as_array().context("the service names no sources")?;
        ensure!(
            sources.iter().any(|source| source["commit"] == commit.to_string()),
            "the sync has another commit: {last}"
        );
        self.check(&after, turn)?;
        let sync = last["tookMs"].as_f64().context("the service names no time")?;
        let own = |until: f64| (until - own_before) * 1e3;
        let git = (git_after - git_before) * 1e3;
        Ok(Measured { total, sync, own: own(own_at_move), own_until_rest: own(own_after), git })
    }

    /// Checks that a commit changes the assignments that the change reaches, and only these, and that it has the new value.
    fn check(self, commit: &str, turn: usize) -> Result<()> {
        let reached = self.change.reached;
        let repository = self.company.repository("gitops");
        let changed = git(&repository, &["diff", "--name-only", ENVIRONMENT, commit]);
        ensure!(changed.lines().count() == reached, "{} files changed instead of {reached}", changed.lines().count());
        let file = changed.lines().next().context("nothing changed")?;
        let content = git(&repository, &["show", &format!("{commit}:{file}")]);
        ensure!(content.contains(&format!("https://changed-{turn}.example/")), "{file} does not have the new value");
        Ok(())
    }
}
