//! `kalypso app images` and `--pin-images`: an application whose images are in a registry on loopback.

use std::fs;

use testkit::registry_server::{RegistryAccess, RegistryFault, RegistryServer};

use crate::application_world::{Application, SETTINGS};
use crate::company::Ran;

/// `ann:s3cret`
const BASIC: &str = "Basic YW5uOnMzY3JldA==";

/// The application, with the images of versions 1.0.0 and 1.1.0 in a registry that asks for a token.
struct Fixture {
    application: Application,
    registry: RegistryServer,
    digests: [String; 2],
}

impl Fixture {
    /// None, with a message, without Helm.
    fn new() -> Option<Self> {
        let application = Application::new()?;
        let registry = RegistryServer::start().unwrap();
        let digests =
            ["1.0.0", "1.1.0"].map(|tag| registry.publish("acme/shop", tag, &format!("{{\"tag\": \"{tag}\"}}")));
        registry.set_access(RegistryAccess::Token(BASIC.to_owned()));
        application
            .write("kalypso-app.toml", &SETTINGS.replace("registry.example/", &format!("{}/acme/", registry.name())));
        application.commit("Images in a registry");
        let file = format!("{{\"auths\": {{\"{}\": {{\"auth\": \"YW5uOnMzY3JldA==\"}}}}}}", registry.name());
        fs::create_dir_all(application.path("docker")).unwrap();
        fs::write(application.path("docker/config.json"), file).unwrap();
        Some(Self { application, registry, digests })
    }

    fn app(&self, arguments: &str) -> Ran {
        let mut command = self.application.command(arguments);
        Ran::new(command.env("DOCKER_CONFIG", self.application.path("docker")))
    }

    /// The image of a version, as it is deployed.
    fn pinned(&self, version: usize) -> String {
        format!("image: {}/acme/shop:1.{version}.0@{}}}", self.registry.name(), self.digests[version])
    }
}

#[test]
fn images_are_listed_with_their_digests() {
    let Some(fixture) = Fixture::new() else { return };
    let image = format!("{}/acme/shop:1.0.0", fixture.registry.name());
    fixture.app("images -e dev --version 1.0.0").ends(0).says(&["IMAGE", &format!("{image}  eu, us")]);
    assert!(fixture.registry.requests().is_empty());
    let row = format!("{image}  {}  eu", fixture.digests[0]);
    fixture.app("images -e dev --version 1.0.0 eu --digests").ends(0).says(&["DIGEST", &row]);
    let missing = format!("there is no digest of `{}/acme/shop:2.0.0`", fixture.registry.name());
    let expected = [missing.as_str(), "it has no such image", "shop:2.0.0  –", "eu, us", "was the image pushed?"];
    fixture.app("images -e dev --version 2.0.0 --digests").ends(0).says(&expected);
    fixture.app("images -e dev --version 2.0.0 --digests --strict").ends(1);
    let fields =
        ["\"repository\": \"acme/shop\"", "\"tag\": \"1.0.0\"", &format!("\"digest\": \"{}\"", fixture.digests[0])];
    fixture.app("images -e dev --version 1.0.0 --digests -o json").ends(0).says(&fields);
    fixture.app("images -e dev asia").ends(64).says(&["has no target `asia`"]);
}

#[test]
fn images_are_deployed_with_their_digests() {
    let Some(fixture) = Fixture::new() else { return };
    let deployed = || fixture.application.deployed("dev:us/manifests.yaml");
    let unpinned = fixture.app("render -e dev us --version 1.0.0").ends(0).out;
    fixture.app("deploy -e dev --version 1.0.0 --pin-images").ends(0).says(&["+ eu  new", "+ us  new"]);
    assert!(deployed().contains(&fixture.pinned(0)), "{}", deployed());
    assert_eq!(deployed().replace(&format!("@{}", fixture.digests[0]), ""), unpinned.trim_end());
    // Three requests, with that for the token: both targets have the same image.
    assert_eq!(fixture.registry.requests().len(), 3);
}

#[test]
fn a_version_keeps_its_digests() {
    let Some(fixture) = Fixture::new() else { return };
    let settings = fs::read_to_string(fixture.application.path("shop/kalypso-app.toml")).unwrap();
    let pushing = settings.replace("\"stage\" }", "\"stage\", delivery = \"push\" }");
    fixture.application.write("kalypso-app.toml", &pushing);
    fixture.application.commit("Push to stage");
    fixture.app("deploy -e dev --version 1.0.0 --pin-images").ends(0);
    let asked = fixture.registry.requests().len();
    fixture.registry.publish("acme/shop", "1.0.0", "{\"tag\": \"moved\"}");
    fixture.application.write("values/dev/us/values.yaml", "replicas: 5\n");
    fixture.application.commit("More for the US");
    let changed = fixture.app("diff -e dev").ends(0).says(&["1 target changes", "spec.replicas  3 → 5"]);
    assert!(!changed.out.contains("image"), "{}", changed.out);
    fixture.app("deploy -e dev").ends(0).says(&["~ us  changed"]);
    assert!(fixture.application.deployed("dev:us/manifests.yaml").contains(&fixture.pinned(0)));
    fixture.app("deploy -e dev").ends(0).says(&["nothing changes"]);
    // In the next environment, the version has the same images.
    let taken = ["version 1.0.0 has the digests of its images, as in `dev`", "+ uat  new"];
    fixture.app("deploy -e stage --version 1.0.0").ends(0).says(&taken);
    assert!(fixture.application.deployed("stage:uat/manifests.yaml").contains(&fixture.pinned(0)));
    assert_eq!(fixture.registry.requests().len(), asked);
}

#[test]
fn an_image_without_a_digest_is_not_deployed() {
    let Some(fixture) = Fixture::new() else { return };
    let settings = fs::read_to_string(fixture.application.path("shop/kalypso-app.toml")).unwrap();
    fixture.application.write("kalypso-app.toml", &format!("{settings}images = {{ pin = true }}\n"));
    fixture.application.commit("Pin images");
    // What has no version has no image yet.
    fixture.app("render -e dev").ends(0);
    fixture.app("check").ends(0);
    assert!(fixture.registry.requests().is_empty());
    fixture.app("deploy -e dev --version 1.0.0").ends(0);
    let refused = ["error[K0722]", "shop:2.0.0` can't be pinned", "it has no such image", "of targets eu, us"];
    fixture.app("deploy -e dev --version 2.0.0").ends(1).says(&refused);
    fixture.registry.set_fault(Some(RegistryFault::Status(403)));
    fixture.app("deploy -e dev --version 1.1.0").ends(1).says(&["it refuses access (HTTP 403) with the credential"]);
    assert!(fixture.application.deployed("dev:us/manifests.yaml").contains(&fixture.pinned(0)));
    fixture.registry.set_fault(None);
    fixture.app("deploy -e dev --version 1.1.0").ends(0);
    assert!(fixture.application.deployed("dev:us/manifests.yaml").contains(&fixture.pinned(1)));
}
