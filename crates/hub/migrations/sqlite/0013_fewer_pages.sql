-- Counts change with every report: they are in no index.
drop index tally_unresolved;
create index tally_unresolved on tally (id) where held_commit_id = 0 and status <> 0;
