      01:00        delete states of prod
                   restore states of prod
      02:00        fail stage-2 on c1
                   change c1
      02:02  prod  c1: it is the newest revision that can move
             prod  c1: waits for healthy: 0 of 3 reconcilers applied the change, 100% are needed

Expectations
      03:00  ok      prod waits for 2 of 3 reconcilers applied the change
   3d 03:00  ok      prod never has c1
