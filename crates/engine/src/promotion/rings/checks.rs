//! Checks the rings of an environment against its places.

use model::diagnostic::{Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::fleet::Fleet;
use model::object::promotion::{Ring, RingMembers};
use model::object::{Object, Promotion};
use model::similar::nearest;

use super::membership::{Membership, UnknownMember, unknown_members};

/// Why clusters can't be in different rings.
const SHARED: &str =
    "clusters that share the folder of their cluster type pull the same content, so they are in one ring";

/// Reports rings that name no place, or have none. `fleet` is the environment that the promotion leads to.
pub fn diagnostics(promotion: &Object<Promotion>, fleet: &Fleet) -> Vec<Diagnostic> {
    let Some(membership) = Membership::new(fleet, &promotion.spec) else { return Vec::new() };
    let unknown = unknown_members(fleet, &promotion.spec);
    let mut found: Vec<_> = unknown.iter().map(|member| not_found(promotion, member, &membership)).collect();
    for (position, (ring, count)) in promotion.spec.rings.iter().zip(membership.counts()).enumerate() {
        let is_named_wrong = unknown.iter().any(|member| member.ring == position);
        if count == 0 && !is_named_wrong && ring.members != RingMembers::Rest {
            found.push(without_place(promotion, (position, ring), membership.places.len()));
        }
    }
    found
}

fn not_found(promotion: &Object<Promotion>, member: &UnknownMember, membership: &Membership) -> Diagnostic {
    let UnknownMember { ring, position, name } = member;
    let environment = &promotion.spec.to;
    let message = format!("`{name}` is neither a cluster nor a cluster type of environment `{environment}`");
    let path = ring_path(*ring).key("names").index(*position);
    let found = Diagnostic::error(Code::RingMemberNotFound, message)
        .at(Origin::At(promotion.address, path), "not a place")
        .note(SHARED)
        .about(&promotion.key());
    match nearest(name, membership.places.iter().map(|place| &**place)) {
        Some(nearest) => found.help(format!("did you mean `{nearest}`?")),
        None => found.help(format!("declare a `Cluster` `{name}`, or name its cluster type")),
    }
}

fn without_place(promotion: &Object<Promotion>, (position, ring): (usize, &Ring), places: usize) -> Diagnostic {
    let environment = &promotion.spec.to;
    let message = format!("the ring `{}` has none of the {places} places of environment `{environment}`", ring.name);
    let (field, help) = match ring.members {
        RingMembers::Percent(_) => ("percent", "write a larger share, or name the places"),
        RingMembers::Names(_) => {
            ("names", "earlier rings have these places: remove the ring, or change the earlier ones")
        }
        _ => ("labelSelector", "check the labels of cluster types and clusters"),
    };
    Diagnostic::warning(Code::RingWithoutPlace, message)
        .at(Origin::At(promotion.address, ring_path(position).key(field)), "selects no place")
        .note(SHARED)
        .help(format!("{help}; a `Cluster` gives a cluster a folder of its own"))
        .about(&promotion.key())
}

fn ring_path(position: usize) -> FieldPath {
    FieldPath::from(["spec", "rings"]).index(position)
}

#[cfg(test)]
mod tests {
    use model::object::AnyObject;
    use model::read::read_file;
    use model::source::FileId;
    use testkit::generator::clusters;

    use super::*;

    /// The problems of rings in an environment with two cluster types and three clusters.
    fn check(rings: &str, expected: &[&str]) {
        let text = format!(
            "{{apiVersion: fleet.kalypso.io/v1alpha1, kind: Promotion, metadata: {{name: p}}, spec: {{to: prod, rings: [{rings}]}}}}"
        );
        let read = read_file(FileId::default(), "p.yaml", text.as_bytes());
        let Some(AnyObject::Promotion(promotion)) = read.objects.first() else { panic!("{:?}", read.diagnostics) };
        let size = clusters::Clusters { clusters: 3, cluster_types: 2, targets: 1 };
        let files = clusters::files(size, 1).map(|(path, text)| (path, text.into_bytes())).collect();
        let (fleet, _) = testkit::directory::fleet_of(files, "prod").unwrap();
        let found = diagnostics(promotion, &fleet);
        let shown: Vec<_> =
            found.iter().map(|found| format!("{} {} ({})", found.code, found.message, found.help.join("; "))).collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn rings_with_places_have_no_findings() {
        check("{name: a, names: [edge-0000001]}, {name: b}", &[]);
        check("{name: a, percent: 100%}", &[]);
        check("", &[]);
    }

    #[test]
    fn a_name_that_is_no_place_is_an_error() {
        check(
            "{name: a, names: [edge-000001]}, {name: b}",
            &[
                "K0159 `edge-000001` is neither a cluster nor a cluster type of environment `prod` (did you mean `edge-0000001`?)",
            ],
        );
        check(
            "{name: a, names: [host-7]}, {name: b}",
            &[
                "K0159 `host-7` is neither a cluster nor a cluster type of environment `prod` (declare a `Cluster` `host-7`, or name its cluster type)",
            ],
        );
    }

    #[test]
    fn a_ring_without_places_is_a_warning() {
        check(
            "{name: a, labelSelector: {matchLabels: {no: place}}}, {name: b}",
            &[
                "K0158 the ring `a` has none of the 5 places of environment `prod` (check the labels of cluster types and clusters; a `Cluster` gives a cluster a folder of its own)",
            ],
        );
        check(
            "{name: a, percent: 0.01%}, {name: b}",
            &[
                "K0158 the ring `a` has none of the 5 places of environment `prod` (write a larger share, or name the places; a `Cluster` gives a cluster a folder of its own)",
            ],
        );
    }
}
