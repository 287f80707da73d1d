//! The values that workloads ask for, and the values that the platform gives.

use delivery::sources::loaded::Loaded;
use engine::answers::contract::{
    Advice, Ask, AskedValue, Contract, GivenValue, MissingValue, PlaceCount, UnassignedTarget, UnmetLabel,
    WorkloadContract, WrongValue,
};
use hub_api::compiled::{
    ContractAdvice, ContractAsk, ContractEnvironment, ContractFields, ContractGiven, ContractKey, ContractMissing,
    ContractPlaces, ContractReach, ContractSchema, ContractUnassigned, ContractUnmet, ContractValue, ContractWorkload,
    ContractWrong, SourcePosition, ValueCounts,
};
use model::diagnostic::AssignmentId;
use model::locate::Locator;

/// The contract of an environment, with the places of its objects.
pub struct EnvironmentContract<'a> {
    /// The name of the environment.
    pub environment: &'a str,
    /// Its contract.
    pub contract: &'a Contract,
    /// Finds places in its files.
    pub locator: Locator<'a>,
    /// The place of the platform's values: a repository and a branch. None for a plain directory.
    pub platform: Option<String>,
}

impl<'a> EnvironmentContract<'a> {
    /// The contract of a loaded environment.
    pub fn new(loaded: &'a Loaded, contract: &'a Contract) -> Self {
        let fleet = &loaded.fleet;
        let object = fleet.cluster_types.values().next().and_then(|object| fleet.address(&object.key()));
        let source = object.map(|address| fleet.files.get(address.file).source.place_name());
        Self {
            environment: fleet.environment.as_str(),
            contract,
            locator: Locator::new(fleet),
            platform: source.filter(|name| !name.is_empty()),
        }
    }
}

/// The contracts of environments.
pub fn contract_fields(shown: &mut [EnvironmentContract<'_>]) -> ContractFields {
    ContractFields { environments: shown.iter_mut().map(environment_fields).collect() }
}

fn environment_fields(shown: &mut EnvironmentContract<'_>) -> ContractEnvironment {
    let (contract, locator) = (shown.contract, &mut shown.locator);
    let workloads = contract.workloads.iter().map(|workload| workload_fields(workload, locator)).collect();
    ContractEnvironment {
        environment: shown.environment.to_owned(),
        workloads,
        unused: given_fields(&contract.unused, locator),
        unused_count: contract.unused_count,
    }
}

fn workload_fields(workload: &WorkloadContract, locator: &mut Locator<'_>) -> ContractWorkload {
    let unusable = workload.unusable_schemas.iter();
    ContractWorkload {
        workload: workload.workload.to_string(),
        workspace: workload.workspace.to_string(),
        registration: workload.registration.as_ref().map(ToString::to_string),
        targets: workload.targets,
        is_assigned: !workload.is_hypothetical,
        assignments: workload.assignments,
        places: places(workload.places),
        counts: value_counts(workload),
        values: workload.values.iter().map(|asked| value_fields(asked, locator)).collect(),
        not_asked_for: given_fields(&workload.unasked, locator),
        unassigned: workload.unassigned.iter().map(unassigned_fields).collect(),
        unusable_schemas: unusable.map(|at| ContractSchema { place: SourcePosition::find(at, locator) }).collect(),
        not_checked: workload.unchecked,
    }
}

/// The counts of a workload.
pub fn value_counts(workload: &WorkloadContract) -> ValueCounts {
    let values = || workload.values.iter().filter(|value| !value.key.is_empty());
    ValueCounts {
        asked: values().count(),
        given: values().filter(|value| value.given == value.asked).count(),
        missing: values().filter(|value| value.missing.is_some()).count(),
        wrong: workload.values.iter().filter(|value| !value.wrong.is_empty()).count(),
    }
}

fn places(PlaceCount { cluster_types, clusters }: PlaceCount) -> ContractPlaces {
    ContractPlaces { cluster_types, clusters }
}

fn value_fields(value: &AskedValue, locator: &mut Locator<'_>) -> ContractValue {
    ContractValue {
        key: value.key.to_string(),
        is_required: value.is_required,
        is_sensitive: value.is_sensitive,
        asks: value.asks.iter().map(|asked| ask_fields(asked, locator)).collect(),
        asked: ContractReach { assignments: value.asked, places: places(value.asked_places) },
        given: ContractReach { assignments: value.given, places: places(value.given_places) },
        missing: value.missing.as_ref().map(missing_fields),
        wrong: value.wrong.iter().map(|found| wrong_fields(found, locator)).collect(),
        given_by: given_fields(&value.givers, locator),
        given_by_more: value.more_givers,
        advice: value.advice.iter().map(|found| advice_fields(found, locator)).collect(),
    }
}

fn ask_fields(ask: &Ask, locator: &mut Locator<'_>) -> ContractAsk {
    ContractAsk {
        place: SourcePosition::find(&ask.origin, locator),
        is_required: ask.is_required,
        demands: ask.requirements.clone(),
        default: ask.default.clone(),
        description: ask.description.clone(),
        places: places(ask.places),
    }
}

fn missing_fields(missing: &MissingValue) -> ContractMissing {
    ContractMissing {
        assignments: missing.assignments,
        is_enforced: missing.is_enforced,
        places: places(missing.places),
        examples: examples(&missing.examples),
    }
}

fn wrong_fields(wrong: &WrongValue, locator: &mut Locator<'_>) -> ContractWrong {
    ContractWrong {
        message: wrong.message.clone(),
        is_enforced: wrong.is_enforced,
        place: wrong.origin.as_ref().and_then(|origin| SourcePosition::find(origin, locator)),
        required_by: ContractSchema { place: SourcePosition::find(&wrong.schema, locator) },
        assignments: wrong.assignments,
        examples: examples(&wrong.examples),
    }
}

fn given_fields(given: &[GivenValue], locator: &mut Locator<'_>) -> Vec<ContractGiven> {
    let of = |given: &GivenValue| ContractGiven {
        key: given.key.to_string(),
        container: given.container.clone(),
        conditions: given.conditions.clone(),
        place: SourcePosition::find(&given.origin, locator),
        value: given.shown.clone(),
        places: places(given.places),
        more: given.more,
    };
    given.iter().map(of).collect()
}

fn advice_fields(advice: &Advice, locator: &mut Locator<'_>) -> ContractAdvice {
    match advice {
        Advice::Spelling { key, container, origin } => ContractAdvice {
            similar_key: Some(key.to_string()),
            container: container.clone(),
            place: SourcePosition::find(origin, locator),
            ..ContractAdvice::default()
        },
        Advice::Elsewhere { container, origin, assignment, unmet } => ContractAdvice {
            container: container.clone(),
            place: SourcePosition::find(origin, locator),
            assignment: Some(assignment.clone()),
            unmet: Some(unmet.iter().map(|label| unmet_fields(label, locator)).collect()),
            ..ContractAdvice::default()
        },
    }
}

fn unmet_fields(label: &UnmetLabel, locator: &mut Locator<'_>) -> ContractUnmet {
    ContractUnmet {
        label: label.key.to_string(),
        value: label.value.to_string(),
        actual: label.actual.as_deref().map(str::to_owned),
        is_near: label.is_near,
        place: SourcePosition::find(&label.origin, locator),
    }
}

fn unassigned_fields(target: &UnassignedTarget) -> ContractUnassigned {
    let missing = target.missing.iter();
    let missing = missing.map(|(key, count)| ContractKey { key: key.to_string(), places: places(*count) });
    ContractUnassigned { target: target.name.to_string(), missing: missing.collect(), places: places(target.places) }
}

fn examples(examples: &[AssignmentId]) -> Vec<String> {
    examples.iter().map(ToString::to_string).collect()
}
