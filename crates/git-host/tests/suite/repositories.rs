//! New repositories.

use git_host::hosts::memory::Denial;
use git_host::new_repository::{NewRepository, RepositoryCreation};
use git_host::{HostError, HostRepository};

use crate::world::World;

/// A repository that does not exist, beside the one of the world.
fn missing(world: &World) -> HostRepository {
    let mut path: Vec<&str> = world.repository.path().iter().map(String::as_str).collect();
    path.pop();
    path.push("control-plane");
    HostRepository::from_path(&path)
}

fn create(world: &World, repository: &HostRepository) -> Result<RepositoryCreation, HostError> {
    let new = NewRepository { is_private: true, description: "Where what runs".to_owned() };
    world.client.create_repository(repository, &new)
}

pub(crate) fn a_repository_is_created_once(world: &World) {
    let new = missing(world);
    assert_eq!(create(world, &new), Ok(RepositoryCreation::Created));
    assert_eq!(create(world, &new), Ok(RepositoryCreation::Existed));
    assert_eq!(create(world, &world.repository), Ok(RepositoryCreation::Existed));
    assert_eq!(world.state.state().paths().count(), 2);
}

pub(crate) fn account_without_the_permission_can_use_existing_repositories(world: &World) {
    world.state.state().creation_denial = Some(Denial::Forbidden);
    let error = create(world, &missing(world)).unwrap_err();
    assert!(error.is_denied() && error.to_string().contains("do not allow this"), "{error}");
    assert_eq!(create(world, &world.repository), Ok(RepositoryCreation::Existed));
}

pub(crate) fn refusals_contain_the_message_of_the_host(world: &World) {
    world.state.state().creation_denial = Some(Denial::Invalid("the quota is used up".to_owned()));
    let error = create(world, &missing(world)).unwrap_err();
    assert!(matches!(error, HostError::Refused { .. }), "{error:?}");
    assert!(error.to_string().contains("the quota is used up"), "{error}");
}
