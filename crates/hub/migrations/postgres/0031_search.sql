-- The names of hosts for searches, in lower case and with `-` between segments: the whole name, what is behind its first three segments, and the last one. The
-- program has the same expressions.
create index host_search_0 on host ((translate(lower(name collate "C"), '._/', '---') collate "C"));
create index host_search_1 on host ((substring((translate(lower(name collate "C"), '._/', '---') collate "C") from '^(?:[^-]*-){1}(.*)$')));
create index host_search_2 on host ((substring((translate(lower(name collate "C"), '._/', '---') collate "C") from '^(?:[^-]*-){2}(.*)$')));
create index host_search_3 on host ((substring((translate(lower(name collate "C"), '._/', '---') collate "C") from '^(?:[^-]*-){3}(.*)$')));
create index host_search_end on host ((substring((translate(lower(name collate "C"), '._/', '---') collate "C") from '[^-]*$')));
