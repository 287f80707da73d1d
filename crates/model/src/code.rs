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
    /// Whether it says that something outside does not work, rather than that something is wrong with what was read.
    pub fn is_outside(self) -> bool {
        let of_repository = matches!(self, Self::Unreachable | Self::NoAnswerInTime | Self::NotAGitServer);
        of_repository || matches!(self, Self::CopyInUse | Self::UntrustedCache | Self::CacheFailed)
    }

    /// The code that is written like this.
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
    /// The file, or one document of it, can't be read, so nobody can say what it means. The newest earlier version of the file that is good is used instead
    /// (see K0117); where there is none, the file contributes nothing. Other files are not affected.
    ///
    /// ```yaml
    /// metadata:
    ///   name: west
    ///    labels: {}     # indented by one blank too many
    /// ```
    ///
    /// Fix the line the message points at: the mistake is there or just before it. Quote a text that holds `: ` or ` #`, or begins with a special character.
    YamlSyntax = "K0101",
    /// A file is beyond a limit.
    ///
    /// Files come from other teams, so their size, their depth, the number of their nodes and what their anchors multiply them to are limited: one file must
    /// not be able to stop everybody's work.
    ///
    /// ```yaml
    /// a: &a [x, x, x, x]
    /// b: &b [*a, *a, *a, *a]
    /// c: &c [*b, *b, *b, *b]     # and so on: a short file, and millions of nodes
    /// ```
    ///
    /// Split the file, or write out what its anchors multiply. Where a whole folder is too large, name a smaller one, or leave parts of it out with
    /// `.sourceignore`.
    YamlLimit = "K0102",
    /// A file is not text.
    ///
    /// The file holds bytes that are not UTF-8, or control characters. YAML allows neither, and they could hide something from the people who read it.
    ///
    /// Save the file as UTF-8, and write control characters as escapes in double quotes (`"\u001b"`). A file that is not meant to be read (an image, an
    /// archive) should lie somewhere else, or be named in `.sourceignore`.
    NotText = "K0103",
    /// An object has a kind that Kalypso does not know.
    ///
    /// An object of another system is ignored, with a warning. A kind or version that is misspelled is an error: its group is one of Kalypso's, or nearly
    /// so, or its name is nearly that of a kind. What it was meant to say is not known: the object keeps its last good version (see K0117 and K0130), and
    /// nothing counts as gone. Other objects of the file count.
    ///
    /// ```yaml
    /// apiVersion: scheduler.kalypso.io/v1alpha1
    /// kind: SchedulePolicy     # it is SchedulingPolicy
    /// ```
    ///
    /// Is the kind spelled right, and is `apiVersion` the one of that kind? The reference of kinds lists both. Files with objects of other systems can be
    /// named in `.sourceignore`.
    UnknownKind = "K0104",
    /// An object has a field that its kind does not have.
    ///
    /// What the field was meant to say is not said. It is mostly a typing error, or a field at the wrong depth. Inside the `spec` of Kalypso's own kinds it
    /// is an error, because what is left may mean more than was written: a selector without its labels selects everything. The object keeps its last good
    /// version (see K0117); where there is none, it contributes nothing. Elsewhere (beside `spec`, in `metadata`, in kinds of other systems, in a
    /// `DeploymentDescriptor`) the field is ignored, with a warning.
    ///
    /// ```yaml
    /// spec:
    ///   deploymentTargetSelector:
    ///     labelSelector:
    ///       matchLabel:           # it is matchLabels
    ///         purpose: edge
    /// ```
    ///
    /// Move or rename the field. `kalypso schema` makes editors complete and check the fields of a kind.
    UnknownField = "K0105",
    /// An object lacks a field that its kind needs.
    ///
    /// Without it the object means nothing: an earlier good version is used, or the object contributes nothing. Other objects of the file count.
    ///
    /// ```yaml
    /// kind: WorkloadRegistration
    /// spec:
    ///   workload:
    ///     repo: https://git.example/acme/checkout
    ///     branch: main           # `path` is missing
    /// ```
    ///
    /// Add the field. The message says what it is for; the reference of kinds lists all fields.
    MissingField = "K0106",
    /// A field holds another type of value than its kind asks for.
    ///
    /// Mostly a text that YAML reads as something else: `8080`, `true`, `on` and `1.10` are no texts. Kubernetes refuses them too, so they are not quietly
    /// turned into texts.
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
    /// Rename the object, and what refers to it.
    InvalidName = "K0108",
    /// A label selector is not valid.
    ///
    /// A policy with a broken selector keeps its last good version; where there is none, it selects nothing, rather than everything. A selector in which a
    /// requirement was begun and left out is broken as well: to select everything, write `labelSelector: {}`.
    ///
    /// ```yaml
    /// matchExpressions:
    ///   - key: size
    ///     operator: Equals          # it is In
    ///     values: [large]
    /// ```
    ///
    /// The operators are `In` and `NotIn`, with at least one value, and `Exists` and `DoesNotExist`, without values.
    InvalidSelector = "K0109",
    /// A key occurs twice in one mapping.
    ///
    /// Readers of YAML disagree on which of the two counts. Rather than to guess, the object counts as broken.
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
    /// `main`. It is not clear which one counts, so what depends on either keeps its last good output.
    ///
    /// The message shows both places. Remove or rename all but one.
    DuplicateObject = "K0111",
    /// A label or manifest value holds a character that could break out of its place.
    ///
    /// Labels and `manifests` values of an application team become part of the platform's manifests. A line break in them could smuggle in a second document,
    /// so line breaks and other control characters are refused.
    ///
    /// ```yaml
    /// manifests:
    ///   path: "./app\n---\nkind: ClusterRoleBinding"
    /// ```
    ///
    /// Write the value on one line.
    ControlCharacter = "K0112",
    /// An annotation has a value that it can't have.
    ///
    /// What the annotation was meant to switch is not clear, so what depends on it keeps its last good output.
    ///
    /// ```yaml
    /// metadata:
    ///   annotations:
    ///     config.kalypso.io/priority: high     # an integer, such as "10"
    /// ```
    ///
    /// The message names the values that are possible; the reference of kinds lists the annotations of each kind.
    InvalidAnnotation = "K0113",
    /// An object stands where it may not.
    ///
    /// An application repository brings its `Workload`s, and `ConfigSchema`s that carry the label `workload` with the name of one of them. Everything else
    /// (templates, policies, cluster types, values) decides about other teams too, so it comes from the control plane only. The object is ignored.
    ///
    /// Move the object to the control plane, by a pull request there; or give the `ConfigSchema` its label:
    ///
    /// ```yaml
    /// kind: ConfigSchema
    /// metadata:
    ///   labels:
    ///     workload: checkout
    /// ```
    NotAllowedHere = "K0114",
    /// Two registrations bring a workload of the same name.
    ///
    /// It belongs to the registration that has its name, and a workload of the control plane itself comes before all. The owner goes on as if the other one
    /// were not there; the other one is ignored, together with its targets and schemas. So a team that is registered under the name of its workload can
    /// neither lose it to a team that calls its own the same, nor be held up by it.
    ///
    /// ```yaml
    /// kind: Workload
    /// metadata:
    ///   name: checkout     # in the repository of registration `returns`, while there is a registration `checkout`
    /// ```
    ///
    /// Rename the workload. If the other registration is to bring it, change the registrations in the control plane.
    WorkloadTaken = "K0115",
    /// A Kustomize or Flux feature would change the content of this folder.
    ///
    /// Kalypso reads files as they are. A `kustomization.yaml`, or `patches`, `postBuild` or decryption in a Flux `Kustomization`, would make something else
    /// of them, so the folder is not read, rather than read wrongly.
    ///
    /// A `kustomization.yaml` only stops what is in its folder and below: objects there stay as they were before it came (see K0130), and everything else goes
    /// on. Only where it decides about a whole place of which nothing is known from before is nothing published for that place.
    ///
    /// ```yaml
    /// kind: Kustomization
    /// spec:
    ///   path: ./configs
    ///   postBuild:              # would replace variables in every file
    ///     substitute: { region: west }
    /// ```
    ///
    /// Write the objects as they should be, and remove what changes them; or name the folder in `.sourceignore`.
    UnsupportedKustomization = "K0116",
    /// An earlier version of a broken file is used.
    ///
    /// The newest version of this file holds errors, which are reported beside this one. So that they hurt nothing else, what is not understood is taken from
    /// the newest earlier version on the same branch in which it is. The message names both commits, and the objects, if others of the file are understood:
    /// these count as they are. Until the errors are fixed, changes to the objects that the message names have no effect.
    ///
    /// Fix the errors and commit.
    EarlierVersionUsed = "K0117",
    /// A path can't be read as a file of this repository.
    ///
    /// It is a symbolic link, or something else that is no ordinary file. Links are not followed: they may lead out of the repository.
    ///
    /// Name the file or folder that is meant, or replace the link with it.
    NotAFile = "K0118",
    /// An environment has no objects.
    ///
    /// An environment without a single cluster type, policy or target is more probably a wrong path or branch than an intention. So nothing is published: an
    /// empty input never deletes a fleet.
    ///
    /// Are `branch` and `path` of the `Environment` right, and is everything pushed? To take an environment out of service, remove its `Environment` object.
    EmptyEnvironment = "K0119",
    /// Two things would get output of the same name.
    ///
    /// For example target `c` of workload `a-b` and target `b-c` of workload `a` both have the whole name `a-b-c`, and so the same folder. Neither is
    /// rendered; their assignments keep their last good output.
    ///
    /// Where only one of the two workloads has the name of its registration, that one goes on (see K0126).
    ///
    /// Rename one of them.
    NameCollision = "K0120",
    /// A label mapping adds a label that it may not add.
    ///
    /// The labels `workload` and `workspace` say whose a deployment target is, and policies trust them. Only its `Workload` and the `WorkloadRegistration`
    /// that brings it set them.
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
    /// Both would get the folder of that name. The cluster type keeps it, and everything that is scheduled on it; the cluster is not scheduled.
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
    /// The cluster would get its labels and templates from its cluster type. Without it nobody knows what belongs there, so nothing is rendered for the cluster,
    /// and what was published for it stays.
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
    /// It is not clear whose a workload is.
    ///
    /// Registrations bring a workload of one name, and none of them has that name; or one brings a workload with the name of another registration, which
    /// does not bring it. Which of them came first can't be seen from the commits, so none is preferred: what was published last for the workload stays as it
    /// is, byte for byte, and what was never published gets no folder.
    ///
    /// ```yaml
    /// kind: WorkloadRegistration
    /// metadata:
    ///   name: team-a       # brings Workload `checkout`, and so does registration `team-b`
    /// ```
    ///
    /// Rename one of the workloads. Or give the registration that is to bring it the name of the workload: then it owns it.
    WorkloadContested = "K0125",
    /// A deployment target has the whole name of another team's.
    ///
    /// Target `c` of workload `a-b` and target `b-c` of workload `a` both have the whole name `a-b-c`, and so the same folder. It belongs to the workload whose
    /// registration has the workload's name, and a target of the control plane itself comes before all. The owner goes on, the other target is ignored.
    ///
    /// While the repository of a registration can't be read, a target of another workload whose whole name begins with that registration's name may be one
    /// of those that are not known, so it keeps its last good output.
    ///
    /// Rename the target. Where both workloads have the names of their registrations, see K0120.
    TargetTaken = "K0126",
    /// Labels or `manifests` are too large.
    ///
    /// Labels, and what a deployment target's `manifests` say, become part of the manifests of every cluster type that the target is for, so each of these
    /// mappings may have at most 64 KiB. Beyond that, the object is not read.
    ///
    /// ```yaml
    /// manifests:
    ///   repo: https://git.example/acme/greetings
    ///   dashboard: '{"panels": […]}'     # megabytes
    /// ```
    ///
    /// Let the texts say where the content is, instead of holding it.
    TextsTooLarge = "K0128",
    /// No more earlier versions of a broken file are looked at.
    ///
    /// In the place of a broken file, its newest earlier version that is good is used (see K0117). How much is read in search of it is limited, because large
    /// files with many broken versions take long, in every run. Beyond the limit it is not known what the file brought before: an application's workloads keep
    /// their last good output, and where the file is the platform's, nothing is published.
    ///
    /// Fix the file, or restore a good version of it: `git checkout <commit> -- <file>`. Where many files are broken at once, fix any of them.
    EarlierVersionsUnknown = "K0129",
    /// Objects may be in a file that can't be understood, and are kept as they were.
    ///
    /// What is not understood is not gone. In one commit, objects disappeared from the files that are understood, and something appeared that is not: a file
    /// with errors, or a link or submodule in the place of a file or folder. The objects may be in there: a file was renamed and broken at once,
    /// say. So they stay as they were in the commit that the message names, for as long as what appeared is there and not understood. An object that is
    /// removed in a commit of its own is gone, however long another file is broken.
    ///
    /// ```text
    /// policies/shop.yaml         # gone
    /// policies/web-shop.yaml     # new: the same policy, with a typing error in it
    /// ```
    ///
    /// Fix the file and commit. What is in no file then is gone.
    ObjectsKept = "K0130",
    /// The commit that output was made of can't be read any more.
    ///
    /// A file can't be understood, and the history of its branch does not say what was there when output was published last: the branch was replaced, and the
    /// server has given the earlier commit up. So it is not known what the file held. The platform's output stays as it is, or that of the application,
    /// until the file can be understood.
    ///
    /// ```text
    /// git push --force origin dev     # the history before is gone, and policies.yaml has a typing error
    /// ```
    ///
    /// Fix the file and commit. Or push the earlier commit again, to any branch.
    PublishedCommitGone = "K0131",
    /// An annotation of Kalypso's does not exist, or not for this kind.
    ///
    /// It is ignored, so what it was meant to switch is as if it were not there.
    ///
    /// ```yaml
    /// kind: ConfigMap
    /// metadata:
    ///   annotations:
    ///     config.kalypso.io/priorty: "10"     # it is priority
    /// ```
    ///
    /// Correct the key. The reference of kinds lists the annotations of each kind.
    UnknownAnnotation = "K0132",
    /// A label is written almost like one that has a meaning.
    ///
    /// Some labels of a `ConfigMap` or `ConfigSchema` have a meaning of their own: `platform-config: "true"` makes a map take part in composition, others say
    /// for which cluster type, cluster, deployment target or workload it is. One that is written in another way is any other label: the map takes no part, or
    /// it is only for what has the same label.
    ///
    /// ```yaml
    /// kind: ConfigMap
    /// metadata:
    ///   labels:
    ///     platform_config: "true"     # it is platform-config
    /// ```
    ///
    /// Correct the label. If it is meant as it is, nothing else needs to be done: it is a warning.
    AlmostKnownLabel = "K0133",
    /// A word in a schema is almost a keyword of JSON Schema.
    ///
    /// JSON Schema ignores words that it does not know, so what the word was meant to ask for is not asked for, and wrong values pass. Words that are like no
    /// keyword are left alone: schemas may hold anything.
    ///
    /// ```json
    /// { "type": "object", "requird": ["DATABASE_URL"] }
    /// ```
    ///
    /// Correct the word: here it is `required`.
    UnknownKeyword = "K0134",
    /// A file holds markers of a merge that was not finished.
    ///
    /// Git leaves these lines where it can't join two versions of a file. Which of them is meant is not known, so nothing of the file is read: its objects
    /// stay as they were in the newest earlier version that is good (see K0117).
    ///
    /// ```text
    /// <<<<<<< HEAD
    ///   REGION: west
    /// =======
    ///   REGION: east
    /// >>>>>>> more-regions
    /// ```
    ///
    /// Choose one version, remove the lines with the markers, and commit.
    MergeConflict = "K0135",
    /// A deployment target is for an environment that does not exist.
    ///
    /// No `Environment` of the control plane has this name, so the target is deployed nowhere. Targets for other environments that exist are no mistake: each
    /// environment takes its own.
    ///
    /// ```yaml
    /// kind: Workload
    /// spec:
    ///   deploymentTargets:
    ///     - name: functional-test
    ///       environment: dve       # there is `dev`
    /// ```
    ///
    /// Correct the name, or add the `Environment` to folder `.environments` of the control plane. Where no `Environment` was read, as in a checkout of one
    /// branch, nothing is said.
    UnknownEnvironment = "K0136",
    /// An acknowledgement matches no warning.
    ///
    /// A warning can be acknowledged with a reason, by annotation on its object or in `kalypso.toml`. When the warning is gone, the acknowledgement should go as
    /// well: otherwise it hides the next warning of that kind, for which nobody gave a reason. Errors can't be acknowledged.
    ///
    /// ```yaml
    /// metadata:
    ///   annotations:
    ///     kalypso.io/acknowledge.K0202: "The sale begins in November."     # the policy selects targets by now
    /// ```
    ///
    /// Remove the annotation or the entry, or correct its code, object or path.
    IdleAcknowledgement = "K0137",

    /// A policy selects no cluster type.
    ///
    /// The policy is valid and does nothing. That may be meant, for a policy that waits for its first cluster type; mostly it is a label that is spelled in
    /// another way there.
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
    /// The policy is valid and does nothing. Only targets of the same environment count, and if the policy names a `workspace`, only those of that workspace.
    ///
    /// Compare the selector with the labels of the targets in the `Workload`, and `workspace` with that of the `WorkloadRegistration`.
    NoTargetSelected = "K0202",
    /// Two label mappings add different values of one label to one target.
    ///
    /// Each of them is valid, and both match the deployment target. Which of the two values is meant nobody can say, so the target's assignments keep their
    /// last good output. Which these are goes by the mapping that is first by name.
    ///
    /// ```yaml
    /// kind: LabelMapping
    /// spec: { from: { tier: storefront }, add: { exposure: public } }
    /// ---
    /// kind: LabelMapping
    /// spec: { from: { team: returns }, add: { exposure: internal } }     # and a target of team `returns` with tier `storefront`
    /// ```
    ///
    /// Let only one of them match: ask for more labels in `from`. Or give the target itself the label: mappings never overwrite one.
    ConflictingMappings = "K0203",
    /// Two release pins set one key to different values for one assignment.
    ///
    /// Each of them is valid, and both hold the deployment target there. Which of the two releases is meant nobody can say, so the assignment keeps its last
    /// good output.
    ///
    /// ```yaml
    /// kind: ReleasePin
    /// spec: { manifests: { branch: release-1.4 }, … }
    /// ---
    /// kind: ReleasePin
    /// spec: { manifests: { branch: release-1.5 }, … }     # selects some of the same targets and places
    /// ```
    ///
    /// Remove one of the two pins, or let their selectors not overlap.
    ConflictingPins = "K0204",
    /// A release pin has expired.
    ///
    /// The day or moment that its author wrote into `expires` has passed, and it still holds back releases. Nothing that is rendered depends on the day, so the
    /// pin goes on working.
    ///
    /// Is the reason gone? Then remove the pin. Otherwise write a later `expires`.
    ExpiredPin = "K0205",
    /// A release pin holds nothing.
    ///
    /// No deployment target, or no cluster type and no cluster, is as the pin asks for. So the release that it should hold back goes everywhere; mostly it is a
    /// label that is spelled in another way there.
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
    IdlePin = "K0206",
    /// What fails is held: rendered from an earlier publication, with a release pin laid over.
    ///
    /// The assignment can't be rendered from what the control plane says now, and a release pin holds it. So that the pin reaches it nevertheless, it is
    /// rendered from the commits that its last good output was made of, with the `manifests` of the pin laid over. Its values, templates and labels are those of
    /// that publication.
    ///
    /// Fix what is wrong with the assignment, which is reported beside this. From then on it follows its sources again, with the pin. If the pin is removed
    /// before, the assignment goes back to its last good output without the pin.
    HeldEarlier = "K0220",
    /// What fails can't be held.
    ///
    /// A release pin holds an assignment that can't be rendered from what the control plane says now, and its last good output can't be made again either: the
    /// commits that it was made of are gone or can't be reached, the commits of the GitOps branch do not name them, or they do not give it any more. The folder
    /// stays as it is in the branch, without the pin.
    ///
    /// Fix what is wrong with the assignment, or make the commits available again: push a branch or tag at them. Where commits of Kalypso are squashed on
    /// their way into the GitOps branch, keep the `Kalypso-` lines of their messages.
    NotHeld = "K0221",

    /// A dotted key of an `azure-app-config` map has a part too many.
    ///
    /// In maps whose name begins with `azure-app-config`, keys say for whom a value is: `label.value.label.value.KEY`. The parts before the last one are
    /// taken in pairs; with an odd number the one without a partner is dropped, and the value may be for more assignments than it was meant for.
    ///
    /// ```yaml
    /// data:
    ///   region.west-us.purpose.DATABASE_URL: mysql://west     # the value of `purpose` is missing
    /// ```
    ///
    /// Add what is missing, or remove the part.
    OddKeyParts = "K0301",
    /// The values of an assignment are too much to merge.
    ///
    /// Each item of a list is merged into all earlier items of the same `name`, so lists in which many items have one name multiply. The work for one
    /// assignment is limited, so that it stops itself and nothing else. Give the items names of their own, or merge the lists with
    /// annotation `config.kalypso.io/merge: append` or `replace`.
    TooMuchToMerge = "K0302",
    /// A `ConfigMap` or `ConfigSchema` applies to nothing.
    ///
    /// Its labels say for which assignments it is: all of them must be met, each by the cluster type or cluster, or by the deployment target. Here one of them
    /// is met by nothing in the environment, or they are never met together. So its values, or what it asks of values, have no effect.
    ///
    /// ```yaml
    /// kind: ConfigMap
    /// metadata:
    ///   labels:
    ///     platform-config: "true"
    ///     region: wset-us        # cluster types have `west-us`
    /// ```
    ///
    /// Correct the label; the message names the nearest one that exists. Nothing is said where it can't be known: while the repository of an application can't be
    /// read, in a checkout without workloads, or if the labels are those of another environment's targets.
    AppliesToNothing = "K0303",
    /// Two `ConfigMap`s set one key to different values for the same assignment.
    ///
    /// Both have the same priority, and neither is for fewer assignments than the other by its labels: they have the same labels, or each has one that the other
    /// has not. So the name of the map decides which value counts, and renaming one of them changes what is deployed. A map that adds a label to those of
    /// another one, or that names a cluster, cluster type, workload or deployment target with the other's labels, is an ordinary override, and is not reported.
    ///
    /// ```yaml
    /// # west.yaml, labels: {region: west}
    /// data: {LOG_LEVEL: info}
    /// # small.yaml, labels: {size: small}
    /// data: {LOG_LEVEL: debug}      # which one is for small cluster types in the west?
    /// ```
    ///
    /// Give the one that should count a higher priority, with annotation `config.kalypso.io/priority`; or add a map for those that both are for.
    RivalValues = "K0304",
    /// A JSON schema can't be used.
    ///
    /// The text is not JSON, or no valid JSON schema. What it applies to can't be checked, so it keeps its last good output: unchecked values are not
    /// shipped.
    ///
    /// ```yaml
    /// configSchemas:
    ///   - |
    ///     { "type": "object", "required": "PORT" }     # `required` is a list: ["PORT"]
    /// ```
    ///
    /// Fix the schema at the place the message points at.
    InvalidSchema = "K0310",
    /// A value that a schema requires is given by nobody.
    ///
    /// The workload says that it can't run without the value, and no `ConfigMap` that matches the assignment gives it. So the assignment keeps its last good
    /// output.
    ///
    /// Add the value to a `ConfigMap` that matches: one with label `platform-config: "true"` whose other labels are labels of the cluster type or target.
    /// `kalypso explain` shows which maps match. With annotation `schema.kalypso.io/missing: warn` on the environment or the `ConfigSchema` it is only
    /// reported, and shipped without the value.
    MissingValue = "K0311",
    /// A value is not what its schema asks for.
    ///
    /// The workload would get a value that its own team calls wrong, so the assignment keeps its last good output. The message shows the value and where it
    /// was set, and the schema that asks for something else.
    ///
    /// ```yaml
    /// data:
    ///   PORT: "54x2"      # the schema asks for an integer
    /// ```
    ///
    /// Correct the value, or the schema if that is what is wrong. Values are texts; those that look like a number or boolean become one where the schema asks
    /// for it.
    WrongValue = "K0312",
    /// Checking values with a schema takes too much.
    ///
    /// A schema whose alternatives refer to one another can be small, and still be applied millions of times to a value that is nested some levels deep. How
    /// often schemas are applied is counted before it is done, with how large patterns and texts are; beyond 200,000 times, or 20,000 with
    /// a schema of an application, the values are not checked, and the assignment keeps its last good output.
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
    /// The schemas of one registration are too many.
    ///
    /// Schemas are compiled before values are checked with them, which takes time and memory of all. All different schemas that one registration brings may be
    /// half a million schemas together, counted with what is inside them and what their references lead to. A pattern counts by its size, with its
    /// repetitions written out: `^[a-z]{0,200}$` as a hundred. What one beyond that applies to keeps its last good output; other registrations are not
    /// affected.
    ///
    /// Targets that repeat the same text count once. Write smaller schemas, or divide the repository into several registrations.
    TooManySchemas = "K0315",

    /// A template does not parse.
    ///
    /// Nothing can be rendered with it, so all assignments of the cluster types that use it keep their last good output.
    ///
    /// ```yaml
    /// manifests:
    ///   - |
    ///     namespace: {{ .Namespace }
    /// ```
    ///
    /// Fix the place the message points at. Templates are Go templates with the functions of sprig.
    TemplateSyntax = "K0401",
    /// A template fails while it is rendered.
    ///
    /// The template is well formed, but not with the data of these assignments, which keep their last good output. Others that use the same template are not
    /// affected. The message says which expression failed, and why.
    ///
    /// ```yaml
    /// manifests:
    ///   - |
    ///     port: {{ add1 (index .ConfigData "ports" 0) }}     # fails where nobody gives `ports`
    /// ```
    ///
    /// It is mostly a value that is missing for some assignments: `kalypso explain` shows what one has. Give the value, or let the template do without it,
    /// with `default` or `if`.
    TemplateFailed = "K0402",
    /// A template takes more than it may.
    ///
    /// The steps, output and depth of one rendering are limited, so that a loop without end, or a value that refers to itself, stops its own assignment and
    /// nothing else.
    ///
    /// ```yaml
    /// manifests:
    ///   - |
    ///     {{ define "a" }}{{ template "a" . }}{{ end }}{{ template "a" . }}
    /// ```
    ///
    /// Does a template call itself, or does a value hold a template that gives the same text again? Otherwise make less of it at once.
    TemplateLimit = "K0403",
    /// A namespace name is too long.
    ///
    /// `.Namespace` is `<environment>-<cluster type>-<deployment target>`, and Kubernetes refuses namespaces of more than 63 characters. It would fail on the
    /// cluster, late; so it fails here.
    ///
    /// Shorten one of the three names. Or let long names be cut, with a short hash at the end that stays the same:
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
    /// A cluster type names a template that is not in the environment, so nothing can be rendered for it; its assignments keep their last good output.
    ///
    /// ```yaml
    /// kind: ClusterType
    /// spec:
    ///   reconciler: arc-flx      # there is `arc-flux`
    /// ```
    ///
    /// Is the name spelled right, does the template's file read well, and is the template on the branch that the environment is built on?
    MissingTemplate = "K0405",
    /// A template renders bytes that are not text.
    ///
    /// Manifests are UTF-8. The bytes come mostly from a text that was cut in the middle of a character: `trunc` counts bytes. Or `b64dec` decodes something
    /// that is no text.
    ///
    /// Cut only texts of plain letters in that way, and leave binary values encoded.
    NotTextRendered = "K0406",
    /// A text of an application holds template text.
    ///
    /// Names, labels and `manifests` of a `Workload` are data: what looks like a template in them is never evaluated, because it would be evaluated with the
    /// platform's values. Only plain references to the names of the assignment are replaced, where a template prints them: `{{ .ClusterType }}`,
    /// `{{ .Cluster }}`, `{{ .DeploymentTargetName }}`, `{{ .Environment }}`, `{{ .Namespace }}`, `{{ .Workload }}` and `{{ .Workspace }}`. The error stops
    /// the assignments of this one target.
    ///
    /// ```yaml
    /// manifests:
    ///   path: ./apps/{{ .ClusterType }}        # is replaced
    ///   repo: "{{ .ConfigData | toJson }}"     # is refused
    /// ```
    ///
    /// Write the value itself, or ask the platform team to compose it in their template. If a template is to print braces as they are, it needs the annotation
    /// `template.kalypso.io/literal: "true"`.
    TemplateInData = "K0407",
    /// A text of an application changes the structure of a rendered file.
    ///
    /// Names, labels and `manifests` of a `Workload` become part of the platform's manifests, as scalars or parts of them. A text that would make another key,
    /// item, alias or document of itself there, or that would cut off what stands behind it, is refused. The error stops the assignments of this one target.
    ///
    /// ```yaml
    /// manifests:
    ///   path: "x, prune: false"     # where the template says  {path: {{ .Manifests.path }}}
    /// ```
    ///
    /// Write a text without such characters. Or let the template print it as a text whatever is in it: `{{ .Manifests.path | toJson }}`. A template that is
    /// meant to print pieces of YAML that applications write needs the annotation `template.kalypso.io/unchecked: "true"`.
    StructureChanged = "K0408",
    /// A template makes a file that is not YAML.
    ///
    /// Rendered files that end in `.yaml`, `.yml` or `.json` are read before they are published. A reconciler stops at a file that it can't read, and applies
    /// nothing of the folder that it looks at. So the assignment fails instead, and keeps what was published last. A key that is twice in a mapping counts as well,
    /// because Flux refuses it.
    ///
    /// ```yaml
    /// manifests:
    ///   - |
    ///     data:
    ///       GREETING: {{ .ConfigData.GREETING }}     # fails where the value is `@you: hello`
    /// ```
    ///
    /// The message points at the line of the template that makes the line that can't be read, and shows that line for one of the assignments. Print values with
    /// `toJson` or `toYaml`, and indent what has several lines: `{{ .ConfigData.GREETING | toJson }}`. A template whose output is not for readers of YAML needs
    /// another extension (`template.kalypso.io/extension`), or the annotation `template.kalypso.io/unchecked: "true"`.
    NotYamlRendered = "K0409",

    /// A folder of that name exists in the GitOps repository, and is not Kalypso's.
    ///
    /// A folder is Kalypso's if its `README.md` is exactly the text that Kalypso writes. Everything in such a folder is replaced with each publication, so a
    /// folder that somebody else made is left alone, and nothing is published into it.
    ///
    /// Rename the cluster type, or move the folder. If it is meant to be taken over, say `--adopt`: what is in it is then replaced.
    ForeignFolder = "K0501",
    /// The GitOps branch belongs to another control plane.
    ///
    /// `.kalypso/owner` in the branch names another environment or control plane. Two that write into one folder would delete each other's work, so nothing
    /// is published.
    ///
    /// Give each environment a branch or `path` of its own in its `GitOpsRepo`. If the other one is gone for good, remove the file from the branch.
    OwnedByAnother = "K0502",
    /// Folders of an earlier path are left.
    ///
    /// `GitOpsRepo.spec.path` says that output lives in a folder, and Kalypso's folders are still at the root of the branch. Clusters pull those, and would
    /// never see a change again; so nothing is published.
    ///
    /// Move the folders, or remove them, in one commit together with the change that makes clusters look at the new path; or set `path: .` again.
    PathMoved = "K0503",
    /// Two `GitOpsRepo`s name the same repository, branch and path.
    ///
    /// Each would remove what the other one writes, so neither is published.
    ///
    /// Give each its own branch or path.
    SameDestination = "K0504",
    /// A change removes more than a change usually does.
    ///
    /// More than a fifth of the environment's assignments and at least five would disappear, or all that a workload has, or a whole cluster type, or
    /// everything. That is rarely meant, and hard to take back on a thousand clusters.
    ///
    /// Look at `kalypso plan`. It shows what goes, and a word for exactly that: if it is what you want, say `--confirm WORD`. When something else would go by
    /// then, the word is another one. A change that is proposed needs no word: whoever merges it confirms it.
    ///
    /// ```text
    /// kalypso plan -e prod                                  # this removes 16 of 48 assignments
    /// kalypso publish -e prod --direct --confirm 3f2a9c1b   # these 16, and no others
    /// ```
    NeedsConfirmation = "K0505",
    /// A branch holds a commit that Kalypso did not make.
    ///
    /// Kalypso pushes over its own commits only, never over a person's.
    ///
    /// Merge the commit, or move it to another branch.
    ForeignCommit = "K0506",
    /// Too many folders would be beside each other.
    ///
    /// With more than 10,000 folders in one, git writes that one anew for every change, and hosts stop showing it. So nothing is published until the folders
    /// are spread over others.
    ///
    /// ```yaml
    /// kind: GitOpsRepo
    /// metadata:
    ///   annotations:
    ///     output.kalypso.io/fan-out: "true"
    /// ```
    ///
    /// The folder of a cluster type is then in two others, named by the first four digits of the SHA-256 of its name: `printf %s large | sha256sum` begins with
    /// `d35c`, so `large/` becomes `d3/5c/large/`. Clusters have to look at the new paths: change them together with the annotation.
    TooManyFolders = "K0507",
    /// The GitOps branch has something in the place of a file of Kalypso's own.
    ///
    /// Kalypso writes `.kalypso/owner`, which says whose branch or folder it is, and `.github/tracking/Promoted_Commit_Id`. A file, link or folder that stands
    /// there and is not what Kalypso writes is somebody else's, so it stays, and nothing is published. `--adopt` takes over folders of cluster types only.
    ///
    /// ```text
    /// .kalypso                # a file of another program
    /// ```
    ///
    /// Move or remove it, or give the environment a branch or `path` of its own in its `GitOpsRepo`.
    ForeignFile = "K0508",
    /// Output would go to a branch that something is read from.
    ///
    /// A `GitOpsRepo` names the branch of an environment, of a `BaseRepo` or registration, or the control plane's main branch. Kalypso would read its own
    /// output as input, and would remove what is not wanted from among the sources; so nothing is published there.
    ///
    /// ```yaml
    /// kind: GitOpsRepo
    /// spec:
    ///   repo: https://git.example/acme/control-plane
    ///   branch: dev                 # refused, if `dev` is the branch of the environment
    /// ```
    ///
    /// Let output go to a branch of its own, best in a repository of its own: who may write to it decides what clusters pull.
    SourceIsDestination = "K0509",
    /// Output would go to the branch on which its changes are proposed.
    ///
    /// Changes of an environment are proposed on `kalypso/<environment>`, in the repository that its output goes to. That branch is made anew with each
    /// proposal, and removed when there is nothing to propose. A branch that clusters pull must not be it; so nothing is published there.
    ///
    /// ```yaml
    /// kind: GitOpsRepo
    /// spec:
    ///   branch: kalypso/dev         # refused in environment dev
    /// ```
    ///
    /// Give the branch that clusters pull another name, such as that of the environment.
    ProposalIsDestination = "K0510",

    /// A repository can't be read.
    ///
    /// The message says what git answered. Workloads of an application repository keep their last good output; an environment whose own control plane or base
    /// can't be read is not published at all. An unreadable repository is never taken for an empty one.
    ///
    /// Does the repository exist, and may this machine read it? Tokens are named in `kalypso.toml`:
    ///
    /// ```toml
    /// [git]
    /// credentials = [{ prefix = "https://git.example/acme/", token-env = "ACME_TOKEN" }]
    /// ```
    Unreachable = "K0601",
    /// A branch, tag or commit does not exist.
    ///
    /// The repository answered, but has nothing of that name. What depends on it is treated as if the repository could not be read.
    ///
    /// Is it spelled right, and pushed? A commit must also still be on a branch.
    RevisionNotFound = "K0602",
    /// A repository URL is not allowed.
    ///
    /// URLs in objects begin with `https://` or `ssh://`, or are `user@host:path`, and hold no password. An object must not make Kalypso read files of the
    /// machine it runs on, or start a program.
    ///
    /// ```yaml
    /// spec:
    ///   repo: file:///etc           # refused
    /// ```
    ///
    /// Local paths and other transports can be configured by the person who runs Kalypso:
    ///
    /// ```toml
    /// [git]
    /// rewrite = [{ from = "https://git.example/", to = "/srv/git/" }]
    /// ```
    InvalidUrl = "K0603",
    /// Base repositories refer to one another in a circle.
    ///
    /// There is no order in which they could build on each other, so the environment is not published. The message shows the way round.
    ///
    /// Remove one of the references.
    Cycle = "K0604",
    /// A path does not exist in its repository.
    ///
    /// The repository and branch are there, but not the folder or file. A folder that vanished is never taken for an empty one.
    ///
    /// Is it spelled right, with upper and lower case, and is it on that branch?
    PathNotFound = "K0605",
    /// There is no such environment.
    ///
    /// `Environment` objects live in the folder `.environments` of the control plane's `main` branch.
    ///
    /// Is the name spelled right, and is its `Environment` committed there? With `--from DIR` the name of the environment is whatever `-e` says.
    EnvironmentNotFound = "K0606",
    /// A path leads out of its repository.
    ///
    /// Paths in objects are relative to the root of their repository and hold no `..`, so that nobody can point at files of another one, or of the machine.
    ///
    /// Write the path as it is below the root, such as `workload/`.
    InvalidPath = "K0607",
    /// A Flux `Kustomization` refers to a `GitRepository` that is not there.
    ///
    /// The two are followed as a pair. Without the `GitRepository` it is not known what the `Kustomization` would bring, so nothing of the environment is
    /// published.
    ///
    /// ```yaml
    /// kind: Kustomization
    /// spec:
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: region-east       # an object of this name must be beside it
    /// ```
    ///
    /// Add the `GitRepository`, or correct the name.
    SourceNotFound = "K0608",
    /// A place takes too much to read.
    ///
    /// How many files and folders are read below one path, and how many bytes they have, is limited: an application's repository to 10,000 YAML files of
    /// 32 MiB together, in some 100,000 folders, one of the platform's to 200,000 files of 2 GiB. A file that lies under several names counts for each. So
    /// nobody who may push to one repository can keep all others waiting. One transfer takes at most 2 GiB on disk. What an application brings is then not known, so its workloads keep their last good
    /// output; of the platform's, nothing is published.
    ///
    /// ```yaml
    /// kind: WorkloadRegistration
    /// spec:
    ///   workload:
    ///     repo: https://git.example/acme/monorepo
    ///     path: .                # everything; `services/greetings/kalypso` would do
    /// ```
    ///
    /// Name a smaller folder, or leave folders out with `.sourceignore`.
    TooMuchToRead = "K0609",
    /// What was read before may be older than what was published.
    ///
    /// While an application's repository can't be reached, the commit that this machine read last is used instead. Not if another one of the same branch was
    /// published, and this machine has not seen that one first: another machine may have published something newer, and clusters would go back. The workloads
    /// keep their last good output, and everything else is published.
    ///
    /// Which commit is newer is decided by the order in which this machine has seen the branch, never by dates. A commit that is read from the repository
    /// itself is always used, also after a reset or a revert.
    ///
    /// Publish again when the repository answers, or from a machine that reaches it. If the repository is gone for good, remove its registration.
    CachedIsOlder = "K0610",
    /// The cache is not this user's own, or others may write to it.
    ///
    /// What is in the cache decides what is published, and git works there with credentials. So it is only used if it belongs to the user who runs
    /// Kalypso, if nobody else may write to it, if it is no symbolic link, and if nobody else may rename a folder above it. Otherwise a new, empty folder is
    /// used for this run, and removed at its end: everything is fetched and compiled again.
    ///
    /// ```console
    /// $ ls -ld /tmp/cache
    /// drwxrwxrwx 2 ann ann 4096 Jun  1 12:00 /tmp/cache
    /// ```
    ///
    /// Close it with `chmod 700`, or name a folder of your own: `cache` in `[git]` of `kalypso.toml`, or the variable `KALYPSO_CACHE_DIR`. Left out, it
    /// is in your home. If others could write there before, remove what is in it.
    UntrustedCache = "K0611",
    /// A push would run programs in a repository that is not this user's own.
    ///
    /// To push to a repository of this machine, git runs there, with that repository's `config` and `hooks`, as the user who pushes. So nothing is pushed
    /// unless the repository, its `config` and its `hooks` belong to the user who runs Kalypso, and nobody else may write to them. That holds for `root` as
    /// well, and for repositories that a group shares. Reading one runs nothing, and is not refused.
    ///
    /// Push over ssh or https, where the host runs what it runs as a user of its own. Or make the repository yours alone: `chmod go-w` on it, its
    /// `config` and its `hooks`.
    NotOwned = "K0612",
    /// The cache can't be written.
    ///
    /// The disk is full, a quota is used up, or the folder can't be written. It has nothing to do with the repository that was to be fetched, or with
    /// credentials. What is in the cache already can still be read.
    ///
    /// Make room: the cache may be removed at any time. Or name another folder: `cache` in `[git]` of `kalypso.toml`, or the variable `KALYPSO_CACHE_DIR`.
    CacheFailed = "K0613",
    /// A repository does not answer in time.
    ///
    /// The message says what was waited for, and for how long: the list of branches, commits, or that a push is taken. Git was ended with everything that
    /// it had started. The repository counts as unreadable, as in `K0601`; whether a push arrived is found out by asking where the branch is.
    ///
    /// ```text
    /// repository `https://git.example/acme/shop` did not answer in time: listing branches took more than 60 seconds
    /// ```
    ///
    /// Run the same command again. If it stays so, look from the same machine what `git ls-remote URL` does: a proxy or firewall that swallows connections
    /// is the usual reason.
    NoAnswerInTime = "K0614",
    /// What answers at a repository's URL is no git server.
    ///
    /// Something answers, and says that all is well, but it does not speak git: mostly a page to log in at, or the page of a proxy. Git alone would take that
    /// for a repository without branches. It counts as unreadable, as in `K0601`, never as empty.
    ///
    /// Is the URL that of the repository itself, and is a token needed? Tokens are named in `kalypso.toml`:
    ///
    /// ```toml
    /// [git]
    /// credentials = [{ prefix = "https://git.example/acme/", token-env = "ACME_TOKEN" }]
    /// ```
    NotAGitServer = "K0615",
    /// The copy of a repository is in use by another run.
    ///
    /// Runs that share a cache take turns in changing the copy of a repository. The system gives the right to the next one as soon as a run ends, however it
    /// ends; so the process that the message names is alive, and has been fetching or pushing for long.
    ///
    /// Wait for it, end it, or give this run a cache of its own:
    ///
    /// ```toml
    /// [git]
    /// cache = "/var/cache/kalypso-2"
    /// ```
    CopyInUse = "K0616",
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
