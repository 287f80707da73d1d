-- Reconcilers whose reports name no place are found by their names, as soon as the target is known that they are named after. 1: this one was.
alter table reconciler add column is_named smallint not null default 0;
create index reconciler_nameable on reconciler (name) where manifests_endpoint is null or is_named = 1;
create index workload_name on workload (name);
