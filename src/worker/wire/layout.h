/* SPDX-License-Identifier: Apache-2.0 */
/* How a C structure travels: a table of its fields, from which it is written and read.
 *
 *     static const struct wire_field fields[] = {
 *             WIRE_FIELD(TEXT, struct read_request, path, LIMIT_PATH_BYTES),
 *             WIRE_FIELD(U64, struct read_request, start_line, 0),
 *     };
 *     const struct wire_layout layout_read_request = WIRE_LAYOUT("read", struct read_request,
 *                                                                fields);
 *
 *     struct wire_out out = WIRE_OUT_INIT;
 *     wire_encode(&out, &layout_read_request, &request);
 *     ... out.fields, then each of out.blobs ...
 *
 * All is little-endian, without padding.  What each kind looks like in bytes is in the table of
 * kinds in docs/protocol-worker.md, which a test compares with WIRE_KINDS.
 *
 * Reading trusts nothing: each length is compared with what is left of the frame, each array's
 * count with how many of its smallest elements would fit there, so that no more memory is asked
 * for than the bytes at hand justify.  Bulk content (BLOB_*) has only its length among the
 * fields; the bytes follow the fields, and are read where they belong (wire_blob). */
#ifndef HASP_WORKER_WIRE_LAYOUT_H
#define HASP_WORKER_WIRE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* ---- little-endian numbers of 1 to 8 bytes ---- */

static inline void bytes_put(void *to, uint64_t value, size_t bytes)
{
	unsigned char *out = to;

	for (size_t i = 0; i < bytes; i++)
		out[i] = (unsigned char)(value >> (8 * i));
}

static inline uint64_t bytes_get(const void *from, size_t bytes)
{
	const unsigned char *in = from;
	uint64_t value = 0;

	for (size_t i = 0; i < bytes; i++)
		value |= (uint64_t)in[i] << (8 * i);
	return value;
}

/* X(kind, what it is in C, how it travels) */
#define WIRE_KINDS(X)                                                                             \
	X(BOOL, "bool", "1 byte, 0 or 1")                                                         \
	X(ENUM, "enum", "1 byte, below the number of its values")                                 \
	X(U32, "unsigned", "4 bytes")                                                             \
	X(I32, "int", "4 bytes, two's complement")                                                \
	X(U64, "size_t or uint64_t", "8 bytes")                                                   \
	X(I64, "int64_t", "8 bytes, two's complement")                                            \
	X(U64S, "size_t[N]", "N times 8 bytes")                                                   \
	X(TEXT, "char *", "length (4 bytes), that many bytes without NUL, a NUL")                 \
	X(TEXT_OR_NULL, "char * or NULL", "as TEXT; the length 0xffffffff alone is NULL")         \
	X(CHARS, "char[N]", "as TEXT, at most N - 1 bytes")                                       \
	X(WORD, "const char *, one of a few, or NULL", "1 byte: 0 is NULL, n the nth word")       \
	X(BYTES, "struct span", "length (4 bytes), that many bytes")                              \
	X(HASH, "struct sha256", "32 bytes")                                                      \
	X(HASH_OR_NULL, "struct sha256 * or NULL", "1 byte, 0 or 1; after 1: 32 bytes")           \
	X(ERROR, "struct err", "CHARS (name of the code), 4 bytes (errno), CHARS (message), 1 "   \
	                       "byte, 0 or 1; after 1: the fields of error_denial")               \
	X(STRUCT, "a structure", "its fields")                                                    \
	X(STRUCT_OR_NULL, "pointer to a structure, or NULL",                                      \
	  "1 byte, 0 or 1; after 1: its fields")                                                  \
	X(TEXTS, "array of char *", "count (4 bytes), that many TEXT")                            \
	X(TEXTS_OR_NULL, "array of char *, or NULL",                                              \
	  "as TEXTS; the count 0xffffffff alone is NULL")                                         \
	X(ARRAY, "array of structures", "count (4 bytes), the fields of each")                    \
	X(ARRAY_INLINE, "structures[N]", "as ARRAY, at most N")                                   \
	X(ARRAY_INTO, "array of structures", "as ARRAY, as many as were asked about")             \
	X(LINES, "array of struct search_line", "count (4 bytes), the fields of each, then the "  \
	                                        "bytes of all, one after the other")              \
	X(LINE_TEXT, "struct span of a line", "length (4 bytes); see LINES")                      \
	X(BLOB_SPAN, "struct span", "length (8 bytes); the bytes are in the blob")                \
	X(BLOB_BUF, "struct buf", "length (8 bytes); the bytes are in the blob")

enum wire_kind {
#define WIRE_KIND_ENUM(kind, c, wire) WIRE_##kind,
	WIRE_KINDS(WIRE_KIND_ENUM)
#undef WIRE_KIND_ENUM
};

struct wire_layout;

struct wire_field {
	enum wire_kind kind;
	const char *name;               /* of the member */
	uint32_t offset;                /* of the member */
	uint32_t size;                  /* of the member */
	uint32_t count_offset;          /* ARRAY*, TEXTS, LINES: of the member size_t with the
	                                 * count; WIRE_TERMINATED: the array ends with NULL */
	uint64_t max;                   /* ENUM: values; TEXT*, BYTES: bytes; arrays: elements */
	const struct wire_layout *of;   /* of structures */
	const char *const *words;       /* WORD: NULL-terminated */
};

enum { WIRE_TERMINATED = UINT32_MAX };

struct wire_layout {
	const char *name;
	size_t size;                    /* of the structure */
	const struct wire_field *fields;
	size_t count;
};

#define WIRE_AT(type, member) \
	.name = #member, .offset = offsetof(type, member), .size = sizeof(((type *)0)->member)

#define WIRE_FIELD(kind_, type, member, max_) \
	{ .kind = WIRE_##kind_, WIRE_AT(type, member), .max = (max_) }
#define WIRE_NESTED(kind_, type, member, of_) \
	{ .kind = WIRE_##kind_, WIRE_AT(type, member), .of = &(of_) }
#define WIRE_COUNTED(kind_, type, member, count_, max_, of_)                                     \
	{ .kind = WIRE_##kind_, WIRE_AT(type, member), .count_offset = offsetof(type, count_),   \
	  .max = (max_), .of = (of_) }
#define WIRE_WORDS(type, member, words_) \
	{ .kind = WIRE_WORD, WIRE_AT(type, member), .words = (words_) }
#define WIRE_LIST(kind_, type, member, max_) /* NULL-terminated */                               \
	{ .kind = WIRE_##kind_, WIRE_AT(type, member), .count_offset = WIRE_TERMINATED,          \
	  .max = (max_) }

#define WIRE_LAYOUT(name_, type, fields_) \
	{ .name = (name_), .size = sizeof(type), .fields = (fields_), .count = ARRAY_LEN(fields_) }

/* ---- writing ---- */

struct wire_out {
	struct buf fields;        /* owned; overflowed when it would be too long for a frame */
	struct span *blobs;       /* owned array; the bytes are borrowed from what was encoded */
	size_t blob_count, blob_cap;
	uint64_t blob_bytes;
	const struct wire_field *too_long; /* the first that the other side would refuse: there is
	                                    * more of it than its `max`; NULL: none */
};

void wire_out_init(struct wire_out *out); /* room in fields for a frame's fields */
void wire_out_release(struct wire_out *out);
#define _cleanup_wire_out_ __attribute__((cleanup(wire_out_release)))

/* Appends the structure at `object`, which must be as its layout says (our own data).  Of a field
 * that is too long, fields.overflowed is set, too: one call fails then, and not the connection. */
void wire_encode(struct wire_out *out, const struct wire_layout *layout, const void *object);

/* ---- reading ---- */

/* Memory of decoded structures whose arrays and strings are not handed out: freed in one step. */
struct wire_arena {
	struct wire_piece *pieces;
};

/* Zeroed; never NULL; freed with the arena. */
void *wire_arena_alloc(struct wire_arena *arena, size_t count, size_t size);
/* Takes over a block of malloc's. */
void wire_arena_keep(struct wire_arena *arena, void *block);
void wire_arena_release(struct wire_arena *arena);

/* Where a part of the blob belongs. */
struct wire_blob {
	struct buf *buf;    /* one of the two */
	struct span *span;
	uint64_t len;
};

struct wire_in {
	struct span fields;
	size_t at;
	/* NULL: strings and arrays are allocated separately, for the structures' release functions.
	 * Else they are the arena's, and strings point into `fields`. */
	struct wire_arena *arena;
	struct wire_blob *blobs;  /* owned; in their order */
	size_t blob_count, blob_cap;
	uint64_t blob_bytes;
	uint64_t blob_max;        /* most that all parts may have */
	char problem[160];        /* "" while all is well: what is wrong, in which field */
};

void wire_in_release(struct wire_in *in); /* not the arena */
#define _cleanup_wire_in_ __attribute__((cleanup(wire_in_release)))

/* Fills in the zeroed structure at `object`.  False with in->problem set: the members set by then
 * still need its release function.  Fields that the layout does not name are left as they are; so
 * are the counts and pointers of ARRAY_INTO, which must be there. */
bool wire_decode(struct wire_in *in, const struct wire_layout *layout, void *object);
/* Whether all was read. */
bool wire_decode_end(struct wire_in *in);

/* Fewest bytes that the structure takes. */
size_t wire_layout_least(const struct wire_layout *layout);

#endif
