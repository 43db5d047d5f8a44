/* SPDX-License-Identifier: Apache-2.0 */
/* What a terminal sends gives the same events whole and in pieces (the first byte says how long); what
 * they say is in its bounds, and text is UTF-8 without control characters. */
#include <stdint.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/text.h"
#include "tui/term/keys.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ALL_MAX = 1 << 26 };

static void check_key(const struct key *key)
{
	struct span rest = key->text;
	struct utf8_char c;

	if (key->code > KEY_F35 || key->mods > 15 || (key->code < KEY_ENTER && key->code < 0x20) ||
	    (key->code >= KEY_ENTER && key->text.len))
		abort();
	while (utf8_next(&rest, &c))
		if (c.bad || c.code < 0x20 || (c.code >= 0x7f && c.code < 0xa0))
			abort();
}

static void note_event(void *data, const struct event *event)
{
	struct buf *out = data;

	if (event->kind == EVENT_KEY)
		check_key(&event->key);
	if (event->kind == EVENT_BACKGROUND && event->rgb > 0xffffff)
		abort();
	buf_printf(out, "%d %x %x %d %u %u %x %zu ", (int)event->kind, event->key.code,
	           event->key.mods, event->on, event->row, event->column, event->rgb,
	           event->text.len);
	buf_span(out, event->key.text);
	buf_span(out, event->text);
	buf_char(out, '\n');
}

static void decode_pieces(struct span text, size_t piece, struct buf *out)
{
	struct keys *keys = keys_new(note_event, out);

	for (; text.len; text = span_skip(text, piece))
		keys_feed(keys, span_head(text, piece));
	keys_flush(keys);
	if (keys_pending(keys))
		abort();
	keys_free(keys);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct buf whole = BUF_INIT(ALL_MAX), pieces = BUF_INIT(ALL_MAX);

	if (size < 2)
		return 0;
	decode_pieces(span_of((const char *)data + 1, size - 1), size, &whole);
	decode_pieces(span_of((const char *)data + 1, size - 1), data[0] % 8 + 1u, &pieces);
	if (!span_eq(buf_view(&whole), buf_view(&pieces)))
		abort();
	return 0;
}
