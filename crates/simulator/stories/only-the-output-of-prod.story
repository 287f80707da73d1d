      01:00             slow all of prod by 2h
                        change c1 where region=west
      01:02  prod       c1: it is the newest revision that can move
             prod       c1: the gates hold
                            settled: `stage` has the revision
                            healthy: 3 of 3 reconcilers applied the change
             prod       c1: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop  c1: the move begins with the ring `canary`
             prod shop  c1: nothing changes in the ring `canary`
             prod shop  c1: the ring `stores` begins
             prod shop  c1: 1 of 3 changed places of the ring `stores` have the revision, or get it now
             prod shop  c1: waits for failures: 1 place is not published yet
      01:03  prod shop  c1: waits for canary: 0 of 1 reconciler applied the change, 100% are needed
      03:08  prod shop  c1: 3 of 3 changed places of the ring `stores` have the revision, or get it now
             prod shop  c1: waits for failures: 2 places are not published yet
      03:09  prod shop  c1: waits for present: 1 of 3 reconcilers applied the change, 100% are needed
      05:12  prod shop  c1: the ring `stores` is done
                            failures: 0 of 3 reconcilers failed, at most 0 may fail
                            present: 3 of 3 reconcilers applied the change
             prod shop  c1: all rings are done
             prod       c1: the environment proved it
                            failures: 0 of 8 reconcilers failed, at most 0 may fail

Expectations
      02:00  ok      prod shop waits for because the change is untested
      05:13  ok      canary-[1-2] lacks c1
      05:13  ok      all of prod where region=east lacks c1
      02:00  ok      store-3 lacks c1 at 2h
      02:00  ok      store-5 lacks c1 at 2h
      05:12  ok      all of prod where region=west has c1 by 10h
      05:13  ok      everything rests
