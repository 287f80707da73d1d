      00:00        change c1
      00:02  prod  c1: it is the newest revision that can move
             prod  c1: waits for settled: `stage`: it is not published yet
      00:31  prod  c1: waits for healthy: 0 of 3 reconcilers applied the change, 100% are needed
      00:33  prod  c1: the gates hold
                       settled: `stage` has the revision
                       healthy: 3 of 3 reconcilers applied the change
             prod  c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      01:08  prod  c1: the environment proved it
                       compliant: 4 of 4 reconcilers applied the change
                       failures: 0 of 4 reconcilers failed, at most 0 may fail
      20:00        hub misses publications for 4h
                   fail stage-3 on c2
                   change c2
      20:02  prod  c2: it is the newest revision that can move
             prod  c2: waits for settled: `stage`: it is not published yet
      20:31  prod  c2: waits for healthy: 3 places are not published yet

Expectations
      00:29  ok      prod waits for it is not published yet
      01:00  ok      prod waits for it is not published yet
      23:00  ok      prod waits for 3 places are not published yet
   1d 01:00  ok      prod waits for 2 of 3 reconcilers applied the change
      01:00  ok      prod lacks c1 at 1h
      01:08  ok      prod has c1 by 2h
   4d 01:00  ok      prod never has c2
