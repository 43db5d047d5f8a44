/* SPDX-License-Identifier: Apache-2.0 */
/* What is sent for each method, in the binding that a card names.
 *
 * Source: A2A 1.0, section 9 (JSON-RPC), section 11 and specification/a2a.proto (HTTP+JSON: the
 * tenant is the first part of the path); 0.3, section 7 (JSON-RPC).
 */
#include <stdlib.h>
#include <string.h>

#include "a2a/private.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/text.h"
#include "data/json.h"

static const struct {
	const char *v1, *v03;       /* JSON-RPC's names */
	const char *http;           /* HTTP+JSON's method */
	const char *before, *after; /* and its path: around the task's id */
} methods[] = {
	[A2A_SEND] = { "SendMessage", "message/send", "POST", "/message:send", NULL },
	[A2A_STREAM] = { "SendStreamingMessage", "message/stream", "POST", "/message:stream",
	                 NULL },
	[A2A_GET] = { "GetTask", "tasks/get", "GET", "/tasks/", "" },
	[A2A_CANCEL] = { "CancelTask", "tasks/cancel", "POST", "/tasks/", ":cancel" },
	[A2A_SUBSCRIBE] = { "SubscribeToTask", "tasks/resubscribe", "GET", "/tasks/",
	                    ":subscribe" },
};

json_t *a2a_random_id(void)
{
	char id[RANDOM_UUID_SIZE];

	random_uuid(id);
	return json_string(id);
}

/* Nothing of a stranger's text leaves its part of the path. */
static void put_path_part(struct buf *out, const char *text)
{
	for (; *text; text++)
		buf_printf(out, ascii_is_alnum(*text) || strchr("-_~", *text) ? "%c" : "%%%02X",
		           (unsigned char)*text);
}

/* The address of the method in HTTP+JSON; the caller frees. */
static char *http_address(const struct a2a_card *card, enum a2a_method method, const char *task)
{
	_cleanup_buf_ struct buf out = BUF_INIT(A2A_URL_BYTES + 6 * A2A_ID_BYTES + 100);
	struct span base = span_str(card->url);

	while (span_ends(base, SPAN("/")))
		base.len--;
	buf_span(&out, base);
	if (card->tenant) {
		buf_char(&out, '/');
		put_path_part(&out, card->tenant);
	}
	buf_str(&out, methods[method].before);
	if (methods[method].after) {
		put_path_part(&out, task);
		buf_str(&out, methods[method].after);
	}
	return buf_steal(&out);
}

bool a2a_call_make(const struct a2a_card *card, enum a2a_method method, const char *task,
                   json_t *message, struct a2a_call *ret, struct err *err)
{
	json_auto_t *params = message ? message : json_object(), *request = NULL;
	struct a2a_call call = { .http = "POST", .body = BUF_INIT(LIMIT_MESSAGE_BYTES) };
	bool ok = true;

	if (card->is_rest) {
		call.http = methods[method].http;
		call.url = http_address(card, method, task);
		if (strcmp(call.http, "GET") != 0)
			ok = json_print(&call.body, params, 0);
	} else {
		call.url = mem_strdup(card->url);
		if (card->tenant)
			json_object_set_new(params, "tenant", json_string(card->tenant));
		if (methods[method].after)
			json_object_set_new(params, "id", json_text(span_str(task)));
		request = json_pack("{s:s, s:o, s:s, s:O}", "jsonrpc", "2.0", "id",
		                    a2a_random_id(), "method",
		                    card->is_v1 ? methods[method].v1 : methods[method].v03,
		                    "params", params);
		ok = json_print(&call.body, request, 0);
	}
	*ret = call;
	return ok || err_set(err, ERR_TOO_LARGE, "The task is too large to be sent.");
}

void a2a_call_release(struct a2a_call *call)
{
	free(call->url);
	buf_release(&call->body);
}
