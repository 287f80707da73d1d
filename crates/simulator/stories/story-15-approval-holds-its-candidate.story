      00:00        change c1 by ana
      00:02  prod  c1: it is the newest revision that can move
             prod  c1: waits for approval: 0 of 1 approval
      00:30        change c2 by ben
      01:00        approve prod by carl
             prod  c1: approve for the gate `approval` by carl
             prod  c1: the gates hold
                       settled: `dev` has the revision
                       approval: 1 of 1 approval (carl)
             prod  c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      01:03  prod  c1: the environment proved it
                       compliant: 4 of 4 reconcilers applied the change
                       failures: 0 of 4 reconcilers failed, at most 0 may fail
             prod  c2: it is the newest revision that can move
             prod  c2: waits for approval: 0 of 1 approval
      02:00        approve prod by ben
             prod  approve by ben is refused: the approval does not count at the gate `approval`: ben is an author of the change
      03:00        approve prod by carl
             prod  c2: approve for the gate `approval` by carl
             prod  c2: the gates hold
                       settled: `dev` has the revision
                       approval: 1 of 1 approval (carl)
             prod  c2: waits for compliant: the state of the fleet is not known: its output is not published yet
      03:03  prod  c2: the environment proved it
                       compliant: 4 of 4 reconcilers applied the change
                       failures: 0 of 4 reconcilers failed, at most 0 may fail

Expectations
      01:30  ok      prod lacks c2
      01:03  ok      prod has c1 by 1h10m
      03:03  ok      prod has c2 by 3h10m
