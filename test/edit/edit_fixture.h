/* SPDX-License-Identifier: Apache-2.0 */
/* A workspace in a fresh folder, and files in it, for the tests of edits and transactions.
 *
 *     struct fixture f;
 *     fixture_open(&f);
 *     fixture_put(&f, "a.c", "text\n");
 *     ...
 *     fixture_close(&f);   // removes everything
 *
 * All functions fail the test by cmocka's assertions.
 */
#ifndef HASP_TEST_EDIT_FIXTURE_H
#define HASP_TEST_EDIT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "edit/edit.h"
#include "file/workspace.h"

struct fixture {
	char top[64];     /* the folder that holds all of it */
	char root[80];    /* the workspace's root */
	char journal[80]; /* the journal folder; not made */
	struct workspace *ws;
};

void fixture_open(struct fixture *f);
void fixture_close(struct fixture *f);

/* Writes a file (and its folders) as any program would. `len` bytes, or a string. */
void fixture_put_bytes(const struct fixture *f, const char *name, const char *data, size_t len);
void fixture_put(const struct fixture *f, const char *name, const char *text);
/* Its content, NUL-terminated, to free; NULL when there is no such file. */
char *fixture_get(const struct fixture *f, const char *name, size_t *ret_len);
/* Fails unless the file has this text; NULL: unless it is missing. */
void fixture_expect(const struct fixture *f, const char *name, const char *text);
/* Number of entries in a folder of the root ("" is the root), "." and ".." aside; 0 if missing. */
size_t fixture_entries(const char *folder);
struct sha256 fixture_hash(const char *text);

#endif
