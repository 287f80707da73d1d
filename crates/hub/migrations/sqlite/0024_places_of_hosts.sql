-- Who registered a reconciler for its place: 0 an operator, or a reporter for the whole platform; 1 a token of its host; 2 nobody: it was known before this column.
alter table reconciler add column registered_by smallint not null default 2;
create index place_cluster on place (cluster) where cluster is not null;
create index place_group_cluster_type on place_group (cluster_type);

-- Reports of tokens of hosts about places that their hosts are not registered for. Nothing counts them. The latest of each token, host, reconciler and place.
create table apart_report (
    token       text not null,
    host        text not null,
    reconciler  text not null,
    endpoint    text not null,
    -- Why it is kept apart.
    reason      text not null,
    status      text not null,
    revision    text,
    message     text,
    reports     integer not null,
    observed_on integer not null,
    first_on    integer not null,
    received_on integer not null,
    primary key (token, host, reconciler, endpoint)
);
create index apart_report_received on apart_report (token, received_on);
