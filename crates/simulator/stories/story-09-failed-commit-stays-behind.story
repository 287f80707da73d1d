      00:00         fail dev on broken
                    change broken
      00:02  stage  broken: it is the newest revision that can move
             stage  broken: waits for healthy: 0 of 2 reconcilers applied the change, 100% are needed
      01:00         revert broken
                    change repaired
      01:01  stage  broken: `repaired` replaces it
             stage  repaired: it is the newest revision that can move
             stage  repaired: waits for healthy: 0 of 2 reconcilers applied the change, 100% are needed
      01:03  stage  repaired: the gates hold
                        settled: `dev` has the revision
                        healthy: 2 of 2 reconcilers applied the change
             stage  repaired: waits for compliant: the state of the fleet is not known: its output is not published yet
      01:04  prod   repaired: it is the newest revision that can move
             prod   repaired: waits for healthy: 0 of 3 reconcilers applied the change, 100% are needed
      01:08  prod   repaired: the gates hold
                        settled: `stage` has the revision
                        healthy: 3 of 3 reconcilers applied the change
             prod   repaired: waits for compliant: the state of the fleet is not known: its output is not published yet
             stage  repaired: the environment proved it
                        compliant: 3 of 3 reconcilers applied the change
                        failures: 0 of 3 reconcilers failed, at most 0 may fail
      01:13  prod   repaired: the environment proved it
                        compliant: 4 of 4 reconcilers applied the change
                        failures: 0 of 4 reconcilers failed, at most 0 may fail

Expectations
      01:00  ok      stage waits for healthy
      01:14  ok      stage never has broken
      01:14  ok      prod never has broken
      01:08  ok      stage has repaired by 2h
      01:13  ok      prod has repaired by 3h
      01:14  ok      everything rests
