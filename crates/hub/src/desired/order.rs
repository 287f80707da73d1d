//! The order of environments, as those know it who take changes from one to the next.

use std::collections::BTreeMap;

use crate::store::{DatabaseError, Kind, Rows, Transaction};

/// Where environments stand among each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Order(BTreeMap<String, i64>);

impl Order {
    /// The order that was told last.
    pub(crate) async fn read(transaction: &mut Transaction) -> Result<Self, DatabaseError> {
        let rows = transaction.query("select name, position from environment_order", Vec::new()).await?;
        Ok(Self(rows.iter().map(|row| (row.text(0), row.int(1))).collect()))
    }

    /// Environments in their order, each at its first place.
    pub(crate) fn of(names: &[String]) -> Self {
        let mut order = BTreeMap::new();
        for (position, name) in (0..).zip(names) {
            order.entry(name.clone()).or_insert(position);
        }
        Self(order)
    }

    /// By what environments are put in order: those of which nobody said where they stand come last, by name.
    pub(crate) fn key<'a>(&self, name: &'a str) -> (i64, &'a str) {
        (self.0.get(name).copied().unwrap_or(i64::MAX), name)
    }
}

/// Makes it the order of environments, instead of the one before.
pub(super) async fn set(transaction: &mut Transaction, names: &[String]) -> Result<(), DatabaseError> {
    let order = Order::of(names);
    if Order::read(transaction).await? == order {
        return Ok(());
    }
    transaction.query("delete from environment_order", Vec::new()).await?;
    let mut rows = Rows::new(&[("name", Kind::Text), ("position", Kind::Int)]);
    order.0.into_iter().for_each(|(name, position)| rows.push(vec![name.into(), position.into()]));
    let statement = "insert into environment_order (name, position) select name, position from source";
    transaction.with(rows, statement).await.map(drop)
}
