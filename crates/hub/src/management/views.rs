//! The views that people keep. Each person has their own.

use hub_api::limits::VIEWS_MAX;
use hub_api::views::{KeptView, ViewContent, address_problem, name_problem};

use crate::store::{ColumnError, Columns, Database, DatabaseError, FromRow};

/// The owner of views.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewOwner {
    /// The OIDC issuer. Empty: the person has a token of the hub.
    pub issuer: String,
    /// The subject at the issuer, or the name of the token.
    pub name: String,
}

/// A view can't be kept or removed.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// The name or the address is not valid.
    #[error("{0} `{1}` {2}")]
    Wrong(&'static str, String, &'static str),
    /// The person has too many views.
    #[error("there are {VIEWS_MAX} views already, and no one may have more")]
    TooMany,
    /// The person has no such view.
    #[error("you have no view `{0}`")]
    Unknown(String),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

/// The views of a person: the favourites first, then by name.
///
/// # Errors
/// The database can't answer.
pub async fn list(database: &Database, owner: &ViewOwner) -> Result<Vec<KeptView>, DatabaseError> {
    let sql = "select name, address, favourite from kept_view where issuer = $1 and person = $2";
    let values = vec![owner.issuer.as_str().into(), owner.name.as_str().into()];
    let mut views: Vec<KeptView> = database.query(sql, values).await?;
    // The order of texts depends on the database.
    views.sort_by(|one, other| (!one.favourite, &one.name).cmp(&(!other.favourite, &other.name)));
    Ok(views)
}

/// Keeps a view of a person. One with the same name is replaced.
///
/// # Errors
/// The name or the address is not valid; the person has too many views; the database can't store it.
pub async fn keep(
    database: &Database,
    owner: &ViewOwner,
    (name, content): (&str, &ViewContent),
) -> Result<(), ViewError> {
    let wrong = |what, text: &str, problem| ViewError::Wrong(what, text.chars().take(100).collect(), problem);
    if let Some(problem) = name_problem(name) {
        return Err(wrong("the name", name, problem));
    }
    if let Some(problem) = address_problem(&content.address) {
        return Err(wrong("the address", &content.address, problem));
    }
    let mut transaction = database.begin().await?;
    let others = "select count(*) from kept_view where issuer = $1 and person = $2 and name <> $3";
    let values = vec![owner.issuer.as_str().into(), owner.name.as_str().into(), name.into()];
    if transaction.one::<usize>(others, values.clone()).await? >= VIEWS_MAX {
        return Err(ViewError::TooMany);
    }
    let sql = "insert into kept_view (issuer, person, name, address, favourite) values ($1, $2, $3, $4, $5) \
         on conflict (issuer, person, name) do update set address = excluded.address, favourite = excluded.favourite";
    let content = [content.address.as_str().into(), i64::from(content.favourite).into()];
    transaction.execute(sql, values.into_iter().chain(content).collect()).await?;
    Ok(transaction.commit().await?)
}

/// Removes a view of a person.
///
/// # Errors
/// The person has no such view; the database can't remove it.
pub async fn remove(database: &Database, owner: &ViewOwner, name: &str) -> Result<(), ViewError> {
    let mut transaction = database.begin().await?;
    let sql = "delete from kept_view where issuer = $1 and person = $2 and name = $3 returning name";
    let values = vec![owner.issuer.as_str().into(), owner.name.as_str().into(), name.into()];
    let removed = transaction.first::<String>(sql, values).await?;
    transaction.commit().await?;
    removed.map(drop).ok_or_else(|| ViewError::Unknown(name.chars().take(100).collect()))
}

impl FromRow for KeptView {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (name, address, favourite) = columns.take()?;
        Ok(Self { name, address, favourite })
    }
}
