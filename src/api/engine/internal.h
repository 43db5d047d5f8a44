/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of libhasp share: the public objects from inside.
 *
 * libhasp translates between include/hasp.h, whose names and layouts are
 * promised, and the headers of file/, which change with the program.
 */
#ifndef HASP_API_ENGINE_INTERNAL_H
#define HASP_API_ENGINE_INTERNAL_H

#include "edit/edit.h"
#include "hasp.h"

struct hasp_workspace {
	struct workspace *ws;  /* owned */
	char *journal_folder;  /* owned, or NULL */
	struct commit_options commit;
	size_t max_file_bytes; /* 0: the default */
};

/* Fills `error` (may be NULL) from a failure; returns false. */
bool lib_error(const struct err *err, hasp_error *error);

/* Reads a hash that a caller gave: NULL is none (*ret_given false).
 * INVALID_ARGUMENT when it is no hash. */
bool lib_parse_hash(const char *hex, struct sha256 *ret, bool *ret_given, struct err *err);

/* A result over `count` change results, which it takes over (also the array). */
hasp_result *lib_result_new(struct change_result *changes, size_t count);

#endif
