-- The release that a platform folder was rendered with, and whether a person pinned its place to it.
alter table place_revision add column workload_version_id integer references workload_version;
alter table place_revision add column is_pinned integer not null default 0;
create index place_revision_version on place_revision (workload_version_id, place_id) where workload_version_id is not null;

-- Publishers send all folders again, with their releases.
delete from published_output;
