      00:00               fail store-1 on 1.5.0
      00:10               release search 1.5.0
      00:12  prod search  1.5.0: the move begins with the ring `stores`
             prod search  1.5.0: the ring `stores` begins
             prod search  1.5.0: 3 of 3 changed places of the ring `stores` have the revision, or get it now
             prod search  1.5.0: waits for failures: 3 places are not published yet
      00:13  prod search  1.5.0: waits for compliant: 0 of 3 reconcilers applied the change, 100% are needed
      00:18  prod search  1.5.0: ring `stores`: 1 of 3 reconcilers failed, at most 0 may fail; there is no earlier proved revision to return to
             prod search  1.5.0: waits for failures: 1 of 3 reconcilers failed, at most 0 may fail
      03:00               repair store-1
      03:03  prod search  1.5.0: the failures are within the budget again
             prod search  1.5.0: the ring `stores` is done
                              failures: 0 of 3 reconcilers failed, at most 0 may fail
                              compliant: 3 of 3 reconcilers applied the change
             prod search  1.5.0: all rings are done

Expectations
      02:00  ok      prod search stopped because no earlier proved revision
      03:03  ok      prod has search 1.5.0 by 4h
