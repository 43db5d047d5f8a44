/* SPDX-License-Identifier: Apache-2.0 */
/* The names of temporaries, which record what they are for later processes.
 *
 *     .hasp-K-LLLLLLLLLLLLLLLL-OOOOOOOOOOOOOOOO-NNNNNNNNNNNNNNNN-RRRRRRRR
 *
 * K is the kind, L the hash of the name it is for, O and N the hashes of that file's content before
 * and after (each the first 8 bytes of a SHA-256, in hexadecimal), R makes it unique. A file that
 * is being removed is nowhere else in its folder, so its temporary name ends in "-" and its whole
 * name, if there is room for it. A live writer holds a flock on the new file (kinds p, x, t) or on
 * the file being removed (kind d). For file/, and for search/, which skips them. They are cleaned
 * up by recover_folder.
 */
#ifndef HASP_FILE_TEMPORARY_H
#define HASP_FILE_TEMPORARY_H

#include <stdint.h>

#include "base/sha256.h"

enum { TEMPORARY_NAME_SIZE = 256, TEMPORARY_KEY_SIZE = 8 };

enum temporary_kind {
	TEMPORARY_PART = 'p',   /* being written, where anonymous files do not exist */
	TEMPORARY_SWAP = 'x',   /* the new file; after the exchange, what was the old one */
	TEMPORARY_DELETE = 'd', /* a file on its way out */
	TEMPORARY_STAGED = 't', /* belongs to a transaction's journal: not for recover_folder */
};

struct temporary {
	enum temporary_kind kind;
	unsigned char leaf[TEMPORARY_KEY_SIZE];
	unsigned char old_sum[TEMPORARY_KEY_SIZE]; /* zeros: there was no file */
	unsigned char new_sum[TEMPORARY_KEY_SIZE]; /* zeros: the file will not exist */
	const char *whole_leaf; /* kind d: the file's name, borrowed; NULL when there is no room */
};

/* Fills the keys; NULL sums are zeros. `leaf` is borrowed. */
void temporary_init(struct temporary *temporary, enum temporary_kind kind, const char *leaf,
                    const struct sha256 *old_sum, const struct sha256 *new_sum);
/* A name that is unlikely to be taken: a caller who gets EEXIST asks for another. */
void temporary_format(const struct temporary *temporary, char name[static TEMPORARY_NAME_SIZE]);
/* Takes such a name apart; whole_leaf points into `name`. */
bool temporary_parse(const char *name, struct temporary *ret);
/* Whether the file name `leaf` is the one that the temporary is for. */
bool temporary_is_for(const struct temporary *temporary, const char *leaf);

#endif
