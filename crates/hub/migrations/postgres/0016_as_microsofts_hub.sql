-- The tables of Microsoft's hub, each as `microsoft_<table>`: its columns, and its meaning. There, what a reconciler reported of a commit is one row, which
-- changes; here the history has a row for each report. Queries that count rows of `deployment` count hosts only if they read these.
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

-- Who is out of service is in none of them: that hub would have to be told by deleting rows.
create view microsoft_host as select id, name, description, host_type, labels, created_on, created_by, updated_on, updated_by
    from host where retired_on is null;
create view microsoft_reconciler as select r.id, r.name, r.host_id, r.description, r.reconciler_type, r.labels, r.manifests_storage_type,
    r.manifests_endpoint, r.created_on, r.created_by, r.updated_on, r.updated_by
    from reconciler r join host h on h.id = r.host_id where r.retired_on is null and h.retired_on is null;

-- Of each commit that a reconciler reported of the place where it is, the last report. The latest of its rows is what is so, also after going back to an
-- earlier commit.
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
