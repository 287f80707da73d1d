-- Whether the configuration requires a heartbeat of the reconciler. One that it announces itself is in `silent_after`.
alter table reconciler_state add column is_awaited integer not null default 0;

-- Reconcilers without a heartbeat, announced or required, are counted apart: the hub can't detect when they stop.
create table counted (
    id                integer primary key,
    place_group_id    integer not null,
    desired_commit_id integer not null,
    held_commit_id    integer not null,
    is_current        integer not null,
    status            integer not null,
    is_silent         integer not null,
    reconcilers       integer not null,
    has_heartbeat     integer not null default 1,
    unique (place_group_id, desired_commit_id, held_commit_id, is_current, status, is_silent, has_heartbeat)
);
insert into counted (id, place_group_id, desired_commit_id, held_commit_id, is_current, status, is_silent, has_heartbeat, reconcilers)
    select id, place_group_id, desired_commit_id, held_commit_id, is_current, status, is_silent, 1, reconcilers from tally;
drop table tally;
alter table counted rename to tally;
create index tally_desired on tally (desired_commit_id);

insert into tally (place_group_id, desired_commit_id, held_commit_id, is_current, status, is_silent, has_heartbeat, reconcilers)
    select t.place_group_id, t.desired_commit_id, t.held_commit_id, t.is_current, t.status, t.is_silent, 0, count(*)
    from tally t join reconciler_state s on s.tally_id = t.id where s.silent_after is null group by t.id;
update tally set reconcilers = reconcilers - coalesce((select n.reconcilers from tally n where n.place_group_id = tally.place_group_id
    and n.desired_commit_id = tally.desired_commit_id and n.held_commit_id = tally.held_commit_id and n.is_current = tally.is_current
    and n.status = tally.status and n.is_silent = tally.is_silent and n.has_heartbeat = 0), 0) where has_heartbeat = 1;
update reconciler_state set tally_id = (select n.id from tally t join tally n on n.place_group_id = t.place_group_id
    and n.desired_commit_id = t.desired_commit_id and n.held_commit_id = t.held_commit_id and n.is_current = t.is_current
    and n.status = t.status and n.is_silent = t.is_silent and n.has_heartbeat = 0 where t.id = reconciler_state.tally_id)
    where silent_after is null and tally_id is not null;
delete from attention;
insert into attention (tally_id, reconciler_id) select tally_id, reconciler_id from reconciler_state
    where tally_id is not null and (status <> 2 or is_silent <> 0 or held_revision_id is null);
