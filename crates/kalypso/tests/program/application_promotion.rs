//! An application whose versions a promotion moves: `kalypso app deploy` renders all environments, and each environment gets the commit that its gates let in.

use std::ffi::OsString;
use std::process::Command;

use testkit::company::CompanyFiles;
use testkit::hub_program::HubProgram;
use testkit::objects;

use crate::application_world::path_with_helm;
use crate::company::{Company, HOST, Ran, git, kalypso};
use crate::hub::start;
use crate::reports::token;

/// A platform with a promotion from `dev` to `prod`, and the source of `shop` as its team has it.
struct World {
    company: Company,
    hub: HubProgram,
    token: String,
    path: OsString,
}

const RECONCILER: &str = "kind: Reconciler\nrepo: {{ .Manifests.repo }}\npath: {{ .Manifests.path }}\n\
                          {{ with .Manifests.commit }}commit: {{ . }}\n{{ end }}";

const CHART: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: {{ .Values.image }}, args: [{{ .Values.size }}]}]}}
";

impl World {
    /// None, with a message, without Helm.
    fn new() -> Option<Self> {
        let path = path_with_helm()?;
        let promotion = "from: [dev]\nto: prod\ndelivery: direct\nselect: {workloadSelector: {}}\ngates: [{name: compliant, compliant: {share: 100%}}]";
        let mut files = CompanyFiles::with_applications(&["dev", "prod"], &["shop"])
            // Other files of the source are no objects of the platform.
            .with(
                "workloads/shop.yaml",
                objects::registration("shop", &format!("{HOST}shop")).replace("path: .", "path: workload"),
            )
            .with(".environments/to-prod.yaml", objects::object("Promotion", "to-prod", promotion))
            .with("templates/flux.yaml", objects::template("flux", "reconciler", RECONCILER));
        files.pinned.insert("prod".to_owned());
        let company = Company::empty().filled(&files);
        let token = token(&company.path("."), &["admin", "--role", "admin"]);
        let world = Self { hub: start(&company.path(".")), company, token, path };
        world.write_application();
        Some(world)
    }

    fn write_application(&self) {
        let target = |environment: &str| {
            let manifests = format!("repo: {HOST}shop-deploy, branch: main, path: ./{environment}/web");
            objects::target((environment, environment), "shop", &manifests)
        };
        let settings = format!(
            "workspace = \"shop-team\"\npromoted = true\nsource = {{ chart = \"chart\" }}\n\
             gitops = {{ repo = \"{HOST}shop-deploy\", branch = \"main\", path = \"{{environment}}\" }}\n\
             variables = {{ IMAGE = \"registry.example/shop:${{VERSION}}\" }}\n\
             environments = [{{ name = \"dev\", delivery = \"push\" }}, {{ name = \"prod\", delivery = \"push\" }}]\n\
             [git]\nrewrite = [{{ from = \"{HOST}\", to = \"{}/\" }}]\n",
            self.company.repository("shop").parent().unwrap().display(),
        );
        let files = [
            ("workload/workload.yaml", objects::workload_with("shop", &["dev", "prod"].map(target))),
            ("kalypso-app.toml", settings),
            ("chart/Chart.yaml", "apiVersion: v2\nname: shop\nversion: 0.1.0\n".to_owned()),
            ("chart/values.yaml", "image: ${IMAGE}\nsize: small\n".to_owned()),
            ("chart/templates/web.yaml", CHART.to_owned()),
            ("values/dev/web/values.yaml", String::new()),
            ("values/prod/web/values.yaml", String::new()),
        ];
        files.iter().for_each(|(path, text)| drop(self.company.change("shop@main", path, text)));
        self.company.commit("shop-deploy", "main", &[("README.md", "The manifests of shop.\n".to_owned())]);
        let source = self.company.repository("shop");
        git(&self.company.path("."), &["clone", "--quiet", &source.to_string_lossy(), "checkout"]);
    }

    /// Runs `kalypso app` in the newest commit of the source. Returns the commit of the manifests.
    fn app(&self, arguments: &str) -> String {
        self.app_command(arguments).ends(0);
        self.company.head("shop-deploy", "main").unwrap()
    }

    fn app_command(&self, arguments: &str) -> Ran {
        let checkout = self.company.path("checkout");
        git(&checkout, &["pull", "--quiet"]);
        let mut command: Command = kalypso(&checkout);
        Ran::new(command.env("PATH", &self.path).arg("app").args(arguments.split_whitespace()))
    }

    fn run(&self, arguments: &str) -> Ran {
        let mut command = self.company.command();
        command.env("KALYPSO_HUB_URL", self.hub.url()).env("KALYPSO_HUB_TOKEN", &self.token);
        Ran::new(command.args(arguments.split_whitespace()))
    }

    fn publish(&self) {
        ["dev", "prod"].iter().for_each(|name| drop(self.run(&format!("publish -e {name} --direct")).ends(0)));
    }

    /// The clusters of an environment report that they applied the head of its branch.
    fn report(&self, environment: &str) {
        let commit = self.company.head("gitops", environment).unwrap();
        for cluster in ["east", "west"] {
            let place = format!("--repository {HOST}gitops --branch {environment} --path {cluster} --commit {commit}");
            let host = format!("{environment}-{cluster}");
            self.run(&format!("report --host {host} --reconciler {host} --status success {place}")).ends(0);
        }
    }

    /// Publishes and reports until the change has passed all gates.
    fn settle(&self) {
        for _ in 0..3 {
            self.publish();
            ["dev", "prod"].iter().for_each(|name| self.report(name));
        }
    }

    /// The commit of the manifests that an environment gets.
    fn commit(&self, environment: &str) -> String {
        let text = self.company.file("gitops", environment, &format!("east/shop-{environment}/reconciler.yaml"));
        text.lines().find_map(|line| line.strip_prefix("commit: ")).unwrap_or_default().trim_matches('"').to_owned()
    }

    fn manifests(&self, commit: &str, environment: &str) -> String {
        git(&self.company.repository("shop-deploy"), &["show", &format!("{commit}:{environment}/web/manifests.yaml")])
    }
}

#[test]
fn a_version_is_rendered_once_and_moves_through_the_gates() {
    let Some(world) = World::new() else { return };
    let first = world.app("deploy --version 1.0.0");
    world.settle();
    assert_eq!([world.commit("dev"), world.commit("prod")], [first.clone(), first.clone()]);
    let second = world.app("deploy --version 1.1.0");
    world.publish();
    assert_eq!([world.commit("dev"), world.commit("prod")], [second.clone(), first.clone()]);
    assert!(world.manifests(&world.commit("prod"), "prod").contains("shop:1.0.0"));
    world.run("rollout status -e prod").ends(0).says(&["waits before"]);
    world.settle();
    assert_eq!(world.commit("prod"), second);
    assert!(world.manifests(&second, "prod").contains("shop:1.1.0"));
}

#[test]
fn values_of_a_later_environment_move_with_the_version_that_is_there() {
    let Some(world) = World::new() else { return };
    world.app("deploy --version 1.0.0");
    world.settle();
    world.company.change("shop@main", "values/prod/web/values.yaml", "size: large\n");
    let refused = world.app_command("deploy -e prod --version 1.1.0").ends(1);
    refused.says(&["a promotion moves versions to `prod`", "without -e"]);
    let second = world.app("deploy -e prod");
    assert!(world.manifests(&second, "dev").contains("small") && world.manifests(&second, "prod").contains("large"));
    world.publish();
    assert_ne!(world.commit("prod"), second);
    world.settle();
    assert_eq!(world.commit("prod"), second);
}
