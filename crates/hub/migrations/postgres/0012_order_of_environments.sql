-- In which order changes reach environments, as somebody said who knows it. Names, because environments are ordered before anything is wanted there.
create table environment_order (
    name     varchar(253) primary key,
    position integer not null
);
-- Stretches of branches, and folders in folders, are found by how their endpoints begin.
create index place_endpoint_beginning on place (endpoint collate "C");
