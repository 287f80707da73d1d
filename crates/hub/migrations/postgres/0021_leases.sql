-- Which replica of the service leads an environment. The clock of the database decides when a lease ends.
create table lease (
    control_plane text not null,
    environment   text not null,
    -- The random id of a process, and its name for people.
    holder        text not null,
    holder_name   text not null,
    -- Grows with each change of the holder.
    term          bigint not null,
    held_until    timestamp(3) not null,
    -- The state that the holder shows to the other replicas: JSON. The number grows with each change.
    state         text,
    state_number  bigint not null,
    primary key (control_plane, environment)
);

-- Requests that a replica received for an environment that another one leads. The leader deletes them.
create table sync_request (
    id            bigserial primary key,
    control_plane text not null,
    environment   text not null,
    kind          varchar(20) not null,
    -- The word of a confirmation, and who confirmed. Otherwise empty.
    word          text not null,
    requested_by  text not null,
    requested_on  timestamp(3) not null
);
