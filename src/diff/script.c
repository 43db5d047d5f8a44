/* SPDX-License-Identifier: Apache-2.0 */
/* The edit script: building, counting and applying. */
#include "diff/script.h"

#include <assert.h>

#include "base/mem.h"

void script_add(struct script *script, struct edit edit)
{
	if (script->count > 0) {
		const struct edit *last = &script->edits[script->count - 1];

		assert(edit.at >= last->at + last->remove);
	}
	if (script->count == script->cap)
		script->edits = mem_grow(script->edits, &script->cap, script->count + 1,
		                         sizeof(*script->edits));
	script->edits[script->count++] = edit;
}

void script_release(struct script *script)
{
	free(script->edits);
	*script = (struct script){ 0 };
}

void script_stat(const struct script *script, size_t *ret_added, size_t *ret_removed)
{
	size_t added = 0, removed = 0;

	for (size_t i = 0; i < script->count; i++) {
		added += lines_count(script->edits[i].insert);
		removed += script->edits[i].remove;
	}
	*ret_added = added;
	*ret_removed = removed;
}

bool script_apply(const struct lines *base, const struct script *script, struct buf *out)
{
	size_t kept = 0; /* the first line of the base not dealt with yet */

	for (size_t i = 0; i < script->count; i++) {
		const struct edit *edit = &script->edits[i];

		assert(edit->at >= kept && edit->at + edit->remove <= base->count);
		if (edit->at > kept)
			buf_span(out, lines_range(base, kept, edit->at));
		buf_span(out, edit->insert);
		kept = edit->at + edit->remove;
	}
	if (kept < base->count)
		buf_span(out, lines_range(base, kept, base->count));
	return !out->overflowed;
}
