/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/builtin/untrusted.h"

#include <strings.h>

#include "base/buf.h"
#include "base/limits.h"
#include "data/json.h"

static const char begin[] = "<untrusted_context>", end[] = "</untrusted_context>";

/* Whether the text begins with either mark, however it is written. */
static bool is_mark(struct span text)
{
	static const char *const marks[] = { "<untrusted_context", "</untrusted_context" };

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (text.len >= strlen(marks[i]) &&
		    strncasecmp(text.data, marks[i], strlen(marks[i])) == 0)
			return true;
	return false;
}

json_t *untrusted_json(struct span text)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);

	buf_printf(&out, "%s\n", begin);
	while (text.len) {
		const char *next = memchr(text.data + 1, '<', text.len - 1);
		size_t len = next ? (size_t)(next - text.data) : text.len;
		bool mark = is_mark(text);

		buf_str(&out, mark ? "&lt;" : "");
		buf_span(&out, span_of(text.data + mark, len - mark));
		text = span_skip(text, len);
	}
	buf_printf(&out, "\n%s", end);
	return json_text(buf_view(&out));
}
