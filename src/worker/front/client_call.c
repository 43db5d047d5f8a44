/* SPDX-License-Identifier: Apache-2.0 */
/* Calls: requests that are sent, and the wait for their answers; the first is a HELLO. */
#include <string.h>

#include "base/mem.h"
#include "worker/front/private.h"

enum {
	/* Of a started request. As many as one caller may have under way fit into a pipe: no thread
	 * waits for room in it while the worker waits for room for its answers. */
	STARTED_BYTES = 1 << 10,
	/* Of one for whose answer no thread waits: a thread that waits for room reads them. */
	AWAITED_BYTES = 32 << 10,
};

/* ---- calls ----------------------------------------------------------------- */

uint64_t client_new_id(struct client *client)
{
	uint64_t id;

	pthread_mutex_lock(&client->lock);
	id = ++client->last_id;
	pthread_mutex_unlock(&client->lock);
	return id;
}

static bool call_is_cancelled(const struct client_call *call)
{
	return cancelled(call->cancel);
}

static bool call_is_answered(struct client *client, void *data)
{
	const struct pending *pending = data;

	(void)client;
	return pending->answered;
}

static bool call_is_over(struct client *client, void *data)
{
	const struct pending *pending = data;

	return call_is_answered(client, data) || call_is_cancelled(pending->call);
}

/* Locked. Waits for the answer. False: it was cancelled. */
static bool await_answer(struct client *client, struct pending *pending)
{
	const struct client_call *call = pending->call;
	const int most_ms = cancel_wait_ms(call->cancel, -1);

	pending->waiter.stop_fd = cancel_fd(call->cancel);
	while (!pending->answered && !client->failed) {
		client_wait(client, &pending->waiter, call_is_over, pending,
		            most_ms >= 0 ? client_now_ms() + most_ms : -1);
		while (pending->busy) /* the reading thread still uses the object */
			pthread_cond_wait(&pending->waiter.wake, &client->lock);
		if (!pending->answered && call_is_cancelled(call))
			return false;
	}
	while (pending->busy) /* the reading thread still uses the object */
		pthread_cond_wait(&pending->waiter.wake, &client->lock);
	return true;
}

static bool call_finish(struct client *client, struct pending *pending, bool cancelled,
                        struct err *err)
{
	if (cancelled)
		return err_set(err, ERR_CANCELLED, "The call was cancelled.");
	if (!pending->answered)
		return err_set(err, ERR_WORKER_LOST, "%s", client->why);
	if (pending->err.code != ERR_NONE) {
		*err = pending->err;
		return false;
	}
	return true;
}

static bool send_call_request(struct client *client, const struct client_call *call, uint64_t id,
                              struct err *err)
{
	_cleanup_wire_out_ struct wire_out out;

	wire_out_init(&out);
	wire_encode_message(&out, call->request, call->body);
	return wire_send(&client->wire, call->request, id, &out, call->fds, call->fd_count, err);
}

/* The answer to what was sent. Locked. */
static bool finish_call(struct client *client, struct pending *pending, struct err *err)
{
	struct err cancel_err = ERR_INIT;
	bool cancelled = !await_answer(client, pending);

	if (cancelled) {
		/* The caller goes, the answer may still come. */
		struct abandoned *abandoned = mem_alloc(1, sizeof(*abandoned));

		*abandoned = (struct abandoned){ client->abandoned, pending->id };
		client->abandoned = abandoned;
		client->abandoned_count++;
		pthread_mutex_unlock(&client->lock);
		wire_send(&client->wire, WIRE_MESSAGE_CANCEL, pending->id, NULL, NULL, 0,
		          &cancel_err);
		pthread_mutex_lock(&client->lock);
	}
	*err = (struct err)ERR_INIT;
	return call_finish(client, pending, cancelled, err);
}

/* Locked. */
static void client_fail_unsent(struct client *client)
{
	const int error = client->wire.write_error;

	if (error)
		client_fail_locked(client, "could not be written to: %s.", strerror(error));
	else
		client_fail_locked(client, "could not be asked.");
}

static bool send_and_wait(struct client *client, struct pending *pending, struct err *err)
{
	struct client_call *call = pending->call;
	bool sent;

	pthread_mutex_unlock(&client->lock);
	sent = send_call_request(client, call, pending->id, err);
	call->sent = sent || err->code != ERR_TOO_LARGE;
	pthread_mutex_lock(&client->lock);
	if (!sent && err->code == ERR_TOO_LARGE)
		return false;
	/* Why it could not be sent, its end says better. */
	if (!sent)
		client_fail_unsent(client);
	return finish_call(client, pending, err);
}

/* Lists a call; false: the client has failed. Locked. */
static bool add_pending(struct client *client, struct client_call *call, struct pending *pending,
                        struct err *err)
{
	*pending = (struct pending){ .call = call };
	client_waiter_init(&pending->waiter);
	if (client->abandoned_count >= LIMIT_WIRE_CALLS)
		client_fail_locked(client, "does not answer calls that were cancelled.");
	if (!client->pending) { /* the quiet before does not count */
		client->quiet_ms = client_now_ms();
		client->pinged = false;
	}
	pending->id = call->id ? call->id : ++client->last_id;
	pending->next = client->pending;
	client->pending = pending;
	client->awaited += call->ready != NULL;
	return !client->failed || err_set(err, ERR_WORKER_LOST, "%s", client->why);
}

static void remove_pending(struct client *client, struct pending *pending)
{
	struct pending **at = &client->pending;

	while (*at != pending)
		at = &(*at)->next;
	*at = pending->next;
	if (pending->call->ready && !pending->signalled)
		client->awaited--;
	pthread_mutex_unlock(&client->lock);
	pthread_cond_destroy(&pending->waiter.wake);
}

bool client_call(struct client *client, struct client_call *call, struct err *err)
{
	struct pending pending;
	struct err why = ERR_INIT;
	bool ok;

	pthread_mutex_lock(&client->lock);
	ok = add_pending(client, call, &pending, &why) && send_and_wait(client, &pending, &why);
	remove_pending(client, &pending);
	if (!ok)
		*err = why;
	return ok;
}

bool client_begin(struct client *client, struct client_call *call, struct pending *pending,
                  struct err *err)
{
	_cleanup_wire_out_ struct wire_out out;
	bool ok;

	wire_out_init(&out);
	wire_encode_message(&out, call->request, call->body);
	if (out.fields.overflowed ||
	    out.fields.len + out.blob_bytes > (call->ready ? AWAITED_BYTES : STARTED_BYTES))
		return false;
	pthread_mutex_lock(&client->lock);
	ok = add_pending(client, call, pending, err);
	if (ok) {
		pthread_mutex_unlock(&client->lock);
		ok = (call->ready ? wire_queue_unless_busy : wire_queue)(
			&client->wire, call->request, pending->id, &out, err);
		call->sent = ok;
		pthread_mutex_lock(&client->lock);
	}
	/* If the end of the worker was signalled the call counts as started, though it has no
	 * result. */
	if (!ok && !pending->signalled) {
		remove_pending(client, pending);
		return false;
	}
	client_leave_reading(client);
	pthread_mutex_unlock(&client->lock);
	return true;
}

bool client_end(struct client *client, struct pending *pending, struct err *err)
{
	struct err why = ERR_INIT;
	bool ok;

	pthread_mutex_lock(&client->lock);
	if (!pending->answered) {
		/* Another thread may read for all already, and wait for input: it sends nothing. */
		pthread_mutex_unlock(&client->lock);
		wire_flush(&client->wire);
		pthread_mutex_lock(&client->lock);
	}
	ok = finish_call(client, pending, &why);
	remove_pending(client, pending);
	if (!ok)
		*err = why;
	return ok;
}

bool client_notify(struct client *client, enum wire_type type, uint64_t id, const void *body)
{
	_cleanup_wire_out_ struct wire_out out;
	struct err err = ERR_INIT;

	wire_out_init(&out);
	wire_encode_message(&out, type, body);
	if (client->failed_hint)
		return false;
	if (wire_send(&client->wire, type, id, &out, NULL, 0, &err))
		return true;
	/* What it has to say before it closes is the better reason. */
	if (client->wire.write_error) {
		pthread_mutex_lock(&client->lock);
		client_fail_unsent(client);
		pthread_mutex_unlock(&client->lock);
	}
	return false;
}

/* ---- the first words: greetings, hello, welcome ---- */

static bool check_version(const struct client *client, struct err *err)
{
	const struct wire_greeting *peer = &client->wire.peer;

	if (peer->least <= WIRE_VERSION && peer->most >= WIRE_VERSION_LEAST)
		return true;
	return err_set(err, ERR_WORKER_LOST,
	               "This hasp (%s) speaks version %d of the worker's protocol, %s (%s) speaks "
	               "%u to %u. Use the same hasp at both ends.", HASP_VERSION, WIRE_VERSION,
	               client->name, peer->program, peer->least, peer->most);
}

static void say_banner(struct buf *banner, struct buf *out)
{
	enum { SHOWN = 300 };
	struct span text = span_trim(span_head(buf_view(banner), SHOWN));

	if (!text.len)
		return;
	buf_str(out, " It printed: ");
	process_say(text, out);
}

static bool fail_greeting(struct client *client, struct buf *banner, const char *what,
                          struct err *err)
{
	_cleanup_buf_ struct buf words = BUF_INIT(4096);

	buf_str(&words, what);
	say_banner(banner, &words);
	pthread_mutex_lock(&client->lock);
	client_fail_locked(client, "%s", words.data);
	pthread_mutex_unlock(&client->lock);
	return err_set(err, ERR_WORKER_LOST, "%s", client->why);
}

static bool await_greeting(struct client *client, const struct client_options *options,
                           int64_t until_ms, struct err *err)
{
	_cleanup_buf_ struct buf banner = BUF_INIT(options->banner_max);

	for (;;) {
		switch (wire_greeted(&client->wire, &banner, options->banner_max)) {
		case WIRE_FRAME:
			client->greeted = true;
			return check_version(client, err);
		case WIRE_FAILED:
			return fail_greeting(client, &banner, "does not speak the worker's "
			                     "protocol.", err);
		case WIRE_ENDED:
			return fail_greeting(client, &banner, "ended before its greeting.", err);
		case WIRE_AGAIN:
			if (client_now_ms() >= until_ms)
				return fail_greeting(client, &banner, "does not say anything.",
				                     err);
			client_await_input(client, -1, until_ms);
		}
	}
}

static bool say_hello(struct client *client, const struct wire_hello *hello, bool lease,
                      struct err *err)
{
	_cleanup_wire_out_ struct wire_out out;

	wire_out_init(&out);
	wire_encode_message(&out, WIRE_MESSAGE_HELLO, hello);
	return wire_greet(&client->wire, lease ? WIRE_FEATURE_LEASE : 0, err) &&
	       wire_send(&client->wire, WIRE_MESSAGE_HELLO, client->last_id, &out, NULL, 0, err);
}

/* An older worker needs no signs of life. */
static bool keeps_lease(const struct client *client, const struct client_options *options)
{
	return options->lease && (client->wire.peer.features & WIRE_FEATURE_LEASE);
}

static bool is_welcome(struct client *client, int64_t until_ms, struct pending *pending,
                       struct err *err)
{
	pthread_mutex_lock(&client->lock);
	client->pending = pending;
	client_wait(client, &pending->waiter, call_is_answered, pending, until_ms);
	if (!pending->answered && !client->failed)
		client_fail_locked(client, "greets, but does not open the workspace.");
	client->pending = NULL;
	pthread_mutex_unlock(&client->lock);
	return call_finish(client, pending, false, err);
}

bool client_open(struct process *process, const struct wire_hello *hello,
                 const struct client_options *options, struct client **ret,
                 struct wire_welcome *ret_welcome, struct err *err)
{
	enum { HELLO_MS = 60000 };
	int64_t until_ms = client_now_ms() + (options->hello_ms ? options->hello_ms : HELLO_MS);
	struct client *client = client_new(process, options);
	struct wire_welcome welcome = { 0 };
	struct client_call call = { .answer = WIRE_MESSAGE_WELCOME, .object = &welcome };
	struct pending pending = { .call = &call, .id = ++client->last_id };
	struct err sending = ERR_INIT;
	bool sent, ok;

	if (client->wake < 0) {
		err_set_errno(err, -client->wake, "%s cannot be waited for", client->name);
		client_unref(client);
		return false;
	}
	client_waiter_init(&pending.waiter);
	/* If it cannot be written to, what it has to say is the better reason. */
	sent = say_hello(client, hello, options->lease, &sending);
	ok = await_greeting(client, options, until_ms, err) &&
	     (sent || err_set(err, sending.code, "%s", sending.message)) &&
	     is_welcome(client, until_ms, &pending, err) &&
	     (!keeps_lease(client, options) || client_lease_begin(client, err));
	pthread_cond_destroy(&pending.waiter.wake);
	if (!ok) {
		wire_welcome_release(&welcome);
		client_unref(client);
		return false;
	}
	*ret_welcome = welcome;
	*ret = client;
	return true;
}
