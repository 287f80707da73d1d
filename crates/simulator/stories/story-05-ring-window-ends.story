      00:00             change c1
      00:01  prod       c1: it is the newest revision that can move
             prod       c1: the gates hold
             prod       c1: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop  c1: the move begins with the ring `stores`
             prod shop  c1: the ring `stores` begins
             prod shop  c1: 1 of 6 changed places of the ring `stores` have the revision, or get it now
             prod shop  c1: waits for failures: 1 place is not published yet
      00:02  prod shop  c1: waits for compliant: 5 places are not published yet
      00:07  prod shop  c1: 2 of 6 changed places of the ring `stores` have the revision, or get it now
             prod shop  c1: waits for failures: 1 place is not published yet
      00:08  prod shop  c1: waits for compliant: 4 places are not published yet
      00:09  prod shop  c1: 3 of 6 changed places of the ring `stores` have the revision, or get it now
             prod shop  c1: waits for failures: 1 place is not published yet
      00:10  prod shop  c1: waits for compliant: 3 places are not published yet
      00:13  prod shop  c1: 4 of 6 changed places of the ring `stores` have the revision, or get it now
             prod shop  c1: waits for failures: 1 place is not published yet
      00:14  prod shop  c1: waits for compliant: 2 places are not published yet
      00:15  prod shop  c1: waits for night: the window opens on Tue 2026-03-03 02:00 (UTC)
      22:00  prod shop  c1: 5 of 6 changed places of the ring `stores` have the revision, or get it now
             prod shop  c1: waits for failures: 1 place is not published yet
      22:01  prod shop  c1: waits for compliant: 1 place is not published yet
      22:03  prod shop  c1: 6 of 6 changed places of the ring `stores` have the revision, or get it now
             prod shop  c1: waits for failures: 1 place is not published yet
      22:04  prod shop  c1: waits for compliant: 5 of 6 reconcilers applied the change, 100% are needed
      22:06  prod shop  c1: the ring `stores` is done
                            failures: 0 of 6 reconcilers failed, at most 0 may fail
                            night: the window is open until Tue 2026-03-03 04:15 (UTC)
                            compliant: 6 of 6 reconcilers applied the change
             prod shop  c1: all rings are done
             prod       c1: the environment proved it
                            failures: 0 of 6 reconcilers failed, at most 0 may fail

Expectations
      00:30  ok      prod shop waits for the window opens on Tue
      21:00  ok      prod shop waits for night
      22:06  ok      prod has c1 by 24h
