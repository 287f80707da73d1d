//! Filters in SQL: conditions on the columns of a statement, with their parameters.

use super::Question;
use crate::store::Parameters;

/// The expression for the revision of a place that is desired now, or at a timestamp: `then` is its expression.
pub(super) fn desired_revision(place: &str, then: Option<&str>) -> String {
    let Some(then) = then else { return format!("{place}.desired_revision_id") };
    format!(
        "(select dv.id from place_revision dv join gitops_commit dc on dc.id = dv.gitops_commit_id \
          where dv.place_id = {place}.id and dv.desired_on <= {then} order by dc.sequence desc, dv.id desc limit 1)"
    )
}

/// Joins conditions with `and`. Without conditions, the result is always true.
pub(super) fn all(conditions: impl IntoIterator<Item = String>) -> String {
    let conditions: Vec<_> = conditions.into_iter().collect();
    if conditions.is_empty() { "1 = 1".to_owned() } else { conditions.join(" and ") }
}

/// Conditions to append to another condition: each begins with ` and `.
pub(super) fn and(conditions: impl IntoIterator<Item = String>) -> String {
    conditions.into_iter().map(|condition| format!(" and {condition}")).collect()
}

/// The condition that a column has a name, or one of its earlier names. None: there is no name.
pub(super) fn of_name(
    (column, name): (&str, Option<&str>),
    earlier: &[String],
    parameters: &mut Parameters,
) -> Option<String> {
    let names: Vec<_> = [name?.to_owned()].into_iter().chain(earlier.iter().cloned()).collect();
    Some(of_names(column, &names, parameters))
}

/// The condition that a column has one of these names. A single name is compared by equality, so that it needs no list.
pub(super) fn of_names(column: &str, names: &[String], parameters: &mut Parameters) -> String {
    match names {
        [name] => parameters.equals(column, name.as_str()),
        names => parameters.any_text(column, names.to_vec()),
    }
}

/// The conditions on a workload `l`, its application `a` and its workspace `w`.
pub(super) fn of_workloads(question: Question<'_>, parameters: &mut Parameters) -> Vec<String> {
    let filter = question.filter;
    let names = [("w.name", &filter.workspace), ("a.name", &filter.application)];
    let named = names.into_iter().filter_map(|(column, name)| Some((column, name.as_deref()?)));
    let mut conditions: Vec<_> = named.map(|(column, name)| parameters.equals(column, name)).collect();
    conditions.extend(of_name(("l.name", filter.workload.as_deref()), &question.earlier.workloads, parameters));
    if !question.reach.workspaces.is_empty() {
        conditions.push(parameters.any_text("w.name", question.reach.workspaces.clone()));
    }
    conditions
}

#[cfg(test)]
mod tests {
    use hub_api::filter::Filter;
    use hub_api::tokens::Reach;

    use super::super::question::EarlierNames;
    use super::*;
    use crate::store::Dialect;

    #[test]
    fn reach_is_a_condition_with_any_filter() {
        let filter = Filter { workload: Some("cart".into()), ..Filter::default() };
        let reach = Reach { workspaces: vec!["shop".into()], ..Reach::ALL };
        let mut parameters = Parameters::new(Dialect::Postgres);
        let earlier = EarlierNames::NONE;
        let conditions = of_workloads(Question { filter: &filter, reach: &reach, earlier }, &mut parameters);
        assert_eq!(all(conditions), "l.name = $1 and w.name = any($2)");
        assert_eq!(all(None), "1 = 1");
    }

    #[test]
    fn an_earlier_name_is_selected_with_the_present_one() {
        let check = |name: Option<&str>, earlier: &[&str], expected: Option<&str>| {
            let earlier: Vec<_> = earlier.iter().map(ToString::to_string).collect();
            let found = of_name(("l.name", name), &earlier, &mut Parameters::new(Dialect::Postgres));
            assert_eq!(found.as_deref(), expected);
        };
        check(Some("cart"), &[], Some("l.name = $1"));
        check(Some("cart"), &["basket"], Some("l.name = any($1)"));
        check(None, &["basket"], None);
    }
}
