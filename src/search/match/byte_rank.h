/* SPDX-License-Identifier: Apache-2.0 */
/* How common bytes and texts are in source code. Private to this folder.
 *
 * Only speed depends on it: which of a pattern's texts is looked for, and which two of its
 * bytes.
 */
#ifndef HASP_SEARCH_MATCH_BYTE_RANK_H
#define HASP_SEARCH_MATCH_BYTE_RANK_H

#include "base/span.h"

/* 8 * (24 + log2 of the share of this byte), at least 0: 192 would be every byte. */
extern const unsigned char byte_rank[256];

enum { RANK_COMMONEST = 0, RANK_RAREST = -100000 };

/* 8 * log2 of how likely it is that the text begins at a given place, very roughly. */
int text_rank(struct span text);

#endif
