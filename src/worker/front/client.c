/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting together: one reads for all. */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>

#include "base/fd.h"
#include "base/mem.h"
#include "worker/front/private.h"

enum {
	PATIENCE_MS = 10000,
	LARGE_BYTES = 256 << 10, /* a blob that is read by the thread that asked for it */
	ROOM_LOOK_MS = 50,       /* how often who waits for room looks whether anybody reads */
	BLIND_LOOK_MS = 20,      /* how often who cannot be woken looks, for want of descriptors */
};

/* More than the window, for events that do not count in it. */
static const size_t QUEUE_BYTES = LIMIT_RUN_WINDOW + ((size_t)1 << 20);

int64_t client_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- failing --------------------------------------------------------------- */

static void signal_ready(struct client *client, struct pending *pending, bool here)
{
	if (!pending->call->ready || pending->signalled)
		return;
	pending->signalled = true;
	client->awaited--;
	pending->call->ready(pending->call->ready_data, here);
}

static void wake_all(struct client *client)
{
	for (struct client_waiter *waiter = client->followers; waiter; waiter = waiter->next)
		client_waiter_wake(waiter);
	for (struct pending *pending = client->pending; pending; pending = pending->next)
		signal_ready(client, pending, /* here= */ false);
}

/* Stops the reading thread: what it reads belongs to the process that is being replaced. */
static void stop_reader(struct client *client)
{
	client_wake_reader(client);
	while (client->reading)
		pthread_cond_wait(&client->settled, &client->lock);
}

/* The first word about it counts. The description waits for the process, so without the lock. */
void client_fail_locked(struct client *client, const char *format, ...)
{
	_cleanup_buf_ struct buf why = BUF_INIT(sizeof(client->why) - 1);
	va_list args;
	char what[512];

	if (client->failed_hint)
		return;
	client->failed_hint = true;
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	stop_reader(client);
	pthread_mutex_unlock(&client->lock);
	buf_printf(&why, "%s %s", client->name, what);
	buf_char(&why, ' ');
	process_describe_end(&client->process, &why);
	process_kill(&client->process);
	pthread_mutex_lock(&client->lock);
	snprintf(client->why, sizeof(client->why), "%s", why.data ? why.data : what);
	client->failed = true;
	wake_all(client);
}

void client_fail(struct client *client, const char *why)
{
	pthread_mutex_lock(&client->lock);
	client_fail_locked(client, "%s", why);
	pthread_mutex_unlock(&client->lock);
}

void client_why(struct client *client, struct err *err)
{
	pthread_mutex_lock(&client->lock);
	err_set(err, ERR_WORKER_LOST, "%s", client->failed ? client->why : "The worker is ending.");
	pthread_mutex_unlock(&client->lock);
}

/* ---- handing out what arrives ---------------------------------------------- */

static struct pending *find_pending(struct client *client, uint64_t id)
{
	for (struct pending *pending = client->pending; pending; pending = pending->next)
		if (pending->id == id && !pending->answered)
			return pending;
	return NULL;
}

static bool forget_abandoned(struct client *client, uint64_t id)
{
	for (struct abandoned **at = &client->abandoned; *at; at = &(*at)->next) {
		struct abandoned *found = *at;

		if (found->id != id)
			continue;
		*at = found->next;
		free(found);
		client->abandoned_count--;
		return true;
	}
	return false;
}

/* Decodes into the caller's object; it does not leave while `busy`. */
static bool decode_answer(struct client *client, struct pending *pending)
{
	struct wire *wire = &client->wire;
	const struct wire_message *message = wire->frame.message;
	_cleanup_wire_in_ struct wire_in in;
	struct wire_error error = { 0 };

	wire_open(wire, NULL, &in);
	if (message->number == WIRE_MESSAGE_ERROR) {
		if (!wire_decode_frame(wire, &in, &error))
			return false;
		pending->err = error.err;
		if (error.err.code == ERR_NONE)
			return wire->problem[0] || !snprintf(wire->problem, sizeof(wire->problem),
			                                     "ERROR without an error");
		return true;
	}
	return wire_decode_frame(wire, &in, pending->call->object) &&
	       wire_read_blob(wire, &in) == WIRE_FRAME;
}

/* The content of an answer that came although its call was cancelled. */
static bool drop_blob(struct wire *wire)
{
	_cleanup_buf_ struct buf dropped = BUF_INIT((size_t)wire->blob_left);
	struct wire_blob blob = { .buf = &dropped, .len = wire->blob_left };
	struct wire_in in = { .blobs = &blob, .blob_count = 1, .blob_bytes = blob.len };

	return wire_read_blob(wire, &in) == WIRE_FRAME;
}

static bool take_answer(struct client *client)
{
	const struct wire_frame *frame = &client->wire.frame;
	struct pending *pending = find_pending(client, frame->id);
	bool ok;

	if (!pending) {
		ok = forget_abandoned(client, frame->id);
		pthread_mutex_unlock(&client->lock);
		ok = ok && drop_blob(&client->wire);
		pthread_mutex_lock(&client->lock);
		return ok;
	}
	if (frame->message->number != WIRE_MESSAGE_ERROR &&
	    frame->message->number != pending->call->answer)
		return false;
	pending->busy = true;
	pthread_mutex_unlock(&client->lock);
	ok = decode_answer(client, pending);
	pthread_mutex_lock(&client->lock);
	pending->busy = false;
	pending->answered = ok;
	client_waiter_wake(&pending->waiter);
	if (ok)
		signal_ready(client, pending, /* here= */ true);
	return ok;
}

/* Whether the number of this frame may name a run or a watch that has ended: not while it is that
 * of another request, which would wait for its answer for ever. */
static bool may_have_ended(struct client *client, enum wire_type began)
{
	const uint64_t id = client->wire.frame.id;
	const struct pending *pending = find_pending(client, id);

	return id && id <= client->last_id && (!pending || pending->call->request == began);
}

static bool take_change(struct client *client)
{
	for (struct change_mark *mark = client->marks; mark; mark = mark->next)
		if (mark->id == client->wire.frame.id) {
			mark->changed = true;
			client_waiter_wake(&client->watcher);
			return true;
		}
	return may_have_ended(client, WIRE_MESSAGE_WATCH);
}

static struct client_run *find_run(struct client *client, uint64_t id)
{
	for (struct client_run *run = client->runs; run; run = run->next)
		if (run->id == id)
			return run;
	return NULL;
}

static bool take_credit(struct client *client, struct client_run *run)
{
	struct wire_run_taken taken = { 0 };
	_cleanup_wire_in_ struct wire_in in;

	wire_open(&client->wire, NULL, &in);
	if (!wire_decode_frame(&client->wire, &in, &taken) || taken.bytes > run->input_bytes)
		return false;
	run->input_bytes -= taken.bytes;
	return true;
}

static bool take_run_event(struct client *client)
{
	const struct wire_frame *frame = &client->wire.frame;
	struct client_run *run = find_run(client, frame->id);
	struct run_event *event;

	if (!run) /* freed meanwhile */
		return may_have_ended(client, WIRE_MESSAGE_RUN);
	if (frame->message->number == WIRE_MESSAGE_RUN_INPUT_TAKEN)
		return take_credit(client, run);
	if (run->queued_bytes + frame->fields.len + sizeof(*event) > QUEUE_BYTES)
		return false;
	event = mem_alloc(1, sizeof(*event));
	event->type = (enum wire_type)frame->message->number;
	event->len = frame->fields.len;
	event->fields = wire_take_fields(&client->wire);
	run->queued_bytes += event->len + sizeof(*event);
	*run->last = event;
	run->last = &event->next;
	client_waiter_wake(&run->waiter);
	return true;
}

static bool hand_out(struct client *client)
{
	switch (client->wire.frame.message->when) {
	case WIRE_WHEN_ANSWER:
		return take_answer(client);
	case WIRE_WHEN_WATCH:
		return take_change(client);
	case WIRE_WHEN_RUN:
		return take_run_event(client);
	case WIRE_WHEN_READY: /* PONG: that it came is all */
		return client->wire.frame.id == 0;
	case WIRE_WHEN_FIRST:
		break;
	}
	return false;
}

/* ---- reading --------------------------------------------------------------- */

/* How long the rest of a frame may take after its first byte: it is sent in one piece, and only a
 * network delays it. */
static int client_stall_ms(const struct client *client)
{
	return (int)(client->keeping ? 2 * client->patience_ms : client->patience_ms / 2);
}

/* Locked; not while another thread reads. */
static bool is_within_frame(const struct client *client)
{
	return !client->reading && wire_is_within_frame(&client->wire);
}

/* Whether the worker still gives signs of life; asks for one when it does not. Locked. */
static void check_life(struct client *client)
{
	uint64_t bytes = client->wire.received + client->wire.written;
	int64_t now = client_now_ms();
	struct err err = ERR_INIT;

	if ((!client->pending && !is_within_frame(client)) || bytes != client->seen_bytes) {
		client->seen_bytes = bytes;
		client->quiet_ms = now;
		client->pinged = false;
		return;
	}
	if (is_within_frame(client) && now - client->quiet_ms >= client_stall_ms(client)) {
		client_fail_locked(client, "broke the protocol (it stopped within a message).");
		return;
	}
	if (now - client->quiet_ms < client->patience_ms)
		return;
	if (client->pinged) {
		client_fail_locked(client, "did not answer for %u s.",
		                   2 * client->patience_ms / 1000);
		return;
	}
	client->pinged = true;
	client->quiet_ms = now;
	/* A thread that is writing notices the failure itself. */
	if (pthread_mutex_trylock(&client->wire.write_lock) == 0) {
		pthread_mutex_unlock(&client->wire.write_lock);
		pthread_mutex_unlock(&client->lock);
		wire_send(&client->wire, WIRE_MESSAGE_PING, 0, NULL, NULL, 0, &err);
		pthread_mutex_lock(&client->lock);
	}
	client->seen_bytes = client->wire.received + client->wire.written;
}

void client_await_input(struct client *client, int stop_fd, int64_t until_ms)
{
	struct pollfd fds[] = { { .fd = client->wire.read_fd, .events = POLLIN },
		                { .fd = client->process.errors_fd, .events = POLLIN },
		                { .fd = client->wake, .events = POLLIN },
		                { .fd = stop_fd, .events = POLLIN } };
	int64_t left = until_ms < 0 ? -1 : until_ms - client_now_ms();
	uint64_t count;

	if (until_ms >= 0 && left < 0)
		left = 0;
	if (fd_wait(fds, ARRAY_LEN(fds), (int)left) <= 0)
		return;
	if (fds[1].revents)
		process_listen(&client->process);
	if (fds[2].revents)
		(void)!read(client->wake, &count, sizeof(count));
}

/* Handles a frame, or what came instead.  Locked; ends the reading. */
static void take_step(struct client *client, enum wire_step step)
{
	struct wire *wire = &client->wire;

	if (step == WIRE_FRAME && !hand_out(client))
		step = WIRE_FAILED;
	if (step == WIRE_FRAME)
		step = wire_done(wire);
	client->reading = false;
	if (client->failed_hint)
		pthread_cond_broadcast(&client->settled);
	if (step == WIRE_ENDED && wire->write_error)
		client_fail_locked(client, "could not be written to: %s.",
		                   strerror(wire->write_error));
	else if (step == WIRE_ENDED)
		client_fail_locked(client, "has closed its connection.");
	else if (step == WIRE_FAILED)
		client_fail_locked(client, "broke the protocol (%s).",
		                   wire->problem[0] ? wire->problem : wire->frame.message->name);
}

/* One step of the reading thread.  Called locked; unlocks while it reads. */
static void read_step(struct client *client, int stop_fd, int64_t until_ms)
{
	struct wire *wire = &client->wire;
	enum wire_step step;

	client->reading = true;
	pthread_mutex_unlock(&client->lock);
	if (!wire_has_input(wire)) {
		/* Never waits for one who writes: that one waits for the worker to read, and the
		 * worker for its answers to be read, here. If it fails, so will reading. */
		wire_flush_unless_busy(wire);
		client_await_input(client, stop_fd, until_ms);
	}
	step = wire_next(wire);
	pthread_mutex_lock(&client->lock);
	take_step(client, step);
}

/* Leaves a large answer to the thread that asked for it: it comes, or is sent for. */
static bool leave_large(struct client *client)
{
	const struct wire_frame *frame = &client->wire.frame;
	struct pending *pending = frame->blob_bytes > LARGE_BYTES ?
	                                  find_pending(client, frame->id) : NULL;

	if (!pending)
		return false;
	signal_ready(client, pending, /* here= */ false);
	client->reading = false;
	return true;
}

/* Hands out what has arrived, for one who does not read for itself; without waiting, if `quick`.
 * Locked. */
static void read_arrived(struct client *client, bool quick)
{
	enum wire_step step;

	do {
		client->reading = true;
		pthread_mutex_unlock(&client->lock);
		step = wire_next(&client->wire);
		pthread_mutex_lock(&client->lock);
		if (step == WIRE_FRAME && quick && leave_large(client))
			return;
		take_step(client, step);
	} while (step == WIRE_FRAME && !client->failed_hint && !client->reading &&
	         wire_has_input(&client->wire));
}

/* Makes ready_fd readable for what arrives from now on, or has arrived. Locked. */
static void arm_ready_fd(struct client *client)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLONESHOT };

	if (client->ready_fd < 0 || client->armed || !client->awaited || client->failed_hint)
		return;
	client->armed = epoll_ctl(client->ready_fd, client->listed ? EPOLL_CTL_MOD : EPOLL_CTL_ADD,
	                          client->wire.read_fd, &event) == 0;
	client->listed |= client->armed;
}

void client_leave_reading(struct client *client)
{
	if (!client->reading && !client->followers && client->awaited && !client->failed_hint &&
	    wire_has_input(&client->wire))
		read_arrived(client, /* quick= */ true);
	if (client->reading)
		return;
	if (client->followers)
		client_waiter_wake(client->followers);
	else
		arm_ready_fd(client);
}

/* Sleeps until `waiter` is woken, which has a stop_fd, or that is readable. The lock is let go. */
static void follow_stoppable(struct client *client, struct client_waiter *waiter, int64_t until_ms)
{
	_cleanup_fd_ int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct pollfd fds[] = { { .fd = wake_fd, .events = POLLIN },
		                { .fd = waiter->stop_fd, .events = POLLIN } };
	const int64_t left = until_ms < 0 ? -1 : until_ms - client_now_ms();
	int ms = until_ms < 0 ? -1 : left < 0 ? 0 : (int)left;

	if (wake_fd < 0 && (ms < 0 || ms > BLIND_LOOK_MS))
		ms = BLIND_LOOK_MS;
	waiter->wake_fd = wake_fd;
	pthread_mutex_unlock(&client->lock);
	fd_wait(fds, ARRAY_LEN(fds), ms);
	pthread_mutex_lock(&client->lock);
	waiter->wake_fd = -1;
}

static void follow_reader(struct client *client, struct client_waiter *waiter, int64_t until_ms)
{
	struct client_waiter **at = &client->followers;
	struct timespec until = { until_ms / 1000, until_ms % 1000 * 1000000 };

	waiter->next = client->followers;
	client->followers = waiter;
	if (waiter->stop_fd >= 0)
		follow_stoppable(client, waiter, until_ms);
	else if (until_ms < 0)
		pthread_cond_wait(&waiter->wake, &client->lock);
	else
		pthread_cond_timedwait(&waiter->wake, &client->lock, &until);
	while (*at != waiter)
		at = &(*at)->next;
	*at = waiter->next;
}

/* When to look up at the latest: while an answer is awaited, for signs of life. */
static int64_t next_look(const struct client *client, int64_t until_ms)
{
	int64_t look = client_now_ms() + client->patience_ms / 2;

	if ((!client->pending && !is_within_frame(client)) || (until_ms >= 0 && until_ms < look))
		return until_ms;
	return look;
}

void client_wait(struct client *client, struct client_waiter *waiter,
                 bool (*ready)(struct client *client, void *data), void *data, int64_t until_ms)
{
	while (!ready(client, data) && !client->failed &&
	       (until_ms < 0 || client_now_ms() < until_ms)) {
		if (client->reading || client->failed_hint)
			follow_reader(client, waiter, next_look(client, until_ms));
		else
			read_step(client, waiter->stop_fd, next_look(client, until_ms));
		if (!client->failed_hint)
			check_life(client);
	}
	client_leave_reading(client);
}

void client_wake_reader(struct client *client)
{
	if (!fd_ring(client->wake) && client->wake >= 0)
		process_kill(&client->process); /* the end of its connection wakes, too */
}

static void client_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attributes);
	pthread_condattr_destroy(&attributes);
}

void client_waiter_init(struct client_waiter *waiter)
{
	client_cond_init(&waiter->wake);
	waiter->stop_fd = waiter->wake_fd = -1;
}

void client_waiter_wake(struct client_waiter *waiter)
{
	pthread_cond_signal(&waiter->wake);
	fd_ring(waiter->wake_fd);
}

/* ---- calls whose caller has an event loop ---- */

void client_set_ready_fd(struct client *client, int ready_fd)
{
	pthread_mutex_lock(&client->lock);
	client->ready_fd = ready_fd;
	pthread_mutex_unlock(&client->lock);
}

void client_flush(struct client *client)
{
	wire_flush_unless_busy(&client->wire); /* if it fails, so will reading */
}

void client_take(struct client *client)
{
	client_flush(client);
	pthread_mutex_lock(&client->lock);
	client->armed = false;
	if (!client->reading && !client->failed_hint)
		read_arrived(client, /* quick= */ true);
	if (!client->failed_hint)
		check_life(client);
	client_leave_reading(client);
	pthread_mutex_unlock(&client->lock);
}

/* ---- signs of life -------------------------------------------------------- */

/* A PING, unless there is no room for it (then the other side receives nothing).  Takes the frames
 * that have come meanwhile, mostly PONGs, if no other thread reads.  Locked. */
static void give_sign(struct client *client)
{
	struct pollfd fd = { .fd = client->wire.write_fd, .events = POLLOUT };
	struct err err = ERR_INIT;

	pthread_mutex_unlock(&client->lock);
	if (poll(&fd, 1, 0) > 0)
		wire_send(&client->wire, WIRE_MESSAGE_PING, 0, NULL, NULL, 0, &err);
	pthread_mutex_lock(&client->lock);
	if (!client->reading && !client->failed_hint) {
		read_arrived(client, /* quick= */ true);
		client_leave_reading(client);
	}
}

static void *keeper_thread(void *data)
{
	struct client *client = data;

	pthread_mutex_lock(&client->lock);
	while (!client->stop_keeper && !client->failed_hint) {
		const int64_t until_ms = client_now_ms() + client->sign_ms;
		const struct timespec until = { until_ms / 1000, until_ms % 1000 * 1000000 };
		const int waited = pthread_cond_timedwait(&client->keeper_wake, &client->lock,
		                                          &until);

		if (waited == ETIMEDOUT)
			give_sign(client);
	}
	pthread_mutex_unlock(&client->lock);
	return NULL;
}

bool client_lease_begin(struct client *client, struct err *err)
{
	client->keeping = pthread_create(&client->keeper, NULL, keeper_thread, client) == 0;
	return client->keeping || err_set(err, ERR_TOO_LARGE, "There are too many threads.");
}

/* Without the lock. */
static void client_lease_end(struct client *client)
{
	if (!client->keeping)
		return;
	pthread_mutex_lock(&client->lock);
	client->stop_keeper = true;
	pthread_cond_signal(&client->keeper_wake);
	pthread_mutex_unlock(&client->lock);
	pthread_join(client->keeper, NULL);
}

/* ---- beginning and end ----------------------------------------------------- */

/* Room to write comes when the worker reads, and that may wait until its answers are taken: by the
 * writer, if no other thread reads.  Before its greeting there are no answers. */
static bool await_room(struct client *client, int fd)
{
	int64_t until_ms = client_now_ms() + 2 * (int64_t)client->patience_ms;

	while (!client->failed_hint && client_now_ms() < until_ms) {
		struct pollfd fds[] = { { .fd = fd, .events = POLLOUT },
			                { .fd = client->wire.read_fd, .events = POLLIN } };
		uint64_t received = client->wire.received;

		pthread_mutex_lock(&client->lock);
		if (client->reading || client->failed_hint || !client->greeted)
			fds[1].fd = -1;
		pthread_mutex_unlock(&client->lock);
		if (poll(fds, ARRAY_LEN(fds), ROOM_LOOK_MS) < 0 && errno != EINTR)
			return false;
		if (fds[0].revents)
			return true;
		pthread_mutex_lock(&client->lock);
		if (fds[1].revents && !client->reading && !client->failed_hint) {
			read_arrived(client, /* quick= */ false);
			client_leave_reading(client);
		}
		pthread_mutex_unlock(&client->lock);
		if (received != client->wire.received) /* it gets on */
			until_ms = client_now_ms() + 2 * (int64_t)client->patience_ms;
	}
	return false;
}

/* wire.wait: it makes progress, or it counts as dead.  The reader must stop when it has failed. */
static bool wait_patiently(void *data, int fd, short events)
{
	struct client *client = data;
	struct pollfd fds[] = { { .fd = fd, .events = events },
		                { .fd = client->wake, .events = POLLIN } };
	uint64_t count;

	if (events == POLLOUT)
		return await_room(client, fd);
	while (!client->failed_hint) {
		int got = poll(fds, ARRAY_LEN(fds), client_stall_ms(client));

		if (got == 0 || (got < 0 && errno != EINTR))
			return false;
		if (got > 0 && fds[0].revents)
			return true;
		if (got > 0)
			(void)!read(client->wake, &count, sizeof(count));
	}
	return false;
}

struct client *client_new(struct process *process, const struct client_options *options)
{
	struct client *client = mem_alloc(1, sizeof(*client));

	client->refs = 1;
	client->name = mem_strdup(options->name ? options->name : "The worker");
	client->process = *process;
	*process = (struct process)PROCESS_INIT;
	client->patience_ms = options->patience_ms ? options->patience_ms : PATIENCE_MS;
	client->ready_fd = -1;
	client->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (client->wake < 0)
		client->wake = -errno;
	pthread_mutex_init(&client->lock, NULL);
	pthread_cond_init(&client->settled, NULL);
	client_waiter_init(&client->watcher);
	client_waiter_init(&client->pump_waiter);
	client_cond_init(&client->keeper_wake);
	client->sign_ms = options->sign_ms ? options->sign_ms : WIRE_SIGN_MS;
	wire_init(&client->wire, client->process.read_fd, client->process.write_fd, WIRE_TO_FRONT);
	client->wire.wait = wait_patiently;
	client->wire.wait_data = client;
	return client;
}

struct client *client_ref(struct client *client)
{
	client->refs++;
	return client;
}

static void stop_pump(struct client *client)
{
	if (!client->pumping)
		return;
	pthread_mutex_lock(&client->lock);
	client->stop_pump = true;
	client_waiter_wake(&client->pump_waiter);
	client_wake_reader(client);
	pthread_mutex_unlock(&client->lock);
	pthread_join(client->pump, NULL);
}

static void client_free(struct client *client)
{
	enum { GRACE_MS = 2000 };

	client_lease_end(client);
	stop_pump(client);
	while (client->marks) {
		struct change_mark *mark = client->marks;

		client->marks = mark->next;
		free(mark);
	}
	while (client->abandoned)
		forget_abandoned(client, client->abandoned->id);
	process_release(&client->process, client->failed ? 0 : GRACE_MS);
	wire_release(&client->wire);
	fd_cleanup_close(&client->wake);
	pthread_cond_destroy(&client->watcher.wake);
	pthread_cond_destroy(&client->pump_waiter.wake);
	pthread_cond_destroy(&client->keeper_wake);
	pthread_cond_destroy(&client->settled);
	pthread_mutex_destroy(&client->lock);
	free(client->name);
	free(client);
}

void client_unref(struct client *client)
{
	if (client && --client->refs == 0)
		client_free(client);
}

bool client_alive(struct client *client)
{
	struct pollfd fd = { .fd = client->wire.read_fd, .events = POLLIN };
	bool awaited;

	if (client->failed_hint)
		return false;
	/* The reading thread notices. */
	pthread_mutex_lock(&client->lock);
	awaited = client->pending != NULL;
	pthread_mutex_unlock(&client->lock);
	if (awaited)
		return true;
	if (poll(&fd, 1, 0) <= 0 || !(fd.revents & (POLLHUP | POLLERR)))
		return true;
	pthread_mutex_lock(&client->lock);
	if (!client->reading)
		client_fail_locked(client, "has closed its connection.");
	pthread_mutex_unlock(&client->lock);
	return false;
}
