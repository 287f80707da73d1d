//! Checks publications against the reach of the token.

use std::fmt::Write as _;

use hub_api::endpoint::Endpoint;
use hub_api::publication::{DesiredPlace, Publication};
use hub_api::tokens::Reach;
use model::rollout::EnvironmentOrder;

use crate::desired::order;
use crate::store::{Database, DatabaseError, SqlValue};

/// A publication is refused.
#[derive(Debug, thiserror::Error)]
pub enum PublishingError {
    /// It names or changes something outside of the reach of the token.
    #[error("this token is limited to {reach}: {what}")]
    Outside {
        /// The reach.
        reach: String,
        /// What is outside.
        what: String,
    },
    /// The database can't answer.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

/// Checks that all names in a publication, and all places that it would change, are within the reach.
///
/// # Errors
/// A name or a place is outside of the reach; the database can't answer.
pub async fn check_publication(
    reach: &Reach,
    database: &Database,
    publication: &Publication,
) -> Result<(), PublishingError> {
    if reach.is_all() {
        return Ok(());
    }
    let outside = |what: String| PublishingError::Outside { reach: reach.to_string(), what };
    if let Some(what) = publication.places.iter().find_map(|place| names_outside(reach, place)) {
        return Err(outside(what));
    }
    if let Some(output) = &publication.completes {
        check_environment(reach, &output.environment)?;
    }
    let mut transaction = database.begin_reading().await?;
    if !publication.environments.is_empty()
        && order::read(&mut transaction).await? != EnvironmentOrder::new(&publication.environments)
    {
        return Err(outside("it can't change the order of environments".to_owned()));
    }
    drop(transaction);
    match stands_outside(reach, database, publication).await? {
        Some(what) => Err(outside(what)),
        None => Ok(()),
    }
}

/// Checks that an environment is within the reach.
///
/// # Errors
/// It is outside of the reach.
pub fn check_environment(reach: &Reach, environment: &str) -> Result<(), PublishingError> {
    if reach.has_environment(environment) {
        return Ok(());
    }
    let what = format!("environment `{environment}` is outside of it");
    Err(PublishingError::Outside { reach: reach.to_string(), what })
}

/// The reason why the names in a place are outside of the reach; none if they are within it. A removed place has no names: the database has its owner.
fn names_outside(reach: &Reach, place: &DesiredPlace) -> Option<String> {
    let path = &place.path;
    place.tree.as_ref()?;
    let of_targets = place.targets.iter().map(|target| target.environment.as_str());
    let mut environments = place.environment.as_deref().into_iter().chain(of_targets);
    if let Some(name) = environments.find(|name| !reach.has_environment(name)) {
        return Some(format!("`{path}` is for environment `{name}`"));
    }
    if !reach.environments.is_empty() && place.environment.is_none() {
        return Some(format!("`{path}` names no environment"));
    }
    if let Some(target) = place.targets.iter().find(|target| !reach.has_workspace(&target.workspace)) {
        return Some(format!("`{path}` is for workspace `{}`", target.workspace));
    }
    (!reach.workspaces.is_empty() && place.targets.is_empty()).then(|| format!("`{path}` names no deployment target"))
}

/// The reason why a place that would change is outside of the reach at present; none if all are within it.
async fn stands_outside(
    reach: &Reach,
    database: &Database,
    publication: &Publication,
) -> Result<Option<String>, DatabaseError> {
    let endpoint = |path: &str| Endpoint::new(&publication.repository, &publication.branch, path);
    let endpoints = publication.places.iter().filter_map(|place| endpoint(&place.path).ok());
    let endpoints: Vec<String> = endpoints.map(|endpoint| endpoint.to_string()).collect();
    let dialect = database.dialect();
    let mut values = vec![SqlValue::from(endpoints)];
    let mut places = dialect.any_text("p.endpoint", "$1");
    if let (Some(_), Ok(branch)) = (&publication.range, endpoint("")) {
        // A publication with a range removes places that it does not list: the whole branch has to be within the reach.
        let column = dialect.in_bytes("p.endpoint");
        let _ = write!(places, " or {column} >= $2 and {column} < $3");
        values.extend([SqlValue::from(branch.to_string()), format!("{branch}0").into()]);
    }
    let sql = format!(
        "select p.path, coalesce(e.name, ''), coalesce(w.name, '') from place p join place_group g on g.id = p.place_group_id \
         left join environment e on e.id = g.environment_id left join place_group_target m on m.place_group_id = g.id \
         left join deployment_target t on t.id = m.deployment_target_id left join workload l on l.id = t.workload_id \
         left join application a on a.id = l.application_id left join workspace w on w.id = a.workspace_id \
         where p.desired_revision_id is not null and ({places}) order by p.path"
    );
    let places = database.query::<(String, String, String)>(&sql, values).await?;
    let is_outside = |(_, environment, workspace): &&(String, String, String)| {
        !reach.has_environment(environment) || !reach.has_workspace(workspace)
    };
    let outside = places.iter().find(is_outside);
    Ok(outside.map(|(path, ..)| format!("the present content of `{path}` has another owner")))
}
