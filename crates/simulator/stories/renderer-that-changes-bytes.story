      01:00                         install 0.2.0 where region=west
      01:01  prod kalypso/renderer  0.2.0: it is the newest revision that can move
             prod kalypso/renderer  0.2.0: waits for people: 0 of 2 approvals of the team `sre`; one more, because the author of the change is not known
      02:00                         configure prod k1
      03:00                         add prod-9 to prod where region=west
      04:00                         approve prod kalypso/renderer by ana
             prod kalypso/renderer  0.2.0: approve for the gate `people` by ana
                                    approve prod kalypso/renderer by ben
             prod kalypso/renderer  0.2.0: approve for the gate `people` by ben
             prod kalypso/renderer  0.2.0: the gates hold
                                        settled: `stage` has the revision
                                        healthy: 3 of 3 reconcilers applied the change
                                        people: 2 of 2 approvals of the team `sre` (ana, ben); one more, because the author of the change is not known
             prod kalypso/renderer  0.2.0: waits for compliant: the state of the fleet is not known: its output is not published yet
      04:06  prod kalypso/renderer  0.2.0: the environment proved it
                                        compliant: 5 of 5 reconcilers applied the change
                                        failures: 0 of 5 reconcilers failed, at most 0 may fail
      10:00                         install 0.3.0
      10:01  prod kalypso/renderer  0.3.0: it is the newest revision that can move
             prod kalypso/renderer  0.3.0: waits for settled: `stage`: it is not published yet
      10:02  prod kalypso/renderer  0.3.0: waits for healthy: 0 of 3 reconcilers applied the change, 100% are needed
      10:08  prod kalypso/renderer  0.3.0: waits for people: 0 of 2 approvals of the team `sre`; one more, because the author of the change is not known
      11:00                         approve prod kalypso/renderer by ana
             prod kalypso/renderer  0.3.0: approve for the gate `people` by ana
                                    approve prod kalypso/renderer by ben
             prod kalypso/renderer  0.3.0: approve for the gate `people` by ben
             prod kalypso/renderer  0.3.0: the gates hold
                                        settled: `stage` has the revision
                                        healthy: 3 of 3 reconcilers applied the change
                                        people: 2 of 2 approvals of the team `sre` (ana, ben); one more, because the author of the change is not known
             prod kalypso/renderer  0.3.0: waits for compliant: the state of the fleet is not known: its output is not published yet
      11:06  prod kalypso/renderer  0.3.0: the environment proved it
                                        compliant: 5 of 5 reconcilers applied the change
                                        failures: 0 of 5 reconcilers failed, at most 0 may fail
      12:00                         install 0.2.0
      12:01  prod kalypso/renderer  0.2.0: it returns the environment to its proved revision
             prod kalypso/renderer  0.2.0: waits for people: 0 of 2 approvals of the team `sre`; one more, because the author of the change is not known
      13:00                         approve prod kalypso/renderer by ana
             prod kalypso/renderer  0.2.0: approve for the gate `people` by ana
                                    approve prod kalypso/renderer by ben
             prod kalypso/renderer  0.2.0: approve for the gate `people` by ben
             prod kalypso/renderer  0.2.0: the gates hold
                                        settled: `prod` proved it on 2026-03-02T12:06:00Z
                                        people: 2 of 2 approvals of the team `sre` (ana, ben); one more, because the author of the change is not known
             prod kalypso/renderer  0.2.0: waits for compliant: the state of the fleet is not known: its output is not published yet
      13:06  prod kalypso/renderer  0.2.0: the environment proved it
                                        compliant: 5 of 5 reconcilers applied the change
                                        failures: 0 of 5 reconcilers failed, at most 0 may fail

Expectations
      03:00  ok      prod kalypso/renderer waits for 0 of 2 approvals
      04:00  ok      prod lacks 0.2.0 at 4h
      03:00  ok      all of prod where region=east has k1 at 3h
      04:00  ok      all of prod where region=west lacks k1 at 4h
      04:00  ok      prod-9 lacks k1 at 4h
      05:00  ok      all of prod where region=west has 0.2.0 at 5h
      05:00  ok      prod has k1 at 5h
      11:00  ok      stage has 0.3.0 at 11h
      12:00  ok      prod has 0.3.0 at 12h
      13:07  ok      stage lacks 0.3.0
      13:07  ok      prod lacks 0.3.0
      13:07  ok      everything rests
