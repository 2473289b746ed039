// Package stage is what the stages of the loop share: their environment [Env], the
// worker that runs a stateless stage, the ledger that a stateful stage is (Stateful),
// the pauses that people ask for, and the reserve of free disk.
//
// # The way of a record through a worker
//
//	poll      reads the record. It waits while the worker's [Limit] is reached.
//	[Task]    The record is a task now, and belongs to the [Progress] of its partition.
//	handler   A goroutine of the worker, or of its [Lane], calls the stage's [Handler]. A
//	          record on which it panics is rejected. For readers of fetched, [Env.WithBody]
//	          loads the body before.
//	decision  The handler of a stage that only transforms is its [Transform], a function
//	          of the record. It returns outputs, or the reason why the record is rejected.
//	[Outbox]  Task.Finish sends the outputs, or the record itself to rejected.
//	end       The task ends when all that was sent is acknowledged. Then Progress says
//	          up to which record the partition may be committed.
//
// # Failure
//
// Each record is worked on at least once: a process that is killed has committed no
// record that is not finished. When a producer or the handler reports an error, the
// worker ends, and [Env.Run] builds the stage anew; it begins again at the commit. An
// error that wraps [ErrFatal] ends the process. A record that a stage cannot use goes to
// the topic rejected, and the stage goes on.
package stage
