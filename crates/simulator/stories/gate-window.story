      00:00         change c1
      00:02  stage  c1: it is the newest revision that can move
             stage  c1: the gates hold
                        settled: `dev` has the revision
             stage  c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      00:03  prod   c1: it is the newest revision that can move
             prod   c1: waits for office-hours: the window opens on Tue 2026-03-31 09:00 (Europe/Berlin)
      00:08  stage  c1: the environment proved it
                        compliant: 3 of 3 reconcilers applied the change
                        failures: 0 of 3 reconcilers failed, at most 0 may fail
   3d 14:30  prod   c1: the gates hold
                        settled: `stage` has the revision
                        office-hours: the window is open until Tue 2026-03-31 17:00 (Europe/Berlin)
             prod   c1: waits for compliant: the state of the fleet is not known: its output is not published yet
   3d 14:33  prod   c1: the environment proved it
                        compliant: 4 of 4 reconcilers applied the change
                        failures: 0 of 4 reconcilers failed, at most 0 may fail

Expectations
   2d 00:00  ok      prod lacks c1
   3d 12:00  ok      prod lacks c1
   3d 14:25  ok      prod lacks c1
   3d 14:33  ok      prod has c1 by 3d15h
