-- The history of a reconciler is read along its chain (previous_id). This index is for others' queries: without the moment it is a third of the size, which
-- every report writes to at random.
drop index deployment_reconciler;
create index deployment_reconciler on deployment (reconciler_id);

-- Counts change with every report: with room on their pages, and in no index, they are changed in place.
drop index tally_unresolved;
create index tally_unresolved on tally (id) where held_commit_id = 0 and status <> 0;
alter table tally set (fillfactor = 50);
