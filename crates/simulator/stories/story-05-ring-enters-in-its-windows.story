      00:00             change c1
      00:01  prod       c1: it is the newest revision that can move
             prod       c1: the gates hold
             prod       c1: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop  c1: the move begins with the ring `lab`
             prod shop  c1: the ring `lab` begins
             prod shop  c1: 1 of 1 changed place of the ring `lab` have the revision, or get it now
             prod shop  c1: waits for failures: 1 place is not published yet
      00:02  prod shop  c1: waits for compliant: 0 of 1 reconciler applied the change, 100% are needed
      00:08  prod shop  c1: the ring `lab` is done
                            failures: 0 of 1 reconciler failed, at most 0 may fail
                            compliant: 1 of 1 reconciler applied the change
             prod shop  c1: waits for people: a person must let the change through
      02:00             skip prod shop gate people by ana because the lab is good
             prod shop  c1: skip of the gate `people` by ana: the lab is good
             prod shop  c1: waits for night: the window opens on Mon 2026-03-02 22:00 (Europe/Berlin)
      03:00  prod shop  c1: the ring `stores` begins
             prod shop  c1: 1 of 6 changed places of the ring `stores` have the revision, or get it now
             prod shop  c1: waits for failures: 1 place is not published yet
      03:01  prod shop  c1: waits for canary: 0 of 1 reconciler applied the change, 100% are needed
      03:03  prod shop  c1: 3 of 6 changed places of the ring `stores` have the revision, or get it now
             prod shop  c1: waits for failures: 2 places are not published yet
      03:04  prod shop  c1: waits for night: the window opens on Tue 2026-03-03 22:00 (Asia/Tokyo)
      19:00  prod shop  c1: 5 of 6 changed places of the ring `stores` have the revision, or get it now
             prod shop  c1: waits for failures: 2 places are not published yet
      19:01  prod shop  c1: waits for compliant: 1 place is not published yet
      19:02  prod shop  c1: 6 of 6 changed places of the ring `stores` have the revision, or get it now
             prod shop  c1: waits for failures: 1 place is not published yet
      19:03  prod shop  c1: waits for compliant: 4 of 6 reconcilers applied the change, 100% are needed
      19:06  prod shop  c1: the ring `stores` is done
                            failures: 0 of 7 reconcilers failed, at most 0 may fail
                            people: skipped by ana: the lab is good
                            night: the window is open in 1 of 1 time zone
                            compliant: 6 of 6 reconcilers applied the change
             prod shop  c1: all rings are done
             prod       c1: the environment proved it
                            failures: 0 of 7 reconcilers failed, at most 0 may fail

Expectations
      01:00  ok      lab-1 has c1
      01:00  ok      berlin-[1-3] lacks c1
      02:30  ok      tokyo-[1-3] lacks c1
      04:00  ok      berlin-[1-3] has c1
      04:00  ok      tokyo-[1-3] lacks c1
      18:00  ok      tokyo-[1-3] lacks c1
      19:07  ok      at most 2 of prod change at once
      19:06  ok      prod has c1 by 20h
