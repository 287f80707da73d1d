      00:00               change c1
      00:01  stage        c1: it is the newest revision that can move
             stage        c1: the gates hold
             stage        c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      00:02  prod         c1: it is the newest revision that can move
             prod         c1: waits for healthy: 0 of 3 reconcilers applied the change, 100% are needed
      00:08  prod         c1: the gates hold
                              settled: `stage` has the revision
                              healthy: 3 of 3 reconcilers applied the change
             prod         c1: waits for compliant: the state of the fleet is not known: its output is not published yet
             stage        c1: the environment proved it
                              compliant: 3 of 3 reconcilers applied the change
                              failures: 0 of 3 reconcilers failed, at most 0 may fail
      00:10               configure prod prices
             prod values  prices: it is the newest commit
             prod values  prices: waits for two-eyes: 0 of 1 approval
      00:13  prod         c1: the environment proved it
                              compliant: 4 of 4 reconcilers applied the change
                              failures: 0 of 4 reconcilers failed, at most 0 may fail
      01:00               configure prod more-prices
             prod values  prices: `more-prices` replaces it
             prod values  more-prices: it is the newest commit
             prod values  more-prices: waits for two-eyes: 0 of 1 approval
      02:00               approve prod values by ana
             prod values  more-prices: approve for the gate `two-eyes` by ana
             prod values  more-prices: the gates hold
      03:00               configure prod tax
      03:01  prod values  tax: it is the newest commit
             prod values  tax: waits for two-eyes: 0 of 1 approval
      03:10               skip prod values gate two-eyes by ben because the law changes tonight
             prod values  tax: skip of the gate `two-eyes` by ben: the law changes tonight
             prod values  tax: the gates hold
      04:00               hold prod by ana because inventory
             prod         hold by ana: inventory
      04:10               configure prod late
             prod values  late: it is the newest commit
             prod values  late: waits for two-eyes: 0 of 1 approval
      05:00               resume prod by ana
             prod         resume by ana
      06:00               override prod values by ben because the tills are closed
             prod values  late: override `late` past two-eyes until 2026-03-03T14:00:00Z by ben: the tills are closed

Expectations
      01:59  ok      prod values waits for two-eyes
      01:59  ok      prod lacks prices at 1h59m
      02:03  ok      prod has prices by 3h
      02:03  ok      prod has more-prices by 3h
      03:09  ok      prod lacks tax at 3h9m
      03:13  ok      prod has tax by 4h
      04:30  ok      prod values is held at 4h30m
      05:59  ok      prod lacks late at 5h59m
      06:03  ok      prod has late by 7h
      00:13  ok      prod has c1 by 2h
