      01:00                          release shop 2.0.0
      01:02  stage shop              2.0.0: the move begins with the ring `first`
             stage shop              2.0.0: the ring `first` begins
             stage shop              2.0.0: 2 of 2 changed places of the ring `first` have the revision, or get it now
             stage shop              2.0.0: waits for failures: 2 places are not published yet
      01:03  stage shop              2.0.0: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      01:05                          add new-1 to stage where region=east
             stage shop              added-new-1: it moves before `2.0.0`, which continues after it
             stage shop              added-new-1: the ring `first` begins
             stage shop              added-new-1: 1 of 1 changed place of the ring `first` have the revision, or get it now
             stage shop              added-new-1: waits for failures: 1 place is not published yet
      01:06  stage shop              added-new-1: the ring `first` is done
             stage shop              added-new-1: nothing changes in the ring `others`
             stage shop              added-new-1: all rings are done
             stage shop              added-new-1: the move continues after the newest values
             stage shop              added-new-1: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      01:11  stage shop              added-new-1: waits for pause: good since 2026-03-02T09:11:00Z; 10m end at 2026-03-02T09:21:00Z
      01:21  stage shop              added-new-1: the ring `first` is done
                                         failures: 0 of 3 reconcilers failed, at most 0 may fail
                                         compliant: 3 of 3 reconcilers applied the change
                                         pause: good since 2026-03-02T09:11:00Z; 10m end at 2026-03-02T09:21:00Z
             stage shop              added-new-1: the ring `others` begins
             stage shop              added-new-1: 1 of 2 changed places of the ring `others` have the revision, or get it now
             stage shop              added-new-1: waits for failures: 1 place is not published yet
      01:22  stage shop              added-new-1: waits for compliant: 1 place is not published yet
      01:28  stage shop              added-new-1: 2 of 2 changed places of the ring `others` have the revision, or get it now
             stage shop              added-new-1: waits for failures: 1 place is not published yet
      01:29  stage shop              added-new-1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed
      01:33  stage shop              added-new-1: the ring `others` is done
                                         failures: 0 of 5 reconcilers failed, at most 0 may fail
                                         compliant: 2 of 2 reconcilers applied the change
             stage shop              added-new-1: all rings are done
      04:00                          install v51
      04:01  stage kalypso/renderer  v51: it is the newest revision that can move
             stage kalypso/renderer  v51: waits for people: 0 of 2 approvals of the team `sre`; one more, because the author of the change is not known
      06:00                          rollback stage shop by ana because prices are wrong
             stage shop              added-new-1: rollback to `added-new-1~2` by ana: prices are wrong
      07:00                          approve stage kalypso/renderer by ana
             stage kalypso/renderer  v51: approve for the gate `people` by ana
                                     approve stage kalypso/renderer by ben
             stage kalypso/renderer  v51: approve for the gate `people` by ben
             stage kalypso/renderer  v51: the gates hold
                                         people: 2 of 2 approvals of the team `sre` (ana, ben); one more, because the author of the change is not known
             stage kalypso/renderer  v51: waits for failures: the state of the fleet is not known: its output is not published yet
             stage kalypso/renderer  v51: the rollout of shop: rolled back by ana: prices are wrong
      08:00                          retry stage shop by ana
             stage shop              retry by ana
      08:01  stage shop              v51: the move begins with the ring `first`
             stage shop              v51: the ring `first` begins
             stage shop              v51: 3 of 3 changed places of the ring `first` have the revision, or get it now
             stage shop              v51: waits for failures: 3 places are not published yet
      08:02  stage shop              v51: waits for compliant: 0 of 3 reconcilers applied the change, 100% are needed
      08:08  stage shop              v51: waits for pause: good since 2026-03-02T16:08:00Z; 10m end at 2026-03-02T16:18:00Z
      08:18  stage shop              v51: the ring `first` is done
                                         failures: 0 of 3 reconcilers failed, at most 0 may fail
                                         compliant: 3 of 3 reconcilers applied the change
                                         pause: good since 2026-03-02T16:08:00Z; 10m end at 2026-03-02T16:18:00Z
             stage shop              v51: the ring `others` begins
             stage shop              v51: 1 of 2 changed places of the ring `others` have the revision, or get it now
             stage shop              v51: waits for failures: 1 place is not published yet
      08:19  stage shop              v51: waits for compliant: 1 place is not published yet
      08:23  stage shop              v51: 2 of 2 changed places of the ring `others` have the revision, or get it now
             stage shop              v51: waits for failures: 1 place is not published yet
      08:24  stage shop              v51: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed
      08:28  stage shop              v51: the ring `others` is done
                                         failures: 0 of 5 reconcilers failed, at most 0 may fail
                                         compliant: 2 of 2 reconcilers applied the change
             stage shop              v51: all rings are done
             stage kalypso/renderer  v51: the failures are resolved
             stage kalypso/renderer  v51: the environment proved it
                                         failures: 0 of 5 reconcilers failed, at most 0 may fail

Expectations
      06:30  ok      stage shop waits for has not begun
      07:00  ok      stage has shop 2.0.0 at 7h
      07:00  ok      stage lacks v51 at 7h
      08:29  ok      stage has v51
      08:29  ok      everything rests
