//! The text of a new configuration file.

use std::fmt::Write as _;

use authoring::scaffold::quoting::toml;

use super::answers::{MICROSOFT_FILE, NewApplication};
use super::found::WORKLOAD_FILES;
use super::source::NewSourceKind;

impl NewApplication {
    /// The configuration file. It has only what differs from the defaults, in the order in which the application is rendered and deployed.
    pub fn configuration(&self) -> String {
        let sections = [
            self.beginning(),
            self.source_section(),
            self.values_section(),
            self.variables_section(),
            self.output_section(),
            self.gitops_section(),
            self.access_sections(),
            self.environment_sections(),
        ];
        sections.concat()
    }

    fn beginning(&self) -> String {
        let mut text = format!(
            "\
# How `kalypso app` renders and deploys this application. `kalypso schema kalypso-app` prints all fields.
# Commands find this file from every folder below it.

# The team, as in the registration of the workload.
workspace = {}
",
            toml(&self.workspace)
        );
        if self.workload_file != WORKLOAD_FILES[0] {
            let _ = write!(text, "\n# The file with the workload.\nworkload = {}\n", toml(&self.workload_file));
        }
        text
    }

    fn source_section(&self) -> String {
        let (what, key) = match self.source.kind {
            NewSourceKind::Chart => ("a Helm chart, once for each target", "chart"),
            NewSourceKind::Kustomize => ("a folder for Kustomize, once for each target", "kustomize"),
            NewSourceKind::Manifests => ("plain manifests, once for each target", "manifests"),
            NewSourceKind::Existing => return String::new(),
        };
        let folder = if self.source.folder.is_empty() { "." } else { &self.source.folder };
        let mut text = format!("\n# What is rendered: {what}.\n[source]\n{key} = {}\n", toml(folder));
        if let Some(overlay) = &self.source.overlay {
            text.push_str("# The folder inside of it that is built.\n");
            let _ = writeln!(text, "overlay = {}", toml(overlay));
        }
        text
    }

    fn values_section(&self) -> String {
        const TREE: &str = "# Each folder that has a values.yaml, and none below it, is a target. Its values are merged with those of the folders above.\n";
        match &self.configs {
            Some(repo) => format!(
                "\n# The values of an environment are in the branch of this repository that has its name.\n{TREE}[values]\nrepo = {}\n",
                toml(repo)
            ),
            None => format!("\n# The values of an environment are in the folder values/ENVIRONMENT.\n{TREE}"),
        }
    }

    /// A new source needs an image.
    fn variables_section(&self) -> String {
        let name = self.image_variable();
        let image = toml(&format!("registry.example/{}:${{IMAGE_TAG}}", self.workload));
        let option = if name == "IMAGE" { " `--image` replaces it." } else { "" };
        let (comment, line) = (
            format!(
                "# Variables for values and files, such as ${{{name}}}. Variables such as ${{VERSION}} and ${{TARGET}} exist always.\n"
            ),
            format!("{name} = {image}\n"),
        );
        if self.source.is_new || self.is_like_microsoft {
            format!("\n{comment}[variables]\n# The image of your build.{option}\n{line}")
        } else {
            format!("\n{comment}# [variables]\n# {line}")
        }
    }

    /// The name of the variable with the image.
    pub(super) fn image_variable(&self) -> &'static str {
        if self.is_like_microsoft { "IMAGE_NAME" } else { "IMAGE" }
    }

    fn output_section(&self) -> String {
        if !self.is_like_microsoft {
            return String::new();
        }
        let tests = match self.source.kind {
            NewSourceKind::Chart => "\n# The tests of the chart are rendered, too.\n[helm]\nskip-tests = false\n",
            NewSourceKind::Kustomize | NewSourceKind::Manifests | NewSourceKind::Existing => "",
        };
        format!(
            "{tests}\n# What the folder of a target contains: this file, and a kustomization.yaml that names it.\n[output]\nfile = {}\n",
            toml(MICROSOFT_FILE)
        )
    }

    fn gitops_section(&self) -> String {
        let gitops = &self.gitops;
        let place = match (&gitops.branch, gitops.path.is_empty()) {
            (None, true) => "Reconcilers pull the branch that has the name of the environment.",
            _ => "Reconcilers pull the folder of the environment.",
        };
        let mut text = format!("\n# Where the manifests go. {place}\n[gitops]\nrepo = {}\n", toml(&gitops.repo));
        if let Some(branch) = &gitops.branch {
            let _ = writeln!(text, "branch = {}", toml(branch));
        }
        if !gitops.path.is_empty() {
            let _ = writeln!(text, "path = {}", toml(&gitops.path));
        }
        if self.is_like_microsoft {
            text.push_str("# The branch of a pull request.\nproposing-branch = \"deploy/{commit}/{environment}\"\n");
        }
        text
    }

    fn access_sections(&self) -> String {
        let Some(host) = &self.host else {
            let hint = "\n# With a git host, a deployment opens a pull request. The token is in the variable KALYPSO_HOST_TOKEN.\n# [host]\n# kind = \"github\"              # or gitlab, gitea, azure-devops\n# url = \"https://github.com\"\n";
            return if self.gitops.is_local() { String::new() } else { hint.to_owned() };
        };
        let credential = host.credential().map(|line| format!("\n[git]\n{line}")).unwrap_or_default();
        credential + &host.section("A deployment opens pull requests on this git host.")
    }

    fn environment_sections(&self) -> String {
        let mut text = "\n# The environments, in the order of promotion.\n".to_owned();
        let is_pushed = self.is_pushed();
        for (index, environment) in self.environments.iter().enumerate() {
            let line = if index == 0 { "" } else { "\n" };
            let _ = writeln!(text, "{line}[[environments]]\nname = {}", toml(&environment.environment));
            if is_pushed {
                let comment =
                    "# A repository on this machine has no pull requests: a deployment commits to its branch.\n";
                let comment = if index == 0 { comment } else { "" };
                let _ = writeln!(text, "{comment}delivery = \"push\"");
            }
        }
        text
    }

    /// Whether deployments go to the branch without a pull request.
    fn is_pushed(&self) -> bool {
        self.gitops.is_local() && !self.is_like_microsoft
    }
}
