//! `kalypso app images`: the images that targets need, with their digests.

use application::images::{ImageDigests, ListedImage, list};
use application::render::{Rendering, TargetState};
use application::values::TargetPath;
use model::diagnostic::{Code, Diagnostic};
use serde::Serialize;
use utoipa::ToSchema;

use super::reading::{OpenedEnvironment, Reading, render_failure, report, target_named};
use super::registries::ImageAccess;
use crate::arguments::{AppImages, Format};
use crate::exit::Exit;
use crate::{reporting, table, terminal};

/// The images that targets need.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApplicationImages {
    /// The environment.
    environment: String,
    /// The version.
    version: String,
    /// The images, by their texts.
    images: Vec<ApplicationImage>,
}

/// An image.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ApplicationImage {
    /// The image, as the manifests name it.
    image: String,
    /// The host of its registry. None: the text is no reference.
    registry: Option<String>,
    /// The repository in the registry.
    repository: Option<String>,
    /// The tag: `latest` if there is neither a tag nor a digest. None: the digest alone names the image.
    tag: Option<String>,
    /// The digest in the text, or that of the registry. None: no registry was asked, or it gave none.
    digest: Option<String>,
    /// The targets that need it.
    targets: Vec<String>,
}

pub(super) fn run(options: &AppImages) -> anyhow::Result<Exit> {
    let reading = Reading::new(&options.app)?;
    let OpenedEnvironment { project, tools, environment } = reading.open(&options.environment, &options.release)?;
    let prepared = environment.prepared(&project);
    let asked = options.target.as_deref().map(|name| target_named(&prepared, name, &options.environment));
    let asked = asked.transpose()?.map(|target| target.path.clone());
    let asked = asked.as_ref().map(TargetPath::as_str);
    let is_asked = |path: &str| asked.is_none_or(|asked| asked == path);
    let rendering = prepared.render(&tools.programs, &|target| !is_asked(target.path.as_str()));
    let mut rendering = rendering.map_err(|error| render_failure(&error))?;
    let access = ImageAccess::new(&options.registries);
    let (images, problems) = images(&rendering, options.digests.then_some(&*access.digests));
    rendering.diagnostics.extend(problems);
    let report = report(&rendering.files, &rendering.diagnostics);
    reporting::to_stderr(&report)?;
    let version = environment.provenance.version.to_string();
    let answer = ApplicationImages { environment: options.environment.clone(), version, images };
    match options.output {
        Format::Human => terminal::answer(&text(&answer.images, options.digests))?,
        format => terminal::answer(&terminal::structured(&answer, format))?,
    }
    Ok(Exit::Good.unless(report.has_problems(options.strict)))
}

/// The images of rendered targets, with what is wrong with them.
fn images(rendering: &Rendering, digests: Option<&ImageDigests>) -> (Vec<ApplicationImage>, Vec<Diagnostic>) {
    let targets = rendering.targets.iter().filter_map(|target| match &target.state {
        TargetState::Rendered(manifests) => Some((&target.path, &*manifests.objects)),
        TargetState::Known | TargetState::Failed => None,
    });
    let listed = list(targets);
    if let Some(digests) = digests {
        let references = listed.values().filter_map(|image| image.reference.as_ref().ok());
        digests.ask(references.filter(|reference| reference.digest().is_none()));
    }
    let (mut images, mut problems) = (Vec::new(), Vec::new());
    for (text, image) in &listed {
        let (digest, problem) = digest((text, image), digests);
        problems.extend(image.problem(text).into_iter().chain(problem));
        let reference = image.reference.as_ref().ok();
        images.push(ApplicationImage {
            image: text.to_string(),
            registry: reference.map(|reference| reference.registry().to_owned()),
            repository: reference.map(|reference| reference.repository().to_owned()),
            tag: reference.and_then(|reference| reference.tag()).map(str::to_owned),
            digest,
            targets: image.targets.iter().map(ToString::to_string).collect(),
        });
    }
    (images, problems)
}

/// The digest of an image, or why its registry gave none.
fn digest((text, image): (&str, &ListedImage), digests: Option<&ImageDigests>) -> (Option<String>, Option<Diagnostic>) {
    let Ok(reference) = &image.reference else { return (None, None) };
    let (None, Some(digests)) = (reference.digest(), digests) else {
        return (reference.digest().map(str::to_owned), None);
    };
    match digests.digest(reference) {
        Ok(digest) => (Some(digest.to_string()), None),
        Err(error) => {
            let registry = reference.registry();
            let message = format!("there is no digest of `{text}`: {registry}: {error}");
            let found = Diagnostic::warning(Code::ImageDigest, message).at(image.origin.clone(), "");
            (None, Some(found.help(error.advice(registry))))
        }
    }
}

fn text(images: &[ApplicationImage], has_digests: bool) -> String {
    let targets = |image: &ApplicationImage| image.targets.join(", ");
    if !has_digests {
        let rows = images.iter().map(|image| [image.image.clone(), targets(image)]);
        return table::table(std::iter::once(["IMAGE", "TARGETS"].map(str::to_owned)).chain(rows));
    }
    let rows = images.iter().map(|image| {
        let digest = image.digest.clone().unwrap_or_else(|| "–".to_owned());
        [image.image.clone(), digest, targets(image)]
    });
    table::table(std::iter::once(["IMAGE", "DIGEST", "TARGETS"].map(str::to_owned)).chain(rows))
}
