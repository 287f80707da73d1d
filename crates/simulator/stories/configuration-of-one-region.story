      00:00             configure prod west-prices where region=west
      00:01  prod shop  west-prices: the move begins with the ring `canary`
             prod shop  west-prices: nothing changes in the ring `canary`
             prod shop  west-prices: the ring `stores` begins
             prod shop  west-prices: 3 of 3 changed places of the ring `stores` have the revision, or get it now
             prod shop  west-prices: waits for failures: 3 places are not published yet
      00:02  prod shop  west-prices: waits for compliant: 0 of 3 reconcilers applied the change, 100% are needed
      00:08  prod shop  west-prices: the ring `stores` is done
                            failures: 0 of 3 reconcilers failed, at most 0 may fail
                            compliant: 3 of 3 reconcilers applied the change
             prod shop  west-prices: all rings are done

Expectations
      00:08  ok      prod has west-prices by 1h
      00:09  ok      everything rests
