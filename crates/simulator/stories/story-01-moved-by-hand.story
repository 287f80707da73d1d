      00:00         change c1
      00:02  stage  c1: it is the newest revision that can move
             stage  c1: the gates hold
                        settled: `dev` has the revision
             stage  c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      00:03  prod   c1: it is the newest revision that can move
             prod   c1: waits for healthy: 0 of 3 reconcilers applied the change, 100% are needed
      00:08  prod   c1: waits for a-day: good since 2026-03-02T08:08:00Z; 1d end at 2026-03-03T08:08:00Z
             stage  c1: the environment proved it
                        compliant: 3 of 3 reconcilers applied the change
                        failures: 0 of 3 reconcilers failed, at most 0 may fail
      00:30         write c1 into prod by hand
             prod   c1: a person wrote it into the branch of the environment; it waits for its gates
      01:00         override prod by ana because the fix can not wait
             prod   c1: override `c1` past a-day until 2026-03-03T09:00:00Z by ana: the fix can not wait
             prod   c1: waits for compliant: the state of the fleet is not known: the environment is not settled yet
      01:03  prod   c1: the environment proved it
                        compliant: 4 of 4 reconcilers applied the change
                        failures: 0 of 4 reconcilers failed, at most 0 may fail

Expectations
      00:59  ok      prod lacks c1 at 59m
      01:03  ok      prod has c1 by 2h
      01:04  ok      everything rests
