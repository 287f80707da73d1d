      00:00             slow store-3 by 2h for 1h
      00:05             change c1
      00:06  prod       c1: it is the newest revision that can move
             prod       c1: the gates hold
             prod       c1: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop  c1: the move begins with the ring `stores`
             prod shop  c1: the ring `stores` begins
             prod shop  c1: 2 of 8 changed places of the ring `stores` have the revision, or get it now
             prod shop  c1: waits for failures: 2 places are not published yet
      00:07  prod shop  c1: waits for compliant: 6 places are not published yet
      00:13  prod shop  c1: 4 of 8 changed places of the ring `stores` have the revision, or get it now
             prod shop  c1: waits for failures: 2 places are not published yet
      00:14  prod shop  c1: waits for compliant: 4 places are not published yet
      00:18  prod shop  c1: 5 of 8 changed places of the ring `stores` have the revision, or get it now
             prod shop  c1: waits for failures: 1 place is not published yet
      00:19  prod shop  c1: 6 of 8 changed places of the ring `stores` have the revision, or get it now
      00:20  prod shop  c1: waits for compliant: 2 places are not published yet
      00:22  prod shop  c1: 7 of 8 changed places of the ring `stores` have the revision, or get it now
             prod shop  c1: waits for failures: 1 place is not published yet
      00:23  prod shop  c1: 8 of 8 changed places of the ring `stores` have the revision, or get it now
      00:24  prod shop  c1: waits for compliant: 6 of 8 reconcilers applied the change, 100% are needed
      01:06  prod shop  c1: the ring `stores` is done
                            failures: 0 of 8 reconcilers failed, at most 0 may fail
                            compliant: 8 of 8 reconcilers applied the change
             prod shop  c1: all rings are done
             prod       c1: the environment proved it
                            failures: 0 of 8 reconcilers failed, at most 0 may fail

Expectations
      02:26  ok      at most 2 of prod change at once
      01:06  ok      prod has c1 by 4h
