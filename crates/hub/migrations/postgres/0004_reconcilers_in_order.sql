-- The reconcilers of a place, page by page. Reports of reconcilers that stay where they are do not touch it.
create index reconciler_place_in_order on reconciler (place_id, id);
drop index reconciler_place;
