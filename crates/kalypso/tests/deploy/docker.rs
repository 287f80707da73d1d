//! What the Dockerfile says about the program. `cargo xtask image` checks the rest.

use std::collections::BTreeMap;

use crate::helm::{CHART, Helm};
use crate::machine::Machine;
use crate::page;

/// The instructions of the last stage, with continued lines joined.
fn instructions() -> Vec<(String, String)> {
    let text = page::text("deploy/docker/Dockerfile");
    let joined: String = text.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect();
    let joined = joined.replace("\\\n", " ");
    let (_, last) = joined.rsplit_once("\nFROM ").unwrap();
    let words = last.lines().skip(1).filter_map(|line| line.split_once(' '));
    words.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect()
}

fn all(name: &str) -> Vec<String> {
    instructions().into_iter().filter(|(found, _)| found == name).map(|(_, value)| value).collect()
}

#[track_caller]
fn one(name: &str) -> String {
    let values = all(name);
    assert_eq!(values.len(), 1, "{name}");
    values.into_iter().next().unwrap()
}

fn list(name: &str) -> Vec<String> {
    serde_json::from_str(&one(name)).unwrap()
}

fn variables() -> BTreeMap<String, String> {
    let value = one("ENV");
    let pairs = value.split_whitespace().map(|pair| pair.split_once('=').unwrap());
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[test]
fn the_command_of_the_image_serves_and_stops() {
    let mut machine = Machine::new(&page::blocks("toml")[0]);
    variables().iter().for_each(|(name, value)| machine.set(name, value));
    machine.set("KALYPSO_HOST_TOKEN", "token");
    assert_eq!(list("ENTRYPOINT").last().unwrap(), "/usr/local/bin/kalypso");
    machine.create_token();
    machine.start(&list("CMD")).stop();
}

#[test]
fn the_image_and_the_chart_agree() {
    let Some(helm) = Helm::find() else { return };
    let rendered = helm.render(&[page::text(&format!("{CHART}/ci/sqlite-values.yaml"))]).unwrap();
    let pod = &rendered["deployment.yaml"][0]["spec"]["template"]["spec"];
    let (user, group) = (&pod["securityContext"]["runAsUser"], &pod["securityContext"]["runAsGroup"]);
    assert_eq!(one("USER"), format!("{user}:{group}"));
    let mounts = pod["containers"][0]["volumeMounts"].as_array().unwrap();
    for volume in list("VOLUME") {
        assert!(mounts.iter().any(|mount| mount["mountPath"] == volume.as_str()), "{volume}");
    }
    for (name, value) in variables() {
        let variables = pod["containers"][0]["env"].as_array().unwrap();
        let found = variables.iter().find(|variable| variable["name"] == name.as_str()).unwrap();
        assert_eq!(found["value"], value.as_str(), "{name}");
    }
    assert_eq!(one("EXPOSE"), pod["containers"][0]["ports"][0]["containerPort"].to_string());
}

#[test]
fn the_image_is_built_by_a_compiler_that_is_new_enough() {
    let manifest = page::text("Cargo.toml");
    let needed = manifest.split_once("rust-version = \"").unwrap().1.split('"').next().unwrap();
    let dockerfile = page::text("deploy/docker/Dockerfile");
    let used = dockerfile.split_once("ARG RUST=").unwrap().1.lines().next().unwrap();
    let parts = |version: &str| version.split('.').map(|part| part.parse::<u32>().unwrap()).collect::<Vec<_>>();
    assert!(parts(used) >= parts(needed), "{used} is older than {needed}");
}
