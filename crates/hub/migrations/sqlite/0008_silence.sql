-- Who has gone silent, and who was heard again: what is told to those who follow changes. Rows are only added, and forgotten after some days.
-- Ids are never used again, because whoever follows has read up to one of them.
create table silence (
    id            integer primary key autoincrement,
    reconciler_id integer not null references reconciler,
    -- 1: it has gone silent; 0: it was heard again.
    is_silent     integer not null,
    -- Until when it should have reported.
    silent_after  integer,
    noticed_on    integer not null
);
create index silence_noticed on silence (noticed_on);
