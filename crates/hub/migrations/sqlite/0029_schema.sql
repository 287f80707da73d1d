-- The desired state, the reported state, and the times of their changes. Times are UTC, in milliseconds since 1970.
-- Tables and columns from `workspace` to `deployment` have the names of Microsoft's hub, so that SQL for that hub works here.

create table workspace (
    id          integer primary key,
    name        text not null unique,
    description text,
    created_on  integer not null default (cast(unixepoch('subsec') * 1000 as integer)),
    created_by  text not null default 'kalypso',
    updated_on  integer not null default (cast(unixepoch('subsec') * 1000 as integer)),
    updated_by  text not null default 'kalypso'
);

create table application (
    id           integer primary key,
    name         text not null,
    description  text,
    workspace_id integer not null references workspace,
    created_on   integer not null default (cast(unixepoch('subsec') * 1000 as integer)),
    created_by   text not null default 'kalypso',
    updated_on   integer not null default (cast(unixepoch('subsec') * 1000 as integer)),
    updated_by   text not null default 'kalypso',
    unique (workspace_id, name)
);

create table workload (
    id                  integer primary key,
    name                text not null,
    description         text,
    source_storage_type text not null default 'git',
    source_endpoint     text,
    application_id      integer not null references application,
    created_on          integer not null default (cast(unixepoch('subsec') * 1000 as integer)),
    created_by          text not null default 'kalypso',
    updated_on          integer not null default (cast(unixepoch('subsec') * 1000 as integer)),
    updated_by          text not null default 'kalypso',
    unique (application_id, name)
);
create index workload_name on workload (name);

create table environment (
    id          integer primary key,
    name        text not null unique,
    description text,
    created_on  integer not null default (cast(unixepoch('subsec') * 1000 as integer)),
    created_by  text not null default 'kalypso',
    updated_on  integer not null default (cast(unixepoch('subsec') * 1000 as integer)),
    updated_by  text not null default 'kalypso'
);

-- Two targets may share a folder: the endpoint is not unique.
create table deployment_target (
    id                     integer primary key,
    name                   text not null,
    description            text,
    workload_id            integer not null references workload,
    environment_id         integer not null references environment,
    labels                 text,
    manifests_storage_type text not null default 'git',
    manifests_endpoint     text,
    created_on             integer not null default (cast(unixepoch('subsec') * 1000 as integer)),
    created_by             text not null default 'kalypso',
    updated_on             integer not null default (cast(unixepoch('subsec') * 1000 as integer)),
    updated_by             text not null default 'kalypso',
    unique (workload_id, environment_id, name)
);
create index deployment_target_endpoint on deployment_target (manifests_endpoint);
create index deployment_target_environment on deployment_target (environment_id);
create index deployment_target_name on deployment_target (name);

create table workload_version (
    id              integer primary key,
    version         text not null,
    build_id        text,
    build_commit_id text,
    workload_id     integer not null references workload,
    created_on      integer not null default (cast(unixepoch('subsec') * 1000 as integer)),
    created_by      text not null default 'kalypso',
    unique (workload_id, version)
);

-- The desired version of a target since a commit of its GitOps repository. Rows are only added: the return to an earlier version is a new row. There is one row
-- for a target, a version and a commit.
create table deployment_assignment (
    id                   integer primary key,
    deployment_target_id integer not null references deployment_target,
    workload_version_id  integer not null references workload_version,
    gitops_commit_id     text not null,
    created_on           integer not null default (cast(unixepoch('subsec') * 1000 as integer)),
    created_by           text not null default 'kalypso'
);
create index deployment_assignment_commit on deployment_assignment (gitops_commit_id);
create index deployment_assignment_target on deployment_assignment (deployment_target_id, id);

create table host (
    id          integer primary key,
    name        text not null unique,
    description text,
    host_type   text not null default 'K8s-cluster',
    labels      text,
    created_on  integer not null default (cast(unixepoch('subsec') * 1000 as integer)),
    created_by  text not null default 'kalypso',
    updated_on  integer not null default (cast(unixepoch('subsec') * 1000 as integer)),
    updated_by  text not null default 'kalypso',
    -- Out of service since then: no total counts it, but the history has it.
    retired_on  integer
);

-- The labels of hosts, one row for each, for selectors.
create table host_label (
    host_id integer not null references host on delete cascade,
    key     text not null,
    value   text not null,
    primary key (host_id, key)
);
create index host_label_pair on host_label (key, value, host_id);

-- A branch of a GitOps repository, and the commit up to which it was read.
create table gitops_branch (
    id         integer primary key,
    repository text not null,
    branch     text not null,
    head       text,
    read_on    integer,
    -- The folder of the output in the branch when it was read last. If the configuration names another folder later, all folders are compared again.
    folder     text,
    unique (repository, branch)
);

-- The commits of a branch that the hub knows, in the order in which the branch had them as its head. A branch that is reset has a commit again.
create table gitops_commit (
    id           integer primary key,
    branch_id    integer not null references gitops_branch,
    commit_id    text not null,
    sequence     integer not null,
    -- When the commit was made. Of a commit that the branch was reset to: when that was noticed.
    committed_on integer not null,
    unique (branch_id, sequence)
);
create index gitops_commit_id on gitops_commit (commit_id, branch_id);

-- Places whose reconcilers are counted together: those of one folder, or of the folders of all clusters of a cluster type.
create table place_group (
    id             integer primary key,
    name           text not null unique,
    environment_id integer references environment,
    cluster_type   text,
    -- `application`: the manifests of a workload. `platform`: namespace, configuration, reconciler.
    role           text not null
);
create index place_group_environment on place_group (environment_id);
create index place_group_cluster_type on place_group (cluster_type);

create table place_group_target (
    place_group_id       integer not null references place_group,
    deployment_target_id integer not null references deployment_target,
    primary key (place_group_id, deployment_target_id)
);
create index place_group_target_target on place_group_target (deployment_target_id);

-- A folder of a branch that reconcilers apply.
create table place (
    id                  integer primary key,
    endpoint            text not null unique,
    branch_id           integer references gitops_branch,
    path                text not null,
    place_group_id      integer not null references place_group,
    cluster             text,
    -- The content that is desired now. Null: none.
    desired_revision_id integer references place_revision,
    -- The earlier names of the cluster, or of the cluster type if the place has no cluster, with commas between them.
    earlier_names       text
);
create index place_branch on place (branch_id);
-- Page by page, in the order of ids.
create index place_of_group on place (place_group_id, id);
create index place_cluster on place (cluster) where cluster is not null;
create index place_earlier_names on place (place_group_id) where earlier_names is not null;

-- The desired content of a place since a commit. Rows are only added: the return to earlier content is a new row. The tree is null if the place was removed.
create table place_revision (
    id                  integer primary key,
    place_id            integer not null references place,
    gitops_commit_id    integer not null references gitops_commit,
    tree                text,
    config_version      text,
    desired_on          integer not null,
    -- The release that a platform folder was rendered with.
    workload_version_id integer references workload_version,
    -- Whether a person pinned the place to the release.
    is_pinned           integer not null default 0
);
create index place_revision_place on place_revision (place_id, gitops_commit_id);
create index place_revision_commit on place_revision (gitops_commit_id);
create index place_revision_version on place_revision (workload_version_id, place_id) where workload_version_id is not null;

create table reconciler (
    id                     integer primary key,
    name                   text not null,
    host_id                integer not null references host,
    description            text,
    reconciler_type        text not null default 'generic',
    labels                 text,
    manifests_storage_type text not null default 'git',
    manifests_endpoint     text,
    created_on             integer not null default (cast(unixepoch('subsec') * 1000 as integer)),
    created_by             text not null default 'kalypso',
    updated_on             integer not null default (cast(unixepoch('subsec') * 1000 as integer)),
    updated_by             text not null default 'kalypso',
    place_id               integer references place,
    -- It announced that it reports at least once in this time. Null: it only reports changes.
    heartbeat_seconds      integer,
    retired_on             integer,
    -- 1: its reports name no place; its place was found by its name.
    is_named               smallint not null default 0,
    -- The workload that its reports name, if they name no folder.
    workload_name          text,
    workload_environment   text,
    -- 1: its reports only name a version. The content of a version changes with the desired state.
    is_by_version          smallint not null default 0,
    -- Who registered it for its place. 0: an operator, or a reporter for the whole platform. 1: a token of its host. 2: nobody.
    registered_by          smallint not null default 2,
    unique (host_id, name)
);
create index reconciler_place on reconciler (place_id);
create index reconciler_endpoint on reconciler (manifests_endpoint);
create index reconciler_nameable on reconciler (name) where manifests_endpoint is null or is_named = 1;
create index reconciler_workload on reconciler (workload_name) where workload_name is not null;
create index reconciler_by_version on reconciler (place_id) where is_by_version = 1;

-- Reports. Rows are only added. `created_on` is the time of the reported state, `received_on` the time of the request. `revision` is the reported one.
-- `gitops_commit_id` is the commit at which the reported content became desired, if that is known: commits elsewhere in the branch do not matter.
create table deployment (
    id                 integer primary key,
    gitops_commit_id   text not null,
    reconciler_id      integer not null references reconciler,
    status             text not null,
    status_message     text,
    created_on         integer not null,
    created_by         text not null default 'kalypso',
    updated_on         integer not null default (cast(unixepoch('subsec') * 1000 as integer)),
    updated_by         text not null default 'kalypso',
    received_on        integer not null,
    revision           text,
    tree               text,
    version            text,
    digest             integer not null,
    -- The report of the same reconciler before this one.
    previous_id        integer,
    -- The place of the report, if it is not the place of its reconciler.
    manifests_endpoint text,
    -- Whether the report named its place.
    names_place        smallint,
    -- When the report before it was confirmed last.
    previous_seen_on   integer
);
create index deployment_commit on deployment (gitops_commit_id);
create index deployment_endpoint on deployment (manifests_endpoint, reconciler_id) where manifests_endpoint is not null;
-- There is no index by reconciler: `previous_id` leads from the latest report of a reconciler to the earlier ones.

-- The number of reconcilers in each state. Queries about a million hosts read these rows.
create table tally (
    id                integer primary key,
    place_group_id    integer not null,
    desired_commit_id integer not null,
    held_commit_id    integer not null,
    is_current        integer not null,
    status            integer not null,
    is_silent         integer not null,
    reconcilers       integer not null,
    -- 0: reconcilers without a heartbeat, announced or required. The hub can't notice when they stop.
    has_heartbeat     integer not null default 1,
    unique (place_group_id, desired_commit_id, held_commit_id, is_current, status, is_silent, has_heartbeat)
);
create index tally_desired on tally (desired_commit_id);

-- The latest state of each reconciler, in as few bytes as possible: every report changes it.
create table reconciler_state (
    reconciler_id    integer primary key references reconciler,
    deployment_id    integer,
    reported_on      integer,
    seen_on          integer,
    status           integer not null,
    digest           integer not null,
    held_revision_id integer,
    tally_id         integer,
    silent_after     integer,
    is_silent        integer not null default 0,
    -- A digest of the reconciler's own data while it was in service and at a place, and that place. If a report has the same digest and place, the rows of
    -- reconciler and host are not read. Null: they have to be read.
    profile          integer,
    place_id         integer,
    -- Whether the configuration requires a heartbeat of the reconciler. One that it announces itself is in `silent_after`.
    is_awaited       integer not null default 0
);

-- The reconcilers of a tally that need attention: failed, in progress, silent, or with unknown content. In a table of its own, so that reports of others do
-- not change its index.
create table attention (
    tally_id      integer not null,
    reconciler_id integer not null,
    primary key (tally_id, reconciler_id)
) without rowid;

-- The tokens of clients. Only the SHA-256 of their secrets is stored. Secrets have 256 random bits, so that no slow hash is needed.
create table token (
    -- The public part of the token's text.
    id               text primary key,
    name             text not null,
    -- `host` reports for one host, `group` for the hosts that a pattern matches, `read` queries, `admin` is allowed everything.
    role             text not null,
    -- The host's name, or the pattern of names.
    host             text,
    -- Of a group: the types and places of its reports (empty: all of them), and the labels that its hosts get. JSON.
    reconciler_types text not null default '[]',
    places           text not null default '[]',
    labels           text not null default '{}',
    -- Whether signatures made with a key derived from it are accepted.
    signs            integer not null default 0,
    secret_sha256    text not null,
    -- The secret before the last rotation, and until when it is still good.
    previous_sha256  text,
    previous_until   integer,
    created_on       integer not null,
    expires_on       integer,
    revoked_on       integer,
    last_used_on     integer,
    -- The workspaces and environments that a token is limited to (empty: all of them). JSON.
    workspaces       text not null default '[]',
    environments     text not null default '[]'
);
create unique index token_name on token (name) where revoked_on is null;

-- Data from publishers about proposed content. Its commit is not known yet. It is used when the tree is found at the place.
create table planned_content (
    endpoint text not null,
    tree     text not null,
    -- A place of the publication, as JSON.
    place    text not null,
    noted_on integer not null,
    primary key (endpoint, tree)
);
create index planned_content_noted on planned_content (noted_on);

-- Reconcilers that became silent, and that reported again, for clients that follow changes. Rows are only added, and deleted after some days.
-- Ids are never used again, because whoever follows has read up to one of them.
create table silence (
    id            integer primary key autoincrement,
    reconciler_id integer not null references reconciler,
    -- 1: it became silent. 0: it reported again.
    is_silent     integer not null,
    -- When its heartbeat was due.
    silent_after  integer,
    noticed_on    integer not null
);
create index silence_noticed on silence (noticed_on);

-- The states of the rules of the configuration. A change of a state and its notification are one transaction, so that one of several replicas adds it.
create table rule_state (
    name         text primary key,
    -- `ok`, `pending` (the condition holds, but not for long enough) or `firing`.
    phase        text not null,
    since_on     integer not null,
    evaluated_on integer not null,
    -- The number of reconcilers that the last evaluation counted, and of how many.
    matching     integer not null default 0,
    expected     integer not null default 0,
    -- Why it could not be evaluated.
    problem      text,
    -- How long the last evaluation took, in milliseconds.
    took_ms      integer not null default 0
);

-- Notifications and their delivery. A notification of a rule waits until the earlier ones are delivered or given up.
create table notification (
    id           integer primary key autoincrement,
    -- The header `webhook-id`, the same for each attempt.
    message_id   text not null unique,
    rule         text not null,
    -- `firing` or `resolved`.
    kind         text not null,
    body         text not null,
    created_on   integer not null,
    -- When it is sent next. Null: never.
    due_on       integer,
    attempts     integer not null default 0,
    delivered_on integer,
    given_up_on  integer,
    -- Why the last attempt failed.
    problem      text
);
create index notification_due on notification (rule, id) where due_on is not null;
create index notification_rule on notification (rule, id);
create index notification_created on notification (created_on);

-- The order in which changes reach environments, as it was published last. Names, because environments are ordered before anything is desired there.
create table environment_order (
    name     text not null primary key,
    position integer not null
);

-- The tables of Microsoft's hub, each as `microsoft_<table>`, with its columns and its meaning. There, the reports of a reconciler about a commit are one row,
-- which changes. Here, the history has a row for each report. Queries that count hosts by rows of `deployment` must read these views.
create view microsoft_workspace as select id, name, description, created_on, created_by, updated_on, updated_by
    from workspace;
create view microsoft_application as select id, name, description, workspace_id, created_on, created_by, updated_on, updated_by
    from application;
create view microsoft_workload as select id, name, description, source_storage_type, source_endpoint, application_id, created_on, created_by, updated_on, updated_by
    from workload;
create view microsoft_workload_version as select id, version, build_id, build_commit_id, workload_id, created_on, created_by
    from workload_version;
create view microsoft_environment as select id, name, description, created_on, created_by, updated_on, updated_by
    from environment;
create view microsoft_deployment_target as select id, name, description, workload_id, environment_id, labels, manifests_storage_type, manifests_endpoint,
    created_on, created_by, updated_on, updated_by
    from deployment_target;
create view microsoft_deployment_assignment as select id, deployment_target_id, workload_version_id, gitops_commit_id, created_on, created_by
    from deployment_assignment;

-- Retired hosts and reconcilers are in none of them: in that hub, their rows are deleted.
create view microsoft_host as select id, name, description, host_type, labels, created_on, created_by, updated_on, updated_by
    from host where retired_on is null;
create view microsoft_reconciler as select r.id, r.name, r.host_id, r.description, r.reconciler_type, r.labels, r.manifests_storage_type,
    r.manifests_endpoint, r.created_on, r.created_by, r.updated_on, r.updated_by
    from reconciler r join host h on h.id = r.host_id where r.retired_on is null and h.retired_on is null;

-- The last report of a reconciler about each commit, at its present place. The latest of its rows is its state, also after a return to an earlier commit. The
-- signs prevent that SQLite begins with all rows of a commit or a time.
create view microsoft_deployment as
    select d.id, +d.gitops_commit_id as gitops_commit_id, r.id as reconciler_id, d.status, d.status_message, +d.created_on as created_on,
        d.created_by, d.updated_on, d.updated_by
    from reconciler r join host h on h.id = r.host_id join reconciler_state s on s.reconciler_id = r.id
    cross join deployment d on d.id in (
        with recursive chain(id, previous_id, gitops_commit_id, depth) as (
            select f.id, f.previous_id, f.gitops_commit_id, 1 from deployment f where f.id = s.deployment_id and f.manifests_endpoint is null
            union all
            select n.id, n.previous_id, n.gitops_commit_id, c.depth + 1 from chain c join deployment n on n.id = c.previous_id
                where n.manifests_endpoint is null and c.depth < 20000)
        select last.id from (select c.id, min(c.depth) from chain c group by c.gitops_commit_id) as last)
    where r.retired_on is null and h.retired_on is null;

-- The audit log. The oldest entries are deleted.
create table audit (
    id      integer primary key autoincrement,
    done_on integer not null,
    -- The name of a token, the subject of an OIDC token, or the user of a command line.
    actor   text not null,
    action  text not null,
    subject text not null,
    -- More data: JSON.
    detail  text
);
create index audit_done on audit (done_on);

-- Which replica of the service leads an environment. The clock of the database decides when a lease ends.
create table lease (
    control_plane text not null,
    environment   text not null,
    -- The random id of a process, and its name for people.
    holder        text not null,
    holder_name   text not null,
    -- Grows with each change of the holder.
    term          integer not null,
    held_until    integer not null,
    -- The state that the holder shows to the other replicas: JSON. The number grows with each change.
    state         text,
    state_number  integer not null,
    primary key (control_plane, environment)
);

-- Requests that a replica received for an environment that another one leads. The leader deletes them.
create table sync_request (
    id            integer primary key autoincrement,
    control_plane text not null,
    environment   text not null,
    kind          text not null,
    -- The word of a confirmation, and who confirmed. Otherwise empty.
    word          text not null,
    requested_by  text not null,
    requested_on  integer not null
);

-- What happened in promotions: decisions of the controller and of people. Rows are only added, and deleted after their retention.
-- Ids are never used again, because clients have read up to one of them.
create table promotion_event (
    id          integer primary key autoincrement,
    -- The id that the sender made: a repeated request stores the event once.
    event_id    text not null unique,
    happened_on integer not null,
    environment text not null,
    -- The workload. Empty: the commits of the platform.
    subject     text not null,
    revision    text,
    kind        text not null,
    ring        text,
    message     text not null,
    -- Who decided. Absent: the controller.
    decided_by  text,
    -- JSON.
    evidence    text
);
create index promotion_event_happened on promotion_event (happened_on);
create index promotion_event_of on promotion_event (environment, subject, id);

-- Reports of tokens of hosts about places that their hosts are not registered for. Nothing counts them. The latest of each token, host, reconciler and place.
create table apart_report (
    token       text not null,
    host        text not null,
    reconciler  text not null,
    endpoint    text not null,
    -- Why it is kept apart.
    reason      text not null,
    status      text not null,
    revision    text,
    message     text,
    reports     integer not null,
    observed_on integer not null,
    first_on    integer not null,
    received_on integer not null,
    primary key (token, host, reconciler, endpoint)
);
create index apart_report_received on apart_report (token, received_on);

-- The last commit of a branch of which publishers sent all places of an environment. If a publisher ended before, the next one sends what is missing.
create table published_output (
    branch_id   integer not null references gitops_branch,
    environment text not null,
    folder      text not null,
    commit_id   text not null,
    primary key (branch_id, environment, folder)
);
