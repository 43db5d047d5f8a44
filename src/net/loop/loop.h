/* SPDX-License-Identifier: Apache-2.0 */
/* The event loop of a long-running command: libuv behind a small face.
 *
 *     struct loop *loop;
 *     if (!loop_new(&loop, &err)) ...
 *     ... streams, timers, posted tasks ...
 *     loop_run(loop);          // until loop_stop, or until nothing is left to wait for
 *     loop_free(loop);
 *
 * Everything runs on the thread that called loop_run, except loop_post and loop_stop, which
 * any thread may call.  Callbacks may close and free what they are called for.  Descriptors 0 to 2
 * must be open (cli/view/output.h); from loop_new on the process ignores SIGPIPE.
 *
 * Not here: HTTP (net/http/).
 */
#ifndef HASP_NET_LOOP_LOOP_H
#define HASP_NET_LOOP_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/span.h"

struct loop;

/* An empty loop, for the thread that will run it. Fails when no descriptors are left. */
bool loop_new(struct loop **ret, struct err *err);
/* Runs what was posted and not run yet, then closes everything that is open. NULL is fine. */
void loop_free(struct loop *loop);
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop);

/* Between these two calls loop_run goes on although nothing is open: other threads are at work
 * and will post.  Holds are counted.  (Open streams, timers and watches hold by themselves;
 * signals and tasks do not.)  On the loop's thread. */
void loop_hold(struct loop *loop);
void loop_unhold(struct loop *loop);

/* A function to be run on the loop's thread. Embedded in the caller's object, which
 * must live until `run` was called; a task is posted once until it has run. */
struct loop_task {
	void (*run)(struct loop_task *task);
	struct loop_task *next; /* the loop's */
};

/* Tasks run in the order they were posted. Many posts cost one wake-up. */
void loop_post(struct loop *loop, struct loop_task *task);

/* A timer: calls `fire` once after `delay_ms`, then every `repeat_ms` (0: never again). */
struct loop_timer;
struct loop_timer *loop_timer_start(struct loop *loop, uint64_t delay_ms, uint64_t repeat_ms,
                                    void (*fire)(void *data), void *data);
void loop_timer_stop(struct loop_timer *timer); /* frees it; NULL is fine */

/* Calls `ready` whenever the descriptor (borrowed) can be read. NULL with errno set. */
struct loop_watch;
struct loop_watch *loop_watch_start(struct loop *loop, int fd, void (*ready)(void *data),
                                    void *data);
void loop_watch_stop(struct loop_watch *watch); /* frees it; NULL is fine */

/* Calls `caught` on the loop's thread when the signal arrives (SIGINT, SIGTERM, SIGHUP, a
 * terminal's SIGWINCH, SIGCONT and SIGTSTP), until the loop is freed or loop_off_signal. */
bool loop_on_signal(struct loop *loop, int signal, void (*caught)(void *data, int signal),
                    void *data, struct err *err);
/* Ends all that was asked for with `data`. */
void loop_off_signal(struct loop *loop, const void *data);

/* A byte stream over a descriptor, or one to read from and another to write to
 * (stdin and stdout): pipes, sockets, terminals, regular files.  Descriptors are borrowed
 * and, for others who share them, as blocking as they were found (stream.c says how). */
struct loop_stream;

struct loop_stream_events {
	/* Bytes arrived; borrowed for the call. */
	void (*data)(void *data, struct span bytes);
	/* No more bytes will come: end of file (0), or the errno of a failed read. Once. */
	void (*end)(void *data, int sys_errno);
	/* No more bytes can be written: the reader has closed (EPIPE), or the errno of another
	 * failure.  Once, never from within loop_stream_writev; after the end of the input also
	 * when nothing is being written. May be NULL. */
	void (*broken)(void *data, int sys_errno);
	/* The backlog, which was above the low-water mark of 1 MiB, is below it again. May be
	 * NULL. */
	void (*drained)(void *data);
	/* All that waited has been written. May be NULL. */
	void (*written)(void *data);
};

/* Reads from `read_fd` as soon as the loop runs.  `events` is copied, `data` borrowed; *ret belongs
 * to the loop.  Fails, with the errno, when a descriptor cannot be read or written. */
bool loop_stream_open(struct loop *loop, int read_fd, int write_fd,
                      const struct loop_stream_events *events, void *data,
                      struct loop_stream **ret, struct err *err);
/* Writes several runs of bytes, such as a line and its newline: what can be written without
 * waiting, and keeps a copy of the rest, up to LIMIT_BACKLOG_BYTES, which is a failed write
 * (ENOBUFS).  Returns how many bytes wait; the caller stops producing when that is too much.
 * After a failed write bytes are dropped and 0 is returned. */
size_t loop_stream_writev(struct loop_stream *stream, const struct span *parts, size_t count);
/* The same for what may go with what is written next: small ones are written together, when the
 * tasks and events that the loop has right now are done with. On the loop's thread. */
size_t loop_stream_gather(struct loop_stream *stream, const struct span *parts, size_t count);
/* Stops and resumes calling events.data: back-pressure towards the other side. At the end of
 * the input it stays quiet as well. */
void loop_stream_pause(struct loop_stream *stream);
void loop_stream_resume(struct loop_stream *stream);
/* Waits until all is written, or until nothing could be written for `drain_ms`, then frees it.
 * NULL is fine. */
void loop_stream_close(struct loop_stream *stream, unsigned drain_ms);

/* ---- threads ---------------------------------------------------------------------- */

/* Threads for calls that take long.
 *
 *     struct pool *pool = pool_new(2, 256);
 *     pool_submit(pool, &job->job);         // job->job.run(&job->job) on some thread
 *     pool_free(pool);                      // waits for all jobs
 *
 * Threads are started when there is work and none is idle, and end after a while without
 * any.  At most `threads` jobs compute at a time; a job that waits for something else
 * (an answer of a client, a command) says so with pool_wait_begin, and another thread may then run
 * in its place, up to `threads_max` in all.  So a thousand jobs can be under way while
 * some wait, without a thousand threads.
 */

struct pool;

/* Embedded in the caller's object, which must live until `run` begins. */
struct pool_job {
	void (*run)(struct pool_job *job);
	struct pool_job *next; /* the pool's */
};

/* `threads` 0: as many as there are processors the process may use. */
struct pool *pool_new(unsigned threads, unsigned threads_max);
/* Runs what is queued, waits for every job. NULL is fine. */
void pool_free(struct pool *pool);
/* From any thread. Jobs begin in the order of submission. */
void pool_submit(struct pool *pool, struct pool_job *job);
/* Called by a running job around a wait. */
void pool_wait_begin(struct pool *pool);
void pool_wait_end(struct pool *pool);

/* ---- between threads -------------------------------------------------------------- */

/* Runs a function on the loop's thread, and waits for it.  From another thread. */
void loop_call(struct loop *loop, void (*run)(void *data), void *data);

/* Something on a thread of a pool, and what follows from it on the loop's thread; the loop is held
 * in between.  Embedded in the caller's object, which must live until `then` is called. */
struct loop_job {
	struct pool_job job;
	struct loop_task ended;
	struct loop *loop;
	void (*run)(struct loop_job *job);
	void (*then)(struct loop_job *job); /* may free it */
};
/* From the loop's thread. */
void loop_job_start(struct loop *loop, struct pool *pool, struct loop_job *job);

/* Has `woken` called with `data` on the loop's thread soon after it was woken, by any thread; many
 * times before that are one. */
struct loop_waker;
struct loop_waker *loop_waker_new(struct loop *loop, void (*woken)(void *data), void *data);
/* On the loop's thread; nothing wakes it any more. NULL is fine. */
void loop_waker_free(struct loop_waker *waker);
void loop_waker_wake(void *waker, bool is_piece); /* `is_piece` is ignored: as front_options.wake */

#endif
