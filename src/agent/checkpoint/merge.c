/* SPDX-License-Identifier: Apache-2.0 */
/* What a restore makes of texts: merges of three, differences of two. */
#include <string.h>

#include "agent/checkpoint/private.h"
#include "base/limits.h"
#include "base/name.h"
#include "base/text.h"
#include "data/json.h"
#include "diff/diff.h"

enum {
	MERGE_BYTES_MAX = 16 << 20,
	MERGE_PAIRS_MAX = 4 << 20, /* all edits of one are compared with all of the other */
	CONTEXT_LINES = 3,
};

/* A text, as far as lines go. */
static bool merge_takes(struct span bytes)
{
	return !bytes.len || !memchr(bytes.data, '\0', bytes.len);
}

bool checkpoint_merge(struct span base, struct span mine, struct span theirs, struct buf *out,
                      const char **ret_why)
{
	_cleanup_lines_ struct lines base_lines = { 0 }, mine_lines = { 0 }, their_lines = { 0 };
	_cleanup_script_ struct script my_script = { 0 }, their_script = { 0 }, merged = { 0 };

	*ret_why = "It is no text, so that changes since then cannot be kept in it.";
	if (!merge_takes(base) || !merge_takes(mine) || !merge_takes(theirs))
		return false;
	*ret_why = "It is too large to be merged.";
	if (base.len > MERGE_BYTES_MAX || mine.len > MERGE_BYTES_MAX ||
	    theirs.len > MERGE_BYTES_MAX)
		return false;
	lines_index(&base_lines, base);
	lines_index(&mine_lines, mine);
	lines_index(&their_lines, theirs);
	diff_lines(&base_lines, &mine_lines, &my_script);
	diff_lines(&base_lines, &their_lines, &their_script);
	if (my_script.count * their_script.count > MERGE_PAIRS_MAX)
		return false;
	*ret_why = "Changes that are not of this session's edits touch the lines that would go "
		   "back.";
	if (!script_merge(&base_lines, &my_script, &their_script, &merged))
		return false;
	*ret_why = "It is too large to be merged.";
	return script_apply(&their_lines, &merged, out);
}

json_t *checkpoint_difference(struct span before, struct span after, const char *path, size_t room)
{
	_cleanup_lines_ struct lines old_lines = { 0 }, new_lines = { 0 };
	_cleanup_script_ struct script script = { 0 };
	_cleanup_buf_ struct buf diff = BUF_INIT(room + 1);
	const struct script_print_options how = { .old_name = path, .new_name = path,
		                                  .context = CONTEXT_LINES };
	json_t *object = json_object();
	size_t added, removed;

	if (!merge_takes(before) || !merge_takes(after) || before.len > MERGE_BYTES_MAX ||
	    after.len > MERGE_BYTES_MAX)
		return object;
	lines_index(&old_lines, before);
	lines_index(&new_lines, after);
	diff_lines(&old_lines, &new_lines, &script);
	script_stat(&script, &added, &removed);
	json_object_set_new(object, "added", json_size(added));
	json_object_set_new(object, "removed", json_size(removed));
	if (script_print(&diff, &old_lines, &script, &how) && diff.len <= room)
		json_object_set_new(object, "diff", json_text(buf_view(&diff)));
	return object;
}
