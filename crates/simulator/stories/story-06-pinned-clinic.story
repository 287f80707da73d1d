      00:00                     release shop 2.0.0
      00:02  prod shop release  2.0.0: it is the newest revision that can move
             prod shop release  2.0.0: waits for healthy: 0 of 2 reconcilers applied the change, 100% are needed
      00:08  prod shop release  2.0.0: the gates hold
                                    settled: `stage` has the revision
                                    healthy: 2 of 2 reconcilers applied the change
             prod shop release  2.0.0: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop          2.0.0: the move begins with the ring `clinics`
             prod shop          2.0.0: the ring `clinics` begins
             prod shop          2.0.0: 6 of 6 changed places of the ring `clinics` have the revision, or get it now
             prod shop          2.0.0: waits for failures: 6 places are not published yet
      00:09  prod shop          2.0.0: waits for compliant: 0 of 6 reconcilers applied the change, 100% are needed
      00:14  prod shop          2.0.0: the ring `clinics` is done
                                    failures: 0 of 6 reconcilers failed, at most 0 may fail
                                    compliant: 6 of 6 reconcilers applied the change
             prod shop          2.0.0: all rings are done
             prod shop release  2.0.0: the environment proved it
                                    failures: 0 of 6 reconcilers failed, at most 0 may fail
      04:00                     pin shop 1.0.0 in prod where printer=old
      04:01  prod values        pin-shop-1.0.0: it is the newest commit
             prod values        pin-shop-1.0.0: waits for two-eyes: 0 of 1 approval
      05:00                     approve prod values by ana
             prod values        pin-shop-1.0.0: approve for the gate `two-eyes` by ana
             prod values        pin-shop-1.0.0: the gates hold
             prod shop          pin-shop-1.0.0: the move begins with the ring `clinics`
             prod shop          pin-shop-1.0.0: the ring `clinics` begins
             prod shop          pin-shop-1.0.0: 1 of 1 changed place of the ring `clinics` have the revision, or get it now
             prod shop          pin-shop-1.0.0: waits for failures: 1 place is not published yet
      05:01  prod shop          pin-shop-1.0.0: waits for compliant: 0 of 1 reconciler applied the change, 100% are needed
      05:04  prod shop          pin-shop-1.0.0: the ring `clinics` is done
                                    failures: 0 of 1 reconciler failed, at most 0 may fail
                                    compliant: 1 of 1 reconciler applied the change
             prod shop          pin-shop-1.0.0: all rings are done
      08:00                     release shop 3.0.0
      08:02  prod shop release  3.0.0: it is the newest revision that can move
             prod shop release  3.0.0: waits for healthy: 0 of 2 reconcilers applied the change, 100% are needed
      08:08  prod shop release  3.0.0: the gates hold
                                    settled: `stage` has the revision
                                    healthy: 2 of 2 reconcilers applied the change
             prod shop release  3.0.0: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop          3.0.0: the move begins with the ring `clinics`
             prod shop          3.0.0: the ring `clinics` begins
             prod shop          3.0.0: 5 of 5 changed places of the ring `clinics` have the revision, or get it now
             prod shop          3.0.0: waits for failures: 5 places are not published yet
      08:09  prod shop          3.0.0: waits for compliant: 0 of 5 reconcilers applied the change, 100% are needed
      08:13  prod shop          3.0.0: the ring `clinics` is done
                                    failures: 0 of 5 reconcilers failed, at most 0 may fail
                                    compliant: 5 of 5 reconcilers applied the change
             prod shop          3.0.0: all rings are done
             prod shop release  3.0.0: the environment proved it
                                    failures: 0 of 6 reconcilers failed, at most 0 may fail

Expectations
      04:59  ok      prod values waits for two-eyes
      08:00  ok      clinic-[1-5] has shop 2.0.0
      08:00  ok      clinic-6 has shop 1.0.0
      04:59  ok      clinic-6 has shop 2.0.0 at 4h59m
      08:13  ok      clinic-[1-5] has shop 3.0.0 by 10h
      08:14  ok      clinic-6 has shop 1.0.0
      08:14  ok      everything rests
