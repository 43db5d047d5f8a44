/* SPDX-License-Identifier: Apache-2.0 */
/* Calls as other products' models write them, in hasp's words.
 *
 *     struct spelled_call call;
 *     spelling_read("MultiEdit", arguments, &problems, &call);
 *     call.name                 // "apply_changes"
 *     call.arguments            // {"changes": [{"kind": "update", ...}, ...]}
 *     spelling_release(&call);
 *
 * Every model may use any product's editors, whatever was offered to it (dialect.h): what runs is
 * hasp's tool, so rules, hooks, questions, checkpoints and records see one spelling.  Names alone
 * are the business of data/tools.h, parameters that only have another name that of each tool's
 * parameter_aliases; here is what is shaped otherwise: lists of edits, envelopes of patches,
 * editors with a `command`, commands as arrays.
 *
 * Editors that have no place for a hash get base_content_sha256 "seen" (BASE_SEEN): the state that
 * this conversation saw last, which the session keeps (seen_met).
 *
 * To add one: a row in spelling.c, and a row in test/headless/test_spellings.py.
 */
#ifndef HASP_TOOL_SPELLING_H
#define HASP_TOOL_SPELLING_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"

/* In place of a hash: the state of the file that this conversation saw last. */
#define BASE_SEEN "seen"

struct spelled_call {
	const char *name;      /* of the tool, as tool_set_find takes it; the name that came, where
	                        * nothing else is known of it. Borrowed from that, or static */
	json_t *arguments;     /* owned */
	json_t *sent;          /* owned: the names that came, by canonical ones, as those of
	                        * alias_resolve */
	const char *dialect;   /* of an edit: whose words it is in (dialect.h); static; or NULL */
};

/* Reads a call by whatever name; `arguments` is not changed, NULL counts as {}.  What cannot be
 * read is appended to `problems`, and *ret is then the call as it came.  Pure: it looks at nothing
 * but the call, and reading its result again changes nothing. */
void spelling_read(const char *name, const json_t *arguments, struct buf *problems,
                   struct spelled_call *ret);
/* Leaves it empty. */
void spelling_release(struct spelled_call *call);

/* ---- envelopes -------------------------------------------------------------------- */

/* The changes of an envelope, as apply_changes has them: Source: apply_patch's grammar in Codex
 * (core/src/tools/handlers/tool_apply_patch.lark) and OpenAI's GPT-4.1 prompting guide.
 *
 *     patch   := [text] "*** Begin Patch" section+ "*** End Patch"
 *     section := "*** Add File: " path ("+" line)*
 *              | "*** Delete File: " path
 *              | "*** Update File: " path ["*** Move to: " path] hunk*
 *
 * Hunks are the patch engine's to read (patch/parse.h).  Several envelopes one after the other
 * count as one.  `folder` (may be empty) stands before each relative path.  A new array, or NULL
 * with a problem. Linear in the text. */
json_t *envelope_changes(struct span text, struct span folder, struct buf *problems);
/* Whether a text is an envelope, perhaps in a fence or a here-document. */
bool envelope_is(struct span text);
/* Whether a command for a shell does nothing but apply an envelope ("apply_patch <<'EOF' ...",
 * also after "cd FOLDER &&"); *ret_text and *ret_folder are parts of it.  *ret_why: a sentence,
 * where the shell would hand over another text and the call must be refused; or NULL. */
bool envelope_in_command(struct span command, struct span *ret_text, struct span *ret_folder,
                         const char **ret_why);
/* Whether a command that is not such a one applies an envelope among others: no shell has
 * apply_patch. */
bool envelope_among_commands(struct span command);

#endif
