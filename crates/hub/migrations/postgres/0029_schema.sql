-- The desired state, the reported state, and the times of their changes. Times are UTC, in milliseconds, without a time zone.
-- Tables and columns from `workspace` to `deployment` have the names of Microsoft's hub, so that SQL for that hub works here.

create table workspace (
    id          serial primary key,
    name        varchar(253) not null unique,
    description text,
    created_on  timestamp(3) not null default (current_timestamp at time zone 'utc'),
    created_by  varchar(253) not null default current_user,
    updated_on  timestamp(3) not null default (current_timestamp at time zone 'utc'),
    updated_by  varchar(253) not null default current_user
);

create table application (
    id           serial primary key,
    name         varchar(253) not null,
    description  text,
    workspace_id integer not null references workspace,
    created_on   timestamp(3) not null default (current_timestamp at time zone 'utc'),
    created_by   varchar(253) not null default current_user,
    updated_on   timestamp(3) not null default (current_timestamp at time zone 'utc'),
    updated_by   varchar(253) not null default current_user,
    unique (workspace_id, name)
);

create table workload (
    id                  serial primary key,
    name                varchar(253) not null,
    description         text,
    source_storage_type varchar(253) not null default 'git',
    source_endpoint     text,
    application_id      integer not null references application,
    created_on          timestamp(3) not null default (current_timestamp at time zone 'utc'),
    created_by          varchar(253) not null default current_user,
    updated_on          timestamp(3) not null default (current_timestamp at time zone 'utc'),
    updated_by          varchar(253) not null default current_user,
    unique (application_id, name)
);
create index workload_name on workload (name);

create table environment (
    id          serial primary key,
    name        varchar(253) not null unique,
    description text,
    created_on  timestamp(3) not null default (current_timestamp at time zone 'utc'),
    created_by  varchar(253) not null default current_user,
    updated_on  timestamp(3) not null default (current_timestamp at time zone 'utc'),
    updated_by  varchar(253) not null default current_user
);

-- Two targets may share a folder: the endpoint is not unique.
create table deployment_target (
    id                     serial primary key,
    name                   varchar(253) not null,
    description            text,
    workload_id            integer not null references workload,
    environment_id         integer not null references environment,
    labels                 text,
    manifests_storage_type varchar(253) not null default 'git',
    manifests_endpoint     text,
    created_on             timestamp(3) not null default (current_timestamp at time zone 'utc'),
    created_by             varchar(253) not null default current_user,
    updated_on             timestamp(3) not null default (current_timestamp at time zone 'utc'),
    updated_by             varchar(253) not null default current_user,
    unique (workload_id, environment_id, name)
);
create index deployment_target_endpoint on deployment_target (manifests_endpoint);
create index deployment_target_environment on deployment_target (environment_id);
create index deployment_target_name on deployment_target (name);

create table workload_version (
    id              serial primary key,
    version         varchar(253) not null,
    build_id        varchar(253),
    build_commit_id varchar(253),
    workload_id     integer not null references workload,
    created_on      timestamp(3) not null default (current_timestamp at time zone 'utc'),
    created_by      varchar(253) not null default current_user,
    unique (workload_id, version)
);

-- The desired version of a target since a commit of its GitOps repository. Rows are only added: the return to an earlier version is a new row. There is one row
-- for a target, a version and a commit.
create table deployment_assignment (
    id                   serial primary key,
    deployment_target_id integer not null references deployment_target,
    workload_version_id  integer not null references workload_version,
    gitops_commit_id     varchar(253) not null,
    created_on           timestamp(3) not null default (current_timestamp at time zone 'utc'),
    created_by           varchar(253) not null default current_user
);
create index deployment_assignment_commit on deployment_assignment (gitops_commit_id);
create index deployment_assignment_target on deployment_assignment (deployment_target_id, id);

create table host (
    id          serial primary key,
    name        varchar(253) not null unique,
    description text,
    host_type   varchar(253) not null default 'K8s-cluster',
    labels      text,
    created_on  timestamp(3) not null default (current_timestamp at time zone 'utc'),
    created_by  varchar(253) not null default current_user,
    updated_on  timestamp(3) not null default (current_timestamp at time zone 'utc'),
    updated_by  varchar(253) not null default current_user,
    -- Out of service since then: no total counts it, but the history has it.
    retired_on  timestamp(3)
);

-- The labels of hosts, one row for each, for selectors.
create table host_label (
    host_id integer not null references host on delete cascade,
    key     varchar(317) not null,
    value   varchar(63) not null,
    primary key (host_id, key)
);
create index host_label_pair on host_label (key, value, host_id);

-- A branch of a GitOps repository, and the commit up to which it was read.
create table gitops_branch (
    id         serial primary key,
    repository text not null,
    branch     varchar(253) not null,
    head       varchar(64),
    read_on    timestamp(3),
    -- The folder of the output in the branch when it was read last. If the configuration names another folder later, all folders are compared again.
    folder     text,
    unique (repository, branch)
);

-- The commits of a branch that the hub knows, in the order in which the branch had them as its head. A branch that is reset has a commit again.
create table gitops_commit (
    id           serial primary key,
    branch_id    integer not null references gitops_branch,
    commit_id    varchar(64) not null,
    sequence     integer not null,
    -- When the commit was made. Of a commit that the branch was reset to: when that was noticed.
    committed_on timestamp(3) not null,
    unique (branch_id, sequence)
);
create index gitops_commit_id on gitops_commit (commit_id, branch_id);

-- Places whose reconcilers are counted together: those of one folder, or of the folders of all clusters of a cluster type.
create table place_group (
    id             serial primary key,
    name           text not null unique,
    environment_id integer references environment,
    cluster_type   varchar(253),
    -- `application`: the manifests of a workload. `platform`: namespace, configuration, reconciler.
    role           varchar(16) not null
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
    id                  serial primary key,
    endpoint            text not null unique,
    branch_id           integer references gitops_branch,
    path                text not null,
    place_group_id      integer not null references place_group,
    cluster             varchar(253),
    -- The content that is desired now. Null: none.
    desired_revision_id integer,
    -- The earlier names of the cluster, or of the cluster type if the place has no cluster, with commas between them.
    earlier_names       text
);
create index place_branch on place (branch_id);
-- Page by page, in the order of ids.
create index place_of_group on place (place_group_id, id);
create index place_cluster on place (cluster) where cluster is not null;
create index place_earlier_names on place (place_group_id) where earlier_names is not null;
-- Ranges of branches, and folders in folders, are found by the beginning of their endpoints.
create index place_endpoint_beginning on place (endpoint collate "C");

-- The desired content of a place since a commit. Rows are only added: the return to earlier content is a new row. The tree is null if the place was removed.
create table place_revision (
    id                  serial primary key,
    place_id            integer not null references place,
    gitops_commit_id    integer not null references gitops_commit,
    tree                varchar(64),
    config_version      varchar(253),
    desired_on          timestamp(3) not null,
    -- The release that a platform folder was rendered with.
    workload_version_id integer references workload_version,
    -- Whether a person pinned the place to the release.
    is_pinned           smallint not null default 0
);
create index place_revision_place on place_revision (place_id, gitops_commit_id);
create index place_revision_commit on place_revision (gitops_commit_id);
create index place_revision_version on place_revision (workload_version_id, place_id) where workload_version_id is not null;
alter table place add foreign key (desired_revision_id) references place_revision;

create table reconciler (
    id                     serial primary key,
    name                   varchar(253) not null,
    host_id                integer not null references host,
    description            text,
    reconciler_type        varchar(253) not null default 'generic',
    labels                 text,
    manifests_storage_type varchar(253) not null default 'git',
    manifests_endpoint     text,
    created_on             timestamp(3) not null default (current_timestamp at time zone 'utc'),
    created_by             varchar(253) not null default current_user,
    updated_on             timestamp(3) not null default (current_timestamp at time zone 'utc'),
    updated_by             varchar(253) not null default current_user,
    place_id               integer references place,
    -- It announced that it reports at least once in this time. Null: it only reports changes.
    heartbeat_seconds      integer,
    retired_on             timestamp(3),
    -- 1: its reports name no place; its place was found by its name.
    is_named               smallint not null default 0,
    -- The workload that its reports name, if they name no folder.
    workload_name          varchar(253),
    workload_environment   varchar(253),
    -- 1: its reports only name a version. The content of a version changes with the desired state.
    is_by_version          smallint not null default 0,
    -- Who registered it for its place. 0: an operator, or a reporter for the whole platform. 1: a token of its host. 2: nobody.
    registered_by          smallint not null default 2,
    unique (host_id, name)
);
-- The reconcilers of a place, page by page.
create index reconciler_place_in_order on reconciler (place_id, id);
create index reconciler_endpoint on reconciler (manifests_endpoint);
-- Reconcilers of the folders below a folder: other collations have another order.
create index reconciler_endpoint_beginning on reconciler (manifests_endpoint collate "C");
create index reconciler_nameable on reconciler (name collate "C") where manifests_endpoint is null or is_named = 1;
create index reconciler_workload on reconciler (workload_name) where workload_name is not null;
create index reconciler_by_version on reconciler (place_id) where is_by_version = 1;

-- Reports. Rows are only added. `created_on` is the time of the reported state, `received_on` the time of the request. `revision` is the reported one.
-- `gitops_commit_id` is the commit at which the reported content became desired, if that is known: commits elsewhere in the branch do not matter.
create table deployment (
    id                 bigserial primary key,
    gitops_commit_id   varchar(253) not null,
    -- No foreign key: every report would lock and write the row of its reconciler.
    reconciler_id      integer not null,
    status             varchar(16) not null,
    status_message     text,
    created_on         timestamp(3) not null,
    created_by         varchar(253) not null default current_user,
    updated_on         timestamp(3) not null default (current_timestamp at time zone 'utc'),
    updated_by         varchar(253) not null default current_user,
    received_on        timestamp(3) not null,
    revision           text,
    tree               varchar(64),
    version            varchar(253),
    digest             bigint not null,
    -- The report of the same reconciler before this one.
    previous_id        bigint,
    -- The place of the report, if it is not the place of its reconciler.
    manifests_endpoint text,
    -- Whether the report named its place.
    names_place        smallint,
    -- When the report before it was confirmed last.
    previous_seen_on   timestamp(3)
);
create index deployment_commit on deployment (gitops_commit_id);
create index deployment_endpoint on deployment (manifests_endpoint, reconciler_id) where manifests_endpoint is not null;
-- For queries of others: the hub reads the history of a reconciler along `previous_id`.
create index deployment_reconciler on deployment (reconciler_id);

-- The number of reconcilers in each state. Queries about a million hosts read these rows. The numbers change with every report: with room on their pages,
-- and in no index, they are changed in place.
create table tally (
    id                serial primary key,
    place_group_id    integer not null,
    desired_commit_id integer not null,
    held_commit_id    integer not null,
    is_current        smallint not null,
    status            smallint not null,
    is_silent         smallint not null,
    reconcilers       bigint not null,
    -- 0: reconcilers without a heartbeat, announced or required. The hub can't notice when they stop.
    has_heartbeat     smallint not null default 1,
    constraint tally_key unique (place_group_id, desired_commit_id, held_commit_id, is_current, status, is_silent, has_heartbeat)
) with (fillfactor = 50);
create index tally_desired on tally (desired_commit_id);
-- Reconcilers that reported a commit which the hub does not know: few, and read whenever a commit becomes known.
create index tally_unresolved on tally (id) where held_commit_id = 0 and status <> 0;

-- The latest state of each reconciler, in as few bytes as possible: every report changes it.
create table reconciler_state (
    reconciler_id    integer primary key references reconciler,
    deployment_id    bigint,
    reported_on      timestamp(3),
    seen_on          timestamp(3),
    status           smallint not null,
    digest           bigint not null,
    held_revision_id integer,
    tally_id         integer,
    silent_after     timestamp(3),
    is_silent        smallint not null default 0,
    -- A digest of the reconciler's own data while it was in service and at a place, and that place. If a report has the same digest and place, the rows of
    -- reconciler and host are not read. Null: they have to be read.
    profile          bigint,
    place_id         integer,
    -- Whether the configuration requires a heartbeat of the reconciler. One that it announces itself is in `silent_after`.
    is_awaited       smallint not null default 0
) with (fillfactor = 75);

-- The reconcilers of a tally that need attention: failed, in progress, silent, or with unknown content. In a table of its own, so that reports of others do
-- not change its index.
create table attention (
    tally_id      integer not null,
    reconciler_id integer not null,
    primary key (tally_id, reconciler_id)
);

-- The tokens of clients. Only the SHA-256 of their secrets is stored. Secrets have 256 random bits, so that no slow hash is needed.
create table token (
    -- The public part of the token's text.
    id               varchar(64) primary key,
    name             varchar(253) not null,
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
    previous_until   timestamp(3),
    created_on       timestamp(3) not null,
    expires_on       timestamp(3),
    revoked_on       timestamp(3),
    last_used_on     timestamp(3),
    -- The workspaces and environments that a token is limited to (empty: all of them). JSON.
    workspaces       text not null default '[]',
    environments     text not null default '[]'
);
create unique index token_name on token (name) where revoked_on is null;

-- Data from publishers about proposed content. Its commit is not known yet. It is used when the tree is found at the place.
create table planned_content (
    endpoint text not null,
    tree     varchar(64) not null,
    -- A place of the publication, as JSON.
    place    text not null,
    noted_on timestamp(3) not null,
    primary key (endpoint, tree)
);
create index planned_content_noted on planned_content (noted_on);

-- Reconcilers that became silent, and that reported again, for clients that follow changes. Rows are only added, and deleted after some days.
create table silence (
    id            bigserial primary key,
    reconciler_id integer not null references reconciler,
    -- 1: it became silent. 0: it reported again.
    is_silent     smallint not null,
    -- When its heartbeat was due.
    silent_after  timestamp(3),
    noticed_on    timestamp(3) not null
);
create index silence_noticed on silence (noticed_on);

-- The states of the rules of the configuration. A change of a state and its notification are one transaction, so that one of several replicas adds it.
create table rule_state (
    name         varchar(253) primary key,
    -- `ok`, `pending` (the condition holds, but not for long enough) or `firing`.
    phase        varchar(20) not null,
    since_on     timestamp(3) not null,
    evaluated_on timestamp(3) not null,
    -- The number of reconcilers that the last evaluation counted, and of how many.
    matching     bigint not null default 0,
    expected     bigint not null default 0,
    -- Why it could not be evaluated.
    problem      text,
    -- How long the last evaluation took, in milliseconds.
    took_ms      bigint not null default 0
);

-- Notifications and their delivery. A notification of a rule waits until the earlier ones are delivered or given up.
create table notification (
    id           bigserial primary key,
    -- The header `webhook-id`, the same for each attempt.
    message_id   varchar(60) not null unique,
    rule         varchar(253) not null,
    -- `firing` or `resolved`.
    kind         varchar(20) not null,
    body         text not null,
    created_on   timestamp(3) not null,
    -- When it is sent next. Null: never.
    due_on       timestamp(3),
    attempts     integer not null default 0,
    delivered_on timestamp(3),
    given_up_on  timestamp(3),
    -- Why the last attempt failed.
    problem      text
);
create index notification_due on notification (rule, id) where due_on is not null;
create index notification_rule on notification (rule, id);
create index notification_created on notification (created_on);

-- The order in which changes reach environments, as it was published last. Names, because environments are ordered before anything is desired there.
create table environment_order (
    name     varchar(253) primary key,
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

-- The last report of a reconciler about each commit, at its present place. The latest of its rows is its state, also after a return to an earlier commit.
create view microsoft_deployment as
    select d.id, d.gitops_commit_id, r.id as reconciler_id, d.status, d.status_message, d.created_on, d.created_by, d.updated_on, d.updated_by
    from reconciler r join host h on h.id = r.host_id join reconciler_state s on s.reconciler_id = r.id
    cross join lateral (
        with recursive chain as (
            select f.*, 1 as depth from deployment f where f.id = s.deployment_id and f.manifests_endpoint is null
            union all
            select n.*, c.depth + 1 from chain c join deployment n on n.id = c.previous_id
                where n.manifests_endpoint is null and c.depth < 20000)
        select distinct on (c.gitops_commit_id) c.* from chain c order by c.gitops_commit_id, c.depth) d
    where r.retired_on is null and h.retired_on is null;

-- The audit log. The oldest entries are deleted.
create table audit (
    id      bigserial primary key,
    done_on timestamp(3) not null,
    -- The name of a token, the subject of an OIDC token, or the user of a command line.
    actor   text not null,
    action  varchar(40) not null,
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
    term          bigint not null,
    held_until    timestamp(3) not null,
    -- The state that the holder shows to the other replicas: JSON. The number grows with each change.
    state         text,
    state_number  bigint not null,
    primary key (control_plane, environment)
);

-- Requests that a replica received for an environment that another one leads. The leader deletes them.
create table sync_request (
    id            bigserial primary key,
    control_plane text not null,
    environment   text not null,
    kind          varchar(20) not null,
    -- The word of a confirmation, and who confirmed. Otherwise empty.
    word          text not null,
    requested_by  text not null,
    requested_on  timestamp(3) not null
);

-- What happened in promotions: decisions of the controller and of people. Rows are only added, and deleted after their retention.
create table promotion_event (
    id          bigserial primary key,
    -- The id that the sender made: a repeated request stores the event once.
    event_id    text not null unique,
    happened_on timestamp(3) not null,
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
    reports     bigint not null,
    observed_on timestamp(3) not null,
    first_on    timestamp(3) not null,
    received_on timestamp(3) not null,
    primary key (token, host, reconciler, endpoint)
);
create index apart_report_received on apart_report (token, received_on);

-- The last commit of a branch of which publishers sent all places of an environment. If a publisher ended before, the next one sends what is missing.
create table published_output (
    branch_id   integer not null references gitops_branch,
    environment varchar(253) not null,
    folder      text not null,
    commit_id   varchar(64) not null,
    primary key (branch_id, environment, folder)
);
