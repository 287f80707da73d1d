//! The registries that the commands ask, and whether manifests get digests from them.

use std::path::PathBuf;
use std::sync::Arc;

use application::images::{HttpRegistries, ImageDigests, PinnedImages, RegistrySettings};
use application::settings::ApplicationSettings;

use crate::arguments::{AppPinning, AppRegistries};

/// The folder of the user with the settings of Docker, and the file with the credentials.
const DOCKER_FOLDER: &str = ".docker";
const DOCKER_FILE: &str = "config.json";

/// The digests of this run, and who gets them.
#[derive(Clone)]
pub(super) struct ImageAccess {
    pub(super) digests: Arc<ImageDigests>,
    pinning: ImagePinning,
}

/// Which manifests get digests.
#[derive(Clone, Copy)]
enum ImagePinning {
    /// None.
    Never,
    /// Those of a version, if the settings of the application say so, or the version has digests already. The image of what has no version is often not
    /// pushed yet.
    BySettings,
    /// All.
    Always,
}

impl ImageAccess {
    /// Manifests stay as they are.
    pub(super) fn new(registries: &AppRegistries) -> Self {
        Self::with(registries, ImagePinning::Never)
    }

    /// Manifests get digests if the options or the settings of the application say so.
    pub(super) fn pinning(options: &AppPinning) -> Self {
        let pinning = if options.pin_images { ImagePinning::Always } else { ImagePinning::BySettings };
        Self::with(&options.registries, pinning)
    }

    fn with(registries: &AppRegistries, pinning: ImagePinning) -> Self {
        let settings = RegistrySettings {
            credentials_file: credentials_file(),
            insecure: registries.insecure.clone(),
            ..RegistrySettings::default()
        };
        Self { digests: Arc::new(ImageDigests::new(HttpRegistries::new(settings))), pinning }
    }

    /// The digests for manifests, with those that their version has already. `known` is none for manifests without a version. None: images stay as they are.
    pub(super) fn of_manifests(
        &self,
        settings: &ApplicationSettings,
        known: Option<PinnedImages>,
    ) -> Option<Arc<ImageDigests>> {
        let is_pinned = match (self.pinning, &known) {
            (ImagePinning::Never, _) | (ImagePinning::BySettings, None) => false,
            (ImagePinning::BySettings, Some(known)) => settings.pins_images || !known.0.is_empty(),
            (ImagePinning::Always, _) => true,
        };
        is_pinned.then(|| Arc::new(self.digests.with_known(known.unwrap_or_default())))
    }
}

/// Docker's file with credentials: in the folder of its variable, or of the user.
fn credentials_file() -> Option<PathBuf> {
    let named = std::env::var_os("DOCKER_CONFIG").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let folder = named.or_else(|| Some(std::env::home_dir()?.join(DOCKER_FOLDER)))?;
    Some(folder.join(DOCKER_FILE))
}
