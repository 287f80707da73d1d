//! An environment whose objects are on the main branch.

use testkit::chain::environment;
use testkit::company::CONTROL_PLANE;

use crate::controller::{DIRECT, World};

#[test]
fn an_environment_on_the_main_branch_makes_no_commits_there() {
    let mut world = World::new(DIRECT, "");
    let first = world.chain.company.head("main").unwrap();
    for (path, text) in environment("stage", Some(first)) {
        world.chain.company.write_main(&format!("envs/{path}"), &text);
    }
    let declaration = format!(
        "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: Environment\nmetadata: {{name: stage}}\nspec: {{controlPlane: {{repo: {CONTROL_PLANE}, branch: main, path: envs}}}}\n"
    );
    let head = world.chain.company.write_main(".environments/stage.yaml", &declaration);
    for _ in 0..4 {
        world.try_step("dev").unwrap();
        let status = world.try_step("stage").unwrap().status.unwrap();
        assert_eq!(status.problem.as_deref(), Some("its objects are on the main branch"));
    }
    assert_eq!(world.chain.company.head("main"), Some(head));
}
