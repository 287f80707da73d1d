      00:00        change loosen with without-people
      00:02  prod  loosen: it is the newest revision that can move
             prod  loosen: waits for healthy: 0 of 2 reconcilers applied the change, 100% are needed
      00:08  prod  loosen: waits for two-eyes: 0 of 1 approval
      03:00        approve prod by ana
             prod  loosen: approve for the gate `two-eyes` by ana
             prod  loosen: the gates hold
                       settled: `stage` has the revision
                       healthy: 2 of 2 reconcilers applied the change
                       two-eyes: 1 of 1 approval (ana)
             prod  loosen: waits for compliant: the state of the fleet is not known: its output is not published yet
      03:03  prod  loosen: the environment proved it
                       compliant: 3 of 3 reconcilers applied the change
                       failures: 0 of 3 reconcilers failed, at most 0 may fail
      04:00        change next
      04:02  prod  next: it is the newest revision that can move
             prod  next: waits for healthy: 0 of 2 reconcilers applied the change, 100% are needed
      04:08  prod  next: the gates hold
                       settled: `stage` has the revision
                       healthy: 2 of 2 reconcilers applied the change
             prod  next: waits for compliant: the state of the fleet is not known: its output is not published yet
      04:13  prod  next: the environment proved it
                       compliant: 3 of 3 reconcilers applied the change
                       failures: 0 of 3 reconcilers failed, at most 0 may fail
      05:00        change drop without to-prod
                   fail stage-1 on drop
      05:02  prod  drop: it is the newest revision that can move
             prod  drop: waits for healthy: 0 of 2 reconcilers applied the change, 100% are needed
      08:00        repair stage-1
      08:03  prod  drop: the gates hold
                       settled: `stage` has the revision
                       healthy: 2 of 2 reconcilers applied the change
             prod  drop: waits for compliant: the state of the fleet is not known: its output is not published yet
      08:08  prod  drop: the environment proved it
                       compliant: 3 of 3 reconcilers applied the change
                       failures: 0 of 3 reconcilers failed, at most 0 may fail
      10:00        fail stage-1
                   change free

Expectations
      01:00  ok      prod waits for two-eyes
      04:00  ok      prod has loosen
      05:00  ok      prod has next
      06:00  ok      prod waits for healthy
      03:00  ok      prod lacks loosen at 3h
      08:00  ok      prod lacks drop at 8h
      08:08  ok      prod has drop by 9h
      10:08  ok      prod has free by 11h
