-- Which reconcilers apply folders that begin so: the order of other collations says nothing of beginnings.
create index reconciler_endpoint_beginning on reconciler (manifests_endpoint collate "C");
