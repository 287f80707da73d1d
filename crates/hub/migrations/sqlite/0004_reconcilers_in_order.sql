-- The index of reconcilers by place has them in the order of their ids already: nothing to do.
select 1;
