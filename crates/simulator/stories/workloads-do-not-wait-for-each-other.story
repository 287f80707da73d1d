      00:00               fail store-1 on 1.6.0
      00:10               release search 1.6.0
                          release shop 2.0.0
      00:12  prod shop    2.0.0: the move begins with the ring `stores`
             prod search  1.6.0: the move begins with the ring `stores`
             prod shop    2.0.0: the ring `stores` begins
             prod shop    2.0.0: 1 of 4 changed places of the ring `stores` have the revision, or get it now
             prod shop    2.0.0: waits for failures: 1 place is not published yet
             prod search  1.6.0: the ring `stores` begins
             prod search  1.6.0: 1 of 4 changed places of the ring `stores` have the revision, or get it now
             prod search  1.6.0: waits for failures: 1 place is not published yet
      00:13  prod shop    2.0.0: waits for compliant: 3 places are not published yet
             prod search  1.6.0: waits for compliant: 3 places are not published yet
      00:17  prod shop    2.0.0: 2 of 4 changed places of the ring `stores` have the revision, or get it now
             prod shop    2.0.0: waits for failures: 1 place is not published yet
             prod search  1.6.0: 2 of 4 changed places of the ring `stores` have the revision, or get it now
             prod search  1.6.0: waits for failures: 1 place is not published yet
      00:18  prod shop    2.0.0: waits for compliant: 2 places are not published yet
             prod search  1.6.0: waits for compliant: 2 places are not published yet
      00:23  prod shop    2.0.0: 3 of 4 changed places of the ring `stores` have the revision, or get it now
             prod shop    2.0.0: waits for failures: 1 place is not published yet
             prod search  1.6.0: ring `stores`: 1 of 2 reconcilers failed, at most 0 may fail
             prod search  1.6.0: waits for failures: 1 of 2 reconcilers failed, at most 0 may fail
      00:24  prod shop    2.0.0: waits for compliant: 1 place is not published yet
      00:28  prod shop    2.0.0: 4 of 4 changed places of the ring `stores` have the revision, or get it now
             prod shop    2.0.0: waits for failures: 1 place is not published yet
      00:29  prod shop    2.0.0: waits for compliant: 3 of 4 reconcilers applied the change, 100% are needed
      00:33  prod shop    2.0.0: the ring `stores` is done
                              failures: 0 of 4 reconcilers failed, at most 0 may fail
                              compliant: 4 of 4 reconcilers applied the change
             prod shop    2.0.0: all rings are done
      05:00               repair store-1
      05:03  prod search  1.6.0: the failures are within the budget again
             prod search  1.6.0: 3 of 4 changed places of the ring `stores` have the revision, or get it now
             prod search  1.6.0: waits for failures: 1 place is not published yet
      05:04  prod search  1.6.0: waits for compliant: 1 place is not published yet
      05:08  prod search  1.6.0: 4 of 4 changed places of the ring `stores` have the revision, or get it now
             prod search  1.6.0: waits for failures: 1 place is not published yet
      05:09  prod search  1.6.0: waits for compliant: 3 of 4 reconcilers applied the change, 100% are needed
      05:13  prod search  1.6.0: the ring `stores` is done
                              failures: 0 of 4 reconcilers failed, at most 0 may fail
                              compliant: 4 of 4 reconcilers applied the change
             prod search  1.6.0: all rings are done

Expectations
      03:00  ok      prod search stopped
      00:33  ok      prod has shop 2.0.0 by 1h
      05:13  ok      prod has search 1.6.0 by 6h
