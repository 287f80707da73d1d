-- The places of a group page by page, in the order of their ids.
drop index place_of_group;
create index place_of_group on place (place_group_id, id);
