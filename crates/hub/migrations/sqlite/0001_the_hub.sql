-- What is wanted, what is reported, and since when. Times are UTC, in milliseconds; they are counted from 1970.
-- Tables and columns up to `deployment` have the names of Microsoft's hub, so that SQL written for it keeps working.

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

-- Which version a target was to have, since which commit of its GitOps repository. Rows are only added: going back to an earlier one is a new row.
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
    -- Out of service since then: in no total, but in the history.
    retired_on  integer
);

-- The labels of hosts, one row each, to select by them.
create table host_label (
    host_id integer not null references host on delete cascade,
    key     text not null,
    value   text not null,
    primary key (host_id, key)
);
create index host_label_pair on host_label (key, value, host_id);

-- A branch of a GitOps repository, and how far its commits were read.
create table gitops_branch (
    id         integer primary key,
    repository text not null,
    branch     text not null,
    head       text,
    read_on    integer,
    unique (repository, branch)
);

-- The commits of a branch that the hub knows, in the order in which the branch went through them.
create table gitops_commit (
    id           integer primary key,
    branch_id    integer not null references gitops_branch,
    commit_id    text not null,
    sequence     integer not null,
    committed_on integer not null,
    unique (branch_id, commit_id),
    unique (branch_id, sequence)
);
create index gitops_commit_id on gitops_commit (commit_id);

-- Places whose reconcilers are counted together: those of one folder, or of the folders of all clusters of a type.
create table place_group (
    id             integer primary key,
    name           text not null unique,
    environment_id integer references environment,
    cluster_type   text,
    -- What is at these places: `application` (a workload's manifests) or `platform` (namespace, configuration, reconciler).
    role           text not null
);
create index place_group_environment on place_group (environment_id);

create table place_group_target (
    place_group_id       integer not null references place_group,
    deployment_target_id integer not null references deployment_target,
    primary key (place_group_id, deployment_target_id)
);
create index place_group_target_target on place_group_target (deployment_target_id);

-- A folder of a branch that reconcilers apply.
create table place (
    id                 integer primary key,
    endpoint           text not null unique,
    branch_id          integer references gitops_branch,
    path               text not null,
    place_group_id     integer not null references place_group,
    cluster            text,
    -- What it should hold now; none if it is wanted no more.
    wanted_revision_id integer references place_revision
);
create index place_branch on place (branch_id);
create index place_of_group on place (place_group_id);

-- What a place was to hold, since which commit. Rows are only added: going back to an earlier one is a new row. The tree is absent where the place was removed.
create table place_revision (
    id               integer primary key,
    place_id         integer not null references place,
    gitops_commit_id integer not null references gitops_commit,
    tree             text,
    config_version   text,
    wanted_on        integer not null
);
create index place_revision_place on place_revision (place_id, gitops_commit_id);
create index place_revision_commit on place_revision (gitops_commit_id);

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
    -- It reports at least that often; none if it reports changes only.
    heartbeat_seconds      integer,
    retired_on             integer,
    unique (host_id, name)
);
create index reconciler_place on reconciler (place_id);
create index reconciler_endpoint on reconciler (manifests_endpoint);

-- What was reported. Rows are only added; `created_on` is when it was so, `received_on` when the hub heard of it. `revision` is as it was reported;
-- `gitops_commit_id` is the commit at which what the place held then became wanted, where that is known, so that commits elsewhere in the branch don't matter.
create table deployment (
    id               integer primary key,
    gitops_commit_id text not null,
    reconciler_id    integer not null references reconciler,
    status           text not null,
    status_message   text,
    created_on       integer not null,
    created_by       text not null default 'kalypso',
    updated_on       integer not null default (cast(unixepoch('subsec') * 1000 as integer)),
    updated_by       text not null default 'kalypso',
    received_on      integer not null,
    revision         text,
    tree             text,
    version          text,
    digest           integer not null,
    -- The report of the same reconciler before this one.
    previous_id      integer
);
create index deployment_commit on deployment (gitops_commit_id);
-- No index by reconciler: `previous_id` leads from its latest report to the earlier ones, and costs no page of its own.

-- How many reconcilers are in one state. Questions about a million hosts read these.
create table tally (
    id               integer primary key,
    place_group_id   integer not null,
    wanted_commit_id integer not null,
    held_commit_id   integer not null,
    is_current       integer not null,
    status           integer not null,
    is_silent        integer not null,
    reconcilers      integer not null,
    unique (place_group_id, wanted_commit_id, held_commit_id, is_current, status, is_silent)
);
create index tally_wanted on tally (wanted_commit_id);

-- The latest of each reconciler, in as few bytes as possible: this is what every report changes.
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
    is_silent        integer not null default 0
);
create index reconciler_state_attention on reconciler_state (tally_id, reconciler_id) where status <> 2 or is_silent <> 0 or held_revision_id is null;
