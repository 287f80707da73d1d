//! Changed values, where many changes in one list are combined.

use std::collections::{BTreeMap, BTreeSet};

use engine::plan::{Cause, ChangeKind, ValueChange};
use model::field_path::{FieldPath, FieldStep};

/// The maximum number of changes in one list that are shown one by one.
const ITEMS_MAX: usize = 5;

/// A changed value, or many changes in one list.
pub enum Folded<'a> {
    /// A changed value.
    One(&'a ValueChange),
    /// Many changes in one list.
    List(ListChange<'a>),
}

/// Many changes in one list.
pub struct ListChange<'a> {
    /// The path of the list.
    pub path: FieldPath,
    /// The number of new items.
    pub added: usize,
    /// The number of changed items.
    pub changed: usize,
    /// The number of removed items.
    pub removed: usize,
    /// The cause of the first change, with its position.
    pub because: Option<&'a Cause>,
}

impl ListChange<'_> {
    /// The changes of the items as text: `30 new items`.
    pub fn words(&self) -> String {
        let items = |number: usize| if number == 1 { "1 item".to_owned() } else { format!("{number} items") };
        let kinds = [(self.added, "new"), (self.changed, "changed"), (self.removed, "gone")];
        let kinds = kinds.into_iter().filter(|(number, _)| *number > 0);
        kinds.map(|(number, word)| format!("{} {word}", items(number))).collect::<Vec<_>>().join(", ")
    }
}

/// Returns the changes in their order. If one list has too many changes, they are combined.
pub fn folded(values: &[ValueChange]) -> Vec<Folded<'_>> {
    let mut sizes: BTreeMap<&[FieldStep], usize> = BTreeMap::new();
    for list in values.iter().filter_map(list_of) {
        *sizes.entry(list).or_default() += 1;
    }
    let is_long = |list: &&[FieldStep]| sizes.get(*list).is_some_and(|size| *size > ITEMS_MAX);
    let mut done = BTreeSet::new();
    let mut folded = Vec::new();
    for value in values {
        match list_of(value).filter(is_long) {
            None => folded.push(Folded::One(value)),
            Some(list) if done.insert(list) => folded.push(Folded::List(list_change(list, values))),
            Some(_) => {}
        }
    }
    folded
}

/// The first list on the path to a value.
fn list_of(value: &ValueChange) -> Option<&[FieldStep]> {
    let steps = value.path.steps();
    let at = steps.iter().position(|step| matches!(step, FieldStep::Index(_)))?;
    steps.get(..at)
}

fn list_change<'a>(list: &[FieldStep], values: &'a [ValueChange]) -> ListChange<'a> {
    let inside = || values.iter().filter(|value| list_of(value) == Some(list));
    let mut items: BTreeMap<&FieldStep, BTreeSet<ChangeKind>> = BTreeMap::new();
    for value in inside() {
        let kind = match (&value.before, &value.after) {
            (None, Some(_)) => ChangeKind::Added,
            (Some(_), None) => ChangeKind::Removed,
            _ => ChangeKind::Changed,
        };
        if let Some(item) = value.path.steps().get(list.len()) {
            items.entry(item).or_default().insert(kind);
        }
    }
    let is_only = |kinds: &BTreeSet<ChangeKind>, kind| kinds.len() == 1 && kinds.contains(&kind);
    let count = |kind| items.values().filter(|kinds| is_only(kinds, kind)).count();
    let (added, removed) = (count(ChangeKind::Added), count(ChangeKind::Removed));
    ListChange {
        path: list.iter().cloned().collect(),
        added,
        changed: items.len() - added - removed,
        removed,
        because: inside().find_map(|value| value.cause.as_ref()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(path: &[FieldStep], before: Option<&str>, after: Option<&str>) -> ValueChange {
        let text = |text: Option<&str>| text.map(str::to_owned);
        ValueChange { path: path.iter().cloned().collect(), before: text(before), after: text(after), cause: None }
    }

    #[test]
    fn many_items_of_a_list_are_one_change() {
        let key = |key: &str| FieldStep::Key(key.into());
        let item = |number, field: &str| [key("HOSTS"), FieldStep::Index(number), key(field)];
        let mut values = vec![value(&[key("A")], Some("1"), Some("2"))];
        values.push(value(&item(1, "name"), Some("x"), Some("y")));
        for number in 2..32 {
            values.push(value(&item(number, "name"), None, Some("x")));
            values.push(value(&item(number, "port"), None, Some("1")));
        }
        values.extend((0..ITEMS_MAX).map(|number| value(&[key("SHORT"), FieldStep::Index(number)], None, Some("x"))));
        let found = folded(&values);
        assert_eq!(found.len(), 2 + ITEMS_MAX);
        let Folded::List(list) = &found[1] else { panic!("it is not folded") };
        assert_eq!(
            (list.path.to_string(), list.words()),
            ("HOSTS".to_owned(), "30 items new, 1 item changed".to_owned())
        );
    }
}
