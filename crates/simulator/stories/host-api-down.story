      00:00         git-host API is down for 6h
      01:00         change c1
      01:02  stage  c1: it is the newest revision that can move
             stage  c1: the gates hold
                        settled: `dev` has the revision
      06:00  stage  c1: a pull request waits for its merge
      06:10  stage  c1: the pull request is merged
             stage  c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      06:11  prod   c1: it is the newest revision that can move
             prod   c1: the gates hold
                        settled: `stage` has the revision
             prod   c1: a pull request waits for its merge
      06:13  stage  c1: the environment proved it
                        compliant: 3 of 3 reconcilers applied the change
                        failures: 0 of 3 reconcilers failed, at most 0 may fail
      06:21  prod   c1: the pull request is merged
             prod   c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      06:28  prod   c1: the environment proved it
                        compliant: 4 of 4 reconcilers applied the change
                        failures: 0 of 4 reconcilers failed, at most 0 may fail

Expectations
      05:00  ok      stage lacks c1
      06:28  ok      prod has c1 by 10h
