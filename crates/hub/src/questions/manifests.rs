//! Conditions in SQL on the folders with the manifests of deployment targets.

use super::conditions;

/// [`IS_SHARED`] as a literal.
macro_rules! is_shared {
    () => {
        "(exists (select 1 from place_group_target q join deployment_target u on u.id = q.deployment_target_id \
           where q.place_group_id = g.id and u.environment_id <> t.environment_id) \
         and exists (select 1 from place_group_target q join place_group h on h.id = q.place_group_id \
           join place b on b.place_group_id = h.id join place_revision y on y.id = b.desired_revision_id \
           where q.deployment_target_id = t.id and h.role = 'platform' and y.workload_version_id is not null))"
    };
}

/// Whether targets of other environments have the folders `g` with the manifests of a target `t`, too, and the platform publishes the release of the target. Then the
/// reconcilers of the platform's folders count: a report about the manifests does not say for which environment it is.
pub(super) const IS_SHARED: &str = is_shared!();

/// The condition that content is desired of a target `t` at a place: now, or at a timestamp, of which `then` is the expression.
pub(super) fn is_desired(then: Option<&str>) -> String {
    let revision = conditions::desired_revision("p", then);
    format!(
        "exists (select 1 from place_group_target o join place p on p.place_group_id = o.place_group_id \
          join place_revision w on w.id = {revision} where o.deployment_target_id = t.id and w.tree is not null)"
    )
}

/// Whether the hub knows folders with the manifests of a target `t`, whose reconcilers count for it.
pub(super) const HAS_MANIFESTS: &str = concat!(
    "exists (select 1 from place_group_target o join place_group g on g.id = o.place_group_id \
      where o.deployment_target_id = t.id and g.role = 'application' and not ",
    is_shared!(),
    ")"
);
