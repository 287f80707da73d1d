//! The codes of diagnostics. Each one's documentation is its manual page: the reference in `docs/` is made of it.

use std::fmt;

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $id:literal,)+) => {
        /// What is wrong, as a stable code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Code {
            /// All codes in the order of their numbers.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The code as people write it, `K0101`. It never changes its meaning.
            pub fn id(self) -> &'static str {
                match self {
                    $(Self::$name => $id,)+
                }
            }

            /// The manual page, as Markdown. Its first line is a title.
            pub fn manual(self) -> &'static str {
                match self {
                    $(Self::$name => concat!($($doc, "\n"),+),)+
                }
            }
        }
    };
}

impl Code {
    /// The title of the manual page.
    pub fn title(self) -> &'static str {
        self.manual().lines().next().unwrap_or_default().trim().trim_end_matches('.')
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

codes! {
    /// A file is not valid YAML.
    ///
    /// The file, or one document of it, can't be read. An earlier version of the file is used if there is a good one; otherwise the file contributes nothing.
    ///
    /// ```yaml
    /// metadata:
    ///   name: west
    ///    labels: {}     # indented by one blank too many
    /// ```
    ///
    /// Mend the line the message points at; quote a text that holds `: `, ` #` or begins with a special character.
    YamlSyntax = "K0101",
    /// A file is beyond a limit.
    ///
    /// Files come from other teams, so their size, depth, number of nodes and the growth by anchors are limited. Split the file, or
    /// write out what its anchors multiply.
    YamlLimit = "K0102",
    /// A file is not text.
    ///
    /// The file holds bytes that are not UTF-8. Control-plane folders should hold YAML only: move the file, or name it in `.sourceignore`.
    NotText = "K0103",
    /// An object has a kind that Kalypso does not know.
    ///
    /// The object is ignored. Is the kind spelled right, and is `apiVersion` the one of that kind? Objects of other systems can be named in `.sourceignore`.
    UnknownKind = "K0104",
    /// An object has a field that its kind does not have.
    ///
    /// The field is ignored, so what it was meant to say is not said. It is mostly a typing error.
    UnknownField = "K0105",
    /// An object lacks a field that its kind needs.
    ///
    /// Add the field. `kalypso schema KIND` prints all fields of a kind; the reference of kinds explains them.
    MissingField = "K0106",
    /// A field holds another type of value than its kind asks for.
    ///
    /// Mostly a text that YAML reads as something else: `8080`, `true`, `on` and `1.10` need quotes where a text is asked for.
    ///
    /// ```yaml
    /// data:
    ///   PORT: 8080       # a number; write "8080"
    /// ```
    WrongType = "K0107",
    /// A name is not a valid object name.
    ///
    /// Names become folders and Kubernetes names, so they are DNS subdomains: lower case letters, digits, `-` and `.`, at most 253
    /// characters, each part beginning and ending with a letter or digit.
    InvalidName = "K0108",
    /// A label selector is not valid.
    ///
    /// The operators are `In` and `NotIn` (with at least one value), `Exists` and `DoesNotExist` (without values). A policy with a broken selector selects nothing.
    InvalidSelector = "K0109",
    /// A key occurs twice in one mapping.
    ///
    /// YAML readers disagree on which one counts, so neither does. Remove one.
    DuplicateKey = "K0110",
    /// An object exists twice.
    ///
    /// Two objects of one kind have the same name in one environment. It is not clear which one counts, so what depends on either keeps
    /// its last good output. Remove or rename one.
    DuplicateObject = "K0111",
    /// A label, annotation or manifest value holds a character that could break out of its place.
    ///
    /// Names, labels and `manifests` values become part of the platform's manifests. A line break or control character in them could smuggle in a second document, so they are refused.
    ControlCharacter = "K0112",
    /// An annotation has a value that it can't have.
    ///
    /// The message names the values that are possible.
    InvalidAnnotation = "K0113",
    /// An object stands where it may not.
    ///
    /// An application repository contributes its `Workload`s, and `ConfigSchema`s that carry the label `workload` with the name of one of them. Everything
    /// else (templates, policies, cluster types, values) belongs to the platform and comes from the control plane only.
    NotAllowedHere = "K0114",
    /// Two registrations bring a workload of the same name.
    ///
    /// The registration that is first by name keeps it, the other one's workload is ignored. Rename one of the workloads.
    WorkloadTaken = "K0115",
    /// A Kustomize or Flux feature would change the content of this folder.
    ///
    /// Kalypso reads the files as they are. A `kustomization.yaml`, or `patches`, `postBuild` or decryption in a Flux `Kustomization`, would make something else of
    /// them, so the folder is not read rather than read wrongly.
    UnsupportedKustomization = "K0116",
    /// An earlier version of a broken file is used.
    ///
    /// The newest version of this file holds errors. So that they harm nothing else, the newest earlier version without errors is used
    /// instead. Mend the errors, which are reported beside this one, and commit.
    EarlierVersionUsed = "K0117",
    /// A path can't be read as a file of this repository.
    ///
    /// A symbolic link, or something else that is not an ordinary file. Links are not followed, because they may lead out of the repository.
    NotAFile = "K0118",
    /// An environment has no objects.
    ///
    /// An environment without a single cluster type, policy or target is more probably a wrong path or branch than an intention, so nothing is published: an empty input never deletes a fleet.
    EmptyEnvironment = "K0119",
    /// Two places would get output of the same name.
    ///
    /// For example workload `a-b` with target `c` and workload `a` with target `b-c` are both `a-b-c`. Neither is rendered. Rename one.
    NameCollision = "K0120",

    /// A policy selects no cluster type.
    ///
    /// The policy is valid and does nothing. Is the label spelled as on the cluster types?
    NoClusterTypeSelected = "K0201",
    /// A policy selects no deployment target.
    ///
    /// The policy is valid and does nothing. Deployment targets of other environments don't count.
    NoTargetSelected = "K0202",

    /// A dotted key of an `azure-app-config` map has a part too many.
    ///
    /// The parts before the last one are taken in pairs, label and value. With an odd number the last one has no partner and is dropped.
    OddKeyParts = "K0301",
    /// A JSON schema can't be used.
    ///
    /// The text is not JSON, or is not a valid schema. The assignments that it applies to can't be checked, so they keep their last good output.
    InvalidSchema = "K0310",
    /// A value that a schema requires is given by nobody.
    ///
    /// No `ConfigMap` that matches the assignment gives the value. Add it to one that does. With annotation `schema.kalypso.io/missing: warn` on the
    /// environment or the `ConfigSchema` it is reported and shipped without.
    MissingValue = "K0311",
    /// A value is not what its schema asks for.
    ///
    /// The message shows the value, where it was set, and the schema that asks for something else.
    WrongValue = "K0312",

    /// A template does not parse.
    ///
    /// Assignments of the cluster types that use the template keep their last good output.
    TemplateSyntax = "K0401",
    /// A template fails while it is rendered.
    ///
    /// The message says which expression failed, and why. It is often a value that is missing for some assignments: `kalypso explain` shows what an assignment has.
    TemplateFailed = "K0402",
    /// A template takes more than it may.
    ///
    /// Steps, output and depth of a rendering are limited, so that a loop or a value that refers to itself stops its own assignment and nothing else.
    TemplateLimit = "K0403",
    /// A namespace name is too long.
    ///
    /// `.Namespace` is `<environment>-<cluster type>-<deployment target>`, and Kubernetes allows 63 characters. Shorten one of the names, or put
    /// annotation `names.kalypso.io/long: shorten` on the environment: long names are then cut, with a short stable hash at the end.
    NamespaceTooLong = "K0404",
    /// A template does not exist.
    ///
    /// A cluster type names a template that is not in the environment. Is the name spelled right, and does the template's file read well?
    MissingTemplate = "K0405",
    /// A template renders bytes that are not text.
    ///
    /// Mostly a text that was cut in the middle of a character, by `trunc` for example, which counts bytes.
    NotTextRendered = "K0406",

    /// A folder of that name exists in the GitOps repository, and is not Kalypso's.
    ///
    /// A folder is Kalypso's if its `README.md` is exactly the text that Kalypso writes. `--adopt` takes the folder over; what is in it is then replaced.
    ForeignFolder = "K0501",
    /// The GitOps branch belongs to somebody else.
    ///
    /// `.kalypso/owner` in the branch names another environment or control plane. Two of them writing into one folder would delete each other's work.
    OwnedByAnother = "K0502",
    /// Folders of an earlier path are left.
    ///
    /// `GitOpsRepo.spec.path` says that output lives in a folder, and Kalypso's folders are at the root of the branch. Move them, or remove them, in one commit together with the change that makes clusters look at the new path.
    PathMoved = "K0503",
    /// Two `GitOpsRepo`s name the same repository, branch and path.
    ///
    /// They would overwrite each other. Give each its own branch or path.
    SameDestination = "K0504",
    /// A change removes more than a change usually does.
    ///
    /// More than a fifth of the environment's assignments and at least five, or a whole cluster type that still exists, would disappear. If that is meant, say `--confirm`.
    NeedsConfirmation = "K0505",
    /// A branch holds a commit that Kalypso did not make.
    ///
    /// Kalypso never overwrites a person's commit. Merge it, or move it to another branch.
    ForeignCommit = "K0506",

    /// A repository can't be read.
    ///
    /// The message says what git answered. Workloads of the repository keep their last good output.
    Unreachable = "K0601",
    /// A branch, tag or commit does not exist.
    ///
    /// Is it spelled right, and pushed?
    RevisionNotFound = "K0602",
    /// A repository URL is not allowed.
    ///
    /// URLs in objects begin with `https://` or `ssh://` (or are `user@host:path`). Local paths and other transports can be configured by the
    /// person who runs Kalypso, in `kalypso.toml` under `[git] rewrite`.
    InvalidUrl = "K0603",
    /// Base repositories refer to one another in a circle.
    ///
    /// The message shows the way round. Remove one of the references.
    Cycle = "K0604",
    /// A path does not exist in its repository.
    ///
    /// Is it spelled right, and is it on that branch?
    PathNotFound = "K0605",
    /// There is no such environment.
    ///
    /// `Environment` objects live in the folder `.environments` of the control plane's `main` branch.
    EnvironmentNotFound = "K0606",
    /// A path leads out of its repository.
    ///
    /// Paths are relative to the repository's root and hold no `..`.
    InvalidPath = "K0607",
    /// A Flux `Kustomization` refers to a `GitRepository` that is not there.
    ///
    /// The two are followed as a pair. Without the `GitRepository` it is not known what the `Kustomization` would bring, so nothing of the environment is published.
    SourceNotFound = "K0608",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_in_order() {
        let ids: Vec<_> = Code::ALL.iter().map(|code| code.id()).collect();
        assert!(ids.is_sorted_by(|left, right| left < right), "{ids:?}");
    }

    #[test]
    fn every_code_has_a_title_and_a_page() {
        for code in Code::ALL {
            assert!(!code.title().is_empty(), "{code}");
            assert!(code.manual().lines().count() > 2, "{code} has a title only");
        }
    }
}
