/* SPDX-License-Identifier: Apache-2.0 */
#include "random_object.h"

#include <string.h>

#include "base/mem.h"
#include "search/search.h"

uint64_t randomness_next(struct randomness *random)
{
	uint64_t x = random->state += 0x9e3779b97f4a7c15u; /* splitmix64 */

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static size_t below(struct randomness *random, size_t limit)
{
	return (size_t)(randomness_next(random) % limit);
}

static char *random_text(struct randomness *random, size_t max)
{
	size_t len = below(random, max < 40 ? max + 1 : 40);
	char *text = wire_arena_alloc(&random->arena, len + 1, 1);

	for (size_t i = 0; i < len; i++)
		text[i] = (char)(1 + below(random, 255));
	return text;
}

static struct span random_bytes(struct randomness *random)
{
	size_t len = below(random, 60);
	char *bytes = wire_arena_alloc(&random->arena, len + 1, 1);

	for (size_t i = 0; i < len; i++)
		bytes[i] = (char)below(random, 256);
	return span_of(bytes, len);
}

static void fill(struct randomness *random, const struct wire_layout *layout, char *object);

static void set_texts(struct randomness *random, const struct wire_field *field, char *object)
{
	size_t count = below(random, 4);
	char **texts;

	if (field->kind == WIRE_TEXTS_OR_NULL && below(random, 3) == 0)
		return;
	texts = wire_arena_alloc(&random->arena, count + 1, sizeof(*texts));
	for (size_t i = 0; i < count; i++)
		texts[i] = random_text(random, 40);
	*(char ***)(object + field->offset) = texts;
	if (field->count_offset != (uint32_t)WIRE_TERMINATED)
		*(size_t *)(object + field->count_offset) = count;
}

static void set_array(struct randomness *random, const struct wire_field *field, char *object)
{
	size_t max = field->kind == WIRE_ARRAY_INLINE ? field->size / field->of->size : 3;
	size_t count = below(random, max + 1);
	char *items = object + field->offset;

	if (field->kind != WIRE_ARRAY_INLINE) {
		items = wire_arena_alloc(&random->arena, count + 1, field->of->size);
		*(char **)(object + field->offset) = items;
	}
	for (size_t i = 0; i < count; i++)
		fill(random, field->of, items + i * field->of->size);
	*(size_t *)(object + field->count_offset) = count;
}

static void set_error(struct randomness *random, const struct wire_field *field, struct err *err)
{
	err_set(err, (enum err_code)below(random, ERR_CODE_COUNT), "%s", random_text(random, 40));
	err->sys_errno = (int)below(random, 200);
	if (below(random, 4) == 0) {
		err->code = ERR_DENIED_BY_SANDBOX;
		err->denial.there = true;
		fill(random, field->of, (char *)&err->denial);
	}
}

static void set_bulk(struct randomness *random, const struct wire_field *field, char *object)
{
	struct span bytes = random_bytes(random);

	if (field->kind == WIRE_BLOB_BUF)
		*(struct buf *)(object + field->offset) =
			(struct buf){ .data = (char *)bytes.data, .len = bytes.len,
				      .max = LIMIT_RESULT_BYTES };
	else
		*(struct span *)(object + field->offset) = bytes;
}

static void set_scalar(struct randomness *random, const struct wire_field *field, char *at)
{
	switch (field->kind) {
	case WIRE_BOOL:
		*(bool *)at = below(random, 2);
		break;
	case WIRE_ENUM:
		*(unsigned *)at = (unsigned)below(random, field->max);
		break;
	default:
		for (uint32_t i = 0; i < field->size; i++)
			at[i] = (char)below(random, 256);
	}
}

static void set_or_null(struct randomness *random, const struct wire_field *field, char *at)
{
	void *inner;

	if (below(random, 3) == 0)
		return;
	if (field->kind == WIRE_HASH_OR_NULL) {
		inner = wire_arena_alloc(&random->arena, 1, sizeof(struct sha256));
		for (size_t i = 0; i < sizeof(struct sha256); i++)
			((unsigned char *)inner)[i] = (unsigned char)below(random, 256);
	} else {
		inner = random_object(random, field->of);
	}
	*(void **)at = inner;
}

static void set_text(struct randomness *random, const struct wire_field *field, char *at)
{
	char *text = random_text(random, field->kind == WIRE_CHARS ? field->size - 1 : 40);
	size_t words = 0;

	switch (field->kind) {
	case WIRE_CHARS:
		memcpy(at, text, strlen(text) + 1);
		break;
	case WIRE_WORD:
		while (field->words[words])
			words++;
		words = below(random, words + 1);
		*(const char **)at = field->words[words];
		break;
	case WIRE_TEXT_OR_NULL:
		if (below(random, 3) == 0)
			break;
		/* fall through */
	default:
		*(char **)at = text;
	}
}

static void fill_field(struct randomness *random, const struct wire_field *field, char *object)
{
	char *at = object + field->offset;

	switch (field->kind) {
	case WIRE_TEXT:
	case WIRE_TEXT_OR_NULL:
	case WIRE_CHARS:
	case WIRE_WORD:
		set_text(random, field, at);
		break;
	case WIRE_BYTES:
	case WIRE_LINE_TEXT:
	case WIRE_BLOB_SPAN:
	case WIRE_BLOB_BUF:
		set_bulk(random, field, object);
		break;
	case WIRE_HASH_OR_NULL:
	case WIRE_STRUCT_OR_NULL:
		set_or_null(random, field, at);
		break;
	case WIRE_STRUCT:
		fill(random, field->of, at);
		break;
	case WIRE_TEXTS:
	case WIRE_TEXTS_OR_NULL:
		set_texts(random, field, object);
		break;
	case WIRE_ARRAY:
	case WIRE_ARRAY_INLINE:
	case WIRE_ARRAY_INTO:
	case WIRE_LINES:
		set_array(random, field, object);
		break;
	case WIRE_ERROR:
		set_error(random, field, (struct err *)at);
		break;
	default:
		set_scalar(random, field, at);
	}
}

static void fill(struct randomness *random, const struct wire_layout *layout, char *object)
{
	for (size_t i = 0; i < layout->count; i++)
		fill_field(random, &layout->fields[i], object);
}

void *random_object(struct randomness *random, const struct wire_layout *layout)
{
	void *object = wire_arena_alloc(&random->arena, 1, layout->size + 1);

	fill(random, layout, object);
	return object;
}
