//! The question of Microsoft's hub, `POST /deployment_state`: how many reconcilers of an endpoint have a commit.

use std::collections::BTreeSet;

use hub_api::endpoint;
use hub_api::report::Status;
use hub_api::revision;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::QuestionError;
use crate::store::{
    ColumnError, Columns, Database, DatabaseError, Dialect, FromRow, Parameters, RevisionId, Transaction,
};

/// The request, with the field names of Microsoft's hub.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DeploymentStateRequest {
    /// `repository/branch/path`; `%` stands for any characters.
    #[serde(default)]
    pub manifests_endpoint: String,
    /// The commit, in any form that reconcilers write.
    #[serde(default)]
    pub commit_id: String,
}

/// The answer, with the field names of Microsoft's hub. Fields that are zero or empty are omitted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct DeploymentState {
    /// Reconcilers of the endpoint that are not retired.
    #[serde(skip_serializing_if = "is_zero")]
    pub total_subscribers: i64,
    /// Number of these reconcilers that have the commit and succeeded.
    #[serde(skip_serializing_if = "is_zero")]
    pub total_succeeded_subscribers: i64,
    /// Number of these reconcilers that have the commit and failed.
    #[serde(skip_serializing_if = "is_zero")]
    pub total_failed_subscribers: i64,
    /// Number of these reconcilers that have the commit and are in progress.
    #[serde(skip_serializing_if = "is_zero")]
    pub total_in_progress_subscribers: i64,
    /// The reconcilers that succeeded; at most 1,000.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub succeeded_subscribers: Vec<Subscriber>,
    /// The reconcilers that failed; at most 1,000.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_subscribers: Vec<Subscriber>,
    /// The reconcilers that are in progress; at most 1,000.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub in_progress_subscribers: Vec<Subscriber>,
}

/// A reconciler.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct Subscriber {
    /// The reconciler's name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The host that it is on.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub host: String,
    /// The message of the reconciler about its status.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub status_message: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &i64) -> bool {
    *number == 0
}

/// Maximum number of subscribers in a list.
const LISTED_MAX: i64 = 1_000;

/// How many reconcilers of an endpoint have a commit. If the commit did not change the endpoint, it stands for the content of the endpoint at that commit.
///
/// # Errors
/// The endpoint or the commit is missing; the database can't answer.
pub async fn deployment_state(
    database: &Database,
    request: &DeploymentStateRequest,
) -> Result<DeploymentState, QuestionError> {
    for (parameter, text) in [("manifests_endpoint", &request.manifests_endpoint), ("commit_id", &request.commit_id)] {
        if text.trim().is_empty() {
            return Err(QuestionError::Wrong { parameter, message: "is missing".to_owned() });
        }
        if text.contains('\0') {
            let message = "has the character U+0000 in it, which is in no name".to_owned();
            return Err(QuestionError::Wrong { parameter, message });
        }
    }
    let mut transaction = database.begin_reading().await?;
    let subscribers = Subscribers::read(&mut transaction, request).await?;
    let mut state = subscribers.counted(&mut transaction).await?;
    for status in [Status::Success, Status::Failure, Status::InProgress] {
        let (total, list) = state.part_mut(status);
        if *total > 0 {
            *list = subscribers.list(&mut transaction, status).await?;
        }
    }
    Ok(state)
}

impl DeploymentState {
    /// The number of the subscribers with a status, and their list.
    fn part_mut(&mut self, status: Status) -> (&mut i64, &mut Vec<Subscriber>) {
        match status {
            Status::Success => (&mut self.total_succeeded_subscribers, &mut self.succeeded_subscribers),
            Status::Failure => (&mut self.total_failed_subscribers, &mut self.failed_subscribers),
            Status::InProgress => (&mut self.total_in_progress_subscribers, &mut self.in_progress_subscribers),
        }
    }
}

/// The selected endpoints: the patterns for the text of the request, and for its normal form.
struct Endpoint(Vec<Pattern>);

impl Endpoint {
    fn new(dialect: Dialect, given: &str) -> Self {
        let given = given.trim();
        let usual = endpoint::usual(given);
        let texts = if usual == given { vec![given] } else { vec![given, usual.as_str()] };
        Self(texts.into_iter().map(|text| Pattern::new(dialect, text)).collect())
    }

    /// The condition that a column has a selected endpoint.
    fn condition(&self, column: &str, parameters: &mut Parameters) -> String {
        let of_one = self.0.iter().map(|pattern| pattern.condition(column, parameters));
        format!("({})", of_one.collect::<Vec<_>>().join(" or "))
    }
}

/// One endpoint, or all endpoints that begin with a prefix and match a pattern.
struct Pattern {
    text: String,
    beginning: Option<String>,
}

impl Pattern {
    /// A pattern for the text of a request. Only `%` is a wildcard: `_` is frequent in names and stands for itself. The comparison is case-sensitive.
    fn new(dialect: Dialect, given: &str) -> Self {
        let Some((beginning, _)) = given.split_once('%') else {
            return Self { text: given.to_owned(), beginning: None };
        };
        let text = match dialect {
            Dialect::Sqlite => given.split('%').map(globbed).collect::<Vec<_>>().join("*"),
            Dialect::Postgres => given.replace('\\', "\\\\").replace('_', "\\_"),
        };
        Self { text, beginning: Some(beginning.to_owned()) }
    }

    /// The condition that a column has a selected endpoint.
    fn condition(&self, column: &str, parameters: &mut Parameters) -> String {
        let text = parameters.add(self.text.as_str());
        let Some(beginning) = &self.beginning else { return format!("{column} = {text}") };
        // The end of the range is behind all texts with this prefix.
        let (from, to) = (parameters.add(beginning.as_str()), parameters.add(format!("{beginning}{}", char::MAX)));
        match parameters.dialect() {
            Dialect::Sqlite => format!("{column} >= {from} and {column} < {to} and {column} glob {text}"),
            Dialect::Postgres => format!(
                "{column} collate \"C\" >= {from} and {column} collate \"C\" < {to} and {column} like {text} escape '\\'"
            ),
        }
    }
}

/// Escapes a text for SQLite's `glob`, so that it matches only itself.
fn globbed(text: &str) -> String {
    let letter =
        |letter: char| if matches!(letter, '*' | '?' | '[') { format!("[{letter}]") } else { letter.to_string() };
    text.chars().map(letter).collect()
}

/// The revisions that hold the content of the places at a commit of their branch.
async fn contents(
    transaction: &mut Transaction,
    endpoint: &Endpoint,
    commit: &str,
) -> Result<BTreeSet<RevisionId>, DatabaseError> {
    let mut parameters = Parameters::with(transaction.dialect(), vec![commit.into()]);
    let condition = endpoint.condition("p.endpoint", &mut parameters);
    let sql = format!(
        "select v.id from place p join gitops_commit c on c.branch_id = p.branch_id and c.commit_id = $1 \
         join place_revision n on n.id = (select e.id from place_revision e join gitops_commit o on o.id = e.gitops_commit_id \
            where e.place_id = p.id and o.sequence <= c.sequence order by o.sequence desc, e.id desc limit 1) \
         join place_revision v on v.place_id = p.id and v.tree = n.tree where {condition}"
    );
    Ok(transaction.query(&sql, parameters.into_values()).await?.into_iter().collect())
}

/// The reconcilers of an endpoint, and the commit that they may have.
struct Subscribers<'a> {
    endpoint: Endpoint,
    commit: &'a str,
    /// The revisions that hold the content of the endpoint at the commit.
    contents: BTreeSet<RevisionId>,
}

const SUBSCRIBERS: &str = "reconciler r join host h on h.id = r.host_id join reconciler_state s on s.reconciler_id = r.id \
    left join deployment d on d.id = s.deployment_id";

/// The condition that a reconciler has the commit: it holds the content of the commit; or that content is not known, and its report `d` names the
/// commit. The parameters are those of [`Subscribers::parameters`].
fn has_commit(dialect: Dialect) -> String {
    let holds = dialect.any_int("s.held_revision_id", "$1");
    format!("({holds} or s.held_revision_id is null and d.gitops_commit_id = $2)")
}

impl<'a> Subscribers<'a> {
    async fn read(transaction: &mut Transaction, request: &'a DeploymentStateRequest) -> Result<Self, DatabaseError> {
        let commit = revision::commit(&request.commit_id);
        let endpoint = Endpoint::new(transaction.dialect(), &request.manifests_endpoint);
        let contents = contents(transaction, &endpoint, commit).await?;
        Ok(Self { endpoint, commit, contents })
    }

    fn parameters(&self, dialect: Dialect) -> Parameters {
        Parameters::with(dialect, vec![self.contents.clone().into(), self.commit.into()])
    }

    async fn counted(&self, transaction: &mut Transaction) -> Result<DeploymentState, DatabaseError> {
        let dialect = transaction.dialect();
        let mut parameters = self.parameters(dialect);
        let of_endpoint = self.endpoint.condition("r.manifests_endpoint", &mut parameters);
        let sql = format!(
            "select case when {} then s.status else 0 end, count(*) from {SUBSCRIBERS} \
             where {of_endpoint} and r.retired_on is null and h.retired_on is null group by 1",
            has_commit(dialect),
        );
        let mut state = DeploymentState::default();
        for (status, count) in transaction.query::<(i64, i64)>(&sql, parameters.into_values()).await? {
            state.total_subscribers += count;
            if let Some(status) = Status::from_number(status) {
                *state.part_mut(status).0 += count;
            }
        }
        Ok(state)
    }

    async fn list(&self, transaction: &mut Transaction, status: Status) -> Result<Vec<Subscriber>, DatabaseError> {
        let dialect = transaction.dialect();
        let mut parameters = self.parameters(dialect);
        let of_endpoint = self.endpoint.condition("r.manifests_endpoint", &mut parameters);
        let of_status = parameters.equals("s.status", status.number());
        let sql = format!(
            "select r.name, h.name, d.status_message from {SUBSCRIBERS} \
             where {of_endpoint} and r.retired_on is null and h.retired_on is null and {of_status} and {} order by r.id limit {LISTED_MAX}",
            has_commit(dialect),
        );
        transaction.query(&sql, parameters.into_values()).await
    }
}

impl FromRow for Subscriber {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (name, host, message) = columns.take::<(_, _, Option<String>)>()?;
        Ok(Self { name, host, status_message: message.unwrap_or_default() })
    }
}
