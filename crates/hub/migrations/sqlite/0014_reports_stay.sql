-- A report stays what it was of: the place that it is about, where that is not the place of its reconciler any more; whether it named it; and when the
-- report before it was confirmed last.
alter table deployment add column manifests_endpoint text;
alter table deployment add column names_place smallint;
alter table deployment add column previous_seen_on integer;
create index deployment_endpoint on deployment (manifests_endpoint, reconciler_id) where manifests_endpoint is not null;
