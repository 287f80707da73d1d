-- Texts are in the order of their bytes already: nothing to do.
select 1;
