/* SPDX-License-Identifier: Apache-2.0 */
/* Notes of checkpoints and the ledger of edits: never a crash; what is read is of good form, and reads the
 * same when it is written again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/checkpoint/private.h"
#include "base/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void check_file(const struct note_file *a, const struct note_file *b)
{
	check(a->path[0] == '/' && strcmp(a->path, b->path) == 0);
	check(a->existed == b->existed && sha256_eq(&a->sha256, &b->sha256));
	check(a->existed == (strlen(a->blob) == OBJECT_ID_SIZE - 1));
	check(strcmp(a->blob, b->blob) == 0 && !(a->existed && a->not_kept));
}

static void check_note(struct span text)
{
	_cleanup_buf_ struct buf printed = BUF_INIT(LIMIT_CHECKPOINT_NOTE_BYTES);
	struct note note, again;
	struct err err = ERR_INIT;

	if (!note_parse(text, &note, &err))
		return;
	check(note_print(&note, NULL, &printed));
	check(note_parse(buf_view(&printed), &again, &err));
	check(note.count == again.count && strcmp(note.commit, again.commit) == 0);
	check(strcmp(note.session, again.session) == 0 && note.time_ms == again.time_ms);
	for (size_t i = 0; i < note.count; i++)
		check_file(&note.files[i], &again.files[i]);
	note_release(&note);
	note_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = span_of((const char *)data, size);
	struct sha256 sum = sha256_of(SPAN("x"));
	struct ledger *ledger = checkpoint_ledger_parse(text, "s");
	struct written made;

	checkpoint_ledger_has(ledger, "/a", &sum);
	checkpoint_ledger_made(ledger, "n", "/a", &made);
	checkpoint_ledger_free(ledger);
	check_note(text);
	return 0;
}
