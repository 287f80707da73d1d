      00:00                      fail host-1 on 2.0.0-1
                                 release agent tag=2.0.0,version=2.0.0-1
      00:02  prod agent release  tag=2.0.0,version=2.0.0-1: it is the newest revision that can move
             prod agent release  tag=2.0.0,version=2.0.0-1: waits for healthy: 0 of 2 reconcilers applied the change, 100% are needed
      04:00                      repair host-1
      04:03  prod agent release  tag=2.0.0,version=2.0.0-1: the gates hold
                                     settled: `stage` has the revision
                                     healthy: 2 of 2 reconcilers applied the change
             prod agent release  tag=2.0.0,version=2.0.0-1: waits for compliant: the state of the fleet is not known: its output is not published yet
      04:09  prod agent release  tag=2.0.0,version=2.0.0-1: the environment proved it
                                     compliant: 6 of 6 reconcilers applied the change
                                     failures: 0 of 6 reconcilers failed, at most 0 may fail

Expectations
      01:00  ok      edge-1 has agent 2.0.0
      03:00  ok      prod waits for 1 of 2 reconcilers applied the change
      04:00  ok      edge-[2-4] lacks agent 2.0.0 at 4h
      04:00  ok      host-[2-4] lacks agent 2.0.0-1 at 4h
      04:08  ok      edge-[2-4] has agent 2.0.0 by 5h
      04:09  ok      host-[2-4] has agent 2.0.0-1 by 5h
      04:10  ok      everything rests
