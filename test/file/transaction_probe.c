/* SPDX-License-Identifier: Apache-2.0 */
/* A program to be killed: one call of edit_apply with four changes, or one recovery.
 *
 *     transaction_probe change ROOT JOURNAL [full]   write, create, delete and move
 *     transaction_probe recover ROOT JOURNAL         as when a workspace is opened
 *
 * Exit status 0 when it was done, 1 when it failed (the reason is on stderr).  An access to "/begin"
 * marks where it begins.
 * Run by test_transaction_kill.py.
 */
#pragma GCC diagnostic ignored "-Wframe-larger-than=" /* the first thread's stack has room */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "edit/edit.h"
#include "file/transaction.h"
#include "file/workspace.h"

static bool change_files(const struct workspace *ws, const char *journal, bool full,
                         struct err *err)
{
	struct sha256 a = sha256_of(SPAN("a\n")), c = sha256_of(SPAN("c\n")),
	              d = sha256_of(SPAN("d\n"));
	struct change changes[] = {
		{ .kind = CHANGE_WRITE, .path = "a", .base = &a, .text = SPAN("A\n") },
		{ .kind = CHANGE_CREATE, .path = "n/m/new", .text = SPAN("N\n") },
		{ .kind = CHANGE_DELETE, .path = "s/c", .base = &c },
		{ .kind = CHANGE_MOVE, .path = "s/d", .new_path = "o/moved", .base = &d },
	};
	struct change_result results[ARRAY_LEN(changes)];
	struct edit_options options = { .journal_folder = journal };
	bool ok;

	options.commit.durability = full ? DURABILITY_FULL : DURABILITY_RENAME;
	ok = edit_apply(ws, changes, ARRAY_LEN(changes), &options, results, err);
	for (size_t i = 0; i < ARRAY_LEN(changes); i++)
		change_result_release(&results[i]);
	return ok;
}

int main(int argc, char **argv)
{
	struct err err = ERR_INIT;
	struct workspace *ws;
	const char *root;
	size_t recovered;
	bool ok;

	if (argc < 4)
		return 2;
	root = argv[2];
	if (!workspace_open(&root, 1, &ws, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	faccessat(AT_FDCWD, "/begin", F_OK, 0);
	if (strcmp(argv[1], "recover") == 0)
		ok = transaction_recover(ws, argv[3], &recovered, &err);
	else
		ok = change_files(ws, argv[3], argc > 4, &err);
	workspace_free(ws);
	if (!ok)
		fprintf(stderr, "%s: %s\n", err_name(err.code), err.message);
	return ok ? 0 : 1;
}
