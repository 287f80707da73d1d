-- Names of the glossary: the content of a place is desired, and a rule is evaluated.
alter table place rename column wanted_revision_id to desired_revision_id;
alter table place rename constraint place_wanted_revision_id_fkey to place_desired_revision_id_fkey;
alter table place_revision rename column wanted_on to desired_on;
alter table tally rename column wanted_commit_id to desired_commit_id;
alter index tally_wanted rename to tally_desired;
alter table rule_state rename column looked_on to evaluated_on;

-- PostgreSQL chose and shortened the name of this constraint.
do $$
declare
    former text;
begin
    select conname into strict former from pg_constraint where conrelid = 'tally'::regclass and contype = 'u';
    execute format('alter table tally rename constraint %I to tally_key', former);
end
$$;
