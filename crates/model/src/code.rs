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
    /// The file, or one document of it, can't be read, so nobody can say what it means. The newest earlier version of the file that is good is used instead
    /// (see K0117); where there is none, the file contributes nothing. Other files are not affected.
    ///
    /// ```yaml
    /// metadata:
    ///   name: west
    ///    labels: {}     # indented by one blank too many
    /// ```
    ///
    /// Mend the line the message points at: the mistake is there or just before it. Quote a text that holds `: ` or ` #`, or begins with a special character.
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
    /// The object is ignored, so whatever it was meant to do is not done.
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
    /// The field is ignored, so what it was meant to say is not said. It is mostly a typing error, or a field at the wrong depth.
    ///
    /// ```yaml
    /// spec:
    ///   deploymentTargetSelector:
    ///     matchLabels:           # belongs under labelSelector
    ///       purpose: edge
    /// ```
    ///
    /// Move or rename the field. `kalypso schema` makes editors complete and check the fields of a kind.
    UnknownField = "K0105",
    /// An object lacks a field that its kind needs.
    ///
    /// Without it the object means nothing, so its file counts as broken: an earlier good version is used, or the file contributes nothing.
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
    /// A policy with a broken selector selects nothing, rather than everything.
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
    /// Readers of YAML disagree on which of the two counts. Rather than to guess, the file counts as broken.
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
    /// The registration that is first by name keeps it, and a workload of the control plane itself comes before all; the other one is ignored. So a team
    /// can't take over another team's workload by calling its own the same.
    ///
    /// Rename one of the workloads.
    WorkloadTaken = "K0115",
    /// A Kustomize or Flux feature would change the content of this folder.
    ///
    /// Kalypso reads files as they are. A `kustomization.yaml`, or `patches`, `postBuild` or decryption in a Flux `Kustomization`, would make something else
    /// of them, so the folder is not read, rather than read wrongly.
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
    /// The newest version of this file holds errors, which are reported beside this one. So that they hurt nothing else, the newest earlier version on the
    /// same branch that is good is used instead. The message names both commits. Until the file is mended, changes to it have no effect.
    ///
    /// Mend the errors and commit.
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
    /// Mend the schema at the place the message points at.
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
    /// Mend the place the message points at. Templates are Go templates with the functions of sprig.
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

    /// A folder of that name exists in the GitOps repository, and is not Kalypso's.
    ///
    /// A folder is Kalypso's if its `README.md` is exactly the text that Kalypso writes. Everything in such a folder is replaced with each publication, so a
    /// folder that somebody else made is left alone, and nothing is published into it.
    ///
    /// Rename the cluster type, or move the folder. If it is meant to be taken over, say `--adopt`: what is in it is then replaced.
    ForeignFolder = "K0501",
    /// The GitOps branch belongs to somebody else.
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
    /// More than a fifth of the environment's assignments and at least five, or a whole cluster type that still exists, would disappear. That is rarely
    /// meant, and hard to take back on a thousand clusters.
    ///
    /// Look at `kalypso plan`. If it is what you want, say `--confirm`; a pull request carries the label `needs-confirmation`, and is never merged by itself.
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
