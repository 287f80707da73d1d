//! The places that the platform gives to a host: the folders of its cluster, and the manifests of the workloads there.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use hub_api::hosts::{ApartReason, RegisteredBy};

use crate::ingest::speaker::Speaker;
use crate::store::{
    ColumnError, ColumnType, Columns, DatabaseError, FromRow, PlaceId, ReconcilerId, Rows, SqlValue, Transaction,
};

/// The name of the place `p` of the group `g` whose folder it is: a cluster, or a cluster type without clusters of its own.
const NAME: &str = "coalesce(p.cluster, case when g.role = 'platform' then g.cluster_type end)";

/// The two ways to the places `p`, in groups `g`, with the name `s.cluster`. Each follows an index.
const BY_NAME: [&str; 2] = [
    "join place p on p.cluster = s.cluster join place_group g on g.id = p.place_group_id",
    "join place_group g on g.cluster_type = s.cluster and g.role = 'platform' join place p on p.place_group_id = g.id and p.cluster is null",
];

/// The most hyphens at which the name of a host is split into an environment and a cluster.
const HYPHENS_MAX: usize = 8;

/// A place at which content is or was desired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) id: PlaceId,
    pub(super) endpoint: String,
    /// The name of the place whose folder it belongs to: a cluster, or a cluster type.
    pub(super) cluster: Option<String>,
    pub(super) environment: Option<String>,
}

impl FromRow for Place {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (endpoint, id, cluster, environment) = columns.take()?;
        Ok(Self { id, endpoint, cluster, environment })
    }
}

/// The places with these endpoints.
pub(super) async fn places(
    transaction: &mut Transaction,
    endpoints: BTreeSet<String>,
) -> Result<HashMap<String, Place>, DatabaseError> {
    if endpoints.is_empty() {
        return Ok(HashMap::new());
    }
    let sql = format!(
        "select p.endpoint, p.id, {NAME}, e.name from place p join place_group g on g.id = p.place_group_id \
         left join environment e on e.id = g.environment_id where {}",
        transaction.dialect().any_text("p.endpoint", "$1")
    );
    let rows = transaction.query::<Place>(&sql, vec![endpoints.into_iter().collect::<Vec<_>>().into()]).await?;
    Ok(rows.into_iter().map(|place| (place.endpoint.clone(), place)).collect())
}

/// Whether a host is registered for a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question<'a> {
    pub(super) number: usize,
    pub(super) host: &'a str,
    pub(super) place: &'a Place,
    /// The token that speaks for the host; none if no token is known.
    pub(super) speaker: Option<&'a Speaker>,
}

/// A cluster, or a cluster type with one folder, by its environment and its name.
type Cluster = (String, String);

/// The answers, by the number of the question.
pub(super) async fn answer(
    transaction: &mut Transaction,
    questions: &[Question<'_>],
) -> Result<BTreeMap<usize, Result<(), ApartReason>>, DatabaseError> {
    let declared = clusters(transaction, questions.iter().map(|question| question.host).collect()).await?;
    let (mut answers, mut open) = (BTreeMap::new(), Vec::new());
    for question in questions {
        let mut of_host = declared.get(question.host).cloned().unwrap_or_default();
        let has = |environment: &str| question.speaker.is_none_or(|speaker| speaker.has_environment(Some(environment)));
        of_host.retain(|(environment, _)| has(environment));
        let is_shared = question.speaker.is_some_and(|speaker| speaker.is_shared);
        let is_unclear = of_host.len() > 1 && !is_shared;
        let is_own = question.place.is_of(&of_host);
        let answer = if is_own && !is_unclear {
            Ok(())
        } else if is_unclear {
            Err(ApartReason::Clusters)
        } else {
            Err(ApartReason::Place)
        };
        answers.insert(question.number, answer);
        if answer.is_err() {
            open.push((question, if is_unclear { BTreeSet::new() } else { of_host }));
        }
    }
    for number in assigned(transaction, &open).await? {
        answers.insert(number, Ok(()));
    }
    Ok(answers)
}

impl Place {
    fn is_of(&self, clusters: &BTreeSet<Cluster>) -> bool {
        let environment = self.environment.clone().unwrap_or_default();
        self.cluster.as_ref().is_some_and(|cluster| clusters.contains(&(environment, cluster.clone())))
    }
}

/// The declared clusters with the names of these hosts: `CLUSTER`, or `ENVIRONMENT-CLUSTER`.
async fn clusters(
    transaction: &mut Transaction,
    hosts: BTreeSet<&str>,
) -> Result<HashMap<String, BTreeSet<Cluster>>, DatabaseError> {
    let mut rows =
        Rows::new(&[("host", ColumnType::Text), ("environment", ColumnType::Text), ("cluster", ColumnType::Text)]);
    for host in hosts {
        rows.push(vec![SqlValue::from(host), None::<&str>.into(), host.into()]);
        for (at, _) in host.match_indices('-').take(HYPHENS_MAX) {
            let (environment, cluster) = (host.get(..at).unwrap_or_default(), host.get(at + 1..).unwrap_or_default());
            if !environment.is_empty() && !cluster.is_empty() {
                rows.push(vec![host.into(), Some(environment).into(), cluster.into()]);
            }
        }
    }
    let mut clusters: HashMap<String, BTreeSet<Cluster>> = HashMap::new();
    for by_name in BY_NAME {
        let statement = format!(
            "select distinct s.host, coalesce(e.name, ''), s.cluster from source s {by_name} \
             join place_revision w on w.id = p.desired_revision_id left join environment e on e.id = g.environment_id \
             where w.tree is not null and (s.environment is null or s.environment = e.name)"
        );
        for (host, environment, cluster) in
            transaction.with::<(String, String, String)>(rows.clone(), &statement).await?
        {
            clusters.entry(host).or_default().insert((environment, cluster));
        }
    }
    Ok(clusters)
}

/// Selects the platform groups `g` with a target whose manifests are at the place of the question.
const TARGET: &str = "join place_group_target m on m.place_group_id = g.id \
    join deployment_target t on t.id = m.deployment_target_id and t.manifests_endpoint = s.endpoint where g.role = 'platform'";

/// The numbers of the questions about manifests of workloads that the platform assigned to these clusters, or to other folders of the host.
async fn assigned(
    transaction: &mut Transaction,
    open: &[(&Question<'_>, BTreeSet<Cluster>)],
) -> Result<Vec<usize>, DatabaseError> {
    let mut of_clusters = Rows::new(&[
        ("number", ColumnType::Int),
        ("environment", ColumnType::Text),
        ("cluster", ColumnType::Text),
        ("endpoint", ColumnType::Text),
    ]);
    let mut of_hosts =
        Rows::new(&[("number", ColumnType::Int), ("host", ColumnType::Text), ("endpoint", ColumnType::Text)]);
    for (question, clusters) in open {
        let (number, endpoint) = (question.number as i64, question.place.endpoint.as_str());
        for (environment, cluster) in clusters {
            let cluster = [environment.as_str().into(), cluster.as_str().into()];
            of_clusters.push([vec![SqlValue::from(number)], cluster.into(), vec![endpoint.into()]].concat());
        }
        of_hosts.push(vec![number.into(), question.host.into(), endpoint.into()]);
    }
    let by_host = format!(
        "select distinct s.number from source s join host h on h.name = s.host \
         join reconciler r on r.host_id = h.id and r.retired_on is null join place q on q.id = r.place_id \
         join place_group g on g.id = q.place_group_id {TARGET}"
    );
    let mut numbers: Vec<usize> = transaction.with(of_hosts, &by_host).await?;
    for by_name in BY_NAME {
        let by_cluster = format!(
            "select distinct s.number from source s {by_name} join environment e on e.id = g.environment_id and e.name = s.environment {TARGET}"
        );
        numbers.extend(transaction.with::<usize>(of_clusters.clone(), &by_cluster).await?);
    }
    Ok(numbers)
}

/// A reconciler that gets a place without a new report.
struct Moving {
    id: ReconcilerId,
    host: String,
    registered_by: RegisteredBy,
    environment: Option<String>,
    endpoint: String,
    is_occupied: bool,
}

impl FromRow for Moving {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (id, host, registered_by) = columns.take::<(_, _, i64)>()?;
        let (environment, endpoint, is_occupied) = columns.take()?;
        Ok(Self {
            id,
            host,
            registered_by: RegisteredBy::from_number(registered_by),
            environment,
            endpoint,
            is_occupied,
        })
    }
}

/// The reconcilers that may get these places without a new report. An operator registered them, or their hosts are registered for the places.
pub(crate) async fn may_move(
    transaction: &mut Transaction,
    moves: impl IntoIterator<Item = (ReconcilerId, &str)>,
) -> Result<BTreeSet<ReconcilerId>, DatabaseError> {
    let mut rows = Rows::new(&[("id", ColumnType::Int), ("endpoint", ColumnType::Text)]);
    moves.into_iter().for_each(|(id, endpoint)| rows.push(vec![id.into(), endpoint.into()]));
    let statement = "select r.id, h.name, r.registered_by, e.name, s.endpoint, \
        case when exists (select 1 from reconciler o join place n on n.id = o.place_id where o.host_id = r.host_id and o.id <> r.id \
          and o.retired_on is null and n.endpoint = s.endpoint) then 1 else 0 end \
        from source s join reconciler r on r.id = s.id join host h on h.id = r.host_id \
        left join place p on p.id = r.place_id left join place_group g on g.id = p.place_group_id \
        left join environment e on e.id = g.environment_id";
    let mut moving = transaction.with::<Moving>(rows, statement).await?;
    moving.sort_by_key(|one| one.id);
    let places = places(transaction, moving.iter().map(|one| one.endpoint.clone()).collect()).await?;
    let question = |(number, one): (usize, &'_ Moving)| Some((number, places.get(&one.endpoint)?));
    let questions = moving.iter().enumerate().filter(|(_, one)| one.registered_by != RegisteredBy::Operator);
    let questions: Vec<_> = questions.filter_map(question).collect();
    let questions: Vec<_> = questions
        .into_iter()
        .map(|(number, place)| Question { number, host: &moving[number].host, place, speaker: None })
        .collect();
    let answers = answer(transaction, &questions).await?;
    let (mut taken, mut may) = (BTreeSet::new(), BTreeSet::new());
    for (number, one) in moving.iter().enumerate() {
        let to = places.get(&one.endpoint).and_then(|place| place.environment.as_ref());
        let stays = one.environment.is_some() && one.environment.as_ref() == to;
        let is_registered = matches!(answers.get(&number), Some(Ok(())));
        let may_move = match one.registered_by {
            RegisteredBy::Operator => true,
            RegisteredBy::Upgrade if stays => true,
            RegisteredBy::Upgrade | RegisteredBy::Token => {
                is_registered && !one.is_occupied && taken.insert((&one.host, &one.endpoint))
            }
        };
        if may_move {
            may.insert(one.id);
        }
    }
    Ok(may)
}
