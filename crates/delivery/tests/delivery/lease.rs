//! Nothing is written without the lease.

use std::time::{Duration, Instant};

use delivery::error::DestinationError;
use delivery::publication::publish::{PublicationFailure, PublishOptions};
use delivery::write_lease::WriteLease;

use crate::world::{PROPOSAL, World};

#[test]
fn nothing_is_pushed_after_the_lease_has_ended() {
    let world = World::new();
    let lease = WriteLease::new(Duration::ZERO);
    let options = PublishOptions { lease: Some(&lease), ..PublishOptions::default() };
    let extend = || lease.extend(Instant::now() + Duration::from_hours(1));
    extend();
    // The lease ends between reading and pushing.
    let refused = world.try_publish(options, None, &|_, _| lease.give_up());
    assert!(matches!(refused, Err(PublicationFailure::Destination(DestinationError::LeaseEnded(_)))));
    assert_eq!(world.head(PROPOSAL), None);
    extend();
    world.publish(options);
    assert!(world.head(PROPOSAL).is_some());
}
