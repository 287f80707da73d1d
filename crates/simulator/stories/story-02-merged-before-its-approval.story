      00:00        change c1
      00:02  prod  c1: it is the newest revision that can move
             prod  c1: waits for healthy: 0 of 3 reconcilers applied the change, 100% are needed
      00:08  prod  c1: waits for two-eyes: 0 of 2 approvals
             prod  c1: a pull request waits for reviews
      01:00        merge prod by hand
             prod  c1: a person wrote it into the branch of the environment; it waits for its gates
      03:00        approve prod by ana
             prod  c1: approve for the gate `two-eyes` by ana
      05:00        approve prod by ben
             prod  c1: approve for the gate `two-eyes` by ben
             prod  c1: the gates hold
                       settled: `stage` has the revision
                       healthy: 3 of 3 reconcilers applied the change
                       two-eyes: 2 of 2 approvals (ana, ben)
             prod  c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      05:03  prod  c1: the environment proved it
                       compliant: 4 of 4 reconcilers applied the change
                       failures: 0 of 4 reconcilers failed, at most 0 may fail

Expectations
      02:00  ok      prod waits for two-eyes
      04:59  ok      prod lacks c1 at 4h59m
      05:03  ok      prod has c1 by 6h
      05:04  ok      everything rests
