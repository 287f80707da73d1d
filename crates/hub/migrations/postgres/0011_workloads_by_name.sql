-- Which workload a reconciler's reports name, of those that name no folder: they are found by it as soon as the workload is known.
alter table reconciler add column workload_name varchar(253);
alter table reconciler add column workload_environment varchar(253);
create index reconciler_workload on reconciler (workload_name) where workload_name is not null;
create index deployment_target_name on deployment_target (name);
-- 1: it says by a version only what it holds. What a version means changes with what is wanted.
alter table reconciler add column is_by_version smallint not null default 0;
create index reconciler_by_version on reconciler (place_id) where is_by_version = 1;
