/* SPDX-License-Identifier: Apache-2.0 */
/* How long a conversation may be, in the provider's own words: one GET, remembered for a week. */
#include "base/limits.h"
#include "base/mem.h"
#include "config/learnt.h"
#include "data/json.h"
#include "model/endpoint.h"
#include "model/stream.h"

/* Nobody waits long for what is only good to know. Less than LEAST tokens is no window that an agent works
 * in: a mistake, or the limit of something else. */
enum { ASK_MS = 3000, KNOWN_DAYS = 7, CONTEXT_LEAST = 2048, LIST_DEPTH = 32 };

struct answer {
	int status;
	struct buf body;
};

static bool on_head(void *data, int status, struct span headers)
{
	struct answer *answer = data;

	(void)headers;
	answer->status = status;
	return true;
}

static bool on_body(void *data, struct span bytes)
{
	struct answer *answer = data;

	return buf_span(&answer->body, bytes);
}

static bool get(struct endpoint *endpoint, struct wire_request *wire, const struct cancel *cancel,
                struct answer *answer)
{
	static const struct http_events events = { .head = on_head, .body = on_body };
	const char *const *header = endpoint->options.headers;
	struct err ignored = ERR_INIT;
	struct http_request http;

	for (; header && *header; header++)
		wire_header(wire, "%s", *header);
	http = (struct http_request){
		.method = "GET",
		.url = wire->url.data,
		.headers = (const char *const *)wire->headers,
		.proxy = endpoint->options.proxy,
		.total_ms = ASK_MS,
		.max_bytes = LIMIT_MODEL_LIST_BYTES,
		.cancel = cancel,
	};
	if (!endpoint->client)
		endpoint->client = http_client_new();
	return http_client_send(endpoint->client, &http, &events, answer, &ignored) &&
	       answer->status == 200;
}

static uint64_t ask(struct endpoint *endpoint, const struct cancel *cancel)
{
	struct wire_request wire = { .format = endpoint->format->name,
	                             .url = BUF_INIT(LIMIT_URI_BYTES),
	                             .body = BUF_INIT(1) };
	struct answer answer = { .body = BUF_INIT(LIMIT_MODEL_LIST_BYTES) };
	struct err ignored = ERR_INIT;
	json_auto_t *value = NULL;
	uint64_t found = 0;

	wire_header(&wire, "Accept: application/json");
	wire_header(&wire, "User-Agent: hasp/%s", HASP_VERSION);
	if (endpoint->format->limits_build(&endpoint->options, &wire) &&
	    get(endpoint, &wire, cancel, &answer) &&
	    json_parse_depth(buf_view(&answer.body), LIST_DEPTH, &value, &ignored))
		found = endpoint->format->limits_read(&endpoint->options, value);
	buf_release(&answer.body);
	wire_request_release(&wire);
	return found >= CONTEXT_LEAST ? found : 0;
}

void endpoint_learn_limits(struct endpoint *endpoint, const struct cancel *cancel)
{
	uint64_t found;

	if (endpoint->asked_limits || endpoint->learnt_context || endpoint->options.context_tokens ||
	    !endpoint->format->limits_build)
		return;
	endpoint->asked_limits = true;
	found = ask(endpoint, cancel);
	if (!found)
		return;
	endpoint->learnt_context = found;
	if (endpoint->options.learnt_file)
		learnt_write(endpoint->options.learnt_file, endpoint->learnt_key,
		             json_pack("{s:s, s:o, s:o}", "model", endpoint->id, "contextTokens",
		                       json_size(found), "contextUntil", learnt_until(KNOWN_DAYS)));
}
