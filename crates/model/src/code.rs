//! The codes of diagnostics. The doc comment of each code is its manual page. `docs/reference/diagnostics.md` is generated from these comments.

use std::fmt;

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $id:literal,)+) => {
        /// The stable code of a kind of problem.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Code {
            /// All codes in the order of their numbers.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The id of the code, such as `K0101`. Its meaning never changes.
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
    /// Whether the problem is outside of the input: a repository, the network or the cache.
    pub fn is_outside(self) -> bool {
        let of_repository = matches!(self, Self::Unreachable | Self::NoAnswerInTime | Self::NotAGitServer);
        of_repository || matches!(self, Self::CopyInUse | Self::UntrustedCache | Self::CacheFailed)
    }

    /// The code with this id. None if there is no such code.
    pub fn find(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.id() == id)
    }

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
    /// The file, or one document of it, can't be read, so its content is not known. The newest earlier version of the file that is good is used instead
    /// (see K0117). If there is none, the file contributes nothing. Other files are not affected.
    ///
    /// ```yaml
    /// metadata:
    ///   name: west
    ///    labels: {}     # indented by one blank too many
    /// ```
    ///
    /// Fix the line that the message shows: the mistake is there or just before it. Quote a text that contains `: ` or ` #`, or that begins with a
    /// special character. Kalypso reads what the YAML libraries of Flux, Argo CD and Kubernetes read, and refuses what they refuse: tabs in the
    /// indentation, also in empty lines, a colon without a key, `%YAML 1.2`, the escape `\/`, a document after `...` without `---`.
    YamlSyntax = "K0101",
    /// A file exceeds a limit.
    ///
    /// Files come from other teams. So their size, their depth, the number of their nodes and the number of nodes that their aliases add are limited: one
    /// file must not stop the work of all teams.
    ///
    /// ```yaml
    /// a: &a [x, x, x, x]
    /// b: &b [*a, *a, *a, *a]
    /// c: &c [*b, *b, *b, *b]     # and so on: a short file, and millions of nodes
    /// ```
    ///
    /// Split the file, or write out the content of its aliases. If a whole folder is too large, name a smaller one, or exclude parts of it with
    /// `.sourceignore`.
    YamlLimit = "K0102",
    /// A file is not text.
    ///
    /// The file contains bytes that are not UTF-8, or control characters. YAML allows neither, and they could hide content from readers.
    ///
    /// Save the file as UTF-8, and write control characters as escapes in double quotes (`"\u001b"`). Move a file that is not text (an image, an archive)
    /// to another folder, or list it in `.sourceignore`.
    NotText = "K0103",
    /// An object has an unknown kind.
    ///
    /// An object of another system is ignored, with a warning. A misspelled kind or version is an error: its group is one of Kalypso's or similar to one,
    /// or its name is similar to that of a kind. The intended kind is not known, so the last good version of the object is used (see K0117 and K0130), and
    /// nothing is removed. Other objects of the file are used.
    ///
    /// ```yaml
    /// apiVersion: scheduler.kalypso.io/v1alpha1
    /// kind: SchedulePolicy     # it is SchedulingPolicy
    /// ```
    ///
    /// Check the spelling of the kind, and the `apiVersion` of that kind. The reference of kinds lists both. List files with objects of other systems in
    /// `.sourceignore`.
    UnknownKind = "K0104",
    /// An object has a field that its kind does not have.
    ///
    /// The field has no effect. Usually it is a typing error, or a field at the wrong depth. Inside the `spec` of Kalypso's own kinds it is an error,
    /// because an object without the field may have a larger effect: a selector without its labels selects everything. The last good version of the object
    /// is used (see K0117). If there is none, the object contributes nothing. In other places (beside `spec`, in `metadata`, in kinds of other systems, in
    /// a `DeploymentDescriptor`) the field is ignored, with a warning.
    ///
    /// ```yaml
    /// spec:
    ///   deploymentTargetSelector:
    ///     labelSelector:
    ///       matchLabel:           # it is matchLabels
    ///         purpose: edge
    /// ```
    ///
    /// Move or rename the field. With `kalypso schema`, editors complete and check the fields of a kind.
    UnknownField = "K0105",
    /// An object lacks a required field.
    ///
    /// Without the field, the object can't be used. An earlier good version is used, or the object contributes nothing. Other objects of the file are used.
    ///
    /// ```yaml
    /// kind: WorkloadRegistration
    /// spec:
    ///   workload:
    ///     repo: https://git.example/acme/checkout
    ///     branch: main           # `path` is missing
    /// ```
    ///
    /// Add the field. The message describes it. The reference of kinds lists all fields.
    MissingField = "K0106",
    /// A field has a value of a wrong type.
    ///
    /// Usually it is a text that YAML reads as another type: `8080`, `true`, `on` and `1.10` are not texts. Kubernetes rejects them too, so Kalypso does
    /// not convert them to texts.
    ///
    /// ```yaml
    /// data:
    ///   PORT: 8080       # a number; write "8080"
    ///   DEBUG: on        # a boolean; write "on"
    /// ```
    ///
    /// Put the value in quotes.
    WrongType = "K0107",
    /// A name is not a valid object name.
    ///
    /// Names become folders and names of Kubernetes objects, so they are DNS subdomains: lower case letters, digits, `-` and `.`, at most 253 characters, and
    /// each part between dots begins and ends with a letter or digit.
    ///
    /// ```yaml
    /// metadata:
    ///   name: Checkout_EU     # write checkout-eu
    /// ```
    ///
    /// Rename the object, and change all references to it.
    InvalidName = "K0108",
    /// A label selector is not valid.
    ///
    /// The last good version of a policy with an invalid selector is used. If there is none, the policy selects nothing, instead of everything. A selector
    /// that contains a key without a requirement is invalid too: to select everything, write `labelSelector: {}`.
    ///
    /// ```yaml
    /// matchExpressions:
    ///   - key: size
    ///     operator: Equals          # it is In
    ///     values: [large]
    /// ```
    ///
    /// The operators are `In` and `NotIn`, with at least one value, and `Exists` and `DoesNotExist`, without values.
    ///
    /// A key or a value that no label can have is an error, too, as in Kubernetes: `NotIn ["lab "]` would hold everywhere, also in the lab.
    InvalidSelector = "K0109",
    /// A key occurs twice in one mapping.
    ///
    /// YAML readers differ in which of the two values they use. So Kalypso treats the object as invalid.
    ///
    /// ```yaml
    /// data:
    ///   REGION: west-us
    ///   REGION: east-us
    /// ```
    ///
    /// Remove one of them.
    DuplicateKey = "K0110",
    /// An object exists twice.
    ///
    /// Two objects of one kind have the same name in one environment: in two files, in two documents of one file, or on the environment's branch and on
    /// `main`. The intended object is not known, so assignments that depend on one of them keep their last good output.
    ///
    /// The message shows both places. Remove or rename all but one.
    DuplicateObject = "K0111",
    /// A label or manifest value contains a forbidden character.
    ///
    /// Labels and `manifests` values of an application team become part of the platform's manifests. A line break in them could add a second document, so
    /// line breaks and other control characters are refused.
    ///
    /// ```yaml
    /// manifests:
    ///   path: "./app\n---\nkind: ClusterRoleBinding"
    /// ```
    ///
    /// Write the value on one line.
    ControlCharacter = "K0112",
    /// An annotation has an invalid value.
    ///
    /// The intended setting is not known, so assignments that depend on it keep their last good output.
    ///
    /// ```yaml
    /// metadata:
    ///   annotations:
    ///     config.kalypso.io/priority: high     # an integer, such as "10"
    /// ```
    ///
    /// The message lists the allowed values. The reference of kinds lists the annotations of each kind.
    InvalidAnnotation = "K0113",
    /// An object is not allowed in this repository.
    ///
    /// An application repository may contain `Workload`s, and `ConfigSchema`s that have the label `workload` with the name of one of them. All other kinds
    /// (templates, policies, cluster types, values) affect other teams too, so they are allowed in the control plane only. The object is ignored.
    ///
    /// Move the object to the control plane with a pull request, or add the label to the `ConfigSchema`:
    ///
    /// ```yaml
    /// kind: ConfigSchema
    /// metadata:
    ///   labels:
    ///     workload: checkout
    /// ```
    NotAllowedHere = "K0114",
    /// Two registrations contain a workload with the same name.
    ///
    /// The workload belongs to the registration with its name. A workload of the control plane itself has priority over all others. The owner is not
    /// affected. The other workload is ignored, with its targets and schemas. So if a team is registered under the name of its workload, no other team can
    /// take over or stop this workload.
    ///
    /// ```yaml
    /// kind: Workload
    /// metadata:
    ///   name: checkout     # in the repository of registration `returns`, while there is a registration `checkout`
    /// ```
    ///
    /// Rename the workload. If the other registration should own it, change the registrations in the control plane.
    WorkloadTaken = "K0115",
    /// A Kustomize or Flux feature would change the content of this folder.
    ///
    /// Kalypso reads files unchanged. A `kustomization.yaml`, or `patches`, `postBuild` or decryption in a Flux `Kustomization`, would change their
    /// content. So the folder is not read.
    ///
    /// A `kustomization.yaml` stops only its folder and the folders below: objects there stay as they were before the file was added (see K0130), and all
    /// others are used. If it applies to the whole path of a source, and no earlier version is known, nothing is published for that source.
    ///
    /// ```yaml
    /// kind: Kustomization
    /// spec:
    ///   path: ./configs
    ///   postBuild:              # would replace variables in every file
    ///     substitute: { region: west }
    /// ```
    ///
    /// Write the final objects, and remove the feature that changes them. Or list the folder in `.sourceignore`.
    UnsupportedKustomization = "K0116",
    /// An earlier version of a broken file is used.
    ///
    /// The newest version of this file has errors, which are reported separately. To limit their effect, the invalid parts are taken from the newest
    /// earlier version on the same branch in which they are valid. The message names both commits, and the objects, if other objects of the file are valid:
    /// these are used in their current version. Until you fix the errors, changes to the named objects have no effect.
    ///
    /// Fix the errors and commit.
    EarlierVersionUsed = "K0117",
    /// A path can't be read as a file of this repository.
    ///
    /// It is a symbolic link, or another entry that is not an ordinary file. Kalypso does not follow links, because they may lead out of the repository.
    ///
    /// Name the target of the link, or replace the link with it.
    NotAFile = "K0118",
    /// An environment has no objects.
    ///
    /// An environment without any cluster type, policy or target is usually a wrong path or branch. So nothing is published: an empty input never deletes a
    /// fleet.
    ///
    /// Check `branch` and `path` of the `Environment`, and check that everything is pushed. To remove an environment, remove its `Environment` object.
    EmptyEnvironment = "K0119",
    /// Two deployment targets have the same whole name.
    ///
    /// For example, target `c` of workload `a-b` and target `b-c` of workload `a` both have the whole name `a-b-c`, and so the same folder. Neither is
    /// rendered, and their assignments keep their last good output.
    ///
    /// If only one of the two workloads has the name of its registration, this one is rendered (see K0126).
    ///
    /// Rename one of them.
    NameCollision = "K0120",
    /// A label mapping adds a reserved label.
    ///
    /// The labels `workload` and `workspace` name the owner of a deployment target, and policies rely on them. Only the target's `Workload` and its
    /// `WorkloadRegistration` set them.
    ///
    /// ```yaml
    /// kind: LabelMapping
    /// spec:
    ///   from: { team: checkout }
    ///   add: { workspace: payments }     # comes from the registration
    /// ```
    ///
    /// Remove the label from `add`. To move a workload to another workspace, change its `WorkloadRegistration`.
    ReservedLabel = "K0121",
    /// A cluster has the name of a cluster type.
    ///
    /// Both would get the folder with that name. The cluster type keeps the folder, with all its assignments. The cluster is not scheduled.
    ///
    /// ```yaml
    /// kind: Cluster
    /// metadata:
    ///   name: large           # a ClusterType has this name
    /// spec:
    ///   clusterType: large
    /// ```
    ///
    /// Rename the cluster.
    ClusterNameTaken = "K0122",
    /// A cluster is of a cluster type that does not exist.
    ///
    /// A cluster gets its labels and templates from its cluster type. Without them, nothing is rendered for the cluster, and its published output stays.
    ///
    /// ```yaml
    /// kind: Cluster
    /// metadata:
    ///   name: chicago-line-7
    /// spec:
    ///   clusterType: lagre    # it is large
    /// ```
    ///
    /// Name a `ClusterType` of the same environment.
    UnknownClusterType = "K0123",
    /// The owner of a workload is not clear.
    ///
    /// Either several registrations contain a workload with the same name, and none of them has that name. Or a registration contains a workload with the
    /// name of another registration, which does not contain it. The commits do not show which one was first, so none has priority: the last published
    /// output of the workload stays, byte for byte, and new assignments get no folder.
    ///
    /// ```yaml
    /// kind: WorkloadRegistration
    /// metadata:
    ///   name: team-a       # brings Workload `checkout`, and so does registration `team-b`
    /// ```
    ///
    /// Rename one of the workloads. Or give the owning registration the name of the workload.
    WorkloadContested = "K0125",
    /// A deployment target has the whole name of another team's target.
    ///
    /// Target `c` of workload `a-b` and target `b-c` of workload `a` both have the whole name `a-b-c`, and so the same folder. It belongs to the workload
    /// whose registration has the workload's name. A target of the control plane itself has priority over all others. The owner is not affected, and the
    /// other target is ignored.
    ///
    /// While the repository of a registration can't be read, its targets are not known. If the whole name of another workload's target begins with that
    /// registration's name, it may be one of them. So this target keeps its last good output.
    ///
    /// Rename the target. If both workloads have the names of their registrations, see K0120.
    TargetTaken = "K0126",
    /// Labels or `manifests` are too large.
    ///
    /// Labels and `manifests` of a deployment target become part of the manifests of every cluster type that the target is assigned to. So each of these
    /// mappings may have at most 64 KiB. A larger object is not read.
    ///
    /// ```yaml
    /// manifests:
    ///   repo: https://git.example/acme/greetings
    ///   dashboard: '{"panels": […]}'     # megabytes
    /// ```
    ///
    /// Store the content elsewhere, and write only its location into the text.
    TextsTooLarge = "K0128",
    /// The search for an earlier version of a broken file reached its limit.
    ///
    /// For a broken file, its newest earlier version that is good is used (see K0117). The search for it is limited, because large files with many broken
    /// versions take a long time in every run. Beyond the limit, the earlier content of the file is not known: an application's workloads keep their last
    /// good output. If it is a file of the platform, nothing is published.
    ///
    /// Fix the file, or restore a good version of it: `git checkout <commit> -- <file>`. If many files are broken at once, fix some of them.
    EarlierVersionsUnknown = "K0129",
    /// Objects may be in a file that can't be read, and stay as they were.
    ///
    /// Content that can't be read does not count as removed. In one commit, objects disappeared from the readable files, and an unreadable entry appeared:
    /// a file with errors, or a link or submodule in place of a file or folder. The objects may be in this entry, for example if a file was renamed and
    /// broken in one commit. So the objects stay as they were in the commit that the message names, while the entry exists and is unreadable. An object
    /// that is removed in a separate commit is removed, even if another file is broken.
    ///
    /// ```text
    /// policies/shop.yaml         # gone
    /// policies/web-shop.yaml     # new: the same policy, with a typing error in it
    /// ```
    ///
    /// Fix the file and commit. Then objects that are in no file are removed.
    ObjectsKept = "K0130",
    /// The source commit of the published output can't be read any more.
    ///
    /// A file can't be read, and the history of its branch does not contain its content at the time of the last publication: the branch was replaced, and
    /// the server has deleted the earlier commit. So the earlier content of the file is not known. The output of the platform, or of the application, stays
    /// unchanged until the file can be read.
    ///
    /// ```text
    /// git push --force origin dev     # the earlier history is lost, and policies.yaml has a typing error
    /// ```
    ///
    /// Fix the file and commit. Or push the earlier commit again, to any branch.
    PublishedCommitGone = "K0131",
    /// An annotation of Kalypso does not exist, or not for this kind.
    ///
    /// The annotation is ignored, and the intended setting has no effect.
    ///
    /// ```yaml
    /// kind: ConfigMap
    /// metadata:
    ///   annotations:
    ///     config.kalypso.io/priorty: "10"     # it is priority
    /// ```
    ///
    /// Fix the key. The reference of kinds lists the annotations of each kind.
    UnknownAnnotation = "K0132",
    /// A label is similar to one with a special meaning.
    ///
    /// Some labels of a `ConfigMap` or `ConfigSchema` have a special meaning: `platform-config: "true"` makes a map take part in composition, others name a
    /// cluster type, cluster, deployment target or workload. With another spelling, the label is an ordinary label: the map does not take part, or it
    /// applies only to assignments with the same label.
    ///
    /// ```yaml
    /// kind: ConfigMap
    /// metadata:
    ///   labels:
    ///     platform_config: "true"     # it is platform-config
    /// ```
    ///
    /// Fix the label. If the label is intended, you can ignore this warning.
    AlmostKnownLabel = "K0133",
    /// A word in a schema has no effect.
    ///
    /// JSON Schema ignores unknown words, and keywords of other drafts than the schema's own. So the intended rule has no effect, and wrong values pass. The
    /// draft is the one that `$schema` names; without `$schema`, or with one that names no draft, it is draft 7. In draft 7 and earlier ones, keywords beside
    /// `$ref` have no effect either. Words that are not similar to a keyword are not reported, because schemas may contain any words.
    ///
    /// ```json
    /// { "type": "object", "requird": ["DATABASE_URL"], "dependentRequired": { "USER": ["PASSWORD_REF"] } }
    /// ```
    ///
    /// Fix the word: here it is `required`. Of a keyword of another draft, the message says what to write instead, and which `$schema` makes it count.
    UnknownKeyword = "K0134",
    /// A file contains merge conflict markers.
    ///
    /// Git writes these lines if it can't merge two versions of a file. The intended version is not known, so nothing of the file is read: its objects stay
    /// as in the newest earlier version that is good (see K0117).
    ///
    /// ```text
    ///     ///   REGION: east
    ///     /// ```
    ///
    /// Choose one version, remove the lines with the markers, and commit.
    MergeConflict = "K0135",
    /// A deployment target is for an environment that does not exist.
    ///
    /// No `Environment` of the control plane has this name, so the target is not deployed anywhere. Targets for other existing environments are not
    /// mistakes: each environment uses its own targets.
    ///
    /// ```yaml
    /// kind: Workload
    /// spec:
    ///   deploymentTargets:
    ///     - name: functional-test
    ///       environment: dve       # there is `dev`
    /// ```
    ///
    /// Fix the name, or add the `Environment` to the folder `.environments` of the control plane. If no `Environment` was read, as in a checkout of one
    /// branch, this is not reported.
    UnknownEnvironment = "K0136",
    /// An acknowledgement matches no warning.
    ///
    /// You can acknowledge a warning with a reason, by an annotation on its object or in `kalypso.toml`. When the warning no longer appears, remove the
    /// acknowledgement too: otherwise it hides the next warning with the same code, for which it gives no reason. Errors can't be acknowledged.
    ///
    /// ```yaml
    /// metadata:
    ///   annotations:
    ///     kalypso.io/acknowledge.K0202: "The sale begins in November."     # the policy selects targets by now
    /// ```
    ///
    /// Remove the annotation or the entry, or correct its code, object or path.
    UnusedAcknowledgement = "K0137",
    /// Kubernetes refuses a label.
    ///
    /// The key of a label is a name, or a DNS name with a name behind `/`. A value is empty or a name. A name has at most 63 letters, digits, `-`, `_` and `.`,
    /// with letters or digits at both ends. A cluster refuses an object with another label. Here the label counts, but no selector can name it: a selector
    /// with such a key or value is an error (K0109).
    ///
    /// ```yaml
    /// kind: ClusterType
    /// metadata:
    ///   labels:
    ///     region: "West US"       # a value has no blanks
    /// ```
    ///
    /// Write another key or value, such as `west-us`, here and where the label is used.
    ImpossibleLabel = "K0138",
    /// An object to add exists already.
    ///
    /// `kalypso add` never changes an object that exists: it could be another one that only has the same name. The place of the existing object is shown.
    ///
    /// ```sh
    /// kalypso add cluster-type large -e dev        # control-plane@dev:cluster-types/large.yaml has it
    /// ```
    ///
    /// Choose another name, edit the file, or remove the object first. `kalypso add config` changes values of containers that exist.
    ObjectExists = "K0140",
    /// A file can't be edited without a change of something else.
    ///
    /// `kalypso add` and `kalypso remove` keep every byte of a file outside of the edited range. They read the result again, and refuse an edit whose result
    /// does not have exactly the intended meaning. Reasons are errors in the file, anchors that other fields use, and merge keys.
    ///
    /// ```yaml
    /// metadata:
    ///   labels: &labels        # a change of these labels would also change those of other objects
    ///     region: west-us
    /// ```
    ///
    /// Correct the file, or edit it by hand.
    NotEditable = "K0141",
    /// An object to remove is still used by others.
    ///
    /// Without it, the others would be broken. Their places are shown.
    ///
    /// ```sh
    /// kalypso remove cluster-type large -e dev     # Cluster `chicago-line-7` has `clusterType: large`
    /// ```
    ///
    /// Change or remove the others first. `kalypso remove cluster-type --cascade` also removes the clusters of the type.
    StillUsed = "K0142",
    /// There is no such object in the branch.
    ///
    /// `kalypso add` and `kalypso remove` edit one branch: that of the environment of `-e`, else the main branch.
    ///
    /// ```sh
    /// kalypso remove policy checkuot -e dev        # there is `checkout`
    /// ```
    ///
    /// Fix the name, or name the other environment. `kalypso get` lists the objects.
    ObjectNotInBranch = "K0143",
    /// A row of a CSV file can't be read.
    ///
    /// `kalypso add cluster --csv` reads the columns `name` and `cluster-type`. Each other column is a label; an empty cell gives no label. If one row is
    /// wrong, no cluster is added.
    ///
    /// ```csv
    /// name,cluster-type,region
    /// store-001,store,west-us
    /// Store 2,store,west-us          # names have no capitals and no blanks
    /// ```
    ///
    /// Correct the row.
    InvalidRow = "K0144",
    /// A limited repository brings an object that it may not bring.
    ///
    /// An `Environment` or a `BaseRepo` can limit what a repository brings, and all repositories below it: `spec.allow` lists kinds, names and workspaces. The
    /// object does not count, as if it were not there. All other objects of the repository count. If several objects limit a repository, each limit holds.
    /// A limit by `labels` alone also allows only the kinds that labels can limit: a `LabelMapping`, for example, changes targets of the whole company.
    ///
    /// ```yaml
    /// kind: BaseRepo
    /// metadata:
    ///   name: chicago
    /// spec:
    ///   repo: https://git.example/acme/chicago
    ///   branch: main
    ///   path: .
    ///   allow:
    ///     kinds: [Cluster, ConfigMap]     # the repository has a Template
    ///     names: ["chicago-*"]            # and a Cluster named `dallas-1`
    /// ```
    ///
    /// Rename the object, or move it to a repository that may bring it. Or extend `allow`, in the file that the message names.
    NotAllowedByLimit = "K0145",
    /// An object of a limited repository lacks a label, and would reach more than the repository may reach.
    ///
    /// If `spec.allow` of an `Environment` or `BaseRepo` lists `labels`, each `ConfigMap`, `ConfigSchema`, `ClusterType` and `Cluster` of the repository must have
    /// them. Each key of an `azure-app-config` map must have them as conditions. Each `SchedulingPolicy` and `ReleasePin` must require them in its
    /// `clusterTypeSelector`, by `matchLabels` or by `In` with this one value; `workload` and `workspace` in its `deploymentTargetSelector`. The object does not
    /// count, as if it were not there.
    ///
    /// ```yaml
    /// kind: ConfigMap
    /// metadata:
    ///   name: chicago-values
    ///   labels:
    ///     platform-config: "true"     # without `site: chicago`, the values would reach all sites
    /// ```
    ///
    /// Add the label. If the object is for more than the repository may reach, move it to the repository above.
    LimitLabelMissing = "K0146",
    /// A limited repository sets a value or a priority that it may not set.
    ///
    /// `spec.allow` of an `Environment` or `BaseRepo` can list the `keys` that the `ConfigMap`s of a repository set, and the range of their `priority`. Without
    /// the annotation `config.kalypso.io/priority`, a priority is 0. `azure-app-config` maps override all priorities, so a limit of priorities does not allow
    /// them. The whole `ConfigMap` does not count, as if it were not there. The same applies to a `BaseRepo` with the annotation `config.kalypso.io/precedence`,
    /// which sets the order of values for the whole environment: no limited repository may have it.
    ///
    /// ```yaml
    /// allow:
    ///   keys: ["SITE_*", LOG_LEVEL]     # the repository sets DATABASE_URL
    ///   priority: {min: 0, max: 99}     # with priority 500
    /// ```
    ///
    /// Remove the value or the annotation, or change the priority. Or extend `allow`, in the file that the message names.
    LimitValueRefused = "K0147",
    /// An object of a limited repository has the name of an object above.
    ///
    /// Two objects with one kind and name stop each other (K0111), except in a hierarchy: the object of the repository with fewer limits counts, and the other
    /// one does not. So a limited repository can't stop or replace an object of the company. The same for a cluster and a cluster type of one name, for a
    /// workload and a registration of one name, and for deployment targets with one whole name.
    ///
    /// ```yaml
    /// kind: ConfigMap
    /// metadata:
    ///   name: defaults     # the control plane has a ConfigMap of this name
    /// ```
    ///
    /// Rename the object, or remove it. To avoid this, limit `names` to a prefix for each repository.
    NameOfAbove = "K0148",
    /// A limit is not valid, or has no effect.
    ///
    /// An empty `allow`, or an empty list in it, would limit nothing or allow nothing, so it is an error, as is a pattern that matches no name. The object with
    /// the error does not count, and the repository that it names is not read; in git, the object's last good version counts (see K0117).
    ///
    /// A limit has no effect on files that are also read without it. In this case, the object counts, and the files are not limited.
    ///
    /// ```yaml
    /// spec:
    ///   path: sites/chicago     # the control plane itself is read with `path: .`, which contains this folder
    ///   allow:
    ///     names: []             # no name is allowed
    /// ```
    ///
    /// Write what is allowed, or remove the field. Keep limited files out of what is read without limits: in another repository, branch or folder.
    InvalidAllow = "K0149",
    /// A `Promotion` has a value that is not possible.
    ///
    /// A gate has exactly one condition. A ring names its places in one way, and only the last ring may leave that out: it gets all places that are in no
    /// earlier ring. Names are unique in their list. Durations, shares, times and days have one form each. The object with the error does not count; in git,
    /// its last good version counts (see K0117). If there is none, the environment has no known gates, so nothing is published into it.
    ///
    /// ```yaml
    /// spec:
    ///   to: prod
    ///   from: [stage]
    ///   gates:
    ///     - name: soaked
    ///       soak: 12 hours       # it is 12h
    /// ```
    ///
    /// Write the value in the form that the message shows.
    InvalidPromotion = "K0150",
    /// A `Promotion` is in a place where it has no effect.
    ///
    /// Promotions decide when changes reach an environment. They are read from the folder `.environments` at the head of the control plane's main branch,
    /// as `Environment`s are. If an environment's branch, a `BaseRepo` or an application could bring one, a change could loosen its own gates.
    ///
    /// ```yaml
    /// # promotions/to-prod.yaml on branch `prod`: has no effect
    /// kind: Promotion
    /// metadata:
    ///   name: to-prod
    /// ```
    ///
    /// Move the file to `.environments` on the main branch of the control plane.
    MisplacedPromotion = "K0151",
    /// The order of environments has a cycle.
    ///
    /// A change would have to prove itself in an environment before it reaches the same environment, so it would never arrive. Nothing moves into the
    /// environments of the cycle, nor into those after it. The message shows the cycle.
    ///
    /// ```yaml
    /// spec: {from: [stage], to: dev}       # another promotion leads from dev to stage
    /// ```
    ///
    /// Remove one of the steps: a `Promotion`, a name in its `from`, or an annotation `promotion.kalypso.io/next`.
    PromotionCycle = "K0152",
    /// A promotion names an environment that does not exist.
    ///
    /// `to` and `from` of a `Promotion`, and the annotation `promotion.kalypso.io/next`, name `Environment`s of the same control plane. If `to` does not exist,
    /// the promotion has no effect. If an environment in `from` does not exist, it can't prove anything, so nothing moves into `to`.
    ///
    /// ```yaml
    /// spec: {from: [stgae], to: prod}      # it is stage
    /// ```
    ///
    /// Check the spelling, or add the `Environment`.
    PromotionEnvironmentNotFound = "K0153",
    /// Several `Promotion`s lead to one environment.
    ///
    /// One `Promotion` describes all gates of an environment. With two of them, it is not known which gates count, so nothing moves into the environment.
    ///
    /// ```yaml
    /// spec: {from: [stage], to: prod}      # another Promotion has `to: prod`, too
    /// ```
    ///
    /// Write one `Promotion` with all environments in `from`. `require: any` lets one of them suffice.
    SeveralPromotions = "K0154",
    /// No change ever arrives in an environment.
    ///
    /// Changes come from the head of the main branch into the environments without `from`, and from there along promotions. All paths to this environment begin
    /// in a cycle, or in an environment that does not exist.
    ///
    /// ```yaml
    /// spec: {from: [stage], to: prod}      # and no path leads from a first environment to stage
    /// ```
    ///
    /// Fix the promotions before it, which have errors of their own.
    UnreachableEnvironment = "K0155",
    /// An annotation about the order of environments has no effect.
    ///
    /// If a control plane has `Promotion` objects, the order of environments comes from them alone. The annotation `promotion.kalypso.io/next` names a step
    /// that no `Promotion` has.
    ///
    /// ```yaml
    /// kind: Environment
    /// metadata:
    ///   name: dev
    ///   annotations:
    ///     promotion.kalypso.io/next: prod    # the Promotion to prod has `from: [stage]`
    /// ```
    ///
    /// Remove the annotation, or add the environment to `from` of the `Promotion`.
    NextWithoutPromotion = "K0156",
    /// A gate can never hold.
    ///
    /// The gates of a `Promotion` are about the environments in `from`: `compliant`, `failures` and `soak` measure the reconcilers there. Without `from`, there is
    /// nothing to measure, so nothing would ever move. The time zone of a window must be in the IANA database.
    ///
    /// ```yaml
    /// spec:
    ///   to: dev                # no `from`
    ///   gates:
    ///     - name: healthy
    ///       compliant: {share: 98%}
    /// ```
    ///
    /// Add `from`, or remove the gate: rings have gates that measure the environment itself.
    GateWithoutEvidence = "K0157",
    /// A ring has no place.
    ///
    /// The ring selects no cluster type and no cluster of the environment, so it protects nothing: each change passes it at once. This may be intended, for a ring
    /// that waits for its first cluster. Usually, a label has another spelling, or a share is too small for the number of places.
    ///
    /// ```yaml
    /// rings:
    ///   - name: canary
    ///     labelSelector: {matchLabels: {ring: cannary}}    # clusters have `canary`
    /// ```
    ///
    /// Check the labels. Clusters that share the folder of their cluster type are one place: declare `Cluster`s to divide them.
    RingWithoutPlace = "K0158",
    /// A ring names a place that does not exist.
    ///
    /// The members of a ring are places: cluster types, and clusters with a `Cluster` object. Clusters without one share the folder of their cluster type. They
    /// pull the same content, so they are always in one ring.
    ///
    /// ```yaml
    /// rings:
    ///   - name: canary
    ///     names: [chicago-07]      # there is no Cluster `chicago-07`
    /// ```
    ///
    /// Check the spelling. To move a single cluster first, declare a `Cluster` for it.
    RingMemberNotFound = "K0159",
    /// A ring has its gates in the field `gates`.
    ///
    /// This field has two new names: `prove` has the conditions that the places of the ring must meet before the next ring begins, and `enter` has the
    /// conditions before the ring itself begins. `gates` is read as `prove`.
    ///
    /// ```yaml
    /// rings:
    ///   - name: canary
    ///     gates:                   # write `prove`
    ///       - name: few-errors
    ///         prometheus: {check: checkout-errors, max: 0.01}
    /// ```
    ///
    /// Rename the field to `prove`. Move conditions that are about the next ring, such as its window, to `enter` of that ring.
    GatesOfRing = "K0160",
    /// A promotion leads to an environment whose objects are on the main branch.
    ///
    /// A promotion writes the commit that an environment asks for into the environment's branch. On the main branch, this is a new commit of the main branch, which
    /// would be promoted next, and so on without end. Values there would wait for no gate either.
    ///
    /// ```yaml
    /// kind: Environment
    /// metadata: {name: prod}
    /// spec:
    ///   controlPlane: {repo: https://git.example/platform/control-plane, branch: main, path: environments/prod}
    /// ```
    ///
    /// Move the objects of the environment to a branch of their own, and name it in `spec.controlPlane.branch`. Until then, nothing moves into the environment.
    EnvironmentOnMain = "K0161",
    /// An environment reads a branch or a folder that is named like another environment.
    ///
    /// A `BaseRepo`, or a `GitRepository` of Flux, names the branch of another repository. A `BaseRepo`, or a `Kustomization` of Flux, names a folder there. Usually,
    /// such a repository has a branch or a folder for each environment, and the reference was copied from the other environment. Then a change for that environment
    /// also reaches this one, without its gates.
    ///
    /// ```yaml
    /// # on the branch `stage` of the control plane
    /// kind: BaseRepo
    /// metadata: {name: germany}
    /// spec: {repo: https://git.example/acme/germany, branch: dev, path: .}         # should be `stage`
    /// ---
    /// kind: BaseRepo
    /// metadata: {name: brazil}
    /// spec: {repo: https://git.example/acme/brazil, branch: main, path: ./dev}     # should be `./stage`
    /// ```
    ///
    /// Name the branch or the folder of this environment; create it first if it does not exist. If the environments share it on purpose, say so with the annotation
    /// `kalypso.io/acknowledge.K0162` on the object, whose value is the reason.
    SourceOfAnother = "K0162",
    /// Deployment targets of several environments have the same folder of manifests.
    ///
    /// They name the same repository, branch and path. A change of these manifests reaches all these environments at the same time, without their gates. A report of a
    /// reconciler about the folder does not name its environment: the hub assigns it by the other reports of the host, or not at all.
    ///
    /// ```yaml
    /// deploymentTargets:
    ///   - name: api
    ///     environment: dev
    ///     manifests: {repo: https://git.example/acme/checkout-manifests, branch: main, path: ./api}
    ///   - name: api
    ///     environment: prod
    ///     manifests: {repo: https://git.example/acme/checkout-manifests, branch: main, path: ./api}     # `branch: prod`, or `path: ./prod/api`
    /// ```
    ///
    /// Give the target of each environment a branch or a path of its own; where promotions move the workload, the `tag` of one version, or a `commit`. Only
    /// `kalypso check` of all environments finds this: with `-e`, the other ones are not read.
    /// If it is intended, say so with the annotation `kalypso.io/acknowledge.K0163` on the object, whose value is the reason, or in [`kalypso.toml`](configuration.md#acknowledge).
    SharedManifests = "K0163",
    /// An earlier name of a renamed object has no effect.
    ///
    /// `kalypso rename` writes the earlier name of an object into an annotation, so that its assignments move from the old folder to the new one in one step. An
    /// earlier name has no effect while an object has this name, if several objects claim it, or if the name of a workload is registered for another application.
    /// The name of a workload in the repository of an application also needs the platform team: its registration has the name, or lists it in the same annotation.
    /// Otherwise an application could take over the folders of another one. Without effect, the assignments are removed and added like any others, and a removal may need a confirmation.
    ///
    /// ```yaml
    /// kind: Cluster
    /// metadata:
    ///   name: store-007
    ///   annotations:
    ///     names.kalypso.io/renamed-from: store-7     # while there is a Cluster `store-7`
    /// ```
    ///
    /// Remove the name from the annotation, or remove or rename the other object.
    EarlierNameIgnored = "K0164",
    /// A key in the manifests of a deployment target has no effect, and is similar to a key that a template reads.
    ///
    /// No template of the environment reads the key. It is one or two letters away from a key that a template reads, so it is probably misspelled.
    ///
    /// ```yaml
    /// manifests:
    ///   repo: https://git.example/acme/checkout
    ///   tga: 1.4.0         # `tag`
    /// ```
    ///
    /// Correct the key, or remove it. If something else reads it, say so with the annotation `kalypso.io/acknowledge.K0165` on the object, whose value is the reason.
    UnreadManifestsKey = "K0165",

    /// A policy selects no cluster type.
    ///
    /// The policy is valid, but has no effect. This may be intended, for a policy that waits for its first cluster type. Usually the label has another
    /// spelling on the cluster types.
    ///
    /// ```yaml
    /// clusterTypeSelector:
    ///   labelSelector:
    ///     matchLabels:
    ///       size: lagre          # cluster types have `large`
    /// ```
    ///
    /// Compare the selector with the labels of the cluster types. Several requirements must all hold.
    NoClusterTypeSelected = "K0201",
    /// A policy selects no deployment target.
    ///
    /// The policy is valid, but has no effect. A policy selects only targets of the same environment. If the policy names a `workspace`, it selects only
    /// targets of that workspace.
    ///
    /// Compare the selector with the labels of the targets in the `Workload`, and `workspace` with that of the `WorkloadRegistration`.
    NoTargetSelected = "K0202",
    /// Two label mappings add different values of one label to one target.
    ///
    /// Each of them is valid, and both match the deployment target. The intended value is not known, so the target's assignments keep their last good
    /// output. These are the assignments with the value of the mapping whose name comes first.
    ///
    /// ```yaml
    /// kind: LabelMapping
    /// spec: { from: { tier: storefront }, add: { exposure: public } }
    /// ---
    /// kind: LabelMapping
    /// spec: { from: { team: returns }, add: { exposure: internal } }     # and a target of team `returns` with tier `storefront`
    /// ```
    ///
    /// Change `from` of one mapping, so that only one of them matches. Or set the label on the target itself: mappings never overwrite a label of the
    /// target.
    ConflictingMappings = "K0203",
    /// Two release pins set one key to different values for one assignment.
    ///
    /// Each of them is valid, and both apply to the assignment. The intended release is not known, so the assignment keeps its last good output.
    ///
    /// ```yaml
    /// kind: ReleasePin
    /// spec: { manifests: { branch: release-1.4 }, … }
    /// ---
    /// kind: ReleasePin
    /// spec: { manifests: { branch: release-1.5 }, … }     # selects some of the same targets and places
    /// ```
    ///
    /// Remove one of the two pins, or change their selectors so that they do not overlap.
    ConflictingPins = "K0204",
    /// A release pin has expired.
    ///
    /// The date or timestamp in `expires` has passed, and the pin still holds releases. The rendered output does not depend on this date, so the pin stays
    /// in effect.
    ///
    /// If the reason no longer applies, remove the pin. Otherwise write a later `expires`.
    ExpiredPin = "K0205",
    /// A release pin has no effect.
    ///
    /// No deployment target, or no cluster type and no cluster, matches the pin's selectors. So the release that it should hold is published everywhere.
    /// Usually a label has another spelling on the targets or places.
    ///
    /// ```yaml
    /// kind: ReleasePin
    /// spec:
    ///   clusterTypeSelector:
    ///     labelSelector:
    ///       matchLabels:
    ///         site: chigaco        # the cluster has `chicago`
    /// ```
    ///
    /// Compare the selectors with the labels of the targets, the cluster types and the clusters. Several requirements must all hold.
    UnusedPin = "K0206",
    /// No policy assigns a deployment target.
    ///
    /// This is a note, and no problem: an application team can add a target before the platform team has a place for it. The target runs nowhere until a
    /// policy selects it. `check` shows one note for each workload. The note is left out while Kalypso does not know all policies, cluster types and
    /// targets, for example in a checkout without policies.
    ///
    /// ```yaml
    /// kind: Workload
    /// metadata: { name: checkout }
    /// spec:
    ///   deploymentTargets:
    ///     - name: canary
    ///       environment: prod
    ///       labels: { purpose: canary }     # no policy of prod selects this label
    /// ```
    ///
    /// If the target should run, the platform team adds a `SchedulingPolicy` that selects it, or the application team gives it the labels that an existing
    /// policy selects. `kalypso contract -e prod checkout` shows which values the target would get, and which would be missing.
    UnassignedTarget = "K0207",
    /// A failing assignment is held: rendered from an earlier publication, with a release pin.
    ///
    /// The assignment can't be rendered from the current control plane, and a release pin applies to it. To apply the pin, Kalypso renders the assignment
    /// from the commits of its last good output, and the `manifests` of the pin override those of the target. The values, templates and labels are those of
    /// that publication.
    ///
    /// Fix the error of the assignment, which is reported separately. Then the assignment follows its sources again, with the pin. If you remove the
    /// pin before that, the assignment returns to its last good output without the pin.
    HeldEarlier = "K0220",
    /// A failing assignment can't be held.
    ///
    /// A release pin applies to an assignment that can't be rendered from the current control plane. Its last good output can't be rendered again either:
    /// its source commits are deleted or can't be reached, the commits of the GitOps branch do not name them, or they no longer give the same output. The
    /// folder in the branch stays unchanged, without the pin.
    ///
    /// Fix the error of the assignment, or make the commits available again: push a branch or tag that contains them. If you squash Kalypso's commits
    /// when you merge them into the GitOps branch, keep the `Kalypso-` lines of their messages.
    NotHeld = "K0221",
    /// The rollout of a workload can't be applied, so its folders stay as they are.
    ///
    /// In an environment with rings, the state of each rollout is a file on the branch `kalypso-rollouts/<environment>` of the control plane. The file of this
    /// workload can't be read, or its moving revision can't be rendered again from the recorded commits: they were deleted, or give another result than before.
    /// Nothing of this workload moves meanwhile. Other workloads are not affected.
    ///
    /// Repair the file, or make the commits available again: push a branch or tag that contains them. `kalypso abort` ends the move.
    RolloutNotApplied = "K0222",

    /// A dotted key of an `azure-app-config` map has an odd number of parts.
    ///
    /// In maps whose name begins with `azure-app-config`, keys contain the labels that a value applies to: `label.value.label.value.KEY`. The parts before
    /// the last one form pairs. If their number is odd, the part without a pair is dropped, and the value may apply to more assignments than intended.
    ///
    /// ```yaml
    /// data:
    ///   region.west-us.purpose.DATABASE_URL: mysql://west     # the value of `purpose` is missing
    /// ```
    ///
    /// Add the missing part, or remove the extra part.
    OddKeyParts = "K0301",
    /// The values of an assignment take too much work to merge.
    ///
    /// Each item of a list is merged into all earlier items with the same `name`. So lists in which many items have the same name multiply. The work for
    /// one assignment is limited, so that it stops only this assignment. Give the items different names, or merge the lists with the annotation
    /// `config.kalypso.io/merge: append` or `replace`.
    TooMuchToMerge = "K0302",
    /// A `ConfigMap` or `ConfigSchema` applies to nothing.
    ///
    /// Its labels select assignments. All of them must match a label of the cluster type or cluster, or of the deployment target. One of them matches
    /// nothing in the environment, or they never match together. So its values or rules have no effect.
    ///
    /// ```yaml
    /// kind: ConfigMap
    /// metadata:
    ///   labels:
    ///     platform-config: "true"
    ///     region: wset-us        # cluster types have `west-us`
    /// ```
    ///
    /// Fix the label. The message names the most similar existing one. There is no warning if Kalypso does not know all labels: while the repository of
    /// an application can't be read, in a checkout without workloads, or if the labels are those of another environment's targets.
    AppliesToNothing = "K0303",
    /// Two `ConfigMap`s set one key to different values for the same assignment.
    ///
    /// Both have the same priority, and neither is more special by its labels: they have the same labels, or each has a label that the other does not have.
    /// So the name of the map decides which value is used, and a new name changes the deployed value. An ordinary override is not reported: a map that adds
    /// a label to those of another map, or that names a cluster, cluster type, workload or deployment target with the other map's labels. Where
    /// `config.kalypso.io/precedence: specificity` is set, only maps that are equally special are compared: all others are ordinary overrides.
    ///
    /// ```yaml
    /// # west.yaml, labels: {region: west}
    /// data: {LOG_LEVEL: info}
    /// # small.yaml, labels: {size: small}
    /// data: {LOG_LEVEL: debug}      # which one is for small cluster types in the west?
    /// ```
    ///
    /// Give one of them a higher priority with the annotation `config.kalypso.io/priority`. Or add a map for the assignments that both match.
    ConflictingValues = "K0304",
    /// The value of a more special `ConfigMap` is not used, because a more general one has a name that comes later.
    ///
    /// Both have the same priority, so the name decides, as in Microsoft's Kalypso. A value for one region then loses against a value for all.
    ///
    /// ```yaml
    /// # standard-values, no labels
    /// data: {LOG_LEVEL: info}         # is used everywhere
    /// # east-values, labels: {region: east}
    /// data: {LOG_LEVEL: debug}        # is used nowhere
    /// ```
    ///
    /// Give the special map a higher priority with the annotation `config.kalypso.io/priority`, or another name. Or set the annotation
    /// `config.kalypso.io/precedence: specificity` on the environment, or on a `BaseRepo`: then the map with more labels counts, and one for a cluster before one for a cluster
    /// type. `kalypso plan` shows what changes.
    SpecialValueLost = "K0305",
    /// A new value has no effect.
    ///
    /// `kalypso add config` refuses a value that no assignment would use: no assignment has all labels of the `ConfigMap`, or other maps override the value
    /// in all of them.
    ///
    /// ```text
    /// $ kalypso add config LOG_LEVEL=debug -e prod --for cluster=store-017
    /// error[K0306]: `LOG_LEVEL` of ConfigMap `store-017` is used in none of the 4 assignments that it reaches
    /// ```
    ///
    /// The message shows the values that are used instead, and why. `--priority` gives the map a higher priority. `--allow-unused` writes a value for assignments
    /// that come later. There is no error if the environment has no assignments yet, or if the repository of an application can't be read.
    ValueWithoutEffect = "K0306",
    /// A JSON schema can't be used.
    ///
    /// The text is not JSON, or not a valid JSON schema. The assignments that it applies to can't be checked, so they keep their last good output:
    /// unchecked values are not published.
    ///
    /// ```yaml
    /// configSchemas:
    ///   - |
    ///     { "type": "object", "required": "PORT" }     # `required` is a list: ["PORT"]
    /// ```
    ///
    /// Fix the schema at the place that the message shows.
    InvalidSchema = "K0310",
    /// No `ConfigMap` sets a value that a schema requires.
    ///
    /// The workload requires the value, and no `ConfigMap` that matches the assignment sets it. So the assignment keeps its last good output.
    ///
    /// Add the value to a `ConfigMap` that matches: one with the label `platform-config: "true"` whose other labels are labels of the cluster type or
    /// target. `kalypso explain` shows which maps match. With the annotation `schema.kalypso.io/missing: warn` on the environment or the `ConfigSchema`,
    /// this is only a warning, and the assignment is published without the value.
    MissingValue = "K0311",
    /// A value does not match its schema.
    ///
    /// The schema does not allow the value, so the assignment keeps its last good output. The message shows the value, the place that sets it, and the
    /// schema that requires another value.
    ///
    /// ```yaml
    /// data:
    ///   PORT: "54x2"      # the schema asks for an integer
    /// ```
    ///
    /// Fix the value, or the schema if the schema is wrong. Values are texts. A text that looks like a number or boolean becomes one if the schema
    /// requires it.
    WrongValue = "K0312",
    /// Checking values with a schema takes too much work.
    ///
    /// A schema whose alternatives refer to one another can be small, but be applied millions of times to a value with a few levels. Kalypso counts the
    /// applications of schemas before it runs them, with the sizes of patterns and texts. Beyond 200,000, or 20,000 for a schema of an application, the
    /// values are not checked, and the assignment keeps its last good output.
    ///
    /// ```yaml
    /// configSchemas:
    ///   - |
    ///     { "anyOf": [ { "properties": { "a": { "$ref": "#" } } },     # each level of the value doubles the work
    ///                  { "properties": { "a": { "$ref": "#" } } } ] }
    /// ```
    ///
    /// Write fewer alternatives that refer to one another, and shorter patterns.
    CostlySchema = "K0314",
    /// One registration has too many schemas.
    ///
    /// Schemas are compiled before they check values, which takes time and memory. All different schemas of one registration together may contain half a
    /// million subschemas, including those that their references lead to. A pattern counts by its size, with its repetitions written out: `^[a-z]{0,200}$`
    /// counts as a hundred. Assignments of a schema beyond this limit keep their last good output. Other registrations are not affected.
    ///
    /// Targets that repeat the same text count once. Write smaller schemas, or divide the repository into several registrations.
    TooManySchemas = "K0315",
    /// A value violates a schema, and no assignment uses both yet.
    ///
    /// The labels of the `ConfigMap` fix what the value is for: a workload, a deployment target, a cluster type, or the same labels that a `ConfigSchema` has. So
    /// an assignment that gets the value is checked with this schema, and would fail. No policy makes such an assignment yet, so nothing stops now.
    ///
    /// ```yaml
    /// kind: ConfigMap
    /// metadata:
    ///   labels:
    ///     platform-config: "true"
    ///     workload: checkout     # no policy assigns `checkout`, and its schema has `"PORT": { "type": "integer" }`
    /// data:
    ///   PORT: "54x2"
    /// ```
    ///
    /// Fix the value, or the schema. Only what is certain is reported: values that the `ConfigMap` sets itself, and no missing values. As soon as an
    /// assignment gets the value, the error is K0312 instead.
    WrongForLater = "K0316",
    /// A value looks like a credential in clear.
    ///
    /// The text has the form of a token, a private key or an address with a password, or its key names a password or token and it is no reference. All readers
    /// of the repository can read the credential, and git keeps every version of it. The message does not show it. Plans, explanations and pull requests
    /// show a digest instead, as for a value that a schema marks as sensitive. Values that a schema of the platform marks are not reported.
    ///
    /// ```yaml
    /// kind: ConfigMap
    /// data:
    ///   DATABASE_PASSWORD: correct-horse-battery      # better: vault:secret/till/database#password
    /// ```
    ///
    /// Replace the credential where it is used, because it is known. Put the new one into a vault, and write here where it is. If the value is no credential,
    /// acknowledge the warning with the annotation `kalypso.io/acknowledge.K0318`.
    ClearCredential = "K0318",
    /// No value satisfies a part of a schema.
    ///
    /// Rules of the schema contradict each other, or leave no value: an empty `enum`, a `minimum` above the `maximum`, a required key that is not allowed. Every
    /// value that the part applies to is wrong (K0312). If the part applies to no value, nothing else reports it.
    ///
    /// ```json
    /// { "properties": { "SIZE": { "enum": [] } } }
    /// ```
    ///
    /// Fix the rule that the message names.
    ContradictorySchema = "K0319",
    /// A text in a structured value becomes a number or a boolean in another form.
    ///
    /// A value that is a YAML mapping or list has types: text without quotes that looks like a number or a boolean is one, by the rules of Go's libraries.
    /// Templates print the number, not the text. So a version `1.10` becomes `1.1`, a postal code `0012345` becomes `5349`, a commit id `1234e56` becomes
    /// `1.234e+59`, and the country `no` becomes `false`. The key `y` becomes `true`. Values that are not mappings or lists stay as they are.
    ///
    /// ```yaml
    /// data:
    ///   release: |
    ///     version: 1.10        # `1.1` in the output
    ///     country: no          # `false` in the output
    /// ```
    ///
    /// Put the text in quotes. If it is intended as a number or boolean, write it in the form that the message shows. There is one warning for each value of a
    /// `ConfigMap` that assignments use, and none for a number or boolean that a schema requires at this place.
    RetypedValue = "K0320",

    /// A template does not parse.
    ///
    /// The template can't be rendered, so all assignments of the cluster types that use it keep their last good output.
    ///
    /// ```yaml
    /// manifests:
    ///   - |
    ///     namespace: {{ .Namespace }
    /// ```
    ///
    /// Fix the place that the message shows. Templates are Go templates with the functions of sprig.
    TemplateSyntax = "K0401",
    /// A template fails while it is rendered.
    ///
    /// The template is valid, but fails with the data of these assignments, which keep their last good output. Other assignments with the same template are
    /// not affected. The message shows the failing expression and the reason.
    ///
    /// ```yaml
    /// manifests:
    ///   - |
    ///     port: {{ add1 (index .ConfigData "ports" 0) }}     # fails where no `ConfigMap` sets `ports`
    /// ```
    ///
    /// Usually a value is missing for some assignments: `kalypso explain` shows the values of an assignment. Set the value, or make it optional in the
    /// template with `default` or `if`.
    TemplateFailed = "K0402",
    /// A template exceeds a limit.
    ///
    /// The steps, output and depth of one rendering are limited. So an endless loop, or a value that refers to itself, stops only its own assignment.
    ///
    /// ```yaml
    /// manifests:
    ///   - |
    ///     {{ define "a" }}{{ template "a" . }}{{ end }}{{ template "a" . }}
    /// ```
    ///
    /// Check whether a template calls itself, or whether a value contains a template that prints the same text again. Otherwise reduce the output of the
    /// template.
    TemplateLimit = "K0403",
    /// A namespace name is too long.
    ///
    /// `.Namespace` is `<environment>-<cluster type>-<deployment target>`, and Kubernetes rejects namespaces with more than 63 characters. The cluster
    /// would report this error late, so Kalypso reports it before publishing. A name with dots is an error where a manifest uses it as a namespace.
    ///
    /// Shorten one of the three names. Or configure Kalypso to cut long names, to replace dots, and to add a short, stable hash at the end:
    ///
    /// ```yaml
    /// kind: Environment
    /// metadata:
    ///   annotations:
    ///     names.kalypso.io/long: shorten
    /// ```
    NamespaceTooLong = "K0404",
    /// A template does not exist.
    ///
    /// A cluster type names a template that does not exist in the environment. So nothing can be rendered for it, and its assignments keep their last good
    /// output.
    ///
    /// ```yaml
    /// kind: ClusterType
    /// spec:
    ///   reconciler: arc-flx      # there is `arc-flux`
    /// ```
    ///
    /// Check the spelling of the name, the diagnostics of the template's file, and whether the template is on the branch that the environment builds on.
    MissingTemplate = "K0405",
    /// A template renders bytes that are not text.
    ///
    /// Manifests are UTF-8. Usually the bytes come from a text that was cut in the middle of a character, because `trunc` counts bytes, or from `b64dec` of
    /// content that is not text.
    ///
    /// Cut only ASCII texts in this way, and leave binary values encoded.
    NotTextRendered = "K0406",
    /// A text of an application contains template text.
    ///
    /// Names, labels and `manifests` of a `Workload` are data. Template text in them is never evaluated, because it could read the platform's values. Only
    /// plain references to the names of the assignment are replaced, where a template prints them: `{{ .ClusterType }}`, `{{ .Cluster }}`, `{{
    /// .DeploymentTargetName }}`, `{{ .Environment }}`, `{{ .Namespace }}`, `{{ .Workload }}` and `{{ .Workspace }}`. The error stops the assignments of
    /// this one target.
    ///
    /// ```yaml
    /// manifests:
    ///   path: ./apps/{{ .ClusterType }}        # is replaced
    ///   repo: "{{ .ConfigData | toJson }}"     # is refused
    /// ```
    ///
    /// Write the value itself, or ask the platform team to compose it in their template. A template that must print braces unchanged needs the annotation
    /// `template.kalypso.io/literal: "true"`.
    TemplateInData = "K0407",
    /// A text of an application changes the structure of a rendered file.
    ///
    /// Names, labels and `manifests` of a `Workload` become part of the platform's manifests, as scalars or parts of scalars. A text that would add a key,
    /// item, alias or document there, or that would cut off the text behind it, is refused. The error stops the assignments of this one target.
    ///
    /// ```yaml
    /// manifests:
    ///   path: "x, prune: false"     # where the template says  {path: {{ .Manifests.path }}}
    /// ```
    ///
    /// Write a text without such characters. Or print any text safely in the template: `{{ .Manifests.path | toJson }}`. A template that must print YAML
    /// fragments that applications write needs the annotation `template.kalypso.io/unchecked: "true"`.
    StructureChanged = "K0408",
    /// A template renders a file that is not YAML.
    ///
    /// Kalypso parses rendered files that end in `.yaml`, `.yml` or `.json` before it publishes them. A reconciler stops at a file that it can't read, and
    /// applies nothing of its folder. So the assignment fails instead, and keeps its last published output. A duplicate key in a mapping is an error too,
    /// because Flux rejects it.
    ///
    /// ```yaml
    /// manifests:
    ///   - |
    ///     data:
    ///       GREETING: {{ .ConfigData.GREETING }}     # fails where the value is `@you: hello`
    /// ```
    ///
    /// The message shows the line of the template that renders the invalid line, and that rendered line for one of the assignments. Print values with
    /// `toJson` or `toYaml`, and indent values with several lines: `{{ .ConfigData.GREETING | toJson }}`. A template whose output is not YAML needs another
    /// extension (`template.kalypso.io/extension`), or the annotation `template.kalypso.io/unchecked: "true"`.
    NotYamlRendered = "K0409",
    /// A name or label in the output is one that Kubernetes refuses.
    ///
    /// Kalypso compares names, namespaces and labels in rendered manifests with the rules of Kubernetes: a namespace has lower case letters, digits and `-`;
    /// other names may also have dots; the value of a label has at most 63 characters. Flux, Argo CD and Fleet also write the names of their own
    /// objects into labels. A cluster would refuse the manifest, and Flux then applies nothing of the folder. So the assignment fails, and keeps its last published
    /// output.
    ///
    /// ```yaml
    /// metadata:
    ///   name: "{{ .DeploymentTargetName }}"     # fails for a Flux `Kustomization` if the name has more than 63 characters
    /// ```
    ///
    /// `shortName 63` returns a name that fits, with a short hash if it had to change: `name: "{{ shortName 63 .DeploymentTargetName }}"`.
    NameRefused = "K0410",
    /// A template prints a value that does not exist.
    ///
    /// Go prints `<no value>` for a key that a map does not have: a manifest that an application misspelled, or a wrong word in a template. The output is
    /// published as it is, as by Microsoft's Kalypso.
    ///
    /// ```yaml
    /// ref:
    ///   branch: "{{ .Manifests.branch }}"     # `<no value>` for a target whose manifests have `brach`
    /// ```
    ///
    /// Correct the key. Read optional keys with `with`, `default` or `index`: `{{ with .Manifests.commit }}`. The annotation
    /// `template.kalypso.io/missingkey: error` on the template makes a missing key an error, as Go's option of this name: the assignment then keeps its last
    /// published output.
    MissingFieldPrinted = "K0411",
    /// A value in the output is read as another type than its field has.
    ///
    /// YAML reads `1.10`, `on`, `0755`, `83e2` and `null` as numbers, booleans and null if they are not in quotes. Where Kubernetes or the reconciler requires a
    /// text, it refuses the manifest, or sees another value, such as branch `8300`.
    ///
    /// ```yaml
    /// ref:
    ///   branch: {{ .Manifests.branch }}     # write {{ .Manifests.branch | toJson }}
    /// ```
    ///
    /// Print texts with `toJson` or in quotes. Print booleans and numbers, such as `prune` and `replicas`, without quotes: in quotes, they are texts.
    TypeChanged = "K0412",
    /// A `ConfigMap` or `Secret` in the output is one that Kubernetes refuses.
    ///
    /// Values of `data` are texts: a number, a boolean, a list or a mapping is refused. A key has letters, digits, `-`, `_` and `.`, and at most 253
    /// characters. All data together have at most 1 MiB. Flux applies nothing of a folder with such an object.
    ///
    /// ```yaml
    /// data:
    /// {{ toYaml .ConfigData | indent 2 }}     # write {{ stringify .ConfigData | indent 2 }}
    /// ```
    ///
    /// `stringify` prints all values as texts.
    DataRefused = "K0413",
    /// The folder of a place contains an object more than once.
    ///
    /// Two assignments of a place, or two templates of one, render an object with the same kind, namespace and name. Flux builds one set of objects from the
    /// folder, finds the duplicate, and applies nothing, for all workloads of the cluster. Argo CD applies one of them, and warns.
    ///
    /// ```yaml
    /// kind: Namespace
    /// metadata:
    ///   name: "{{ .Workload }}"     # each target of the workload renders it
    /// ```
    ///
    /// Put `.DeploymentTargetName` or `.Namespace` into the name or the namespace, or render the object for one target only. If your reconciler applies each
    /// assignment's folder on its own, acknowledge the warning.
    DuplicateOutput = "K0414",
    /// A shell file in the output sets a variable with an invalid name.
    ///
    /// Names of variables have letters, digits and `_`, and do not begin with a digit. `dash` stops reading the file at `export feature-x=`, so all variables
    /// after it are missing. `bash` leaves this one out.
    ///
    /// ```yaml
    /// data:
    ///   logging.level: info     # the template prints `export logging.level=`
    /// ```
    ///
    /// Rename the key, or let the template print another name, as the template `env-file` of `kalypso add template` does.
    VariableRefused = "K0415",

    /// A foreign folder has the name of a cluster type or cluster.
    ///
    /// A folder belongs to Kalypso if its `README.md` is exactly the text that Kalypso writes. Each publication replaces everything in such a folder. So a
    /// foreign folder stays unchanged, and nothing is published into it.
    ///
    /// Rename the cluster type, move the folder, or give the output a folder of its own with `path` of the `GitOpsRepo`. To take the folder over, use
    /// `--adopt NAME`: this replaces its content. `kalypso plan --adopt NAME` lists the files that it loses.
    ForeignFolder = "K0501",
    /// The GitOps branch belongs to another control plane.
    ///
    /// `.kalypso/owner` in the branch names another environment or control plane. If two of them wrote into one folder, each would delete the output of the
    /// other. So nothing is published.
    ///
    /// Give each environment its own branch or `path` in its `GitOpsRepo`. If the other environment no longer exists, remove the file from the branch.
    OwnedByAnother = "K0502",
    /// Folders of an earlier path still exist.
    ///
    /// `GitOpsRepo.spec.path` names a folder for the output, but Kalypso's folders are still at the root of the branch. Clusters pull those, and would not
    /// get any later change. So nothing is published. If the newest publication of the environment wrote these folders, this is no error: they move to the new
    /// path, with a confirmation.
    ///
    /// Move or remove the folders in the same commit that points the clusters to the new path. Or set `path: .` again.
    PathMoved = "K0503",
    /// Two `GitOpsRepo`s name the same repository, branch and path.
    ///
    /// Each would remove the output of the other, so neither is published.
    ///
    /// Give each its own branch or path.
    SameDestination = "K0504",
    /// A change removes unusually much.
    ///
    /// The change would remove more than a fifth of the environment's assignments and at least five, or all assignments of a workload, or a whole cluster
    /// type, or everything. Or it would rename as many, or a whole cluster type or cluster: a reconciler that prunes then removes the earlier namespaces with their
    /// volumes. Or it would move all folders to another path, because `path` of the `GitOpsRepo` changed: clusters still pull the old one. This is usually a mistake,
    /// and hard to revert on a thousand clusters.
    ///
    /// Run `kalypso plan`. It shows the removals, and a confirmation word for exactly these. If you want them, run the command with `--confirm WORD`. If
    /// the removals are different by then, the word is different too. Until then, the folders stay as they are, and everything else is published, unless folders move or get other names. A proposed change
    /// needs no word: the person who merges it confirms it.
    ///
    /// ```text
    /// kalypso plan -e prod                                  # this removes 16 of 48 assignments
    /// kalypso publish -e prod --direct --confirm 3f2a9c1b   # these 16, and no others
    /// ```
    NeedsConfirmation = "K0505",
    /// A branch contains a commit that Kalypso did not create.
    ///
    /// Kalypso overwrites only its own commits, never those of a person.
    ///
    /// Merge the commit, or move it to another branch.
    ForeignCommit = "K0506",
    /// Too many folders would be in one folder.
    ///
    /// With more than 10,000 entries in one folder, git writes the whole folder again for every change, and hosts stop showing it. So nothing is published
    /// until the folders are spread over subfolders.
    ///
    /// ```yaml
    /// kind: GitOpsRepo
    /// metadata:
    ///   annotations:
    ///     output.kalypso.io/fan-out: "true"
    /// ```
    ///
    /// The folder of a cluster type is then in two parent folders, named by the first four digits of the SHA-256 of its name: `printf %s large | sha256sum`
    /// begins with `d35c`, so `large/` becomes `d3/5c/large/`. Change the paths of the clusters together with the annotation.
    TooManyFolders = "K0507",
    /// A foreign entry is at the path of one of Kalypso's files.
    ///
    /// Kalypso writes `.kalypso/owner`, which names the owner of the branch or folder, and `.github/tracking/Promoted_Commit_Id`. There is a foreign file,
    /// link or folder at this path. It stays unchanged, and nothing is published. `--adopt` takes over folders of cluster types only.
    ///
    /// ```text
    /// .kalypso                # a file of another program
    /// ```
    ///
    /// Move or remove it, or give the environment its own branch or `path` in its `GitOpsRepo`.
    ForeignFile = "K0508",
    /// Output would go to a branch that Kalypso reads.
    ///
    /// A `GitOpsRepo` names the branch of an environment, of a `BaseRepo` or registration, or the control plane's main branch. Kalypso would read its own
    /// output as input, and would remove source files. So nothing is published there.
    ///
    /// ```yaml
    /// kind: GitOpsRepo
    /// spec:
    ///   repo: https://git.example/acme/control-plane
    ///   branch: dev                 # refused, if `dev` is the branch of the environment
    /// ```
    ///
    /// Use a separate branch for the output, preferably in a separate repository: write access to it decides what clusters pull.
    SourceIsDestination = "K0509",
    /// Output would go to the branch on which its changes are proposed.
    ///
    /// Changes of an environment are proposed on `kalypso/<environment>`, in the repository of its output. Kalypso writes this branch again for each
    /// proposal, and removes it when there is nothing to propose. Clusters must not pull this branch. So nothing is published there.
    ///
    /// ```yaml
    /// kind: GitOpsRepo
    /// spec:
    ///   branch: kalypso/dev         # refused in environment dev
    /// ```
    ///
    /// Give the branch that clusters pull another name, such as that of the environment.
    ProposalIsDestination = "K0510",
    /// The branch for the output does not exist yet.
    ///
    /// A hint, not a problem: it never changes the exit status. The first `kalypso publish` of the environment creates the branch. Until then, clusters that pull it report
    /// an error.
    ///
    /// ```yaml
    /// kind: GitOpsRepo
    /// spec:
    ///   branch: prod                # not in the repository yet
    /// ```
    ///
    /// If this is not the intended branch, correct its name. A branch that this machine has seen before is never created again: it was deleted, and `publish` reports it.
    NewBranch = "K0511",
    /// Output stays published, although no `GitOpsRepo` of the environment names its place any more.
    ///
    /// A `GitOpsRepo` was removed, or names another branch. Kalypso does not remove what it published there: clusters may still pull it, and Flux with `prune: true` would
    /// delete everything that it contained. Such clusters get no later change. (If only the path of the single `GitOpsRepo` of a branch changes, the folders move, with
    /// a confirmation.)
    ///
    /// Point the clusters to the new place. Then remove the folders in a commit of the GitOps repository, with `.kalypso` beside them, or delete the branch. Another branch
    /// is named only until the next publication.
    LeftOutput = "K0512",
    /// An environment follows the head of the main branch, although a promotion moves it.
    ///
    /// A `BaseRepo` of the main branch without `commit` brings each change at once. So no environment could prove a change before, and no gate could hold it.
    ///
    /// ```yaml
    /// kind: BaseRepo
    /// metadata: {name: main}
    /// spec: {branch: main, path: .}      # `commit` is missing
    /// ```
    ///
    /// Write the commit that the environment has now into `spec.commit`. Promotions move it from there.
    GateWithoutCommit = "K0521",
    /// A commit was moved past a gate.
    ///
    /// The environment's branch names a commit of the main branch that no promotion admitted: a person, or another program, wrote it. Its gates did not hold, or were not
    /// evaluated, so the environment keeps the admitted commit, and its own changes are published with that. The message shows the gates that it still waits for.
    ///
    /// Restore the earlier commit in `spec.commit` of the `BaseRepo`, or wait: it is admitted when its gates hold. `kalypso publish --override REASON` admits it anyway.
    MovedPastGate = "K0522",
    /// Nothing says whether a commit may enter.
    ///
    /// The environment was published before, and its branch names another commit of the main branch now. No step of promotions has recorded yet what it has, or the
    /// publications or the recorded state can't be read, or its promotion has a problem. A gate that can't be evaluated is never passed, so nothing is published.
    ///
    /// `kalypso publish` makes a step, unless `--no-step` is given: it records what the environment has, and evaluates the gates of the commit. The service and
    /// `kalypso rollout advance` make steps, too. `kalypso publish --override REASON` publishes the commit anyway.
    ProofUnreadable = "K0523",
    /// The promotions are not known.
    ///
    /// A `Promotion` in `.environments` has an error, and no earlier version without one. It may have gates for this environment, so nothing is published into
    /// environments without a `Promotion` that can be read. A missing gate never counts as passed.
    ///
    /// Fix the file on the main branch.
    PromotionsUnknown = "K0524",
    /// A commit was published past its gates.
    ///
    /// `kalypso publish --override REASON` published a commit of the main branch without the proof that a `Promotion` asks for. The trailer `Kalypso-Override` of the
    /// GitOps commit has the reason, the account, and when the override expires: output that is not merged by then must pass its gates again. The warning stays until another
    /// commit is published.
    GateOverridden = "K0525",
    /// A newer revision waits for its gates.
    ///
    /// It is a commit of the main branch, of values or of an application, or a release. Gates that need people or a time of day are for every change of an environment: also
    /// for those on the environment's own branch, in other repositories of the platform, and in the repositories of applications. The output stays at the revision
    /// before, until the gates hold. `for` narrows what a gate is for.
    ///
    /// It is an error if a person must act, and a note if it waits for a window or for evidence. Wait, or let people decide: `kalypso rollout status` shows what is
    /// missing. `kalypso publish --override REASON` publishes the newest commits anyway.
    NotAdmitted = "K0526",
    /// The branch with the states of an environment was rewritten or deleted, or its head is not signed.
    ///
    /// The branch `kalypso-rollouts/<environment>` of the control plane records what was admitted, and what people decided: holds, approvals, rollbacks. Each
    /// publication names the commit of the states that it was rendered from. The branch does not contain this commit any more: it was deleted, or an older or another
    /// history was pushed over it. Or `promotion.state-keys` names keys, and none of them signed the head of the branch. Nothing is published and nothing moves, because
    /// decisions may be missing or forged. Other environments are not affected.
    ///
    /// ```text
    /// git push --force origin <an earlier commit>:kalypso-rollouts/prod      # a later hold is lost
    /// ```
    ///
    /// Find out who pushed, and protect the branch. `kalypso rollout restore -e ENV --reason TEXT` brings back the states that the newest publication names. If that
    /// commit is lost, `--baseline` admits what the GitOps branch has now: decide earlier holds, approvals and rollbacks again. `--to COMMIT` brings back the states of
    /// another commit, such as the last signed one, or a later one with a hold: a hold alone publishes nothing.
    UntrustedStates = "K0527",
    /// A folder of Kalypso was changed on the GitOps branch by hand.
    ///
    /// The branch that clusters pull has a commit that no publication made, and it changed folders that Kalypso writes. It was not admitted, and the reports of clusters
    /// about it are not evidence. The publication that reports it restores these folders, or proposes to. Folders of others stay as they are.
    ///
    /// Make the change in its source: `kalypso explain -e prod east/shop` shows where the content of a folder comes from. For an exception at one place, use
    /// `kalypso pin`. Add a rule on the git host that refuses pushes to the branch by all accounts except Kalypso's.
    EditedByHand = "K0530",
    /// A pull request was merged although its output was not admitted any more.
    ///
    /// The head of a proposing branch has the status `kalypso/admission`. It was no success at the merge: for example, a person held the environment, withdrew an approval,
    /// or returned to an earlier commit. The environment proves nothing with this output. If other output is admitted, the next publication restores it.
    ///
    /// Require the status `kalypso/admission` for the branch that clusters pull. Then the git host refuses the merge.
    MergedNotAdmitted = "K0531",
    /// A release that promotions move can get another content without a change of its text.
    ///
    /// A `Promotion` moves the releases of the workload from this environment. Its target names a branch, a tag without a version, or a range of versions. Promotions
    /// move that text: what the branch or tag names later reaches the environments after this one without their gates.
    ///
    /// Where a template prints `.Manifests.commit`, Kalypso resolves a `tag`, or a `branch` that all environments of the promotions share, to a commit in their git `repo`,
    /// and moves that. A template that prints only the tag or the branch is not guarded either.
    ///
    /// ```yaml
    /// manifests:
    ///   repo: https://git.example/acme/checkout
    ///   branch: main              # whatever is pushed to it later
    /// ```
    ///
    /// Name a `commit`, a `digest`, or the tag of one version, and let the template print it: `{{ with .Manifests.commit }}commit: {{ . }}{{ end }}`.
    ReleaseNotGuarded = "K0532",
    /// A branch that decides what clusters get is not protected on its git host.
    ///
    /// A `Promotion` leads to the environment. Accounts that may push to one of these branches can bypass its gates:
    ///
    /// - `kalypso-rollouts/<environment>` of the control plane, which records what is admitted. Not reported if `promotion.state-keys` names keys: then states are signed.
    /// - the branch of a `GitOpsRepo`, which clusters pull. It is also reported if it is protected, and does not require the status `kalypso/admission` of pull requests.
    /// - the main branch of the control plane, which declares the promotions.
    ///
    /// `kalypso check` asks the hosts that `[host]` of `kalypso.toml` names with a token, about the branches as they are now. It reports nothing about a branch if the host
    /// does not return its protection, and it can't read the exceptions of a rule.
    ///
    /// ```toml
    /// [host]
    /// url = "https://github.com"
    /// token-env = "ACME_TOKEN"
    /// ```
    ///
    /// Protect the branch: the help of the diagnostic names the setting of the host. Kalypso's account must be able to push to `kalypso-rollouts/*`. Acknowledge the warning
    /// if a branch is protected by other means, such as a hook on the server, or if all output is published with `--direct` and no pull request needs the status.
    UnprotectedBranch = "K0533",

    /// A repository can't be read.
    ///
    /// The message contains git's error. Workloads of an application repository keep their last good output. If the control plane or a base of an
    /// environment can't be read, the environment is not published. An unreadable repository never counts as empty.
    ///
    /// Check that the repository exists, and that this machine may read it. `kalypso.toml` names the tokens:
    ///
    /// ```toml
    /// [git]
    /// credentials = [{ prefix = "https://git.example/acme/", token-env = "ACME_TOKEN" }]
    /// ```
    ///
    /// Repositories with object format `sha256` are refused, too. Git can't convert them. Create one with `git init --bare --object-format=sha1`, and push the
    /// same files there.
    Unreachable = "K0601",
    /// A branch, tag or commit does not exist.
    ///
    /// The repository is available, but contains no branch, tag or commit with this name. Objects from there are treated as if the repository could not be
    /// read.
    ///
    /// Check the spelling, and check that it is pushed. A commit must also still be on a branch.
    RevisionNotFound = "K0602",
    /// A repository URL is not allowed.
    ///
    /// URLs in objects begin with `https://` or `ssh://`, or have the form `user@host:path`, and contain no password. An object must not make Kalypso read
    /// files of its machine, or start a program.
    ///
    /// ```yaml
    /// spec:
    ///   repo: file:///etc           # refused
    /// ```
    ///
    /// The person who runs Kalypso can configure local paths and other transports:
    ///
    /// ```toml
    /// [git]
    /// rewrite = [{ from = "https://git.example/", to = "/srv/git/" }]
    /// ```
    InvalidUrl = "K0603",
    /// Base repositories refer to each other in a cycle.
    ///
    /// They have no order in which they could build on each other, so the environment is not published. The message shows the cycle.
    ///
    /// Remove one of the references.
    Cycle = "K0604",
    /// A path does not exist in its repository.
    ///
    /// The repository and branch exist, but not the folder or file. A missing folder never counts as empty.
    ///
    /// Check the spelling, with upper and lower case, and check that the path exists on that branch.
    PathNotFound = "K0605",
    /// An environment does not exist.
    ///
    /// `Environment` objects are in the folder `.environments` of the control plane's `main` branch.
    ///
    /// Check the spelling of the name, and check that its `Environment` is committed there. With `--from DIR`, any name is
    /// allowed if the files declare no environment: `-e` sets it.
    EnvironmentNotFound = "K0606",
    /// A path leads out of its repository.
    ///
    /// Paths in objects are relative to the root of their repository and contain no `..`. So an object can't refer to files of another repository, or of
    /// the machine.
    ///
    /// Write the path below the root, such as `workload/`.
    InvalidPath = "K0607",
    /// A Flux `Kustomization` refers to a `GitRepository` that does not exist.
    ///
    /// Kalypso follows the two objects as a pair. Without the `GitRepository`, the objects of the `Kustomization` are not known, so nothing of the
    /// environment is published.
    ///
    /// ```yaml
    /// kind: Kustomization
    /// spec:
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: region-east       # an object of this name must be beside it
    /// ```
    ///
    /// Add the `GitRepository`, or fix the name.
    SourceNotFound = "K0608",
    /// A repository or path has too much content.
    ///
    /// The number and size of files and folders below one path is limited: for an application's repository, 10,000 YAML files with 32 MiB in total, in
    /// about 100,000 folders; for a repository of the platform, 200,000 files with 2 GiB. A file with several names counts once for each name. So one
    /// repository can't delay all others. One transfer takes at most 2 GiB on disk. Beyond the limit, the objects of an application are not known, so its
    /// workloads keep their last good output. If it is a repository of the platform, nothing is published.
    ///
    /// ```yaml
    /// kind: WorkloadRegistration
    /// spec:
    ///   workload:
    ///     repo: https://git.example/acme/monorepo
    ///     path: .                # everything; `services/greetings/kalypso` would do
    /// ```
    ///
    /// Name a smaller folder, or exclude folders with `.sourceignore`.
    TooMuchToRead = "K0609",
    /// The cached commit may be older than the published one.
    ///
    /// While an application's repository can't be reached, Kalypso uses the commit that this machine read last. There is one exception: another commit of
    /// the same branch was published, and this machine did not see that commit earlier. Then another machine may have published a newer commit, and
    /// clusters would go back to an older one. The workloads keep their last good output, and everything else is published.
    ///
    /// The order in which this machine saw the commits decides which one is newer, never their dates. A commit that is read from the repository itself is
    /// always used, also after a reset or a revert.
    ///
    /// Publish again when the repository is available, or from a machine that reaches it. If the repository no longer exists, remove its registration.
    CachedIsOlder = "K0610",
    /// The cache belongs to another user, or other users may write to it.
    ///
    /// The content of the cache affects what is published, and git works there with credentials. So the cache is used only if it belongs to the user who
    /// runs Kalypso, if no other user may write to it, if it is not a symbolic link, and if no other user may rename a folder above it. Otherwise this run
    /// uses a new, empty folder, and removes it at the end: everything is fetched and compiled again.
    ///
    /// ```console
    /// $ ls -ld /tmp/cache
    /// drwxrwxrwx 2 ann ann 4096 Jun  1 12:00 /tmp/cache
    /// ```
    ///
    /// Restrict it with `chmod 700`, or name your own folder: `cache` in `[git]` of `kalypso.toml`, or the variable `KALYPSO_CACHE_DIR`. By default, the
    /// cache is in your home folder. If other users could write to it before, remove its content.
    UntrustedCache = "K0611",
    /// A push would run programs in a repository of another user.
    ///
    /// For a push to a repository on this machine, git runs in that repository, with its `config` and `hooks`, as the user who pushes. So nothing is pushed
    /// unless the repository, its `config` and its `hooks` belong to the user who runs Kalypso, and no other user may write to them. This applies to `root`
    /// too, and to repositories that a group shares. Reading a repository runs no programs, and is always allowed.
    ///
    /// Push over ssh or https: then the host runs the programs as its own user. Or remove the write access of other users: `chmod go-w` on the repository,
    /// its `config` and its `hooks`.
    NotOwned = "K0612",
    /// The cache can't be written.
    ///
    /// The disk is full, a quota is used up, or the folder is not writable. The reason is neither the repository to fetch nor the credentials. The existing
    /// content of the cache can still be read.
    ///
    /// Free some space: you can remove the cache at any time. Or name another folder: `cache` in `[git]` of `kalypso.toml`, or the variable
    /// `KALYPSO_CACHE_DIR`.
    CacheFailed = "K0613",
    /// A repository does not answer in time.
    ///
    /// The message shows the operation and the time limit: the list of branches, commits, or a push. Kalypso ended git and all processes that git had
    /// started. The repository counts as unreadable, as in `K0601`. After a push, Kalypso reads the branch to find out whether the push arrived.
    ///
    /// ```text
    /// repository `https://git.example/acme/shop` did not answer in time: listing branches took more than 60 seconds
    /// ```
    ///
    /// Run the same command again. If the error stays, run `git ls-remote URL` on the same machine. The usual reason is a proxy or firewall that drops
    /// connections.
    NoAnswerInTime = "K0614",
    /// The server at a repository's URL is not a git server.
    ///
    /// The server answers with success, but not with git's protocol: usually with a login page, or the page of a proxy. Git alone would read this as a
    /// repository without branches. It counts as unreadable, as in `K0601`, never as empty.
    ///
    /// Check that the URL is that of the repository itself, and whether a token is required. `kalypso.toml` names the tokens:
    ///
    /// ```toml
    /// [git]
    /// credentials = [{ prefix = "https://git.example/acme/", token-env = "ACME_TOKEN" }]
    /// ```
    NotAGitServer = "K0615",
    /// A repository, or its copy in the cache, is in use by another process.
    ///
    /// Runs that share a cache change the copy of a repository one after the other. When a run ends for any reason, the operating system releases its lock.
    /// So the process that the message names is still running, and has been fetching or pushing for a long time.
    ///
    /// Wait for it, end it, or use another cache for this run:
    ///
    /// ```toml
    /// [git]
    /// cache = "/var/cache/kalypso-2"
    /// ```
    ///
    /// A push to a repository, or a commit in a working tree, also waits for a lock file of another git, such as `refs/heads/dev.lock` or `index.lock`. After ten
    /// seconds, the message names the file and its age. Kalypso never removes it: a person, an editor or `git gc` may be working there.
    ///
    /// ```text
    /// repository `/srv/git/gitops` is locked, so nothing is pushed to branch `dev`: lock file `/srv/git/gitops.git/refs/heads/dev.lock` exists for 5 minutes
    /// ```
    ///
    /// If no git runs on that machine, a git that was killed left the file behind. Then remove it. Lock files in the cache need no attention: the next run
    /// removes them.
    CopyInUse = "K0616",
    /// The configuration file of an application is wrong.
    ///
    /// `kalypso-app.toml` names the chart or folder of an application, its values, and where its manifests go. Nothing is rendered before it is correct.
    ///
    /// ```toml
    /// [source]
    /// chart = "chart"
    /// kustomize = "deploy"          # a second source: one of the two must go
    /// ```
    ///
    /// Correct it at the place that the message shows. `kalypso schema kalypso-app` prints its JSON Schema, which editors check while you type.
    ApplicationFile = "K0701",
    /// A variable is not known.
    ///
    /// Values, and the files of a source that is no chart, may contain variables: `${VERSION}`. An unknown one is an error, because an empty text in its place
    /// would be deployed.
    ///
    /// ```yaml
    /// image:
    ///   tag: ${VERSON}
    /// ```
    ///
    /// Correct the name, or add the variable to `[variables]` of `kalypso-app.toml`. For the text itself, write `$${VERSON}`.
    UnknownVariable = "K0702",
    /// A file of the tree of values can't be used.
    ///
    /// Each folder with a file `values.yaml` and without such a folder below it is a target. Its values are those of all files from the root of the tree to
    /// this folder. A file is one mapping. An error stops the targets below the file; the others are rendered.
    ///
    /// ```text
    /// values/dev/values.yaml          for all targets of dev
    /// values/dev/eu/values.yaml       a target
    /// values/dev/us/value.yaml        a wrong name: this is no target
    /// ```
    ///
    /// Rename or correct the file.
    ValuesTree = "K0703",
    /// A target can't be rendered.
    ///
    /// Helm or Kustomize refused the chart or the values of a target, took too long, or printed too much. The message is that of the program. Where it names a
    /// line of a template or a value, the diagnostic shows it. Other targets are rendered, and a deployment leaves the folder of this one as it is.
    ///
    /// ```text
    /// error[K0704]: template: shop/templates/service.yaml:7:19: executing "shop/templates/service.yaml" at <.Values.port>: nil pointer
    /// ```
    ///
    /// Correct the template, or give the value. `kalypso app explain` shows where each value of a target comes from. `timeout-seconds` in `[helm]` sets the time limit.
    RenderFailed = "K0704",
    /// Rendered manifests contain something that is no object of Kubernetes.
    ///
    /// A reconciler rejects the whole folder then.
    ///
    /// ```yaml
    /// kind: Service
    /// metadata:
    ///   name: shop
    /// ```
    ///
    /// Give each document an `apiVersion`, a `kind` and a `metadata.name`. A name that the cluster generates does not work with GitOps.
    InvalidManifest = "K0705",
    /// Rendered manifests contain an object twice.
    ///
    /// Objects are the same if their group, kind, namespace and name are. Reconcilers reject such a folder, or apply one of the two.
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: Service
    /// metadata: {name: shop}
    /// ---
    /// apiVersion: v1
    /// kind: Service
    /// metadata: {name: shop}
    /// ```
    ///
    /// Give one of them another name, such as one that contains the name of its sub-chart.
    DuplicateManifest = "K0706",
    /// Rendered manifests contain an object that belongs to the whole cluster.
    ///
    /// Cluster roles, custom resource definitions, namespaces and similar objects are shared by all targets of a cluster. Two targets with the same chart overwrite
    /// each other's, and a reconciler that is limited to the namespace of a target may not apply them.
    ///
    /// Ask the platform team to provide the object, or switch it off in the values of the chart.
    ClusterManifest = "K0707",
    /// A folder of the GitOps branch has files that another deployment or a person wrote.
    ///
    /// A deployment changes only files that an earlier deployment of the same workload in the same environment wrote. Its `descriptor.yaml` lists them. Files of
    /// others in the way stop the target; its folder stays as it is.
    ///
    /// ```text
    /// eu/manifests.yaml      written by a script: there is no descriptor beside it
    /// ```
    ///
    /// Use `kalypso app deploy --adopt` once, to take over the files of an earlier pipeline. If they belong to another workload, choose another folder.
    ForeignManifests = "K0708",
    /// Others changed deployed manifests in the GitOps branch.
    ///
    /// The next deployment would silently revert the change, which may be a repair. So the target stays as it is.
    ///
    /// Bring the change into the values or the chart, and revert it in the branch. Or replace it with `kalypso app deploy --overwrite`.
    EditedManifests = "K0709",
    /// No deployment target of the workload has the manifests of a target.
    ///
    /// The `Workload` tells the platform where the manifests of each deployment target are. Manifests in another folder or branch reach no cluster.
    ///
    /// ```yaml
    /// deploymentTargets:
    ///   - name: eu
    ///     environment: dev
    ///     manifests:
    ///       repo: https://git.example/acme/shop-gitops
    ///       branch: dev
    ///       path: ./eu             # the folder of the values: values/dev/eu
    /// ```
    ///
    /// Add the deployment target, or correct its `environment`, `branch` or `path`.
    TargetNotDeclared = "K0710",
    /// The manifests of a target and the schemas of its workload name different values of the platform.
    ///
    /// The platform gives the values that the schemas of a workload ask for, and checks them. A value that manifests use, and no schema asks for, may be missing
    /// when the application starts. A value that is asked for, and never used, is work for the platform team without a purpose.
    ///
    /// ```yaml
    /// env:
    ///   - name: REGION
    ///     valueFrom:
    ///       configMapKeyRef: {name: platform-config, key: REGIO}    # the schema has `REGION`
    /// ```
    ///
    /// Correct the name, or add it to the `properties` of a schema in `configSchemas`, or remove it there.
    PlatformValues = "K0711",
    /// A deployment would remove many targets.
    ///
    /// More than a fifth of the targets and at least five, or all of them, have no values any more. Often the wrong branch or folder was read.
    ///
    /// If they are really gone, use `kalypso app deploy --confirm-removals`.
    ManyRemovals = "K0712",
    /// A manifest does not fit the schema of its kind.
    ///
    /// Rendered manifests are compared with the published schemas of Kubernetes, and with the custom resource definitions that the target, its chart or the folder
    /// `schemas` has. A field with a wrong type, a missing field and a value that is not allowed are errors, because every cluster refuses them: the target is not
    /// deployed. An unknown field, or a version that Kubernetes no longer has, is a warning, because a cluster can be newer or older than the schemas.
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata: {name: shop}
    /// spec:
    ///   replicas: "3"                # a text, and must be an integer
    /// ```
    ///
    /// Correct the template or the value. Where a schema is wrong, leave its kind out in `kalypso-app.toml`: `skip-kinds = ["ServiceMonitor"]` in `[kubernetes]`, or
    /// `validate = false` for all.
    ManifestSchema = "K0713",
    /// A chart makes something up: each rendering of the same values is another one.
    ///
    /// Helm has functions for random passwords, keys, certificates and the time. On a cluster, such a chart keeps its first password. Manifests that are rendered before
    /// have no cluster to look at, so the next change of any value would replace the password, or restart the application. `kalypso app check` renders charts that use
    /// such functions twice, and compares.
    ///
    /// ```yaml
    /// password: {{ .Values.password | default (randAlphaNum 16) | b64enc }}
    /// ```
    ///
    /// Give the value that the chart makes up: in the values, or as the name of a `Secret` that is made elsewhere. Most charts have a value for this, such as
    /// `existingSecret`.
    NotReproducible = "K0714",
    /// The file of a service is wrong.
    ///
    /// The folder that `services` of `kalypso-app.toml` names has a file for each service. It says which chart of which repository is rendered. The file has the name
    /// of the service, so that a service is known also while its file can't be read: then its folder in the GitOps branch stays.
    ///
    /// ```yaml
    /// name: prometheus               # the file is prometheus.yaml
    /// helm:
    ///   repository: https://prometheus-community.github.io/helm-charts
    ///   chart: prometheus
    ///   version: 25.x                # a range: write one version
    /// ```
    ///
    /// Correct the field that the message shows. The version is exact, because the same commit must give the same manifests tomorrow.
    ServiceFile = "K0715",
    /// The chart of a service has no digest.
    ///
    /// A repository can replace a version of a chart by another content. Without a digest, nothing notices it, and the chart is downloaded again each time.
    ///
    /// ```yaml
    /// helm:
    ///   version: 25.8.0
    ///   digest: sha256:9f1c…         # the SHA-256 of the chart's archive
    /// ```
    ///
    /// `kalypso app update --pin` writes the digests that are missing.
    ServiceNotPinned = "K0716",
    /// The chart of a service can't be downloaded or unpacked.
    ///
    /// The service is not rendered, and a deployment leaves its folder as it is. Other services are rendered. The message is that of Helm, or it says what is wrong with
    /// the archive: links and paths that lead out of the chart are never unpacked.
    ///
    /// Check the address of the repository, the name of the chart and the version. `helm show chart NAME --repo URL` shows what the repository has.
    ChartNotAvailable = "K0717",
    /// The chart of a service is not the one that its file names.
    ///
    /// The digest of the downloaded archive differs from `digest`. The version was replaced in the repository, or on the way from there.
    ///
    /// ```text
    /// the chart has the digest sha256:0aa3…, but the file of the service names sha256:9f1c…
    /// ```
    ///
    /// Find out why. If the new content is right, remove `digest` and run `kalypso app update --pin`.
    ChartDigest = "K0718",
    /// The text of an image is no reference.
    ///
    /// A container runtime can't pull the image, and no registry can be asked for its digest. The message names the part that is wrong.
    ///
    /// ```yaml
    /// containers:
    /// - image: registry.example/Shop:1.0     # a repository has no capital letters
    /// ```
    ///
    /// Correct the value or the variable that the image comes from. `kalypso app images` lists all images.
    ImageReference = "K0721",
    /// An image can't be pinned.
    ///
    /// With `pin = true` in `[images]` of `kalypso-app.toml`, or with `--pin-images`, each image gets the digest that its registry has for its tag. The target is not
    /// deployed if one is missing: its registry can't be reached, refuses access, or has no such image. A deployment leaves the folder of the target as it is.
    ///
    /// ```text
    /// image `ghcr.io/acme/shop:2.4.0` can't be pinned: ghcr.io: it has no such image
    /// ```
    ///
    /// Push the image before you deploy. For a private registry, `docker login` writes a credential into Docker's `config.json`. Credential helpers are not run.
    ImageNotPinned = "K0722",
    /// A registry gives no digest for an image.
    ///
    /// `kalypso app images --digests` lists the image without its digest. The message says why.
    ///
    /// ```text
    /// there is no digest of `ghcr.io/acme/shop:2.4.0`: ghcr.io: it refuses access (HTTP 401)
    /// ```
    ///
    /// As for [K0722](#k0722).
    ImageDigest = "K0723",
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
