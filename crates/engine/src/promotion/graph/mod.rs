//! The graph of environments: which ones come before an environment, and what they must have proved.

mod build;
mod cycles;

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use model::name::EnvironmentName;
use model::object::promotion::{Amount, Gate, GateKind, Promotion, Selection, Share, Silent};
use model::object::{Object, promotion};

pub use self::build::build;

/// The graph of the environments of a control plane.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    steps: BTreeMap<EnvironmentName, Step>,
    order: Vec<EnvironmentName>,
    is_declared: bool,
    is_complete: bool,
}

/// How changes reach an environment.
#[derive(Clone, Debug)]
pub struct Step {
    /// The promotion: that of the object, or the one that follows from annotations. Its `from` may contain environments that do not exist.
    pub promotion: Arc<Promotion>,
    /// Where the promotion comes from.
    pub source: StepSource,
    /// The environments before it that exist, by name.
    pub before: Vec<EnvironmentName>,
    /// Why nothing can move into the environment. None: the promotion is valid.
    pub problem: Option<Arc<str>>,
}

/// Where the description of a step comes from.
#[derive(Clone, Debug)]
pub enum StepSource {
    /// A `Promotion` object.
    Object(Arc<Object<Promotion>>),
    /// The annotations of the `Environment`s before it.
    Annotations,
    /// Nothing: changes reach the environment first.
    Nothing,
}

impl Graph {
    /// The environments in the order of promotion: each one after all that come before it, otherwise by name. A cycle begins at its
    /// first environment by name.
    pub fn order(&self) -> &[EnvironmentName] {
        &self.order
    }

    /// Whether a `Promotion` object exists. If not, the order comes from annotations.
    pub fn is_declared(&self) -> bool {
        self.is_declared
    }

    /// Whether each `Promotion` object leads to an environment. If not, an environment without one may have lost it, for example by a wrong name.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Whether an environment comes before another one. If not, the order is only that of the names.
    pub fn has_steps(&self) -> bool {
        self.steps.values().any(|step| !step.before.is_empty())
    }

    /// How changes reach an environment. None if there is no such environment.
    pub fn step(&self, environment: &str) -> Option<&Step> {
        self.steps.get(environment)
    }

    /// The promotion into an environment, also if it follows from annotations. None if there is no such environment.
    pub fn promotion(&self, environment: &str) -> Option<&Arc<Promotion>> {
        self.step(environment).map(|step| &step.promotion)
    }

    /// The `Promotion` object that leads to an environment.
    pub fn object(&self, environment: &str) -> Option<&Arc<Object<Promotion>>> {
        match &self.step(environment)?.source {
            StepSource::Object(object) => Some(object),
            StepSource::Annotations | StepSource::Nothing => None,
        }
    }

    /// The environments directly before an environment, by name.
    pub fn before(&self, environment: &str) -> &[EnvironmentName] {
        self.step(environment).map_or(&[], |step| &step.before)
    }

    /// The environments directly after an environment, by name.
    pub fn after<'g>(&'g self, environment: &'g str) -> impl Iterator<Item = &'g EnvironmentName> {
        let is_after = move |step: &Step| step.before.iter().any(|before| before.as_str() == environment);
        self.steps.iter().filter(move |(_, step)| is_after(step)).map(|(name, _)| name)
    }

    /// Whether an environment is in a promotion: changes move into it, by a `Promotion` object or by annotations, or from it.
    pub fn is_in_promotion(&self, environment: &str) -> bool {
        let is_after = self.object(environment).is_some() || !self.before(environment).is_empty();
        is_after || self.after(environment).next().is_some()
    }

    /// Compares two environments by the order of promotion. Environments that do not exist come last, by name.
    pub fn compare(&self, one: &str, other: &str) -> Ordering {
        let rank = |name: &str| self.order.iter().position(|known| known.as_str() == name).unwrap_or(usize::MAX);
        rank(one).cmp(&rank(other)).then_with(|| one.cmp(other))
    }

    /// Sorts the names of environments by the order of promotion.
    pub fn sort<N: AsRef<Arc<str>>>(&self, names: &mut [N]) {
        names.sort_by(|one, other| self.compare(one.as_ref(), other.as_ref()));
    }
}

impl Step {
    /// The step of an environment that no promotion leads to.
    fn first(environment: &EnvironmentName) -> Self {
        let promotion = Arc::new(without_gates(environment, Vec::new()));
        Self { promotion, source: StepSource::Nothing, before: Vec::new(), problem: None }
    }
}

/// The promotion that follows from annotations: all expected reconcilers of the environments before must have applied the change.
fn derived(environment: &EnvironmentName, from: Vec<Arc<str>>) -> Promotion {
    let gate = |name: &str, kind| Gate::new(name.into(), kind);
    let compliant = GateKind::Compliant { share: Share::ALL, silent: Silent::Wait };
    let gates = vec![gate("compliant", compliant), gate("failures", GateKind::Failures(Amount::Count(0)))];
    Promotion { gates, ..without_gates(environment, from) }
}

fn without_gates(environment: &EnvironmentName, from: Vec<Arc<str>>) -> Promotion {
    Promotion {
        to: Arc::clone(environment.as_arc()),
        from,
        require: promotion::Require::default(),
        select: Selection { platform: true, workloads: None },
        delivery: promotion::ChangeDelivery::default(),
        start: promotion::Start::default(),
        newer: promotion::Newer::default(),
        on_failure: promotion::OnFailure::default(),
        gates: Vec::new(),
        rings: Vec::new(),
    }
}
