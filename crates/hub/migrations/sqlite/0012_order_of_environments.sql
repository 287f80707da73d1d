-- In which order changes reach environments, as somebody said who knows it. Names, because environments are ordered before anything is wanted there.
create table environment_order (
    name     text not null primary key,
    position integer not null
);
-- Endpoints are in the order of their bytes already.
