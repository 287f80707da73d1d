-- The tallies as they were at certain times, for questions about earlier times. A record is written only after a change. Old records are thinned out.
create table count_record (
    id          integer primary key,
    recorded_on integer not null
);
create index count_record_recorded_on on count_record (recorded_on);

-- The rows of `tally` at that time, without those of no reconcilers.
create table recorded_tally (
    record_id         integer not null,
    place_group_id    integer not null,
    desired_commit_id integer not null,
    held_commit_id    integer not null,
    is_current        integer not null,
    status            integer not null,
    is_silent         integer not null,
    has_heartbeat     integer not null,
    reconcilers       integer not null,
    primary key (record_id, place_group_id, desired_commit_id, held_commit_id, is_current, status, is_silent, has_heartbeat)
) without rowid;
