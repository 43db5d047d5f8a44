/* SPDX-License-Identifier: Apache-2.0 */
/* The sentences of the editors. Their first words are part of the contract: models and
 * scripts recognise them. */
#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "tool/builtin/editor.h"

/* What the engine's own messages may begin with: then they are complete. */
static const char *const leads[] = {
	"State Mismatch:", "Invalid Diff:", "Internal Error:", "Base Required:", "File not found:",
};

static const struct {
	enum err_code code;
	const char *lead;
	bool patch_only;
} beginnings[] = {
	{ ERR_STATE_MISMATCH, "State Mismatch: File has changed on disk since it was last read.",
	  false },
	{ ERR_NO_MATCH,
	  "Invalid Diff: The provided diff content does not match the file's content. The context "
	  "or lines to be removed may be incorrect.",
	  true },
	{ ERR_INTERNAL,
	  "Internal Error: The corrected patch failed to apply. Please review the diff for subtle "
	  "errors.",
	  true },
};

/* "file_not_found" -> "File Not Found" */
static void title_of(enum err_code code, char *out, size_t size)
{
	bool start = true;
	size_t len = 0;

	for (const char *name = err_name(code); *name && len + 1 < size; name++) {
		char c = *name == '_' ? ' ' : *name;

		out[len++] = start ? (char)toupper((unsigned char)c) : c;
		start = c == ' ';
	}
	out[len] = '\0';
}

static char *failure_message(const struct change *change, const struct err *err)
{
	char title[40];

	for (size_t i = 0; i < ARRAY_LEN(leads); i++)
		if (span_starts(span_str(err->message), span_str(leads[i])))
			return mem_strdup(err->message);
	for (size_t i = 0; i < ARRAY_LEN(beginnings); i++)
		if (beginnings[i].code == err->code &&
		    (!beginnings[i].patch_only || change->kind == CHANGE_PATCH))
			return mem_printf("%s %s", beginnings[i].lead, err->message);
	title_of(err->code, title, sizeof(title));
	if (span_starts(span_str(err->message), span_str(title)) &&
	    err->message[strlen(title)] == ':')
		return mem_strdup(err->message);
	return mem_printf("%s: %s", title, err->message);
}

static const struct {
	const char *done;
	const char *created;
	const char *planned;
} successes[] = {
	[CHANGE_PATCH] = { "Patch applied successfully.",
	                   "Patch applied successfully. The file was created.",
	                   "The patch applies." },
	[CHANGE_WRITE] = { "File written successfully.", "File created successfully.",
	                   "The file can be written." },
	[CHANGE_CREATE] = { "File created successfully.", "File created successfully.",
	                    "The file can be created." },
	[CHANGE_UPDATE] = { "File updated successfully.", "File created successfully.",
	                    "The replacement can be made." },
	[CHANGE_DELETE] = { "File deleted.", "File deleted.", "The file can be deleted." },
	[CHANGE_MOVE] = { "File moved.", "File moved.", "The file can be moved." },
};

/* Tells which hunks had to be corrected, so that the model knows that its numbers or
 * spaces were off. */
static void describe_hunks(struct buf *out, const struct change_result *result)
{
	size_t told = 0;

	for (size_t i = 0; i < result->hunk_count && told < 5; i++) {
		const struct patch_hunk_report *hunk = &result->hunks[i];
		bool moved = hunk->stated_line && hunk->stated_line != hunk->line && hunk->lines;

		if (!moved && hunk->match == PATCH_MATCH_EXACT)
			continue;
		told++;
		buf_printf(out, " Hunk %zu was applied at line %zu", hunk->hunk, hunk->line);
		if (moved)
			buf_printf(out, " (its header says %zu)", hunk->stated_line);
		if (hunk->match != PATCH_MATCH_EXACT)
			buf_printf(out, ", matched %s", hunk->match == PATCH_MATCH_LOOKALIKE ?
			                                        "by look-alike characters" :
			                                        "ignoring white space");
		buf_char(out, '.');
	}
}

char *editor_message(const struct change *change, const struct change_result *result,
                   bool dry_run)
{
	struct buf out = BUF_INIT(8192);

	if (!result->done)
		return failure_message(change, &result->err);
	if (result->already)
		buf_str(&out, "No change was needed: the file already is as asked.");
	else if (dry_run)
		buf_printf(&out, "%s This was a dry run: nothing was written.",
		           successes[change->kind].planned);
	else
		buf_str(&out, result->created ? successes[change->kind].created :
		                                successes[change->kind].done);
	if (change->kind == CHANGE_UPDATE && result->replaced)
		buf_printf(&out, " %zu place%s replaced.", result->replaced,
		           result->replaced == 1 ? " was" : "s were");
	describe_hunks(&out, result);
	/* What a diff says beside its hunks must not be lost in a success. */
	if (change->kind == CHANGE_PATCH && result->note[0])
		buf_printf(&out, " %s", result->note);
	return buf_steal(&out);
}
