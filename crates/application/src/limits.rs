//! Limits, each with its reason.

use std::time::Duration;

/// Maximum number of files of one chart or folder of values. Charts of large products, with all their dependencies, have about a thousand.
pub(crate) const FILES_MAX: usize = 20_000;

/// Maximum size of all files of one chart or folder of values, in bytes. Helm itself refuses charts above 1 MiB as a release in a cluster; vendored charts are larger.
pub(crate) const FILES_BYTES_MAX: u64 = 128 << 20;

/// Maximum size of the archive of a chart, in bytes. The largest public charts have some MiB.
pub(crate) const ARCHIVE_BYTES_MAX: u64 = 32 << 20;

/// Maximum size of a file that Helm writes during a download, in bytes. Lists of large chart repositories have about 30 MiB.
pub(crate) const DOWNLOAD_BYTES_MAX: u64 = 128 << 20;

/// Maximum depth of nested folders. Git itself has no limit.
pub(crate) const FOLDER_DEPTH_MAX: usize = 64;

/// Maximum size of the manifests of one target, in bytes: the size of a text that the reader of YAML accepts.
pub(crate) const OUTPUT_BYTES_MAX: u64 = model::yaml::YamlLimits::DEFAULT.text_bytes as u64;

/// Maximum size of the messages of a program, in bytes. People read the first lines.
pub(crate) const MESSAGE_BYTES_MAX: u64 = 64 << 10;

/// Maximum number of characters of a message of a program that are shown.
pub(crate) const MESSAGE_CHARS_MAX: usize = 2_000;

/// How long a program may take for one target, unless the configuration says otherwise. Large charts take some seconds.
pub(crate) const PROGRAM_TIME_LIMIT: Duration = Duration::from_mins(1);

/// How often variables are replaced in the values of variables. They may refer to each other.
pub(crate) const VARIABLE_DEPTH_MAX: usize = 8;

/// Maximum size of a file with a descriptor or of a tracking file, in bytes. The list of the files of a target is the largest part.
pub(crate) const DESCRIPTOR_BYTES_MAX: u64 = 1 << 20;

/// Maximum number of folders of a branch that are searched for descriptors.
pub(crate) const FOLDERS_MAX: usize = 100_000;

/// How many commits back releases are searched.
pub(crate) const HISTORY_MAX: usize = 2_000;

/// Maximum size of a compiled pattern of a schema, in bytes. Charts of other people contain schemas. Names with 253 characters need about 50 KiB.
pub(crate) const PATTERN_BYTES_MAX: usize = 256 << 10;

/// The steps that one comparison with a pattern counts as. The first one compiles the pattern.
pub(crate) const PATTERN_STEPS: usize = 1_000;

/// The steps that each byte of a text counts as that is compared with a pattern.
pub(crate) const PATTERN_BYTE_STEPS: usize = 32;

/// Maximum number of steps in which the manifests of one target are compared with schemas: about ten for each node of the largest manifests.
pub(crate) const SCHEMA_STEPS_MAX: usize = 20_000_000;

/// Maximum depth of nested schemas. Manifests have at most 100 levels, and each may lead through a reference.
pub(crate) const SCHEMA_DEPTH_MAX: usize = 300;

/// Maximum number of problems that are listed of one object. People read the first ones.
pub(crate) const FIELD_PROBLEMS_MAX: usize = 50;

/// Maximum number of problems that are listed of one target's objects.
pub(crate) const MANIFEST_PROBLEMS_MAX: usize = 200;

/// How many registries are asked at the same time. Registries limit requests by client; most applications have some ten images.
pub(crate) const REGISTRY_REQUESTS_MAX: usize = 8;

/// How long the digest of one image may take, with its token. Registries answer in one second.
pub(crate) const REGISTRY_TIME_LIMIT: Duration = Duration::from_secs(30);

/// Maximum number of redirects on the way to a manifest. Registries that are served by regions have one.
pub(crate) const REGISTRY_REDIRECTS_MAX: usize = 5;

/// Maximum size of a manifest, in bytes: what the OCI distribution specification wants registries to accept.
pub(crate) const MANIFEST_BYTES_MAX: u64 = 4 << 20;

/// Maximum size of an answer with a token, in bytes. Tokens have some KiB.
pub(crate) const TOKEN_BYTES_MAX: u64 = 1 << 20;

/// Maximum size of Docker's `config.json`, in bytes. It has some KiB.
pub(crate) const CREDENTIALS_BYTES_MAX: u64 = 1 << 20;
