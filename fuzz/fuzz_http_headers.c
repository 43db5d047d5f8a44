/* SPDX-License-Identifier: Apache-2.0 */
/* Values of HTTP headers: who is let in names this machine or what is listed, weights do not
 * contradict each other, and an event never holds more lines than its text. */
#include <stdint.h>
#include <stdlib.h>
#include <strings.h>

#include "base/mem.h"
#include "net/http/headers.h"
#include "net/http/sse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const listed[] = { "example.org" };
static const struct http_guard guard = {
	.port = 8080, .hosts = listed, .host_count = 1, .token = "secret",
};

static void check_guard(const char *value)
{
	static const char *const names[] = { "localhost", "127.0.0.1", "[::1]", "example.org" };
	bool named = false;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		named |= strcasestr(value, names[i]) != NULL;
	if ((http_guard_host(&guard, value) || http_guard_origin(&guard, value)) && !named)
		abort();
	if (http_guard_token(&guard, value) && !strstr(value, "secret"))
		abort();
}

static void check_media_types(const char *value)
{
	if (http_accepts(value, "application/json") && span_trim(span_str(value)).len &&
	    !strcasestr(value, "application/json") && !strcasestr(value, "application/*") &&
	    !strstr(value, "*/*"))
		abort();
	if (http_content_type_is(value, "application/json") &&
	    !strcasestr(value, "application/json"))
		abort();
}

/* Nothing in the text can begin a field of its own, or end the event. */
static void check_event(struct span text)
{
	_cleanup_buf_ struct buf out = BUF_INIT(text.len * 8 + 64);
	const char *line;

	if (!sse_write(&out, NULL, text))
		abort();
	for (line = out.data; *line != '\n' && *line; line = strchr(line, '\n') + 1)
		if (strncmp(line, "data:", 5) != 0)
			abort();
	if (line != out.data + out.len - 1)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *value = mem_dup((const char *)data, size);

	check_guard(value);
	check_media_types(value);
	if (strlen(value) == size)
		check_event(span_str(value));
	return 0;
}
