/* SPDX-License-Identifier: Apache-2.0 */
/* The parser of control sequences; the lines they change are plain_rows.c's.
 *
 * States after ECMA-48, sections 5.3 to 5.6:
 *   ground --ESC--> escape --[--> csi --final--> ground
 *                          --] P X ^ _--> string --BEL, ST--> ground
 *                          --0x20-0x2F--> intermediate --0x30-0x7E--> ground
 * CAN and SUB end any sequence; a control character inside one has its effect at once.
 * Deviations: C1 controls count as code points only, never as bytes, since text is UTF-8;
 * a line feed ends a string, which then had no end.
 */
#include "worker/job/plain.h"

#include <stdint.h>

#include "base/mem.h"
#include "base/text.h"
#include "worker/job/plain_rows.h"

enum { PARAMETERS_MAX = 16, PARAMETER_MAX = 9999, PART_MAX = 4 };

enum state { GROUND, ESCAPE, INTERMEDIATE, CSI, STRING, STRING_ESCAPE };

struct plain {
	struct plain_rows rows;
	enum state state;
	unsigned parameters[PARAMETERS_MAX];
	size_t parameter_count;    /* of those begun */
	bool special;              /* a private marker or an intermediate: no sequence we know */
	size_t string_bytes;
	char part[PART_MAX];       /* the beginning of a code point */
	size_t part_len;
};

struct plain *plain_new(void (*emit)(void *data, struct span text), void *data)
{
	struct plain *plain = mem_alloc(1, sizeof(*plain));

	plain_rows_init(&plain->rows, emit, data);
	return plain;
}

void plain_free(struct plain *plain)
{
	if (!plain)
		return;
	plain_rows_release(&plain->rows);
	free(plain);
}

/* ---- control sequences ------------------------------------------------------ */

static unsigned parameter(const struct plain *plain, size_t i, unsigned otherwise)
{
	unsigned value = i < plain->parameter_count ? plain->parameters[i] : 0;

	return value ? value : otherwise;
}

static void csi_final(struct plain *plain, uint32_t final)
{
	struct plain_rows *rows = &plain->rows;
	unsigned first = parameter(plain, 0, 0), count = parameter(plain, 0, 1);

	if (plain->special)
		return;
	switch (final) {
	case 'A': plain_rows_up(rows, count); break;
	case 'B': plain_rows_down(rows, count); break;
	case 'C': plain_rows_right(rows, count); break;
	case 'D': plain_rows_left(rows, count); break;
	case 'E': plain_rows_down(rows, count); plain_rows_column(rows, 0); break;
	case 'F': plain_rows_up(rows, count); plain_rows_column(rows, 0); break;
	case 'G':
	case '`': plain_rows_column(rows, count - 1); break;
	case 'H':
	case 'f': plain_rows_go(rows, count - 1, parameter(plain, 1, 1) - 1); break;
	case 'J': plain_rows_erase_below(rows, first); break;
	case 'K': plain_rows_erase_line(rows, first); break;
	case 'P': plain_rows_delete(rows, count); break;
	default: break; /* colours, modes, reports: nothing to see */
	}
}

static void csi_begin(struct plain *plain)
{
	memset(plain->parameters, 0, sizeof(plain->parameters));
	plain->parameter_count = 0;
	plain->special = false;
	plain->state = CSI;
}

static void csi_next(struct plain *plain, uint32_t c)
{
	if (c >= '0' && c <= '9') {
		unsigned *value;

		if (!plain->parameter_count)
			plain->parameter_count = 1;
		value = &plain->parameters[plain->parameter_count - 1];
		*value = *value * 10 + (c - '0');
		if (*value > PARAMETER_MAX)
			*value = PARAMETER_MAX;
	} else if (c == ';' || c == ':') {
		plain->parameter_count += plain->parameter_count ? 1 : 2;
		if (plain->parameter_count > PARAMETERS_MAX)
			plain->parameter_count = PARAMETERS_MAX;
	} else if (c >= 0x20 && c <= 0x3F) {
		plain->special = true;
	} else {
		plain->state = GROUND;
		if (c >= 0x40 && c <= 0x7E)
			csi_final(plain, c);
	}
}

/* 7-bit form of a C1 control, or the end of another escape sequence. */
static void escape_final(struct plain *plain, uint32_t c)
{
	plain->state = GROUND;
	plain->string_bytes = 0;
	switch (c) {
	case '[': csi_begin(plain); break;
	case ']': case 'P': case 'X': case '^': case '_': plain->state = STRING; break;
	case 'D': plain_rows_down(&plain->rows, 1); break;
	case 'E': plain_rows_newline(&plain->rows); break;
	case 'M': plain_rows_up(&plain->rows, 1); break;
	default: break;
	}
}

/* ---- controls and text ------------------------------------------------------- */

static void control(struct plain *plain, uint32_t c)
{
	struct plain_rows *rows = &plain->rows;

	switch (c) {
	case '\n': case '\v': case '\f': plain_rows_newline(rows); break;
	case '\r': plain_rows_column(rows, 0); break;
	case '\b': plain_rows_left(rows, 1); break;
	case '\t': plain_rows_put(rows, SPAN("\t")); break;
	case 0x1B: plain->state = ESCAPE; break;
	case 0x18: case 0x1A: plain->state = GROUND; break;
	default: break;
	}
}

static bool is_control(uint32_t c)
{
	return c < 0x20 || c == 0x7F;
}

static void string_next(struct plain *plain, uint32_t c)
{
	if (plain->state == STRING_ESCAPE) {
		plain->state = GROUND;
		if (c != '\\') {
			plain->state = ESCAPE;
			if (!is_control(c))
				escape_final(plain, c);
		}
		return;
	}
	if (c == 0x1B)
		plain->state = STRING_ESCAPE;
	else if (c == 0x07 || c == 0x9C || ++plain->string_bytes > PLAIN_STRING_BYTES)
		plain->state = GROUND;
	else if (c == '\n' || c == 0x18 || c == 0x1A) {
		plain->state = GROUND;
		control(plain, c);
	}
}

static void sequence_next(struct plain *plain, uint32_t c)
{
	if (is_control(c)) {
		control(plain, c);
	} else if (plain->state == CSI) {
		csi_next(plain, c);
	} else if (c >= 0x20 && c <= 0x2F) {
		plain->state = INTERMEDIATE;
	} else if (plain->state == INTERMEDIATE) {
		plain->state = GROUND;
	} else {
		escape_final(plain, c);
	}
}

/* One code point, with its bytes. */
static void next(struct plain *plain, uint32_t c, struct span bytes)
{
	if (plain->state == STRING || plain->state == STRING_ESCAPE)
		string_next(plain, c);
	else if (plain->state != GROUND)
		sequence_next(plain, c);
	else if (is_control(c))
		control(plain, c);
	else if (c >= 0x80 && c < 0xA0)
		escape_final(plain, c - 0x40);
	else
		plain_rows_put(&plain->rows, bytes);
}

/* ---- bytes -------------------------------------------------------------------- */

/* Whether a byte begins a code point of which all bytes here may be the beginning. */
static bool may_go_on(struct span bytes)
{
	unsigned char lead = (unsigned char)bytes.data[0];
	size_t want = lead >= 0xC2 && lead < 0xE0 ? 2 : lead >= 0xE0 && lead < 0xF0 ? 3 :
	              lead >= 0xF0 && lead < 0xF5 ? 4 : 1;

	if (bytes.len >= want)
		return false;
	for (size_t i = 1; i < bytes.len; i++)
		if (((unsigned char)bytes.data[i] & 0xC0) != 0x80)
			return false;
	return true;
}

/* Takes one code point off the front; 0 when more bytes are needed. */
static size_t take(struct plain *plain, struct span bytes, bool last)
{
	struct utf8_char c = utf8_first(bytes);

	if (c.bad && !last && may_go_on(bytes))
		return 0;
	next(plain, c.code, c.bad ? SPAN("\xEF\xBF\xBD") : c.bytes);
	return c.bytes.len;
}

/* Completes the code point that the last piece ended in. Returns how many bytes it took. */
static size_t finish_part(struct plain *plain, struct span bytes)
{
	size_t used = 0;

	while (plain->part_len) {
		size_t taken = take(plain, span_of(plain->part, plain->part_len), false);

		if (!taken) {
			if (used == bytes.len)
				return used;
			plain->part[plain->part_len++] = bytes.data[used++];
			continue;
		}
		plain->part_len -= taken;
		memmove(plain->part, plain->part + taken, plain->part_len);
	}
	return used;
}

/* Most output is plain ASCII: as much of it as needs no thought. */
static size_t ascii_run(struct span bytes)
{
	size_t len = 0;

	while (len < bytes.len && (unsigned char)bytes.data[len] >= 0x20 &&
	       (unsigned char)bytes.data[len] < 0x7F)
		len++;
	return len;
}

void plain_feed(struct plain *plain, struct span bytes)
{
	bytes = span_skip(bytes, finish_part(plain, bytes));
	if (plain->part_len)
		return;
	while (bytes.len) {
		size_t len = plain->state == GROUND ? ascii_run(bytes) : 0;

		if (len) {
			plain_rows_put_run(&plain->rows, span_head(bytes, len));
		} else {
			len = take(plain, bytes, false);
			if (!len)
				break;
		}
		bytes = span_skip(bytes, len);
	}
	memcpy(plain->part, bytes.data ? bytes.data : "", bytes.len);
	plain->part_len = bytes.len;
}

void plain_end(struct plain *plain)
{
	struct span part = span_of(plain->part, plain->part_len);

	while (part.len)
		part = span_skip(part, take(plain, part, true));
	plain->part_len = 0;
	plain_rows_flush(&plain->rows);
}

void plain_peek(const struct plain *plain, void (*emit)(void *data, struct span text), void *data)
{
	plain_rows_peek(&plain->rows, emit, data);
}
