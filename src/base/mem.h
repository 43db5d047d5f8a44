/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for small things, arrays that grow, and scope clean-up.
 *
 * mem_alloc and friends are for objects whose size hasp chooses.  They abort
 * the process when memory runs out, which on Linux means that the kernel is
 * about to do the same.  Anything whose size a stranger chooses goes through
 * buf.h, whose limits and failures are reported.
 *
 *     _cleanup_free_ char *path = mem_printf("%s/%s", folder, name);
 *     return mem_steal(&path);
 */
#ifndef HASP_BASE_MEM_H
#define HASP_BASE_MEM_H

#include <stddef.h>
#include <stdlib.h>

/* Zeroed memory of count × size bytes (checked for overflow); never NULL. The caller frees. */
void *mem_alloc(size_t count, size_t size) __attribute__((returns_nonnull, malloc));

/* A NUL-terminated copy of `len` bytes, or of a string; the caller frees.
 * mem_strdup(NULL) is NULL. */
char *mem_dup(const char *data, size_t len) __attribute__((returns_nonnull));
char *mem_strdup(const char *str);
char *mem_printf(const char *format, ...)
	__attribute__((format(printf, 1, 2), returns_nonnull));

/* Makes room for at least `need` elements of `size` bytes in an array that has
 * room for *cap; returns the (moved) array. Growth is geometric:
 *     if (n == cap) items = mem_grow(items, &cap, n + 1, sizeof(*items)); */
void *mem_grow(void *items, size_t *cap, size_t need, size_t size)
	__attribute__((returns_nonnull));

/* Room for a piece of a file that is copied, compared or hashed: not zeroed, never NULL; the caller
 * frees. On the heap, because threads of hasp have small stacks; with pieces that fit there, a copy
 * takes half as long again. */
enum { MEM_PIECE_BYTES = 64 << 10 };
char *mem_piece(void) __attribute__((returns_nonnull, malloc));

static inline void mem_cleanup_free(void *slot)
{
	free(*(void **)slot);
}
#define _cleanup_free_ __attribute__((cleanup(mem_cleanup_free)))

/* Takes the pointer out of a cleaned-up variable: returns it and leaves NULL. */
#define mem_steal(slot)                         \
	({                                      \
		__typeof__(*(slot)) taken_ = *(slot); \
		*(slot) = NULL;                 \
		taken_;                         \
	})

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

#endif
