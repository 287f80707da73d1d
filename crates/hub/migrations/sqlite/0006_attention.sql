-- Those of a tally that need attention: they failed, are at work, have gone silent, or hold what nobody knows. In a table of its own, so that
-- an index of the states does not have to follow every report.
create table attention (
    tally_id      integer not null,
    reconciler_id integer not null,
    primary key (tally_id, reconciler_id)
) without rowid;
insert into attention (tally_id, reconciler_id) select tally_id, reconciler_id from reconciler_state
    where tally_id is not null and (status <> 2 or is_silent <> 0 or held_revision_id is null);
drop index reconciler_state_attention;

-- What the reconciler said of itself while it was in service and at a place, as a number, and that place: where a report says the same, nobody has
-- to read the rows of the reconciler and its host. No profile: they have to be read.
alter table reconciler_state add column profile integer;
alter table reconciler_state add column place_id integer;
