-- Names of the glossary: the content of a place is desired, and a rule is evaluated.
alter table place rename column wanted_revision_id to desired_revision_id;
alter table place_revision rename column wanted_on to desired_on;
alter table tally rename column wanted_commit_id to desired_commit_id;
drop index tally_wanted;
create index tally_desired on tally (desired_commit_id);
alter table rule_state rename column looked_on to evaluated_on;
