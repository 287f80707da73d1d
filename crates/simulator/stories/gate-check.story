      00:00         check smoke is unknown for 2h
                    change c1
      00:02  stage  c1: it is the newest revision that can move
             stage  c1: the gates hold
                        settled: `dev` has the revision
             stage  c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      00:03  prod   c1: it is the newest revision that can move
             prod   c1: waits for smoke: the check has no result: `smoke` does not answer
      00:08  stage  c1: the environment proved it
                        compliant: 3 of 3 reconcilers applied the change
                        failures: 0 of 3 reconcilers failed, at most 0 may fail
      02:00         check smoke fails for 1h
             prod   c1: waits for smoke: `smoke` is not as expected
      03:00  prod   c1: the gates hold
                        settled: `stage` has the revision
                        smoke: `smoke` is as expected
             prod   c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      03:03  prod   c1: the environment proved it
                        compliant: 4 of 4 reconcilers applied the change
                        failures: 0 of 4 reconcilers failed, at most 0 may fail

Expectations
      01:00  ok      prod waits for smoke
      01:00  ok      prod lacks c1
      02:30  ok      prod waits for smoke
      02:30  ok      prod lacks c1
      03:03  ok      prod has c1 by 4h
