//! The question of Microsoft's hub, `POST /deployment_state`: how many reconcilers of an endpoint have a commit.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::QuestionError;
use crate::report::Status;
use crate::revision;
use crate::store::{Database, DatabaseError, Row, Transaction, Value};

/// What is asked for, in the words of Microsoft's hub.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DeploymentStateRequest {
    /// `repository/branch/path`; `%` stands for any characters.
    #[serde(default)]
    pub manifests_endpoint: String,
    /// The commit, in any form that reconcilers write.
    #[serde(default)]
    pub commit_id: String,
}

/// The answer, in the words of Microsoft's hub; what is zero or empty is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct DeploymentState {
    /// Reconcilers of the endpoint that are not retired.
    #[serde(skip_serializing_if = "is_zero")]
    pub total_subscribers: i64,
    /// Of these: have the commit, and all is well.
    #[serde(skip_serializing_if = "is_zero")]
    pub total_succeeded_subscribers: i64,
    /// Of these: could not apply it.
    #[serde(skip_serializing_if = "is_zero")]
    pub total_failed_subscribers: i64,
    /// Of these: are at it.
    #[serde(skip_serializing_if = "is_zero")]
    pub total_in_progress_subscribers: i64,
    /// Those that succeeded; 1,000 at most.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub succeeded_subscribers: Vec<Subscriber>,
    /// Those that failed; 1,000 at most.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_subscribers: Vec<Subscriber>,
    /// Those that are at it; 1,000 at most.
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
    /// What it says about its status.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub status_message: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &i64) -> bool {
    *number == 0
}

/// Subscribers that a list has at most.
const LISTED_MAX: i64 = 1_000;

/// How many reconcilers of an endpoint have a commit. A commit elsewhere in the branch means what the endpoint held then.
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
    }
    let commit = revision::commit(&request.commit_id);
    let mut transaction = database.begin_reading().await?;
    let endpoint = Endpoint::new(&request.manifests_endpoint);
    let contents = contents(&mut transaction, &endpoint, commit).await?;
    let mut state = counted(&mut transaction, &endpoint, (&contents, commit)).await?;
    for status in [Status::Success, Status::Failure, Status::InProgress] {
        let (total, list) = state.of(status);
        if *total > 0 {
            *list = subscribers(&mut transaction, &endpoint, (&contents, commit, status)).await?;
        }
    }
    Ok(state)
}

impl DeploymentState {
    fn of(&mut self, status: Status) -> (&mut i64, &mut Vec<Subscriber>) {
        match status {
            Status::Success => (&mut self.total_succeeded_subscribers, &mut self.succeeded_subscribers),
            Status::Failure => (&mut self.total_failed_subscribers, &mut self.failed_subscribers),
            Status::InProgress => (&mut self.total_in_progress_subscribers, &mut self.in_progress_subscribers),
        }
    }
}

/// Which endpoints are meant.
struct Endpoint {
    text: String,
    is_pattern: bool,
}

impl Endpoint {
    /// Only `%` stands for something else: `_` is frequent in names, and means itself.
    fn new(given: &str) -> Self {
        let given = given.trim();
        let is_pattern = given.contains('%');
        let text = if is_pattern { given.replace('\\', "\\\\").replace('_', "\\_") } else { given.to_owned() };
        Self { text, is_pattern }
    }

    /// The condition that a column is meant, with the parameter `$1`.
    fn condition(&self, column: &str) -> String {
        if self.is_pattern { format!("{column} like $1 escape '\\'") } else { format!("{column} = $1") }
    }
}

/// The revisions whose content places have at a commit of their branch.
async fn contents(
    transaction: &mut Transaction,
    endpoint: &Endpoint,
    commit: &str,
) -> Result<BTreeSet<i64>, DatabaseError> {
    let sql = format!(
        "select v.id from place p join gitops_commit c on c.branch_id = p.branch_id and c.commit_id = $2 \
         join place_revision n on n.id = (select e.id from place_revision e join gitops_commit o on o.id = e.gitops_commit_id \
            where e.place_id = p.id and o.sequence <= c.sequence order by o.sequence desc, e.id desc limit 1) \
         join place_revision v on v.place_id = p.id and v.tree = n.tree where {}",
        endpoint.condition("p.endpoint")
    );
    let rows = transaction.query(&sql, vec![endpoint.text.as_str().into(), commit.into()]).await?;
    Ok(rows.iter().map(|row| row.int(0)).collect())
}

/// Whether a reconciler has the commit: it holds the content, or reported the commit where it is not known what that is. Parameters `$2` and `$3`.
fn has_commit(transaction: &Transaction) -> String {
    let holds = transaction.dialect().any_int("s.held_revision_id", "$2");
    format!(
        "({holds} or s.held_revision_id is null and exists \
         (select 1 from deployment d where d.id = s.deployment_id and d.gitops_commit_id = $3))"
    )
}

async fn counted(
    transaction: &mut Transaction,
    endpoint: &Endpoint,
    (contents, commit): (&BTreeSet<i64>, &str),
) -> Result<DeploymentState, DatabaseError> {
    let sql = format!(
        "select case when {} then s.status else 0 end, count(*) from reconciler r join host h on h.id = r.host_id \
         join reconciler_state s on s.reconciler_id = r.id \
         where {} and r.retired_on is null and h.retired_on is null group by 1",
        has_commit(transaction),
        endpoint.condition("r.manifests_endpoint"),
    );
    let mut state = DeploymentState::default();
    for row in transaction.query(&sql, values(endpoint, contents, commit)).await? {
        state.total_subscribers += row.int(1);
        if let Some(status) = Status::from_number(row.int(0)) {
            *state.of(status).0 += row.int(1);
        }
    }
    Ok(state)
}

async fn subscribers(
    transaction: &mut Transaction,
    endpoint: &Endpoint,
    (contents, commit, status): (&BTreeSet<i64>, &str, Status),
) -> Result<Vec<Subscriber>, DatabaseError> {
    let sql = format!(
        "select r.name, h.name, m.status_message from reconciler r join host h on h.id = r.host_id \
         join reconciler_state s on s.reconciler_id = r.id left join deployment m on m.id = s.deployment_id \
         where {} and r.retired_on is null and h.retired_on is null and s.status = $4 and {} order by r.id limit {LISTED_MAX}",
        endpoint.condition("r.manifests_endpoint"),
        has_commit(transaction),
    );
    let mut values = values(endpoint, contents, commit);
    values.push(status.number().into());
    let subscriber = |row: &Row| Subscriber { name: row.text(0), host: row.text(1), status_message: row.text(2) };
    Ok(transaction.query(&sql, values).await?.iter().map(subscriber).collect())
}

fn values(endpoint: &Endpoint, contents: &BTreeSet<i64>, commit: &str) -> Vec<Value> {
    vec![endpoint.text.as_str().into(), contents.iter().copied().collect::<Vec<_>>().into(), commit.into()]
}
