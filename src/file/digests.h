/* SPDX-License-Identifier: Apache-2.0 */
/* The contents that were hashed last, so that the same bytes are not hashed again.
 *
 *     if (!digests_find(digests, &stat, content, &sum)) {
 *             sum = sha256_of(content);
 *             digests_keep(digests, &stat, content, &sum);
 *     }
 *
 * A model reads a file, edits it, and reads it again: each time its content is read anew, and its
 * hash is known if the content is, **byte for byte**, the one that was hashed before.  Comparing
 * costs a twentieth of hashing.  Time stamps are not asked: they may hide a change.  The file
 * number only says which of the kept contents to compare with.
 *
 * One per workspace; threads may share it.  Internal to file/.
 */
#ifndef HASP_FILE_DIGESTS_H
#define HASP_FILE_DIGESTS_H

#include <sys/stat.h>

#include "base/sha256.h"

/* Larger contents are not kept; so many of this size are. */
enum { DIGESTS_CONTENT_BYTES = 32 << 10, DIGESTS_COUNT = 16 };

struct digests;

struct digests *digests_new(void); /* never NULL */
void digests_free(struct digests *digests); /* NULL is fine */

bool digests_find(struct digests *digests, const struct stat *file, struct span content,
                  struct sha256 *ret);
void digests_keep(struct digests *digests, const struct stat *file, struct span content,
                  const struct sha256 *sum);

#endif
