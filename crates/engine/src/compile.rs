//! From a fleet to the rendered assignments of its environment.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gotemplate::Value;
use model::diagnostic::{AssignmentId, Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::fleet::Fleet;
use model::name::{ClusterTypeName, DeploymentTargetName, EnvironmentName, PolicyName};
use model::object::{AnyObject, ClusterType, Object};
use rayon::prelude::*;

use crate::compose::{Candidates, Composition};
use crate::container::{Container, Met, containers};
use crate::merge::STEPS_MAX;
use crate::render::{self, Context, Files, Parsed, Templates};
use crate::schedule::{Schedule, schedule};
use crate::schema::{Labelled, Schema, Schemas};
use crate::settings::{self, LongNames, MissingValues};
use crate::shared::Shared;
use crate::target::{Target, targets};
use crate::trace;

/// Everything that was compiled for an environment.
#[derive(Debug)]
pub struct Compiled {
    /// The environment.
    pub environment: EnvironmentName,
    /// All its cluster types, those without assignments too.
    pub cluster_types: BTreeSet<ClusterTypeName>,
    /// The assignments by cluster type and target.
    pub assignments: BTreeMap<AssignmentId, Assignment>,
    /// What is wrong.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether there are registrations whose workloads are not known, so that targets that nobody wants may only be unknown.
    pub is_incomplete: bool,
    /// Cluster types that exist more than once, so that what is on them is not clear.
    pub unclear_cluster_types: BTreeSet<ClusterTypeName>,
    /// Targets of which it is not clear what they are, because they, or their workload, exist more than once.
    pub unclear_targets: BTreeSet<DeploymentTargetName>,
    /// How much work it was.
    pub work: Work,
}

/// How often each expensive thing was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Different sets of values that were composed: assignments with the same matching `ConfigMap`s share one.
    pub compositions: usize,
    /// Sets of values that were checked, each by one schema.
    pub checks: usize,
    /// Assignments whose templates were rendered.
    pub renderings: usize,
}

/// A workload's target on a cluster type.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// The workload; empty if nobody says.
    pub workload: Arc<str>,
    /// The policies that assigned it.
    pub policies: BTreeSet<PolicyName>,
    /// Its values, if they could be composed.
    pub composition: Option<Arc<Composition>>,
    /// Its files; none if something is wrong with it.
    pub files: Option<Files>,
}

/// A fleet with everything in it prepared: values and schemas read, templates parsed, targets expanded.
#[derive(Debug)]
pub struct Prepared<'a> {
    pub(crate) fleet: &'a Fleet,
    pub(crate) targets: Vec<Target>,
    pub(crate) schedule: Schedule,
    pub(crate) containers: Vec<Container>,
    pub(crate) schemas: Schemas,
    templates: BTreeMap<Arc<str>, Parsed>,
    long_names: LongNames,
    has_nested: bool,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Prepared<'a> {
    /// Prepares a fleet.
    pub fn new(fleet: &'a Fleet) -> Self {
        let (targets, mut diagnostics) = targets(fleet);
        let schedule = schedule(fleet, &targets);
        diagnostics.extend(schedule.diagnostics.iter().cloned());
        let (containers, found) = containers(fleet);
        diagnostics.extend(found);
        let (missing, long_names) = environment_settings(fleet, &mut diagnostics);
        let schemas = Schemas::compile(fleet, &targets, missing);
        let templates = render::parse(fleet);
        // What is broken is said even where it stops no assignment. Where it does, the two are put together.
        diagnostics.extend(containers.iter().filter_map(|container| container.problem.clone()));
        diagnostics.extend(schemas.problems());
        diagnostics.extend(templates.values().filter_map(Parsed::problem));
        // A checkout of one branch has cluster types without the templates, which are on another.
        if !templates.is_empty() {
            let find = |object| Templates::find(&templates, object).err();
            diagnostics.extend(fleet.cluster_types.values().filter_map(|object| find(object)).flatten());
        }
        let has_nested =
            fleet.config_maps.values().flat_map(|object| object.spec.data.values()).any(|text| text.contains("{{"));
        Self { fleet, targets, schedule, containers, schemas, templates, long_names, has_nested, diagnostics }
    }

    /// Compiles every assignment. One that fails stops no other.
    pub fn compile(&self) -> Compiled {
        let shared = Shared::new(&self.containers, &self.schemas);
        let cluster_types: Vec<_> = self.all_cluster_types().collect();
        let parts: Vec<_> =
            cluster_types.par_iter().map(|cluster_type| self.compile_cluster_type(cluster_type, &shared)).collect();
        let mut diagnostics = self.diagnostics.clone();
        let mut assignments = BTreeMap::new();
        let mut work = Work { compositions: shared.composition_count(), checks: shared.check_count(), renderings: 0 };
        for (compiled, found) in parts {
            work.renderings += compiled.len();
            assignments.extend(compiled);
            diagnostics.extend(found);
        }
        let unclear_targets = self.targets.iter().filter(|target| target.problem.is_some());
        Compiled {
            environment: self.fleet.environment.clone(),
            cluster_types: self.fleet.cluster_types.keys().cloned().collect(),
            assignments,
            diagnostics: model::diagnostic::merged(diagnostics),
            is_incomplete: !self.fleet.unavailable.is_empty(),
            unclear_cluster_types: self.unclear_cluster_types(),
            unclear_targets: unclear_targets.map(|target| target.name.clone()).collect(),
            work,
        }
    }

    fn unclear_cluster_types(&self) -> BTreeSet<ClusterTypeName> {
        let of_copy = |copy: &AnyObject| match copy {
            AnyObject::ClusterType(object) => Some(object.name.clone()),
            _ => None,
        };
        self.fleet.duplicates.values().flatten().filter_map(of_copy).collect()
    }

    fn all_cluster_types(&self) -> impl Iterator<Item = &Arc<Object<ClusterType>>> {
        self.fleet.cluster_types.values()
    }

    fn compile_cluster_type(
        &self,
        object: &Object<ClusterType>,
        shared: &Shared<'_>,
    ) -> (Vec<(AssignmentId, Assignment)>, Vec<Diagnostic>) {
        let Some(scheduled) = self.schedule.assignments.get(&object.name) else { return (Vec::new(), Vec::new()) };
        let mut work = ClusterTypeWork {
            prepared: self,
            object,
            problem: self.fleet.duplicate_diagnostic(&object.key()),
            candidates: Candidates::on(&self.containers, object),
            templates: Templates::find(&self.templates, object),
            schemas: self.schemas.labelled.iter().map(|labelled| labelled.conditions.on(object)).collect(),
            shared,
            diagnostics: Vec::new(),
        };
        let assignments = scheduled.iter().map(|(position, policies)| work.assignment(*position, policies)).collect();
        (assignments, work.diagnostics)
    }

    /// The deployment targets of the environment, by name.
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// The names of the targets that are assigned to a cluster type.
    pub fn targets_on(&self, cluster_type: &ClusterTypeName) -> Vec<&model::name::DeploymentTargetName> {
        let assigned = self.schedule.assignments.get(cluster_type).into_iter().flat_map(BTreeMap::keys);
        assigned.map(|position| &self.targets[*position].name).collect()
    }

    /// The lines of an assignment's files that would be other ones if the value at `path` were: found by rendering with another value there.
    pub(crate) fn lines_of(
        &self,
        (object, target): (&Object<ClusterType>, &Target),
        data: &Value,
        path: &FieldPath,
    ) -> Vec<(Arc<str>, usize)> {
        const OTHER: &str = "kalypso-asks-where-this-value-ends-up";
        let Ok(templates) = Templates::find(&self.templates, object) else { return Vec::new() };
        let render = |data: Value| {
            let composition = Composition::new(data, BTreeSet::new());
            let composition = &composition;
            let (fleet, long_names, has_nested) = (self.fleet, self.long_names, self.has_nested);
            let hides_output = true;
            let cluster_type = object;
            let context = Context { fleet, cluster_type, target, composition, long_names, has_nested, hides_output };
            templates.render(&context).ok()
        };
        let Some(other) = trace::with_value(data, path.steps(), &Value::text(OTHER)) else { return Vec::new() };
        let (Some(before), Some(after)) = (render(data.clone()), render(other)) else { return Vec::new() };
        let first_line = |(name, bytes): (&Arc<str>, &Arc<[u8]>)| {
            let other = after.get(name)?;
            let lines = |bytes: &[u8]| bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>();
            let (before, after) = (lines(bytes), lines(other));
            let differs = before.iter().zip(&after).position(|(before, after)| before != after);
            Some((Arc::clone(name), 1 + differs?))
        };
        before.iter().filter_map(first_line).collect()
    }

    pub(crate) fn position(&self, target: &model::name::DeploymentTargetName) -> Option<usize> {
        self.targets.binary_search_by(|other| other.name.cmp(target)).ok()
    }

    /// The schemas that apply to a target on a cluster type, in the order in which they are checked.
    pub(crate) fn schemas_of(&self, object: &Object<ClusterType>, target: &Target) -> Vec<Schema> {
        let applies = |labelled: &&Labelled| match labelled.conditions.on(object) {
            Met::If(left) => left.are_met_by(target),
            Met::Never => false,
        };
        let labelled = self.schemas.labelled.iter().filter(applies).map(|labelled| labelled.schema.clone());
        labelled.chain(target.schemas.iter().map(|text| self.schemas.of_target(text))).collect()
    }
}

fn environment_settings(fleet: &Fleet, diagnostics: &mut Vec<Diagnostic>) -> (MissingValues, LongNames) {
    let Some(declaration) = &fleet.declaration else { return Default::default() };
    let key = declaration.key();
    let missing = settings::missing_values(&key, &declaration.annotations);
    let long = settings::long_names(&key, &declaration.annotations);
    let missing = missing.map_err(|diagnostic| diagnostics.push(diagnostic)).unwrap_or_default().unwrap_or_default();
    let long = long.map_err(|diagnostic| diagnostics.push(diagnostic)).unwrap_or_default().unwrap_or_default();
    (missing, long)
}

/// The assignments of one cluster type on their way.
struct ClusterTypeWork<'a> {
    prepared: &'a Prepared<'a>,
    object: &'a Object<ClusterType>,
    problem: Option<Diagnostic>,
    candidates: Candidates,
    templates: Result<Templates<'a>, Vec<Diagnostic>>,
    schemas: Vec<Met>,
    shared: &'a Shared<'a>,
    diagnostics: Vec<Diagnostic>,
}

impl ClusterTypeWork<'_> {
    fn assignment(&mut self, position: usize, policies: &BTreeSet<PolicyName>) -> (AssignmentId, Assignment) {
        let target = &self.prepared.targets[position];
        let id = AssignmentId { cluster_type: self.object.name.clone(), target: target.name.clone() };
        let mut problems: Vec<Diagnostic> = self.problem.iter().chain(&target.problem).cloned().collect();
        let unclear = policies.intersection(&self.prepared.schedule.unclear);
        problems.extend(unclear.filter_map(|policy| self.policy_problem(policy)));
        let matching = self.candidates.matching(target);
        let containers = &self.prepared.containers;
        problems.extend(matching.iter().filter_map(|position| containers[*position].problem.clone()));
        let (composed, composition) = self.shared.composed(&matching);
        problems.extend(composition.overflow.map(|position| too_much_to_merge(&containers[position])));
        let schemas = self.schemas_of(position, target);
        let hides_output = self.shared.checked(&composed, (&matching, &schemas), |checked| {
            problems.extend_from_slice(&checked.diagnostics);
            checked.has_sensitive
        });
        let context = Context { hides_output, ..self.context(target, &composition) };
        let files = match &self.templates {
            Ok(templates) => templates.render(&context),
            Err(missing) => Err(missing.clone()),
        };
        let files = files.map_err(|failures| problems.extend(failures)).ok();
        let is_good = !problems.iter().any(Diagnostic::is_error);
        self.diagnostics.extend(problems.into_iter().map(|problem| problem.reaching(&id)));
        let assignment = Assignment {
            workload: target.workload().into(),
            policies: policies.clone(),
            composition: Some(composition),
            files: files.filter(|_| is_good),
        };
        (id, assignment)
    }

    fn policy_problem(&self, policy: &PolicyName) -> Option<Diagnostic> {
        let fleet = self.prepared.fleet;
        fleet.duplicate_diagnostic(&fleet.policies.get(policy)?.key())
    }

    fn context<'b>(&'b self, target: &'b Target, composition: &'b Composition) -> Context<'b> {
        Context {
            fleet: self.prepared.fleet,
            cluster_type: self.object,
            target,
            composition,
            long_names: self.prepared.long_names,
            has_nested: self.prepared.has_nested,
            hides_output: false,
        }
    }

    /// The ids of the schemas that apply to the target at a position.
    fn schemas_of(&self, position: usize, target: &Target) -> Vec<usize> {
        let labelled = self.schemas.iter().enumerate();
        let labelled = labelled.filter(|(_, met)| matches!(met, Met::If(left) if left.are_met_by(target)));
        labelled.map(|(id, _)| id).chain(self.prepared.schemas.ids_of_target(position)).collect()
    }
}

fn too_much_to_merge(container: &Container) -> Diagnostic {
    let key = container.key();
    Diagnostic::error(Code::TooMuchToMerge, format!("merging the values up to {key} takes more than {STEPS_MAX} steps"))
        .at(Origin::field(&key, FieldPath::from(["metadata", "name"])), "too much at the latest here")
        .help("merge lists with `config.kalypso.io/merge: append` or `replace`, or give their items names of their own")
        .about(&key)
}
