-- The views that people keep: addresses of pages, each with a name.
create table kept_view (
    -- The person: the OIDC issuer with the subject at it, or an empty text with the name of a token.
    issuer    text not null,
    person    text not null,
    name      text not null,
    -- The path and the query of the page.
    address   text not null,
    -- 1: each page links to it.
    favourite integer not null,
    primary key (issuer, person, name)
);
