      00:00             configure prod west-prices where region=west
      00:01  prod shop  west-prices: the move begins with the ring `canary`
             prod shop  west-prices: nothing changes in the ring `canary`
             prod shop  west-prices: the ring `stores` begins
             prod shop  west-prices: 1 of 3 changed places of the ring `stores` have the revision, or get it now
             prod shop  west-prices: waits for failures: 1 place is not published yet
      00:02  prod shop  west-prices: waits for canary: 0 of 1 reconciler applied the change, 100% are needed
      00:08  prod shop  west-prices: 3 of 3 changed places of the ring `stores` have the revision, or get it now
             prod shop  west-prices: waits for failures: 2 places are not published yet
      00:09  prod shop  west-prices: waits for compliant: 1 of 3 reconcilers applied the change, 100% are needed
      00:12  prod shop  west-prices: the ring `stores` is done
                            failures: 0 of 3 reconcilers failed, at most 0 may fail
                            compliant: 3 of 3 reconcilers applied the change
             prod shop  west-prices: all rings are done

Expectations
      00:12  ok      prod has west-prices by 1h
      00:13  ok      everything rests
