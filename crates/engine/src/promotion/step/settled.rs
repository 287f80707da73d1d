//! Whether an environment is settled, for all of it and for each workload.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Subject;

/// Whether an environment is settled: it has published what it has, and no rollout is open in it.
///
/// What is open for one workload does not concern the releases of the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// Why nothing of the environment is settled. None: at most the open workloads are not.
    pub problem: Option<Arc<str>>,
    /// Why only releases are settled: removals wait for a confirmation. No release of a workload removes anything.
    pub removals: Option<Arc<str>>,
    /// The workloads that are not settled, with the reasons.
    pub open: BTreeMap<Arc<str>, Arc<str>>,
    /// The workloads that can't prove what they have without a change, with the reasons: their rollouts stopped or were rolled back.
    pub failed: BTreeMap<Arc<str>, Arc<str>>,
}

impl Settled {
    /// An environment in which nothing is settled.
    pub fn nothing(problem: impl Into<Arc<str>>) -> Self {
        Self { problem: Some(problem.into()), ..Self::default() }
    }

    /// Whether a subject is settled: a release if its workload is, everything else if all workloads are and no removals wait.
    ///
    /// # Errors
    /// Why it is not.
    pub fn check(&self, subject: &Subject) -> Result<(), Arc<str>> {
        let removals = self.removals.as_ref().filter(|_| !matches!(subject, Subject::Release(_)));
        match self.problem.as_ref().or_else(|| first(&self.open, subject)).or(removals) {
            Some(why) => Err(Arc::clone(why)),
            None => Ok(()),
        }
    }

    /// Why a subject can't be proved without a change. None: it can.
    pub fn failed(&self, subject: &Subject) -> Option<&Arc<str>> {
        first(&self.failed, subject)
    }
}

/// The first reason that concerns a subject.
fn first<'r>(reasons: &'r BTreeMap<Arc<str>, Arc<str>>, subject: &Subject) -> Option<&'r Arc<str>> {
    match subject {
        Subject::Release(workload) => reasons.get(workload),
        Subject::Main | Subject::Renderer => reasons.values().next(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(workload: &str) -> Subject {
        Subject::Release(workload.into())
    }

    #[test]
    fn open_workload_affects_its_release_main_and_the_renderer() {
        let open = BTreeMap::from([("till".into(), "its rollout is open".into())]);
        let settled = Settled { open, ..Settled::default() };
        for subject in [release("till"), Subject::Main, Subject::Renderer] {
            assert_eq!(settled.check(&subject), Err("its rollout is open".into()), "{subject:?}");
            assert_eq!(settled.failed(&subject), None);
        }
        assert_eq!(settled.check(&release("portal")), Ok(()));
    }

    #[test]
    fn removals_that_wait_concern_no_release() {
        let settled = Settled { removals: Some("they wait".into()), ..Settled::default() };
        assert_eq!(settled.check(&release("till")), Ok(()));
        for subject in [Subject::Main, Subject::Renderer] {
            assert_eq!(settled.check(&subject), Err("they wait".into()), "{subject:?}");
        }
    }

    #[test]
    fn failed_workload_affects_its_release_main_and_the_renderer() {
        let failed = BTreeMap::from([("till".into(), "it stopped".into())]);
        let settled = Settled { failed, ..Settled::default() };
        for subject in [release("till"), Subject::Main, Subject::Renderer] {
            assert_eq!(settled.failed(&subject).map(|why| &**why), Some("it stopped"), "{subject:?}");
        }
        assert_eq!(settled.failed(&release("portal")), None);
    }

    #[test]
    fn a_problem_of_the_environment_concerns_everything() {
        let settled = Settled::nothing("it is not published");
        for subject in [release("till"), Subject::Main, Subject::Renderer] {
            assert_eq!(settled.check(&subject), Err("it is not published".into()), "{subject:?}");
        }
    }
}
