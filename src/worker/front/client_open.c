/* SPDX-License-Identifier: Apache-2.0 */
/* The first words: greetings, hello, welcome. */
#include "base/mem.h"
#include "worker/front/client_private.h"

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

static bool read_greeting(struct client *client, const struct client_options *options,
                          int64_t until_ms, struct err *err)
{
	_cleanup_buf_ struct buf banner = BUF_INIT(options->banner_max);

	for (;;) {
		switch (wire_greeted(&client->wire, &banner, options->banner_max)) {
		case WIRE_FRAME:
			return check_version(client, err);
		case WIRE_FAILED:
			return fail_greeting(client, &banner, "does not speak the worker's "
			                     "protocol.", err);
		case WIRE_ENDED:
			return fail_greeting(client, &banner, "ended before its first word.", err);
		case WIRE_AGAIN:
			if (client_now_ms() >= until_ms)
				return fail_greeting(client, &banner, "does not say anything.",
				                     err);
			client_await_input(client, until_ms);
		}
	}
}

static bool say_hello(struct client *client, const struct wire_hello *hello, struct err *err)
{
	_cleanup_wire_out_ struct wire_out out;

	wire_out_init(&out);
	wire_encode(&out, &wire_layout_hello, hello);
	return wire_greet(&client->wire, 0, err) &&
	       wire_send(&client->wire, WIRE_MESSAGE_HELLO, client->last_id, &out, NULL, 0, err);
}

static bool is_welcome(struct client *client, int64_t until_ms, struct pending *pending,
                       struct err *err)
{
	pthread_mutex_lock(&client->lock);
	client->pending = pending;
	client_wait(client, &pending->waiter, client_is_answered, pending, until_ms);
	if (!pending->answered && !client->failed)
		client_fail_locked(client, "greets, but does not open the workspace.");
	client->pending = NULL;
	pthread_mutex_unlock(&client->lock);
	return client_finish(client, pending, false, err);
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

	client_waiter_init(&pending.waiter);
	/* If it cannot be written to, what it has to say is the better reason. */
	sent = say_hello(client, hello, &sending);
	ok = read_greeting(client, options, until_ms, err) &&
	     (sent || err_set(err, sending.code, "%s", sending.message)) &&
	     is_welcome(client, until_ms, &pending, err);
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
