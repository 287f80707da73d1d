//! Publications that are sent to the hub.

use std::sync::Mutex;
use std::time::Duration;

use delivery::hub_publication::{Hub, HubError, Receiver};
use delivery::publish::Options;
use delivery::push::Delivered;
use hub_api::client::ClientError;
use hub_api::publication::{Publication, PublicationReceipt};

use crate::world::{BASE, World};

/// Takes publications, or can't be reached.
#[derive(Default)]
struct MemoryHub {
    is_down: bool,
    publications: Mutex<Vec<Publication>>,
}

impl Hub for MemoryHub {
    fn publish(&self, publication: &Publication, _: Duration) -> Result<PublicationReceipt, ClientError> {
        if self.is_down {
            return Err(ClientError::Unreachable { url: "http://hub".to_owned(), reason: "it is down".to_owned() });
        }
        self.publications.lock().unwrap().push(publication.clone());
        Ok(PublicationReceipt::default())
    }
}

/// How many folders were sent of a publication, and whether the commit was.
fn check(options: Options<'_>, expected: (usize, bool)) {
    let (world, hub) = (World::new(), MemoryHub::default());
    let environments = ["prod".to_owned()];
    let receiver = Receiver { hub: &hub, environments: &environments };
    let outcome = world.try_publish(options, Some(receiver), &|_, _| {}).unwrap();
    let sent = outcome.places[0].hub.as_ref().map(|result| *result.as_ref().unwrap());
    let publications = hub.publications.into_inner().unwrap();
    let [publication] = &publications[..] else { panic!("{publications:?}") };
    assert_eq!((publication.places.len(), publication.commit.is_some()), expected);
    assert_eq!((sent, publication.branch.as_str()), (Some(expected.0), BASE));
    assert_eq!(publication.environments, environments);
}

#[test]
fn the_hub_gets_the_folders_of_a_proposal_without_a_commit() {
    check(Options::default(), (18, false));
}

#[test]
fn the_hub_gets_the_folders_of_a_direct_push_with_the_commit() {
    check(Options { is_direct: true, ..Options::default() }, (18, true));
}

#[test]
fn a_hub_that_is_down_stops_no_publication() {
    let (world, hub) = (World::new(), MemoryHub { is_down: true, ..MemoryHub::default() });
    let receiver = Receiver { hub: &hub, environments: &[] };
    let outcome = world.try_publish(Options::default(), Some(receiver), &|_, _| {}).unwrap();
    let [place] = &outcome.places[..] else { panic!() };
    assert!(matches!(place.delivered, Some(Delivered::Pushed { .. })));
    assert!(matches!(place.hub, Some(Err(HubError::Client(ClientError::Unreachable { .. })))));
}
