//! The order of environments that was published last.

use model::rollout::EnvironmentOrder;

use crate::store::{ColumnType, DatabaseError, Rows, Transaction};

/// Reads the order that was published last.
pub(crate) async fn read(transaction: &mut Transaction) -> Result<EnvironmentOrder, DatabaseError> {
    let rows = transaction.query::<(String, i64)>("select name, position from environment_order", Vec::new()).await?;
    Ok(rows.into_iter().collect())
}

/// Replaces the order of environments.
pub(super) async fn set(transaction: &mut Transaction, names: &[String]) -> Result<(), DatabaseError> {
    let order = EnvironmentOrder::new(names);
    if read(transaction).await? == order {
        return Ok(());
    }
    transaction.execute("delete from environment_order", Vec::new()).await?;
    let mut rows = Rows::new(&[("name", ColumnType::Text), ("position", ColumnType::Int)]);
    order.positions().for_each(|(name, position)| rows.push(vec![name.into(), position.into()]));
    let statement = "insert into environment_order (name, position) select name, position from source";
    transaction.execute_with(rows, statement).await
}
