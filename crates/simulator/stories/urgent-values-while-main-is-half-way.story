      00:00             change c1
      00:01  prod       c1: it is the newest revision that can move
             prod       c1: the gates hold
             prod       c1: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop  c1: the move begins with the ring `canary`
             prod shop  c1: the ring `canary` begins
             prod shop  c1: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             prod shop  c1: waits for failures: 2 places are not published yet
      00:02  prod shop  c1: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      00:08  prod shop  c1: waits for pause: good since 2026-03-02T08:08:00Z; 6h end at 2026-03-02T14:08:00Z
      02:00             configure prod urgent
             prod shop  urgent: it moves before `c1`, which continues after it
             prod shop  urgent: the ring `canary` begins
             prod shop  urgent: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             prod shop  urgent: waits for failures: 2 places are not published yet
      02:01  prod shop  urgent: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      02:03  prod shop  urgent: waits for pause: good since 2026-03-02T10:03:00Z; 6h end at 2026-03-02T16:03:00Z
      08:03  prod shop  urgent: the ring `canary` is done
                            failures: 0 of 2 reconcilers failed, at most 0 may fail
                            compliant: 2 of 2 reconcilers applied the change
                            pause: good since 2026-03-02T10:03:00Z; 6h end at 2026-03-02T16:03:00Z
             prod shop  urgent: the ring `stores` begins
             prod shop  urgent: 4 of 4 changed places of the ring `stores` have the revision, or get it now
             prod shop  urgent: waits for failures: 4 places are not published yet
      08:04  prod shop  urgent: waits for compliant: 0 of 4 reconcilers applied the change, 100% are needed
      08:09  prod shop  urgent: the ring `stores` is done
                            failures: 0 of 6 reconcilers failed, at most 0 may fail
                            compliant: 4 of 4 reconcilers applied the change
             prod shop  urgent: all rings are done
             prod shop  urgent: the move continues after the newest values
             prod shop  urgent: waits for pause: good since 2026-03-02T08:08:00Z; 6h end at 2026-03-02T14:08:00Z
             prod shop  urgent: the ring `canary` is done
                            failures: 0 of 2 reconcilers failed, at most 0 may fail
                            compliant: 2 of 2 reconcilers applied the change
                            pause: good since 2026-03-02T08:08:00Z; 6h end at 2026-03-02T14:08:00Z
             prod shop  urgent: the ring `stores` begins
             prod shop  urgent: 4 of 4 changed places of the ring `stores` have the revision, or get it now
             prod shop  urgent: waits for failures: 4 places are not published yet
      08:10  prod shop  urgent: waits for compliant: 0 of 4 reconcilers applied the change, 100% are needed
      08:16  prod shop  urgent: the ring `stores` is done
                            failures: 0 of 6 reconcilers failed, at most 0 may fail
                            compliant: 4 of 4 reconcilers applied the change
             prod shop  urgent: all rings are done
             prod       c1: the environment proved it
                            failures: 0 of 6 reconcilers failed, at most 0 may fail
   1d 00:00             fail canary-1 on c2
                        change c2
   1d 00:01  prod       c2: it is the newest revision that can move
             prod       c2: the gates hold
             prod       c2: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop  c2: the move begins with the ring `canary`
             prod shop  c2: the ring `canary` begins
             prod shop  c2: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             prod shop  c2: waits for failures: 2 places are not published yet
   1d 00:02  prod shop  c2: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
   1d 00:08  prod shop  c2: ring `canary`: 1 of 2 reconcilers failed, at most 0 may fail
             prod       c2: the rollout of shop: ring `canary`: 1 of 2 reconcilers failed, at most 0 may fail
   1d 00:13  prod shop  c2: all places have the proved revision again
             prod       c2: the environment has the proved revision again
   1d 02:00             configure prod tax
   1d 02:01  prod shop  tax: the move begins with the ring `canary`
             prod shop  tax: the ring `canary` begins
             prod shop  tax: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             prod shop  tax: waits for failures: 2 places are not published yet
   1d 02:02  prod shop  tax: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
   1d 02:08  prod shop  tax: waits for pause: good since 2026-03-03T10:08:00Z; 6h end at 2026-03-03T16:08:00Z
   1d 08:08  prod shop  tax: the ring `canary` is done
                            failures: 0 of 2 reconcilers failed, at most 0 may fail
                            compliant: 2 of 2 reconcilers applied the change
                            pause: good since 2026-03-03T10:08:00Z; 6h end at 2026-03-03T16:08:00Z
             prod shop  tax: the ring `stores` begins
             prod shop  tax: 4 of 4 changed places of the ring `stores` have the revision, or get it now
             prod shop  tax: waits for failures: 4 places are not published yet
   1d 08:09  prod shop  tax: waits for compliant: 0 of 4 reconcilers applied the change, 100% are needed
   1d 08:14  prod shop  tax: the ring `stores` is done
                            failures: 0 of 6 reconcilers failed, at most 0 may fail
                            compliant: 4 of 4 reconcilers applied the change
             prod shop  tax: all rings are done

Expectations
      01:00  ok      canary-[1-2] has c1 at 1h
      08:00  ok      store-[1-4] lacks c1 at 8h
      02:03  ok      canary-[1-2] has urgent by 3h
      08:09  ok      store-[1-4] has urgent by 9h
      08:16  ok      prod has c1 by 9h
   1d 08:14  ok      prod has tax by 33h
   1d 08:15  ok      store-1 never has c2
