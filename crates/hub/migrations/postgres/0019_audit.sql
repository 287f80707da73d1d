-- Who published and decided what. The oldest entries are forgotten.
create table audit (
    id       bigserial primary key,
    done_on  timestamp(3) not null,
    -- The name of a token, the subject of an OIDC token, or the user of a command line.
    actor    text not null,
    action   varchar(40) not null,
    subject  text not null,
    -- What else is known: JSON.
    detail   text
);
create index audit_done on audit (done_on);
