/* SPDX-License-Identifier: Apache-2.0 */
/* Large outputs of tools, put into files: the model keeps a pointer.  Private to agent/.
 *
 *     output_truncate(&options, tool, call_id, result);     // a new result that is too long
 *     mask_outputs(&options, history);                      // old results, before a compaction
 *
 * Truncation: a text of a result longer than truncate_chars keeps the first fifth and the last four
 * fifths of that; the whole is in a file.  What its tool has cut already is not cut for the length of the
 * note alone, and has one note when it is (cut.h).  Contents of files are left alone: their tools have
 * limits of their own, and a way to read on.
 *
 * Masking: the newest protect_tokens of results stay as they are; of older ones, when at least min_tokens
 * can be gained at once, all large ones are replaced by their small members and the name of a file
 * with the whole.  What has been sent stays as it was (told.h), so this is done before a compaction alone,
 * where the conversation begins anew.  A result in a message of the last turn stays, and so do instructions
 * that were found just in time (memory.h).
 *
 * Files are made in options.folder, with mode 0600, and never follow or replace what has their name.  No
 * folder, or a full disk: truncation goes without the file and says so, masking is not done.
 */
#ifndef HASP_AGENT_CONTEXT_MASK_H
#define HASP_AGENT_CONTEXT_MASK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "tool/tool.h"

struct mask_options {
	const char *folder;      /* absolute; made when it is missing; NULL: no files */
	size_t truncate_chars;   /* bytes, really; 0: nothing is truncated */
	size_t protect_tokens;   /* of 4 bytes */
	size_t min_tokens;
	bool protect_latest;     /* the results of the last turn, whatever their size */
};

/* The defaults are Gemini CLI's: 40,000, 50,000, 30,000, true. */
#define MASK_OPTIONS_DEFAULT \
	{ .truncate_chars = 40000, .protect_tokens = 50000, .min_tokens = 30000, .protect_latest = true }

/* Changes texts of `result`. `tool` may be NULL (an unknown one). True if anything was cut. */
bool output_truncate(const struct mask_options *options, const struct tool *tool,
                     const char *name, const char *call_id, json_t *result);

/* Replaces messages of `history` by changed copies. Returns how many results were masked. */
size_t mask_outputs(const struct mask_options *options, json_t *history);

#endif
