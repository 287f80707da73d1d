-- The earlier names of the cluster, or of the cluster type if the place has no cluster, with commas between them.
alter table place add column earlier_names text;
create index place_earlier_names on place (place_group_id) where earlier_names is not null;
