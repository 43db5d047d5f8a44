/* SPDX-License-Identifier: Apache-2.0 */
/* From a structure to bytes and back. The input is not trusted. */
#include "worker/wire/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "search/search.h"

/* ---- writing: one small function a kind of field ---- */

typedef void put_fn(struct wire_out *out, const struct wire_field *field, const char *object);

void wire_out_init(struct wire_out *out)
{
	*out = (struct wire_out){ .fields = BUF_INIT(LIMIT_WIRE_FIELDS) };
}

void wire_out_release(struct wire_out *out)
{
	buf_release(&out->fields);
	free(out->blobs);
	*out = (struct wire_out){ 0 };
}

static void put_integer(struct wire_out *out, uint64_t value, size_t bytes)
{
	char *end = buf_reserve(&out->fields, bytes);

	if (!end)
		return;
	bytes_put(end, value, bytes);
	out->fields.len += bytes;
	out->fields.data[out->fields.len] = '\0';
}

static void put_span(struct wire_out *out, struct span text)
{
	put_integer(out, text.len, 4);
	buf_span(&out->fields, text);
	if (text.len > UINT32_MAX)
		out->fields.overflowed = true;
}

static void put_terminated_text(struct wire_out *out, struct span text)
{
	put_span(out, text);
	buf_append(&out->fields, "", 1);
}

/* Whether the other side takes so much of a field. */
static bool fits_field(struct wire_out *out, const struct wire_field *field, size_t count)
{
	if (count <= field->max)
		return true;
	out->too_long = out->too_long ? out->too_long : field;
	out->fields.overflowed = true;
	return false;
}

static size_t counted_items(const struct wire_field *field, const char *object)
{
	return *(const size_t *)(object + field->count_offset);
}

/* ---- one a kind ---- */

static void put_bool(struct wire_out *out, const struct wire_field *field, const char *object)
{
	put_integer(out, *(const bool *)(object + field->offset), 1);
}

static void put_enum(struct wire_out *out, const struct wire_field *field, const char *object)
{
	put_integer(out, *(const unsigned *)(object + field->offset), 1);
}

static void put_32(struct wire_out *out, const struct wire_field *field, const char *object)
{
	put_integer(out, *(const uint32_t *)(object + field->offset), 4);
}

static void put_64s(struct wire_out *out, const struct wire_field *field, const char *object)
{
	for (size_t at = 0; at < field->size; at += 8)
		put_integer(out, *(const uint64_t *)(object + field->offset + at), 8);
}

static void put_string(struct wire_out *out, const struct wire_field *field, const char *object)
{
	const char *text = *(const char *const *)(object + field->offset);

	if (text && fits_field(out, field, strlen(text)))
		put_terminated_text(out, span_str(text));
	else if (field->kind == WIRE_TEXT_OR_NULL)
		put_integer(out, UINT32_MAX, 4);
	else
		put_terminated_text(out, SPAN(""));
}

static void put_chars(struct wire_out *out, const struct wire_field *field, const char *object)
{
	const char *text = object + field->offset;

	put_terminated_text(out, span_of(text, strnlen(text, field->size - 1)));
}

static void put_word_field(struct wire_out *out, const struct wire_field *field, const char *object)
{
	const char *word = *(const char *const *)(object + field->offset);
	size_t i = 0;

	while (word && field->words[i] && strcmp(word, field->words[i]) != 0)
		i++;
	put_integer(out, word && field->words[i] ? i + 1 : 0, 1);
}

static void put_bytes(struct wire_out *out, const struct wire_field *field, const char *object)
{
	const struct span bytes = *(const struct span *)(object + field->offset);

	if (fits_field(out, field, bytes.len))
		put_span(out, bytes);
}

static void put_hash_field(struct wire_out *out, const struct wire_field *field, const char *object)
{
	buf_append(&out->fields, object + field->offset, field->size);
}

static void put_hash_or_null(struct wire_out *out, const struct wire_field *field,
                             const char *object)
{
	const struct sha256 *sum = *(const struct sha256 *const *)(object + field->offset);

	put_integer(out, sum != NULL, 1);
	if (sum)
		buf_append(&out->fields, sum->bytes, sizeof(sum->bytes));
}

static void put_error(struct wire_out *out, const struct wire_field *field, const char *object)
{
	const struct err *err = (const struct err *)(object + field->offset);

	put_terminated_text(out, span_str(err_name(err->code)));
	put_integer(out, (uint32_t)err->sys_errno, 4);
	put_terminated_text(out,
	                    span_of(err->message, strnlen(err->message, sizeof(err->message) - 1)));
	put_integer(out, err->denial.there, 1);
	if (err->denial.there)
		wire_encode(out, field->of, &err->denial);
}

static void put_struct(struct wire_out *out, const struct wire_field *field, const char *object)
{
	wire_encode(out, field->of, object + field->offset);
}

static void put_struct_or_null(struct wire_out *out, const struct wire_field *field,
                               const char *object)
{
	const void *inner = *(const void *const *)(object + field->offset);

	put_integer(out, inner != NULL, 1);
	if (inner)
		wire_encode(out, field->of, inner);
}

static void put_texts(struct wire_out *out, const struct wire_field *field, const char *object)
{
	const char *const *texts = *(const char *const *const *)(object + field->offset);
	size_t count = 0;

	if (!texts && field->kind == WIRE_TEXTS_OR_NULL) {
		put_integer(out, UINT32_MAX, 4);
		return;
	}
	if (field->count_offset != WIRE_TERMINATED)
		count = counted_items(field, object);
	else
		while (texts && texts[count])
			count++;
	if (!fits_field(out, field, count))
		return;
	put_integer(out, count, 4);
	for (size_t i = 0; i < count; i++)
		put_terminated_text(out, span_str(texts[i]));
}

static void put_array(struct wire_out *out, const struct wire_field *field, const char *object)
{
	const char *items = object + field->offset;
	size_t count = counted_items(field, object);

	if (field->kind != WIRE_ARRAY_INLINE)
		items = *(const char *const *)items;
	if (field->kind == WIRE_ARRAY && !fits_field(out, field, count))
		return;
	put_integer(out, count, 4);
	for (size_t i = 0; i < count && !out->fields.overflowed; i++)
		wire_encode(out, field->of, items + i * field->of->size);
}

static void put_lines(struct wire_out *out, const struct wire_field *field, const char *object)
{
	const struct file_match *file = (const struct file_match *)object;

	put_array(out, field, object);
	for (size_t i = 0; i < file->line_count; i++)
		buf_span(&out->fields, file->lines[i].text);
}

static void put_blob(struct wire_out *out, struct span bytes)
{
	put_integer(out, bytes.len, 8);
	out->blobs = mem_grow(out->blobs, &out->blob_cap, out->blob_count + 1, sizeof(*out->blobs));
	out->blobs[out->blob_count++] = bytes;
	out->blob_bytes += bytes.len;
}

static void put_blob_span(struct wire_out *out, const struct wire_field *field,
                          const char *object)
{
	put_blob(out, *(const struct span *)(object + field->offset));
}

static void put_blob_buf(struct wire_out *out, const struct wire_field *field,
                         const char *object)
{
	put_blob(out, buf_view((const struct buf *)(object + field->offset)));
}

/* A line's text travels after all lines; here its length. */
static void put_line_text(struct wire_out *out, const struct wire_field *field,
                          const char *object)
{
	put_integer(out, ((const struct span *)(object + field->offset))->len, 4);
}

static put_fn *const puts_by_kind[] = {
	[WIRE_BOOL] = put_bool,
	[WIRE_ENUM] = put_enum,
	[WIRE_U32] = put_32,
	[WIRE_I32] = put_32,
	[WIRE_U64] = put_64s,
	[WIRE_I64] = put_64s,
	[WIRE_U64S] = put_64s,
	[WIRE_TEXT] = put_string,
	[WIRE_TEXT_OR_NULL] = put_string,
	[WIRE_CHARS] = put_chars,
	[WIRE_WORD] = put_word_field,
	[WIRE_BYTES] = put_bytes,
	[WIRE_HASH] = put_hash_field,
	[WIRE_HASH_OR_NULL] = put_hash_or_null,
	[WIRE_ERROR] = put_error,
	[WIRE_STRUCT] = put_struct,
	[WIRE_STRUCT_OR_NULL] = put_struct_or_null,
	[WIRE_TEXTS] = put_texts,
	[WIRE_TEXTS_OR_NULL] = put_texts,
	[WIRE_ARRAY] = put_array,
	[WIRE_ARRAY_INLINE] = put_array,
	[WIRE_ARRAY_INTO] = put_array,
	[WIRE_LINES] = put_lines,
	[WIRE_LINE_TEXT] = put_line_text,
	[WIRE_BLOB_SPAN] = put_blob_span,
	[WIRE_BLOB_BUF] = put_blob_buf,
};

void wire_encode(struct wire_out *out, const struct wire_layout *layout, const void *object)
{
	for (size_t i = 0; i < layout->count; i++) {
		const struct wire_field *field = &layout->fields[i];

		puts_by_kind[field->kind](out, field, object);
	}
}

/* ---- reading ---- */

typedef bool get_fn(struct wire_in *in, const struct wire_field *field, char *object);

/* ---- memory ---- */

struct wire_piece {
	struct wire_piece *next;
	void *block;     /* taken over; or NULL */
	_Alignas(max_align_t) char bytes[];
};

void *wire_arena_alloc(struct wire_arena *arena, size_t count, size_t size)
{
	struct wire_piece *piece;
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes) ||
	    __builtin_add_overflow(bytes, sizeof(*piece), &bytes))
		bytes = SIZE_MAX; /* mem_alloc ends the process, as for any impossible size */
	piece = mem_alloc(1, bytes);
	piece->next = arena->pieces;
	arena->pieces = piece;
	return piece->bytes;
}

void wire_arena_keep(struct wire_arena *arena, void *block)
{
	wire_arena_alloc(arena, 0, 0);
	arena->pieces->block = block;
}

void wire_arena_release(struct wire_arena *arena)
{
	for (struct wire_piece *piece = arena->pieces; piece;) {
		struct wire_piece *next = piece->next;

		free(piece->block);
		free(piece);
		piece = next;
	}
	arena->pieces = NULL;
}

void wire_in_release(struct wire_in *in)
{
	free(in->blobs);
	*in = (struct wire_in){ 0 };
}

/* Never of 0 bytes, so that an empty array is not NULL. */
static void *new_array(struct wire_in *in, size_t count, size_t size)
{
	return in->arena ? wire_arena_alloc(in->arena, count + 1, size) :
	                   mem_alloc(count + 1, size);
}

/* ---- pieces ---- */

static bool fail_decoding(struct wire_in *in, const struct wire_field *field, const char *what)
{
	if (!in->problem[0])
		snprintf(in->problem, sizeof(in->problem), "%s: %s",
		         field ? field->name : "frame", what);
	return false;
}

static size_t left(const struct wire_in *in)
{
	return in->fields.len - in->at;
}

static bool take_integer(struct wire_in *in, const struct wire_field *field, size_t bytes,
                         uint64_t *ret)
{
	if (left(in) < bytes)
		return fail_decoding(in, field, "the frame ends before it");
	*ret = bytes_get(in->fields.data + in->at, bytes);
	in->at += bytes;
	return true;
}

static bool take_bytes(struct wire_in *in, const struct wire_field *field, uint64_t len,
                       struct span *ret)
{
	if (len > left(in))
		return fail_decoding(in, field, "it is longer than the frame");
	*ret = span_of(in->fields.data + in->at, (size_t)len);
	in->at += (size_t)len;
	return true;
}

/* The bytes and the NUL of a text of `len` bytes. */
static bool take_terminated_text(struct wire_in *in, const struct wire_field *field, uint64_t len,
                                 uint64_t max, struct span *ret)
{
	if (len > max)
		return fail_decoding(in, field, "it is too long");
	if (!take_bytes(in, field, len + 1, ret))
		return false;
	if (memchr(ret->data, '\0', ret->len) != ret->data + len)
		return fail_decoding(in, field, "its NUL is not at its end");
	ret->len--;
	return true;
}

static bool get_span(struct wire_in *in, const struct wire_field *field, uint64_t max,
                     struct span *ret)
{
	uint64_t len;

	return take_integer(in, field, 4, &len) && take_terminated_text(in, field, len, max, ret);
}

static char *keep_text(struct wire_in *in, struct span text)
{
	return in->arena ? (char *)text.data : mem_dup(text.data, text.len);
}

/* ---- one a kind ---- */

static bool get_bool(struct wire_in *in, const struct wire_field *field, char *object)
{
	uint64_t value;

	if (!take_integer(in, field, 1, &value))
		return false;
	if (value > 1)
		return fail_decoding(in, field, "it is neither 0 nor 1");
	*(bool *)(object + field->offset) = value == 1;
	return true;
}

static bool get_enum(struct wire_in *in, const struct wire_field *field, char *object)
{
	uint64_t value;

	if (!take_integer(in, field, 1, &value))
		return false;
	if (value >= field->max)
		return fail_decoding(in, field, "it has no such value");
	*(unsigned *)(object + field->offset) = (unsigned)value;
	return true;
}

static bool get_32(struct wire_in *in, const struct wire_field *field, char *object)
{
	uint64_t value;

	if (!take_integer(in, field, 4, &value))
		return false;
	*(uint32_t *)(object + field->offset) = (uint32_t)value;
	return true;
}

static bool get_64s(struct wire_in *in, const struct wire_field *field, char *object)
{
	uint64_t value;

	for (size_t at = 0; at < field->size; at += 8) {
		if (!take_integer(in, field, 8, &value))
			return false;
		*(uint64_t *)(object + field->offset + at) = value;
	}
	return true;
}

static bool get_string(struct wire_in *in, const struct wire_field *field, char *object)
{
	struct span text;
	uint64_t len;

	if (!take_integer(in, field, 4, &len))
		return false;
	if (field->kind == WIRE_TEXT_OR_NULL && len == UINT32_MAX)
		return true;
	if (!take_terminated_text(in, field, len, field->max, &text))
		return false;
	*(char **)(object + field->offset) = keep_text(in, text);
	return true;
}

static bool get_chars(struct wire_in *in, const struct wire_field *field, char *object)
{
	struct span text;

	if (!get_span(in, field, field->size - 1, &text))
		return false;
	memcpy(object + field->offset, text.data, text.len);
	return true;
}

static bool get_word(struct wire_in *in, const struct wire_field *field, char *object)
{
	const char *const *words = field->words;
	uint64_t value;

	if (!take_integer(in, field, 1, &value))
		return false;
	for (uint64_t i = 1; i < value && *words; i++)
		words++;
	if (value && !*words)
		return fail_decoding(in, field, "it has no such value");
	*(const char **)(object + field->offset) = value ? *words : NULL;
	return true;
}

static bool get_bytes(struct wire_in *in, const struct wire_field *field, char *object)
{
	struct span *span = (struct span *)(object + field->offset);
	struct span bytes;
	uint64_t len;

	if (!take_integer(in, field, 4, &len) || !take_bytes(in, field, len, &bytes))
		return false;
	if (len > field->max)
		return fail_decoding(in, field, "it is too long");
	*span = in->arena ? bytes : span_of(mem_dup(bytes.data, bytes.len), bytes.len);
	return true;
}

static bool get_hash(struct wire_in *in, const struct wire_field *field, char *object)
{
	struct span bytes;

	if (!take_bytes(in, field, field->size, &bytes))
		return false;
	memcpy(object + field->offset, bytes.data, bytes.len);
	return true;
}

static bool get_hash_or_null(struct wire_in *in, const struct wire_field *field, char *object)
{
	struct sha256 *sum;
	struct span bytes;
	uint64_t there;

	if (!take_integer(in, field, 1, &there))
		return false;
	if (there > 1)
		return fail_decoding(in, field, "it is neither there nor not");
	if (!there)
		return true;
	if (!take_bytes(in, field, sizeof(*sum), &bytes))
		return false;
	sum = new_array(in, 0, sizeof(*sum));
	memcpy(sum, bytes.data, bytes.len);
	*(const struct sha256 **)(object + field->offset) = sum;
	return true;
}

static enum err_code code_named(struct span name)
{
	for (int code = 0; code < ERR_CODE_COUNT; code++)
		if (span_eq(span_str(err_name((enum err_code)code)), name))
			return (enum err_code)code;
	return ERR_INTERNAL;
}

static bool get_error(struct wire_in *in, const struct wire_field *field, char *object)
{
	struct err *err = (struct err *)(object + field->offset);
	struct span name, message;
	uint64_t number, denial;

	if (!get_span(in, field, LIMIT_WIRE_WORD, &name) || !take_integer(in, field, 4, &number) ||
	    !get_span(in, field, sizeof(err->message) - 1, &message) ||
	    !take_integer(in, field, 1, &denial))
		return false;
	err->code = code_named(name);
	err->sys_errno = (int)(uint32_t)number;
	memcpy(err->message, message.data, message.len);
	err->message[message.len] = '\0';
	if (denial && (denial > 1 || err->code != ERR_DENIED_BY_SANDBOX))
		return fail_decoding(in, field, "it cannot have a denial");
	err->denial.there = denial;
	return !denial || wire_decode(in, field->of, &err->denial);
}

static bool get_struct(struct wire_in *in, const struct wire_field *field, char *object)
{
	return wire_decode(in, field->of, object + field->offset);
}

static bool get_struct_or_null(struct wire_in *in, const struct wire_field *field, char *object)
{
	uint64_t there;

	if (!take_integer(in, field, 1, &there))
		return false;
	if (there > 1)
		return fail_decoding(in, field, "it is neither there nor not");
	if (!there)
		return true;
	*(void **)(object + field->offset) = new_array(in, 0, field->of->size);
	return wire_decode(in, field->of, *(void **)(object + field->offset));
}

/* An array's count, if that many elements of at least `least` bytes can be there. */
static bool get_count(struct wire_in *in, const struct wire_field *field, size_t least,
                      uint64_t max, size_t *ret)
{
	uint64_t count;

	if (!take_integer(in, field, 4, &count))
		return false;
	if (count > max)
		return fail_decoding(in, field, "there are too many");
	if (count > left(in) / least)
		return fail_decoding(in, field, "there are more than the frame can have");
	*ret = (size_t)count;
	return true;
}

static bool get_texts(struct wire_in *in, const struct wire_field *field, char *object)
{
	bool counted = field->count_offset != WIRE_TERMINATED;
	char **texts;
	size_t count;

	if (field->kind == WIRE_TEXTS_OR_NULL && left(in) >= 4 &&
	    bytes_get(in->fields.data + in->at, 4) == UINT32_MAX) {
		in->at += 4;
		return true;
	}
	if (!get_count(in, field, 5, field->max, &count))
		return false;
	texts = new_array(in, count, sizeof(*texts));
	*(char ***)(object + field->offset) = texts;
	for (size_t i = 0; i < count; i++) {
		struct span text;

		if (!get_span(in, field, LIMIT_WIRE_FIELDS, &text))
			return false;
		texts[i] = keep_text(in, text);
		if (counted)
			*(size_t *)(object + field->count_offset) = i + 1;
	}
	return true;
}

static bool get_elements(struct wire_in *in, const struct wire_field *field, char *items,
                         size_t count, size_t *ret_filled)
{
	for (size_t i = 0; i < count; i++) {
		*ret_filled = i + 1; /* the release function looks at what is half filled in, too */
		if (!wire_decode(in, field->of, items + i * field->of->size))
			return false;
	}
	return true;
}

static bool get_array(struct wire_in *in, const struct wire_field *field, char *object)
{
	char *items;
	size_t count;

	if (!get_count(in, field, wire_layout_least(field->of), field->max, &count))
		return false;
	items = new_array(in, count, field->of->size);
	*(char **)(object + field->offset) = items;
	return get_elements(in, field, items, count, (size_t *)(object + field->count_offset));
}

static bool get_array_inline(struct wire_in *in, const struct wire_field *field, char *object)
{
	size_t count;

	if (!get_count(in, field, wire_layout_least(field->of), field->size / field->of->size,
	               &count))
		return false;
	return get_elements(in, field, object + field->offset, count,
	                    (size_t *)(object + field->count_offset));
}

static bool get_array_into(struct wire_in *in, const struct wire_field *field, char *object)
{
	char *items = *(char **)(object + field->offset);
	size_t wanted = *(size_t *)(object + field->count_offset);
	size_t count, filled;

	if (!get_count(in, field, wire_layout_least(field->of), wanted, &count))
		return false;
	if (count != wanted)
		return fail_decoding(in, field, "there are not as many as were asked about");
	return get_elements(in, field, items, count, &filled);
}

/* The lengths come first, in struct search_line.text.len; then the bytes of all lines. */
static bool get_lines(struct wire_in *in, const struct wire_field *field, char *object)
{
	struct file_match *file = (struct file_match *)object;
	struct span bytes;
	size_t total = 0;

	if (!get_array(in, field, object))
		return false;
	for (size_t i = 0; i < file->line_count; i++)
		total += file->lines[i].text.len; /* each below 2^32, and fewer than 2^28 */
	if (!take_bytes(in, field, total, &bytes))
		return false;
	file->text = in->arena ? (char *)bytes.data : mem_dup(bytes.data, bytes.len);
	total = 0;
	for (size_t i = 0; i < file->line_count; i++) {
		file->lines[i].text.data = file->text + total;
		total += file->lines[i].text.len;
	}
	return true;
}

static bool get_line_text(struct wire_in *in, const struct wire_field *field, char *object)
{
	uint64_t len;

	if (!take_integer(in, field, 4, &len))
		return false;
	((struct span *)(object + field->offset))->len = (size_t)len;
	return true;
}

static bool get_blob(struct wire_in *in, const struct wire_field *field, struct wire_blob blob)
{
	if (!take_integer(in, field, 8, &blob.len))
		return false;
	if (blob.len > in->blob_max - in->blob_bytes)
		return fail_decoding(in, field, "it is longer than the blob");
	in->blobs = mem_grow(in->blobs, &in->blob_cap, in->blob_count + 1, sizeof(*in->blobs));
	in->blobs[in->blob_count++] = blob;
	in->blob_bytes += blob.len;
	return true;
}

static bool get_blob_span(struct wire_in *in, const struct wire_field *field, char *object)
{
	return get_blob(in, field,
	                (struct wire_blob){ .span = (struct span *)(object + field->offset) });
}

static bool get_blob_buf(struct wire_in *in, const struct wire_field *field, char *object)
{
	struct buf *buf = (struct buf *)(object + field->offset);

	*buf = (struct buf)BUF_INIT(LIMIT_RESULT_BYTES);
	return get_blob(in, field, (struct wire_blob){ .buf = buf });
}

/* ---- the tables ---- */

static const struct layout_kind {
	get_fn *get;
	uint8_t least; /* bytes; 0: computed */
} kinds[] = {
	[WIRE_BOOL] = { get_bool, 1 },
	[WIRE_ENUM] = { get_enum, 1 },
	[WIRE_U32] = { get_32, 4 },
	[WIRE_I32] = { get_32, 4 },
	[WIRE_U64] = { get_64s, 8 },
	[WIRE_I64] = { get_64s, 8 },
	[WIRE_U64S] = { get_64s, 8 },
	[WIRE_TEXT] = { get_string, 5 },
	[WIRE_TEXT_OR_NULL] = { get_string, 4 },
	[WIRE_CHARS] = { get_chars, 5 },
	[WIRE_WORD] = { get_word, 1 },
	[WIRE_BYTES] = { get_bytes, 4 },
	[WIRE_HASH] = { get_hash, 32 },
	[WIRE_HASH_OR_NULL] = { get_hash_or_null, 1 },
	[WIRE_ERROR] = { get_error, 15 },
	[WIRE_STRUCT] = { get_struct, 0 },
	[WIRE_STRUCT_OR_NULL] = { get_struct_or_null, 1 },
	[WIRE_TEXTS] = { get_texts, 4 },
	[WIRE_TEXTS_OR_NULL] = { get_texts, 4 },
	[WIRE_ARRAY] = { get_array, 4 },
	[WIRE_ARRAY_INLINE] = { get_array_inline, 4 },
	[WIRE_ARRAY_INTO] = { get_array_into, 4 },
	[WIRE_LINES] = { get_lines, 4 },
	[WIRE_LINE_TEXT] = { get_line_text, 4 },
	[WIRE_BLOB_SPAN] = { get_blob_span, 8 },
	[WIRE_BLOB_BUF] = { get_blob_buf, 8 },
};

size_t wire_layout_least(const struct wire_layout *layout)
{
	size_t least = 0;

	for (size_t i = 0; i < layout->count; i++) {
		const struct wire_field *field = &layout->fields[i];

		least += field->kind == WIRE_STRUCT ? wire_layout_least(field->of) :
		         kinds[field->kind].least;
	}
	return least;
}

bool wire_decode(struct wire_in *in, const struct wire_layout *layout, void *object)
{
	for (size_t i = 0; i < layout->count; i++) {
		const struct wire_field *field = &layout->fields[i];

		if (!kinds[field->kind].get(in, field, object))
			return false;
	}
	return true;
}

bool wire_decode_end(struct wire_in *in)
{
	return left(in) == 0 || fail_decoding(in, NULL, "it has more than its fields");
}
