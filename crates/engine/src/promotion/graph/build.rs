//! Builds the graph of environments from objects, and reports what is wrong with it.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::tz::TimeZoneDatabase;
use model::diagnostic::{Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::name::EnvironmentName;
use model::object::environment::{NEXT, RepositoryPlace};
use model::object::promotion::{Gate, GateKind};
use model::object::{Environment, Object, Promotion};
use model::similar::nearest;

use super::cycles;
use super::{Graph, Step, StepSource, derived};

type Environments<'a> = BTreeMap<EnvironmentName, &'a Object<Environment>>;

/// Builds the graph. If there is no `Promotion`, the annotations of the environments decide. `is_main` says whether a place is on the main branch.
pub fn build(
    environments: &[Arc<Object<Environment>>],
    promotions: &[Arc<Object<Promotion>>],
    is_main: &dyn Fn(&RepositoryPlace) -> bool,
) -> (Graph, Vec<Diagnostic>) {
    let mut known = Environments::new();
    for environment in environments {
        known.entry(environment.name.clone()).or_insert(environment);
    }
    let mut builder = Builder { known, promotions, steps: BTreeMap::new(), diagnostics: Vec::new() };
    let annotated = builder.annotated();
    if promotions.is_empty() {
        builder.add_annotated(annotated);
    } else {
        builder.add_promotions(&annotated);
    }
    builder.report_environments_on_main(is_main);
    builder.finish()
}

struct Builder<'a> {
    known: Environments<'a>,
    promotions: &'a [Arc<Object<Promotion>>],
    steps: BTreeMap<EnvironmentName, Step>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Builder<'a> {
    /// The steps that annotations describe. Reports annotations that name no environment.
    fn annotated(&mut self) -> Vec<(&'a Object<Environment>, EnvironmentName)> {
        let mut steps = Vec::new();
        let environments: Vec<_> = self.known.values().copied().collect();
        for environment in environments {
            let Some(next) = environment.annotations.get(NEXT) else { continue };
            let path = FieldPath::from(["metadata", "annotations", NEXT]);
            let Some(next) = self.environment(next) else {
                let found = self.not_found(next).at(Origin::At(environment.address, path), "named here");
                self.diagnostics.push(found.about(&environment.key()));
                continue;
            };
            steps.push((environment, next));
        }
        steps
    }

    fn environment(&self, name: &str) -> Option<EnvironmentName> {
        self.known.get_key_value(name).map(|(name, _)| name.clone())
    }

    fn not_found(&self, name: &str) -> Diagnostic {
        let message = format!("there is no environment `{name}`");
        let found = Diagnostic::error(Code::PromotionEnvironmentNotFound, message);
        match nearest(name, self.known.keys().map(EnvironmentName::as_str)) {
            Some(nearest) => found.help(format!("did you mean `{nearest}`?")),
            None => found.help(format!("add its `Environment` to `.environments`, or remove the name `{name}`")),
        }
    }

    fn add_annotated(&mut self, annotated: Vec<(&Object<Environment>, EnvironmentName)>) {
        let mut from: BTreeMap<EnvironmentName, Vec<Arc<str>>> = BTreeMap::new();
        for (environment, next) in annotated {
            from.entry(next).or_default().push(Arc::clone(environment.name.as_arc()));
        }
        for (environment, from) in from {
            let before = from.iter().filter_map(|name| self.environment(name)).collect();
            let promotion = Arc::new(derived(&environment, from));
            let step = Step { promotion, source: StepSource::Annotations, before, problem: None };
            self.steps.insert(environment, step);
        }
    }

    fn add_promotions(&mut self, annotated: &[(&Object<Environment>, EnvironmentName)]) {
        let promotions = self.promotions;
        self.report_duplicates();
        for object in promotions {
            let Some(to) = self.environment(&object.spec.to) else {
                let found = self.not_found(&object.spec.to).at(field(object, &["to"]), "named here");
                self.diagnostics.push(found.about(&object.key()));
                continue;
            };
            self.report_gates(object);
            let step = self.step(object);
            match self.steps.get_mut(&to) {
                None => drop(self.steps.insert(to, step)),
                Some(first) => {
                    first.problem = Some(format!("several promotions lead to `{to}`").into());
                    if first.promotion.rings.is_empty() {
                        // An environment that has rings in one of them does not get changes at once.
                        first.promotion = Arc::clone(&step.promotion);
                    }
                    let first = match &first.source {
                        StepSource::Object(first) => Arc::clone(first),
                        StepSource::Annotations | StepSource::Nothing => continue,
                    };
                    self.diagnostics.push(several(&first, object));
                }
            }
        }
        self.report_annotations(annotated);
    }

    fn step(&mut self, object: &Arc<Object<Promotion>>) -> Step {
        let (mut before, mut problem) = (Vec::new(), None);
        for (position, name) in object.spec.from.iter().enumerate() {
            if let Some(name) = self.environment(name) {
                before.push(name);
                continue;
            }
            problem = Some(format!("`{name}`, which comes before it, does not exist").into());
            let path = FieldPath::from(["spec", "from"]).index(position);
            let found = self.not_found(name).at(Origin::At(object.address, path), "named here");
            self.diagnostics.push(found.about(&object.key()));
        }
        before.sort();
        let promotion = Arc::new(object.spec.clone());
        Step { promotion, source: StepSource::Object(Arc::clone(object)), before, problem }
    }

    fn report_duplicates(&mut self) {
        let mut names = BTreeMap::new();
        for object in self.promotions {
            // Two promotions to one environment have a diagnostic of their own.
            let first = names.insert(&object.name, object).filter(|first| first.spec.to != object.spec.to);
            if let Some(first) = first {
                let path = || FieldPath::from(["metadata", "name"]);
                let found = Diagnostic::error(Code::DuplicateObject, format!("{} exists several times", object.key()))
                    .at(Origin::At(first.address, path()), "once here")
                    .at(Origin::At(object.address, path()), "and again here")
                    .help("remove or rename all but one");
                self.diagnostics.push(found.about(&object.key()));
            }
        }
    }

    /// Reports gates that can never hold.
    fn report_gates(&mut self, object: &Object<Promotion>) {
        let spec = &object.spec;
        let zones = TimeZoneDatabase::bundled();
        let mut report = |gate: &Gate, path: FieldPath| {
            if let GateKind::Window(window) = &gate.kind
                && let Some(zone) = window.zone.as_ref().filter(|zone| zones.get(zone).is_err())
            {
                let message = format!("there is no time zone `{zone}`");
                let origin = Origin::At(object.address, path.key("window").key("zone"));
                let found = Diagnostic::error(Code::GateWithoutEvidence, message)
                    .at(origin, "not in the IANA database")
                    .help("write a name such as `Europe/Berlin` or `UTC`");
                self.diagnostics.push(found.about(&object.key()));
            }
        };
        for (position, gate) in spec.gates.iter().enumerate() {
            report(gate, FieldPath::from(["spec", "gates"]).index(position));
        }
        for (index, ring) in spec.rings.iter().enumerate() {
            for (key, gates) in [("enter", &ring.enter), ("prove", &ring.prove)] {
                for (position, gate) in gates.iter().enumerate() {
                    report(gate, FieldPath::from(["spec", "rings"]).index(index).key(key).index(position));
                }
            }
        }
        let is_measured =
            |gate: &Gate| matches!(gate.kind, GateKind::Compliant { .. } | GateKind::Failures(_) | GateKind::Soak(_));
        let measured = spec.gates.iter().enumerate().filter(|(_, gate)| spec.from.is_empty() && is_measured(gate));
        for (position, gate) in measured {
            let message = format!("the gate `{}` measures the environments in `from`, and there is none", gate.name);
            let path = FieldPath::from(["spec", "gates"]).index(position);
            let found = Diagnostic::error(Code::GateWithoutEvidence, message)
                .at(Origin::At(object.address, path), "never holds")
                .help("add `from`, or remove the gate; gates of rings measure the environment itself");
            self.diagnostics.push(found.about(&object.key()));
        }
    }

    /// Reports promotions into environments on the main branch: what they write would be a commit that is promoted next.
    fn report_environments_on_main(&mut self, is_main: &dyn Fn(&RepositoryPlace) -> bool) {
        for (environment, step) in &mut self.steps {
            let object = self.known.get(environment).filter(|object| is_main(&object.spec.control_plane));
            let Some(object) = object.filter(|_| !matches!(step.source, StepSource::Nothing)) else { continue };
            step.problem = Some("its objects are on the main branch".into());
            let message =
                format!("the objects of `{environment}` are on the main branch, so no promotion can lead to it");
            let branch = Origin::At(object.address, FieldPath::from(["spec", "controlPlane", "branch"]));
            let mut found = Diagnostic::error(Code::EnvironmentOnMain, message).at(branch, "the main branch");
            if let StepSource::Object(promotion) = &step.source {
                found = found.at(field(promotion, &["to"]), "leads there");
            }
            let found = found
                .note(
                    "what a promotion writes there would be a commit of the main branch, which would be promoted next",
                )
                .help("move the objects to a branch of their own, and name it in `spec.controlPlane.branch`");
            self.diagnostics.push(found.about(&object.key()));
        }
    }

    /// Reports annotations with steps that no promotion has.
    fn report_annotations(&mut self, annotated: &[(&Object<Environment>, EnvironmentName)]) {
        for (environment, next) in annotated {
            let step = self.steps.get(next);
            if step.is_some_and(|step| step.before.contains(&environment.name)) {
                continue;
            }
            let message =
                format!("no promotion leads from `{}` to `{next}`: the annotation has no effect", environment.name);
            let path = FieldPath::from(["metadata", "annotations", NEXT]);
            let mut found = Diagnostic::warning(Code::NextWithoutPromotion, message)
                .at(Origin::At(environment.address, path), "no effect")
                .note("the order of environments comes from `Promotion` objects");
            if let Some(Step { source: StepSource::Object(object), .. }) = step {
                found = found.at(field(object, &["to"]), "decides about this environment");
            }
            let help = "remove the annotation, or add the environment to `from` of the promotion";
            self.diagnostics.push(found.help(help).about(&environment.key()));
        }
    }

    fn finish(mut self) -> (Graph, Vec<Diagnostic>) {
        for environment in self.known.keys() {
            self.steps.entry(environment.clone()).or_insert_with(|| Step::first(environment));
        }
        let cycles = cycles::find(&self.steps);
        for cycle in &cycles {
            self.report_cycle(cycle);
        }
        self.report_unreachable();
        let order = cycles::order(&self.steps);
        let is_declared = !self.promotions.is_empty();
        let is_complete = self.promotions.iter().all(|object| self.environment(&object.spec.to).is_some());
        (Graph { steps: self.steps, order, is_declared, is_complete }, self.diagnostics)
    }

    fn report_cycle(&mut self, cycle: &[EnvironmentName]) {
        let path: Vec<_> = cycle.iter().chain(cycle.first()).map(EnvironmentName::as_str).collect();
        let path = path.join(" → ");
        let mut found =
            Diagnostic::error(Code::PromotionCycle, format!("the environments {path} wait for one another"));
        for (position, environment) in cycle.iter().enumerate() {
            let before = cycle.get((position + cycle.len() - 1) % cycle.len());
            let Some(step) = self.steps.get_mut(environment) else { continue };
            step.problem = Some(format!("it waits for itself: {path}").into());
            let text = format!("changes reach `{environment}` from here");
            match (&step.source, before.and_then(|before| self.known.get(before))) {
                (StepSource::Object(object), _) => {
                    found = found.at(field(object, &["from"]), text).about(&object.key());
                }
                (_, Some(before)) => {
                    let path = FieldPath::from(["metadata", "annotations", NEXT]);
                    found = found.at(Origin::At(before.address, path), text).about(&before.key());
                }
                (_, None) => {}
            }
        }
        self.diagnostics.push(found.help("remove one of these steps"));
    }

    /// Reports environments to which no way leads, if their own promotion is right.
    fn report_unreachable(&mut self) {
        let unreachable = cycles::unreachable(&self.steps);
        for (environment, before) in unreachable {
            let Some(step) = self.steps.get_mut(&environment) else { continue };
            if step.problem.is_some() {
                continue;
            }
            step.problem = Some(format!("no changes ever arrive in `{before}`, which comes before it").into());
            let message = format!("no changes ever arrive in `{environment}`: they wait for `{before}`");
            let mut found = Diagnostic::error(Code::UnreachableEnvironment, message);
            match (&step.source, self.known.get(&before)) {
                (StepSource::Object(object), _) => {
                    found = found.at(field(object, &["from"]), "these environments come before").about(&object.key());
                }
                (_, Some(before)) => {
                    let path = FieldPath::from(["metadata", "annotations", NEXT]);
                    found = found.at(Origin::At(before.address, path), "leads there").about(&before.key());
                }
                (_, None) => {}
            }
            self.diagnostics.push(found.help(format!("fix how changes reach `{before}`")));
        }
    }
}

fn field(object: &Object<Promotion>, keys: &[&str]) -> Origin {
    let path = keys.iter().fold(FieldPath::from(["spec"]), |path, key| path.key(*key));
    Origin::At(object.address, path)
}

fn several(first: &Object<Promotion>, object: &Object<Promotion>) -> Diagnostic {
    let message = format!("{} and {} both lead to `{}`", first.key(), object.key(), object.spec.to);
    Diagnostic::error(Code::SeveralPromotions, message)
        .at(field(first, &["to"]), "once here")
        .at(field(object, &["to"]), "and again here")
        .help("write one promotion with all environments in `from`; `require: any` lets one of them suffice")
        .about(&object.key())
}
