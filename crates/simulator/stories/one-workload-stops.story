      00:00                       fail stage-1 on 2.4.0
      00:10                       release shop 2.4.0
      00:12  prod shop release    2.4.0: it is the newest revision that can move
             prod shop release    2.4.0: waits for settled: `stage`: a rollout has not begun, or its revision was rejected
             stage shop           2.4.0: the move begins with the ring `canary`
             stage shop           2.4.0: the ring `canary` begins
             stage shop           2.4.0: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             stage shop           2.4.0: waits for failures: 2 places are not published yet
      00:13  stage shop           2.4.0: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      00:18  stage shop           2.4.0: ring `canary`: 1 of 2 reconcilers failed, at most 0 may fail
             stage shop           2.4.0: waits for failures: 1 of 2 reconcilers failed, at most 0 may fail
      00:20                       release search 3.0.0
      00:21  prod search release  3.0.0: it is the newest revision that can move
             prod search release  3.0.0: waits for settled: `stage`: a rollout has not begun, or its revision was rejected
             stage search         3.0.0: the move begins with the ring `canary`
             stage search         3.0.0: the ring `canary` begins
             stage search         3.0.0: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             stage search         3.0.0: waits for failures: 2 places are not published yet
      00:22  stage search         3.0.0: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      00:28  stage search         3.0.0: the ring `canary` is done
                                      failures: 0 of 2 reconcilers failed, at most 0 may fail
                                      compliant: 2 of 2 reconcilers applied the change
             stage search         3.0.0: the ring `rest` begins
             stage search         3.0.0: 2 of 2 changed places of the ring `rest` have the revision, or get it now
             stage search         3.0.0: waits for failures: 2 places are not published yet
      00:29  stage search         3.0.0: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      00:33  stage search         3.0.0: the ring `rest` is done
                                      failures: 0 of 4 reconcilers failed, at most 0 may fail
                                      compliant: 2 of 2 reconcilers applied the change
             stage search         3.0.0: all rings are done
      00:34  prod search release  3.0.0: the gates hold
                                      settled: `stage` has the revision
                                      healthy: 4 of 4 reconcilers applied the change
             prod search release  3.0.0: waits for compliant: the state of the fleet is not known: its output is not published yet
      00:38  prod search release  3.0.0: the environment proved it
                                      compliant: 3 of 3 reconcilers applied the change
                                      failures: 0 of 3 reconcilers failed, at most 0 may fail
      04:00                       release shop 2.4.1
      04:01  prod shop release    2.4.0: `2.4.1` replaces it
             prod shop release    2.4.1: it is the newest revision that can move
             prod shop release    2.4.1: waits for settled: `stage`: a rollout is open
             stage shop           2.4.0: `2.4.1` replaces it
             stage shop           2.4.1: the move begins with the ring `canary`
             stage shop           2.4.1: the ring `canary` begins
             stage shop           2.4.1: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             stage shop           2.4.1: waits for failures: 2 places are not published yet
      04:02  stage shop           2.4.1: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      04:08  stage shop           2.4.1: the ring `canary` is done
                                      failures: 0 of 2 reconcilers failed, at most 0 may fail
                                      compliant: 2 of 2 reconcilers applied the change
             stage shop           2.4.1: the ring `rest` begins
             stage shop           2.4.1: 2 of 2 changed places of the ring `rest` have the revision, or get it now
             stage shop           2.4.1: waits for failures: 2 places are not published yet
      04:09  stage shop           2.4.1: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      04:13  stage shop           2.4.1: the ring `rest` is done
                                      failures: 0 of 4 reconcilers failed, at most 0 may fail
                                      compliant: 2 of 2 reconcilers applied the change
             stage shop           2.4.1: all rings are done
      04:14  prod shop release    2.4.1: the gates hold
                                      settled: `stage` has the revision
                                      healthy: 4 of 4 reconcilers applied the change
             prod shop release    2.4.1: waits for compliant: the state of the fleet is not known: its output is not published yet
      04:18  prod shop release    2.4.1: the environment proved it
                                      compliant: 3 of 3 reconcilers applied the change
                                      failures: 0 of 3 reconcilers failed, at most 0 may fail

Expectations
      02:00  ok      prod has search 3.0.0
      03:00  ok      prod lacks shop 2.4.0
      04:18  ok      prod has shop 2.4.1 by 8h
