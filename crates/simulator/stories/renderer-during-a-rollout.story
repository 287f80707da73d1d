      01:00                         configure prod k1
      01:01  prod shop              k1: the move begins with the ring `first`
             prod shop              k1: the ring `first` begins
             prod shop              k1: 2 of 2 changed places of the ring `first` have the revision, or get it now
             prod shop              k1: waits for failures: 2 places are not published yet
      01:02  prod shop              k1: waits for healthy: 0 of 2 reconcilers applied the change, 100% are needed
      01:08  prod shop              k1: the ring `first` is done
                                        failures: 0 of 2 reconcilers failed, at most 0 may fail
                                        healthy: 2 of 2 reconcilers applied the change
             prod shop              k1: the ring `rest` begins
             prod shop              k1: 2 of 2 changed places of the ring `rest` have the revision, or get it now
             prod shop              k1: waits for failures: 2 places are not published yet
      01:09  prod shop              k1: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      01:13  prod shop              k1: the ring `rest` is done
                                        failures: 0 of 4 reconcilers failed, at most 0 may fail
                                        compliant: 2 of 2 reconcilers applied the change
             prod shop              k1: all rings are done
      02:00                         fail prod-1
                                    configure prod k2
      02:01  prod shop              k2: the move begins with the ring `first`
             prod shop              k2: the ring `first` begins
             prod shop              k2: 2 of 2 changed places of the ring `first` have the revision, or get it now
             prod shop              k2: waits for failures: 2 places are not published yet
      02:02  prod shop              k2: waits for healthy: 0 of 2 reconcilers applied the change, 100% are needed
      02:08  prod shop              k2: ring `first`: 1 of 2 reconcilers failed, at most 0 may fail
             prod shop              k2: waits for failures: 1 of 2 reconcilers failed, at most 0 may fail
      03:00                         install 0.2.0
                                    repair prod-1
      03:01  prod shop              k2: waits for failures: the state of the fleet is not known: another version of kalypso/renderer rendered what places have
             prod kalypso/renderer  0.2.0: it is the newest revision that can move
             prod kalypso/renderer  0.2.0: waits for settled: `stage`: it is not published yet
      03:02  prod kalypso/renderer  0.2.0: waits for people: 0 of 2 approvals of the team `sre`; one more, because the author of the change is not known
      05:00                         approve prod kalypso/renderer by ana
             prod kalypso/renderer  0.2.0: approve for the gate `people` by ana
                                    approve prod kalypso/renderer by ben
             prod kalypso/renderer  0.2.0: approve for the gate `people` by ben
             prod kalypso/renderer  0.2.0: the gates hold
                                        settled: `stage` has the revision
                                        people: 2 of 2 approvals of the team `sre` (ana, ben); one more, because the author of the change is not known
             prod kalypso/renderer  0.2.0: waits for failures: the state of the fleet is not known: its output is not published yet
             prod kalypso/renderer  0.2.0: the rollout of shop: ring `first`: 1 of 2 reconcilers failed, at most 0 may fail
             prod shop              k2: `0.2.0` replaces it
             prod shop              0.2.0: the move begins with the ring `first`
             prod shop              0.2.0: the ring `first` begins
             prod shop              0.2.0: 2 of 2 changed places of the ring `first` have the revision, or get it now
             prod shop              0.2.0: waits for failures: 2 places are not published yet
      05:01  prod shop              0.2.0: waits for healthy: 0 of 2 reconcilers applied the change, 100% are needed
      05:03  prod shop              0.2.0: the ring `first` is done
                                        failures: 0 of 2 reconcilers failed, at most 0 may fail
                                        healthy: 2 of 2 reconcilers applied the change
             prod shop              0.2.0: the ring `rest` begins
             prod shop              0.2.0: 2 of 2 changed places of the ring `rest` have the revision, or get it now
             prod shop              0.2.0: waits for failures: 2 places are not published yet
      05:04  prod shop              0.2.0: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      05:08  prod shop              0.2.0: the ring `rest` is done
                                        failures: 0 of 4 reconcilers failed, at most 0 may fail
                                        compliant: 2 of 2 reconcilers applied the change
             prod shop              0.2.0: all rings are done
             prod kalypso/renderer  0.2.0: the failures are resolved
             prod kalypso/renderer  0.2.0: the environment proved it
                                        failures: 0 of 4 reconcilers failed, at most 0 may fail

Expectations
      04:00  ok      prod kalypso/renderer waits for 0 of 2 approvals
      02:00  ok      prod has k1 at 2h
      04:00  ok      all of prod where ring=first has k2 at 4h
      05:00  ok      all of prod where ring=rest lacks k2 at 5h
      05:00  ok      prod lacks 0.2.0 at 5h
      05:08  ok      prod has k2 by 8h
      05:08  ok      prod has 0.2.0 by 8h
      05:09  ok      everything rests
