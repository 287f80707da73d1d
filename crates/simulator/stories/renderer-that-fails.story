      01:00                         fail stage-2 on 0.2.0
                                    install 0.2.0
      01:01  prod kalypso/renderer  0.2.0: it is the newest revision that can move
             prod kalypso/renderer  0.2.0: waits for settled: `stage`: it is not published yet
      01:02  prod kalypso/renderer  0.2.0: waits for healthy: 0 of 3 reconcilers applied the change, 100% are needed
      04:00                         abort prod kalypso/renderer by ana because it fails
             prod kalypso/renderer  0.2.0: abort by ana: it fails
      05:00                         install 0.2.1
      05:01  prod kalypso/renderer  0.2.1: it is the newest revision that can move
             prod kalypso/renderer  0.2.1: waits for settled: `stage`: it is not published yet
      05:02  prod kalypso/renderer  0.2.1: waits for healthy: 0 of 3 reconcilers applied the change, 100% are needed
      07:00                         repair stage-2
      07:03  prod kalypso/renderer  0.2.1: the gates hold
                                        settled: `stage` has the revision
                                        healthy: 3 of 3 reconcilers applied the change
             prod kalypso/renderer  0.2.1: waits for compliant: the state of the fleet is not known: its output is not published yet
      07:08  prod kalypso/renderer  0.2.1: the environment proved it
                                        compliant: 4 of 4 reconcilers applied the change
                                        failures: 0 of 4 reconcilers failed, at most 0 may fail

Expectations
      03:00  ok      prod kalypso/renderer waits for 2 of 3 reconcilers applied the change
      06:00  ok      prod kalypso/renderer waits for 2 of 3 reconcilers applied the change
      07:00  ok      prod lacks 0.2.0 at 7h
      07:09  ok      prod has 0.2.1
      07:09  ok      everything rests
