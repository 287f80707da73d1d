     00:00             change c1
     00:01  prod shop  c1: the move begins with the ring `canary`
            prod shop  c1: the ring `canary` begins
            prod shop  c1: 2 of 2 changed places of the ring `canary` have the revision, or get it now
            prod shop  c1: failures: 2 places are not published yet
     00:02  prod shop  c1: compliant: 0 of 2 reconcilers applied the change, 100% are needed
     00:08  prod shop  c1: pause: good since 2026-03-02T08:08:00Z; 1h end at 2026-03-02T09:08:00Z
     01:08  prod shop  c1: the ring `canary` is done
  failures: 0 of 2 reconcilers failed, at most 0 may fail
  compliant: 2 of 2 reconcilers applied the change
  pause: good since 2026-03-02T08:08:00Z; 1h end at 2026-03-02T09:08:00Z
            prod shop  c1: the ring `stores` begins
            prod shop  c1: 2 of 6 changed places of the ring `stores` have the revision, or get it now
            prod shop  c1: failures: 2 places are not published yet
     01:09  prod shop  c1: compliant: 4 places are not published yet
     01:11  prod shop  c1: 3 of 6 changed places of the ring `stores` have the revision, or get it now
            prod shop  c1: failures: 1 place is not published yet
     01:12  prod shop  c1: compliant: 3 places are not published yet
     01:13  prod shop  c1: 5 of 6 changed places of the ring `stores` have the revision, or get it now
            prod shop  c1: failures: 2 places are not published yet
     01:14  prod shop  c1: compliant: 1 place is not published yet
     01:17  prod shop  c1: 6 of 6 changed places of the ring `stores` have the revision, or get it now
            prod shop  c1: failures: 1 place is not published yet
     01:18  prod shop  c1: compliant: 4 of 6 reconcilers applied the change, 100% are needed
     01:22  prod shop  c1: the ring `stores` is done
  failures: 0 of 8 reconcilers failed, at most 0 may fail
  compliant: 6 of 6 reconcilers applied the change
            prod shop  c1: all rings are done

Expectations
     00:20  ok      canary-1 has c1
     00:20  ok      store-[01-06] lacks c1
     01:22  ok      prod has c1 by 3h
     01:23  ok      everything rests
