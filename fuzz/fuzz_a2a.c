/* SPDX-License-Identifier: Apache-2.0 */
/* What agents elsewhere send: lines of events become a reply whose parts are bounded and whose text
 * is UTF-8; a card (behind a first byte "c") sends tasks only to addresses that may be asked. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "a2a/private.h"
#include "base/limits.h"
#include "base/text.h"
#include "data/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_card(struct span text)
{
	struct a2a_card card = { 0 };
	struct err err = ERR_INIT;

	if (!a2a_card_read(text, "https://example.com/card.json", &card, &err)) {
		if (!err.code)
			abort();
		return;
	}
	if (strncmp(card.url, "https://", 8) != 0 || !a2a_url_host(card.url).len ||
	    a2a_host_is_loopback(a2a_url_host(card.url)))
		abort();
	a2a_card_release(&card);
}

static void read_event(struct a2a_reply *reply, struct span line)
{
	json_auto_t *read = NULL, *event = NULL;
	struct err err = ERR_INIT;
	bool lone, news = false;

	if (!json_parse_lenient(line, A2A_DEPTH_MAX, &read, &lone, &err))
		return;
	event = json_whole(read);
	if (a2a_reply_take(reply, event, &news, &err) && news && !reply->latest.len)
		abort();
	if (reply->state == A2A_STATE_INPUT)
		a2a_reply_continue(reply);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = span_of((const char *)data, size), line;
	struct a2a_reply reply;
	char *whole;

	if (size && data[0] == 'c') {
		read_card(span_skip(text, 1));
		return 0;
	}
	a2a_reply_init(&reply);
	while (line_next(&text, &line))
		read_event(&reply, line);
	whole = a2a_reply_text(&reply);
	if (strlen(whole) > LIMIT_AGENT_ANSWER || reply.artifact_count > A2A_ARTIFACTS_MAX ||
	    !utf8_valid(span_str(whole)))
		abort();
	free(whole);
	a2a_reply_release(&reply);
	return 0;
}
