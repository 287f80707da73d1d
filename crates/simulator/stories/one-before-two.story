      00:00      change c1
      00:02  us  c1: it is the newest revision that can move
             us  c1: waits for healthy: 0 of 2 reconcilers applied the change, 100% are needed
             eu  c1: it is the newest revision that can move
             eu  c1: waits for healthy: 0 of 2 reconcilers applied the change, 100% are needed
      00:08  us  c1: waits for six-hours: good since 2026-03-02T08:08:00Z; 6h end at 2026-03-02T14:08:00Z
             eu  c1: the gates hold
                     settled: `stage` has the revision
                     healthy: 2 of 2 reconcilers applied the change
             eu  c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      00:13  eu  c1: the environment proved it
                     compliant: 2 of 2 reconcilers applied the change
                     failures: 0 of 2 reconcilers failed, at most 0 may fail
      06:08  us  c1: the gates hold
                     settled: `stage` has the revision
                     healthy: 2 of 2 reconcilers applied the change
                     six-hours: good since 2026-03-02T08:08:00Z; 6h end at 2026-03-02T14:08:00Z
             us  c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      06:13  us  c1: the environment proved it
                     compliant: 2 of 2 reconcilers applied the change
                     failures: 0 of 2 reconcilers failed, at most 0 may fail

Expectations
      02:00  ok      eu has c1
      02:00  ok      us lacks c1
      06:13  ok      us has c1 by 8h
