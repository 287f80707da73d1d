-- Whether the configuration requires a heartbeat of the reconciler. One that it announces itself is in `silent_after`.
alter table reconciler_state add column is_awaited smallint not null default 0;

-- Reconcilers without a heartbeat, announced or required, are counted apart: the hub can't detect when they stop.
alter table tally add column has_heartbeat smallint not null default 1;
alter table tally drop constraint tally_key;
alter table tally add constraint tally_key
    unique (place_group_id, desired_commit_id, held_commit_id, is_current, status, is_silent, has_heartbeat);

insert into tally (place_group_id, desired_commit_id, held_commit_id, is_current, status, is_silent, has_heartbeat, reconcilers)
    select t.place_group_id, t.desired_commit_id, t.held_commit_id, t.is_current, t.status, t.is_silent, 0, count(*)
    from tally t join reconciler_state s on s.tally_id = t.id where s.silent_after is null group by t.id;
update tally set reconcilers = tally.reconcilers - n.reconcilers from tally n where n.place_group_id = tally.place_group_id
    and n.desired_commit_id = tally.desired_commit_id and n.held_commit_id = tally.held_commit_id and n.is_current = tally.is_current
    and n.status = tally.status and n.is_silent = tally.is_silent and n.has_heartbeat = 0 and tally.has_heartbeat = 1;
update reconciler_state set tally_id = n.id from tally t join tally n on n.place_group_id = t.place_group_id
    and n.desired_commit_id = t.desired_commit_id and n.held_commit_id = t.held_commit_id and n.is_current = t.is_current
    and n.status = t.status and n.is_silent = t.is_silent and n.has_heartbeat = 0
    where t.id = reconciler_state.tally_id and reconciler_state.silent_after is null;
delete from attention;
insert into attention (tally_id, reconciler_id) select tally_id, reconciler_id from reconciler_state
    where tally_id is not null and (status <> 2 or is_silent <> 0 or held_revision_id is null);
