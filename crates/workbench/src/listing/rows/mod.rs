//! The rows of lists. A kind has one type: its fields for programs, its columns and cells for people.

mod assignments;
mod configuration;
mod places;
mod promotions;
mod repositories;
mod rules;
mod values;
mod workloads;

use std::borrow::Cow;
use std::collections::BTreeMap;

use hub_api::compiled::SourcePosition;
use model::locate::Locator;
use model::object::AnyObject;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

pub use self::assignments::{AssignmentRow, published_content};
pub use self::configuration::{ConfigFields, SchemaFields, TemplateFields};
pub use self::places::{ClusterFields, ClusterTypeFields};
pub use self::promotions::{GateFields, PromotionFields, RingFields};
pub use self::repositories::{BaseRepoFields, EnvironmentFields, GitOpsRepoFields, RepositoryFields};
pub use self::rules::{MappingFields, PinFields, PolicyFields, Requirements};
pub use self::values::{KeyRow, SetBy, VALUE_CHARS_MAX, ValueRow, shown_value};
pub use self::workloads::{RegistrationFields, TargetFields, WorkloadFields};
use super::kind::ListedKind;
use super::object::Listed;
use super::view::{Pairs, View, label_pairs};

/// The fields of a kind: for programs as they are serialized, for people as cells.
pub trait KindFields: Serialize + ToSchema {
    /// The columns for people.
    const COLUMNS: ListColumns;

    /// The text of each column.
    fn cells(&self) -> Vec<String>;
}

/// The columns of a table. Those of `wide` are shown only in wide tables.
#[derive(Clone, Copy, Debug)]
pub struct ListColumns {
    /// The columns of all tables.
    pub always: &'static [&'static str],
    /// More columns.
    pub wide: &'static [&'static str],
}

const fn columns(always: &'static [&'static str], wide: &'static [&'static str]) -> ListColumns {
    ListColumns { always, wide }
}

/// The fields that all objects have.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectFields {
    /// The environment.
    pub environment: String,
    /// The name.
    pub name: String,
    /// Where it is written.
    pub place: Option<SourcePosition>,
    /// Its labels.
    pub labels: Pairs,
}

/// A row of a list, of any kind.
#[derive(Clone, Debug, Default)]
pub struct ListRow {
    /// The text of each column of the kind.
    pub cells: Vec<String>,
    /// The fields for programs.
    pub json: Map<String, Json>,
}

impl ListRow {
    /// The row of a type that has all of its fields and cells.
    pub fn new(fields: &impl KindFields) -> Self {
        Self { cells: fields.cells(), json: json(fields) }
    }

    /// The row of an object: its name, the cells and fields of its kind, its file and line.
    fn of_object(fields: &impl KindFields, object: &ObjectFields, source: String) -> Self {
        let cells = [vec![object.name.clone()], fields.cells(), vec![source]].concat();
        let mut all = json(fields);
        all.extend(json(object));
        Self { cells, json: all }
    }
}

fn json(fields: &impl Serialize) -> Map<String, Json> {
    match serde_json::to_value(fields) {
        Ok(Json::Object(fields)) => fields,
        // Rows are structs of texts, numbers and lists, which always become objects.
        Ok(_) | Err(_) => Map::new(),
    }
}

/// Calls a macro with all kinds of objects and the types of their fields: the one list of them.
macro_rules! with_all_kinds {
    ($call:ident) => {
        $call! {
            Environment => EnvironmentFields,
            Promotion => PromotionFields,
            ClusterType => ClusterTypeFields,
            Cluster => ClusterFields,
            Workload => WorkloadFields,
            Target => TargetFields,
            Policy => PolicyFields,
            Config => ConfigFields,
            Schema => SchemaFields,
            Template => TemplateFields,
            Pin => PinFields,
            Mapping => MappingFields,
            Registration => RegistrationFields,
            BaseRepo => BaseRepoFields,
            GitOpsRepo => GitOpsRepoFields
        }
    };
}

/// The columns of a kind.
pub fn columns_of(kind: ListedKind) -> ListColumns {
    macro_rules! columns_of_kind {
        ($($kind:ident => $fields:ident),*) => {
            match kind {
                $(ListedKind::$kind => $fields::COLUMNS,)*
                ListedKind::Assignment => AssignmentRow::COLUMNS,
                ListedKind::Value => ValueRow::COLUMNS,
            }
        };
    }
    with_all_kinds!(columns_of_kind)
}

/// The name of the schema of a kind's own fields. The common ones are those of [`ObjectFields`], except for assignments and values.
pub fn schema_name(kind: ListedKind) -> Cow<'static, str> {
    macro_rules! name_of_kind {
        ($($kind:ident => $fields:ident),*) => {
            match kind {
                $(ListedKind::$kind => $fields::name(),)*
                ListedKind::Assignment => AssignmentRow::name(),
                ListedKind::Value => ValueRow::name(),
            }
        };
    }
    with_all_kinds!(name_of_kind)
}

/// The schemas of all rows and of the types in them, by name.
pub fn schemas() -> BTreeMap<String, RefOr<Schema>> {
    fn add<T: ToSchema>(found: &mut Vec<(String, RefOr<Schema>)>) {
        found.push((T::name().into_owned(), T::schema()));
        T::schemas(found);
    }
    let mut found = Vec::new();
    macro_rules! add_all {
        ($($kind:ident => $fields:ident),*) => { $(add::<$fields>(&mut found);)* };
    }
    with_all_kinds!(add_all);
    add::<ObjectFields>(&mut found);
    add::<AssignmentRow>(&mut found);
    add::<KeyRow>(&mut found);
    add::<ValueRow>(&mut found);
    found.into_iter().collect()
}

/// A locator keeps the files that it has read, and a list visits each file once. So it is replaced from time to time.
const OPENED_FILES_MAX: usize = 200;

/// The row of an object. The last column is its file and line.
pub fn row(listed: &Listed, view: &mut View<'_>) -> ListRow {
    let origin = listed.origin();
    if view.locator.reads() >= OPENED_FILES_MAX {
        view.locator = Locator::new(view.fleet());
    }
    let source = view.source(&origin);
    let object = ObjectFields {
        environment: view.environment().to_owned(),
        name: listed.name().to_string(),
        place: SourcePosition::find(&origin, &mut view.locator),
        labels: label_pairs(&listed.labels(view.fleet())),
    };
    let row = |fields: &dyn Fn(&ObjectFields, String) -> ListRow| fields(&object, source);
    macro_rules! of {
        ($fields:expr) => {
            row(&|object, source| ListRow::of_object(&$fields, object, source))
        };
    }
    match listed {
        Listed::Target(target) => of!(TargetFields::new(target, view)),
        Listed::Object(listed, key) => match listed {
            AnyObject::Environment(object) => of!(EnvironmentFields::new(object, view)),
            AnyObject::Promotion(object) => of!(PromotionFields::new(object)),
            AnyObject::ClusterType(object) => of!(ClusterTypeFields::new(object, view)),
            AnyObject::Cluster(object) => of!(ClusterFields::new(object, view)),
            AnyObject::Workload(object) => of!(WorkloadFields::new(object, view)),
            AnyObject::SchedulingPolicy(object) => of!(PolicyFields::new(object, view)),
            AnyObject::ReleasePin(object) => of!(PinFields::new(object, view)),
            AnyObject::LabelMapping(object) => of!(MappingFields::new(object, view)),
            AnyObject::ConfigMap(object) => of!(ConfigFields::new(object, view)),
            AnyObject::ConfigSchema(_) => of!(SchemaFields::new(key, view)),
            AnyObject::Template(object) => of!(TemplateFields::new(object, view)),
            AnyObject::WorkloadRegistration(object) => of!(RegistrationFields::new(object, view)),
            AnyObject::BaseRepo(object) => of!(BaseRepoFields::new(object)),
            AnyObject::GitOpsRepo(object) => of!(GitOpsRepoFields::new(object)),
            // A list of targets has those of workloads and those of objects, as `Listed::Target`. The others are not listed.
            AnyObject::DeploymentTarget(_)
            | AnyObject::DeploymentDescriptor(_)
            | AnyObject::FluxGitRepository(_)
            | AnyObject::FluxKustomization(_) => ListRow::default(),
        },
    }
}

/// The row of an environment that no object declares: a plain folder.
pub fn undeclared(view: &View<'_>) -> ListRow {
    let name = view.environment().to_owned();
    let object = ObjectFields { environment: name.clone(), name, place: None, labels: Pairs::new() };
    ListRow::of_object(&EnvironmentFields::undeclared(view), &object, "-".to_owned())
}
