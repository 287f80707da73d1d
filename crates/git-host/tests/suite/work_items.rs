//! Issues on Azure DevOps, which are work items of the project.

use git_host::double::{DoubleFault, FaultAnswer};
use git_host::issue::NewIssue;
use git_host::marker::Marker;
use git_host::sticky::{Put, Sticky};
use git_host::{HostError, HostKind, HostRepository};

use crate::world::{Way, World};

fn world() -> World {
    World::new(HostKind::AzureDevOps, Way::Http)
}

fn put(world: &World, repository: &HostRepository, body: &str) -> Result<Put, HostError> {
    let marker = Marker::new("kalypso problems dev").unwrap();
    let labels = ["kalypso".to_owned()].into();
    let new = NewIssue { title: "dev: 1 error".to_owned(), body: body.to_owned(), labels };
    Sticky { host: &*world.client, repository, marker: &marker }.put_issue(&new)
}

#[test]
fn each_repository_has_its_own_work_items() {
    let world = world();
    let other = HostRepository::from_path(&["acme", "My fleet", "other"]);
    world.state.add_repository(&other.to_string(), Box::new(world.branches.clone()));
    assert_eq!(put(&world, &world.repository, "line 3").unwrap(), Put::Created);
    assert_eq!(put(&world, &other, "line 3").unwrap(), Put::Created);
    let found = world.client.issues(&world.repository, "kalypso").unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    let (url, number) = (world.double.as_ref().unwrap().url(), found[0].number);
    assert_eq!(found[0].url, format!("{url}/acme/My%20fleet/_workitems/edit/{number}"));
}

#[test]
fn open_work_item_keeps_its_state() {
    let world = world();
    put(&world, &world.repository, "line 3").unwrap();
    put(&world, &world.repository, "line 4\n\n- `<b>` & more").unwrap();
    let exchanges = world.double.as_ref().unwrap().exchanges();
    let update = exchanges.iter().find(|exchange| exchange.method == "PATCH").unwrap();
    let body = String::from_utf8_lossy(&update.body).into_owned();
    assert!(body.contains("System.Description") && !body.contains("System.State"), "{body}");
    let found = world.client.issues(&world.repository, "kalypso").unwrap();
    assert_eq!(found[0].body, "line 4\n\n- `<b>` & more\n\n<!-- kalypso problems dev -->");
}

#[test]
fn missing_permission_or_type_is_reported_as_not_supported() {
    let check = |target: &str, status: u16, body: &str, reason: &str| {
        let world = world();
        let answer = FaultAnswer::Answer { status, headers: Vec::new(), body: body.to_owned() };
        let target = target.to_owned();
        let fault = DoubleFault { method: "GET", target, is_done: false, answer, times: 1 };
        world.double.as_ref().unwrap().fail_next(fault);
        let error = put(&world, &world.repository, "line 3").unwrap_err();
        assert!(matches!(error, HostError::NotSupported { .. }) && error.to_string().contains(reason), "{error}");
    };
    check("/_apis/wit/", 401, "", "the scope `Work Items`");
    check("/_apis/wit/", 403, r#"{"message": "no permission"}"#, "the scope `Work Items`");
    check("/workitemtypes", 200, r#"{"value": [{"name": "Epic"}, {"name": "Bug", "isDisabled": true}]}"#, "Impediment");
}
