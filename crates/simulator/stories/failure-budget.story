      00:00             fail store-1 on c1
      00:10             change c1
      00:11  prod       c1: it is the newest revision that can move
             prod       c1: the gates hold
             prod       c1: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop  c1: the move begins with the ring `stores`
             prod shop  c1: the ring `stores` begins
             prod shop  c1: 8 of 8 changed places of the ring `stores` have the revision, or get it now
             prod shop  c1: waits for failures: 8 places are not published yet
      00:12  prod shop  c1: waits for compliant: 0 of 8 reconcilers applied the change, 100% are needed
      02:00             repair store-1
      02:03  prod shop  c1: the ring `stores` is done
                            failures: 0 of 8 reconcilers failed, at most 1 may fail
                            compliant: 8 of 8 reconcilers applied the change
             prod shop  c1: all rings are done
             prod       c1: the environment proved it
                            failures: 0 of 8 reconcilers failed, at most 1 may fail
      03:00             fail store-[1-2] on c2
      04:00             change c2
      04:01  prod       c2: it is the newest revision that can move
             prod       c2: the gates hold
             prod       c2: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop  c2: the move begins with the ring `stores`
             prod shop  c2: the ring `stores` begins
             prod shop  c2: 8 of 8 changed places of the ring `stores` have the revision, or get it now
             prod shop  c2: waits for failures: 8 places are not published yet
      04:02  prod shop  c2: waits for compliant: 0 of 8 reconcilers applied the change, 100% are needed
      04:08  prod shop  c2: ring `stores`: 2 of 8 reconcilers failed, at most 1 may fail
             prod shop  c2: waits for failures: 2 of 8 reconcilers failed, at most 1 may fail
             prod       c2: the rollout of shop: ring `stores`: 2 of 8 reconcilers failed, at most 1 may fail

Expectations
      01:00  ok      store-6 has c1
      05:00  ok      prod stopped because 2 of
