      00:00                         retarget shop in prod with more-memory
      00:01  prod application/shop  more-memory: it is the newest commit
             prod application/shop  more-memory: waits for two-eyes: 0 of 1 approval
      02:00                         release shop 2.0.0
      02:01  prod shop release      2.0.0: it is the newest revision that can move
             prod shop release      2.0.0: waits for healthy: 0 of 2 reconcilers applied the change, 100% are needed
      02:03  prod shop release      2.0.0: the gates hold
                                        settled: `stage` has the revision
                                        healthy: 2 of 2 reconcilers applied the change
             prod shop release      2.0.0: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop              2.0.0: the move begins with the ring `canary`
             prod shop              2.0.0: the ring `canary` begins
             prod shop              2.0.0: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             prod shop              2.0.0: waits for failures: 2 places are not published yet
      02:04  prod shop              2.0.0: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      02:08  prod shop              2.0.0: waits for pause: good since 2026-03-02T10:08:00Z; 2h end at 2026-03-02T12:08:00Z
      04:08  prod shop              2.0.0: the ring `canary` is done
                                        failures: 0 of 2 reconcilers failed, at most 0 may fail
                                        compliant: 2 of 2 reconcilers applied the change
                                        pause: good since 2026-03-02T10:08:00Z; 2h end at 2026-03-02T12:08:00Z
             prod shop              2.0.0: the ring `stores` begins
             prod shop              2.0.0: 3 of 3 changed places of the ring `stores` have the revision, or get it now
             prod shop              2.0.0: waits for failures: 3 places are not published yet
      04:09  prod shop              2.0.0: waits for compliant: 0 of 3 reconcilers applied the change, 100% are needed
      04:13  prod shop              2.0.0: the ring `stores` is done
                                        failures: 0 of 5 reconcilers failed, at most 0 may fail
                                        compliant: 3 of 3 reconcilers applied the change
             prod shop              2.0.0: all rings are done
             prod shop release      2.0.0: the environment proved it
                                        failures: 0 of 5 reconcilers failed, at most 0 may fail
      06:00                         approve prod application/shop by dora
             prod application/shop  approve by dora is refused: the approval does not count at the gate `two-eyes`: dora is an author of the change
      08:00                         approve prod application/shop by ana
             prod application/shop  more-memory: approve for the gate `two-eyes` by ana
             prod application/shop  more-memory: the gates hold
             prod shop              more-memory: the move begins with the ring `canary`
             prod shop              more-memory: the ring `canary` begins
             prod shop              more-memory: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             prod shop              more-memory: waits for failures: 2 places are not published yet
      08:01  prod shop              more-memory: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      08:03  prod shop              more-memory: waits for pause: good since 2026-03-02T16:03:00Z; 2h end at 2026-03-02T18:03:00Z
      10:03  prod shop              more-memory: the ring `canary` is done
                                        failures: 0 of 2 reconcilers failed, at most 0 may fail
                                        compliant: 2 of 2 reconcilers applied the change
                                        pause: good since 2026-03-02T16:03:00Z; 2h end at 2026-03-02T18:03:00Z
             prod shop              more-memory: the ring `stores` begins
             prod shop              more-memory: 3 of 3 changed places of the ring `stores` have the revision, or get it now
             prod shop              more-memory: waits for failures: 3 places are not published yet
      10:04  prod shop              more-memory: waits for compliant: 0 of 3 reconcilers applied the change, 100% are needed
      10:08  prod shop              more-memory: the ring `stores` is done
                                        failures: 0 of 5 reconcilers failed, at most 0 may fail
                                        compliant: 3 of 3 reconcilers applied the change
             prod shop              more-memory: all rings are done

Expectations
      01:00  ok      prod application/shop waits for two-eyes
      07:00  ok      prod lacks more-memory
      04:13  ok      prod has shop 2.0.0 by 5h
      08:03  ok      canary-[1-2] has more-memory by 9h
      09:00  ok      store-[1-3] lacks more-memory at 9h
      10:08  ok      prod has more-memory by 11h
      10:09  ok      everything rests
