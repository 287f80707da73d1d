-- Who has gone silent, and who was heard again: what is told to those who follow changes. Rows are only added, and forgotten after some days.
create table silence (
    id            bigserial primary key,
    reconciler_id integer not null references reconciler,
    -- 1: it has gone silent; 0: it was heard again.
    is_silent     smallint not null,
    -- Until when it should have reported.
    silent_after  timestamp(3),
    noticed_on    timestamp(3) not null
);
create index silence_noticed on silence (noticed_on);
