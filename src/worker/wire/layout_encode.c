/* SPDX-License-Identifier: Apache-2.0 */
/* From a structure to bytes: one small function a kind of field. */
#include "worker/wire/layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "search/search.h"
#include "worker/wire/bytes.h"

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

static void put(struct wire_out *out, uint64_t value, size_t bytes)
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
	put(out, text.len, 4);
	buf_span(&out->fields, text);
	if (text.len > UINT32_MAX)
		out->fields.overflowed = true;
}

static void put_text(struct wire_out *out, struct span text)
{
	put_span(out, text);
	buf_append(&out->fields, "", 1);
}

static size_t count_of(const struct wire_field *field, const char *object)
{
	return *(const size_t *)(object + field->count_offset);
}

/* ---- one a kind ------------------------------------------------------------ */

static void put_bool(struct wire_out *out, const struct wire_field *field, const char *object)
{
	put(out, *(const bool *)(object + field->offset), 1);
}

static void put_enum(struct wire_out *out, const struct wire_field *field, const char *object)
{
	put(out, *(const unsigned *)(object + field->offset), 1);
}

static void put_32(struct wire_out *out, const struct wire_field *field, const char *object)
{
	put(out, *(const uint32_t *)(object + field->offset), 4);
}

static void put_64s(struct wire_out *out, const struct wire_field *field, const char *object)
{
	for (size_t at = 0; at < field->size; at += 8)
		put(out, *(const uint64_t *)(object + field->offset + at), 8);
}

static void put_string(struct wire_out *out, const struct wire_field *field, const char *object)
{
	const char *text = *(const char *const *)(object + field->offset);

	if (text)
		put_text(out, span_str(text));
	else if (field->kind == WIRE_TEXT_OR_NULL)
		put(out, UINT32_MAX, 4);
	else
		put_text(out, SPAN(""));
}

static void put_chars(struct wire_out *out, const struct wire_field *field, const char *object)
{
	const char *text = object + field->offset;

	put_text(out, span_of(text, strnlen(text, field->size - 1)));
}

static void put_word(struct wire_out *out, const struct wire_field *field, const char *object)
{
	const char *word = *(const char *const *)(object + field->offset);
	size_t i = 0;

	while (word && field->words[i] && strcmp(word, field->words[i]) != 0)
		i++;
	put(out, word && field->words[i] ? i + 1 : 0, 1);
}

static void put_bytes(struct wire_out *out, const struct wire_field *field, const char *object)
{
	put_span(out, *(const struct span *)(object + field->offset));
}

static void put_hash(struct wire_out *out, const struct wire_field *field, const char *object)
{
	buf_append(&out->fields, object + field->offset, field->size);
}

static void put_hash_or_null(struct wire_out *out, const struct wire_field *field,
                             const char *object)
{
	const struct sha256 *sum = *(const struct sha256 *const *)(object + field->offset);

	put(out, sum != NULL, 1);
	if (sum)
		buf_append(&out->fields, sum->bytes, sizeof(sum->bytes));
}

static void put_error(struct wire_out *out, const struct wire_field *field, const char *object)
{
	const struct err *err = (const struct err *)(object + field->offset);

	put_text(out, span_str(err_name(err->code)));
	put(out, (uint32_t)err->sys_errno, 4);
	put_text(out, span_of(err->message, strnlen(err->message, sizeof(err->message) - 1)));
	put(out, err->denial.there, 1);
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

	put(out, inner != NULL, 1);
	if (inner)
		wire_encode(out, field->of, inner);
}

static void put_texts(struct wire_out *out, const struct wire_field *field, const char *object)
{
	const char *const *texts = *(const char *const *const *)(object + field->offset);
	size_t count = 0;

	if (!texts && field->kind == WIRE_TEXTS_OR_NULL) {
		put(out, UINT32_MAX, 4);
		return;
	}
	if (field->count_offset != WIRE_TERMINATED)
		count = count_of(field, object);
	else
		while (texts && texts[count])
			count++;
	put(out, count, 4);
	for (size_t i = 0; i < count; i++)
		put_text(out, span_str(texts[i]));
}

static void put_array(struct wire_out *out, const struct wire_field *field, const char *object)
{
	const char *items = object + field->offset;
	size_t count = count_of(field, object);

	if (field->kind != WIRE_ARRAY_INLINE)
		items = *(const char *const *)items;
	put(out, count, 4);
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
	put(out, bytes.len, 8);
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
	put(out, ((const struct span *)(object + field->offset))->len, 4);
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
	[WIRE_WORD] = put_word,
	[WIRE_BYTES] = put_bytes,
	[WIRE_HASH] = put_hash,
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
