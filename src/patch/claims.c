/* SPDX-License-Identifier: Apache-2.0 */
#include "patch/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "patch/patch.h"

/* Bytes of a name in a message. */
enum { NAME_SHOWN = 120 };

enum claim {
	CLAIM_NOTHING,     /* says nothing about the file: known, and ignored */
	CLAIM_FILE,        /* another file's part begins */
	CLAIM_RENAME_FROM,
	CLAIM_RENAME_TO,
	CLAIM_COPY_FROM,
	CLAIM_COPY_TO,
	CLAIM_DELETED,     /* with its name */
	CLAIM_DELETED_MODE,
	CLAIM_CREATED,     /* with its mode */
	CLAIM_MODE,
	CLAIM_INDEX,       /* hashes, and the mode if it stays */
	CLAIM_BINARY,
	CLAIM_SUBMODULE,
};

static const struct claim_row {
	const char *prefix;
	const char *suffix; /* what the line ends with; NULL: anything */
	enum claim claim;
	bool prose;         /* prose may begin so: counts in a git header only, or before its
	                     * pair */
	bool ends_hunk;
} rows[] = {
	{ "diff --git ", NULL, CLAIM_FILE, false, true },
	{ "similarity index ", "%", CLAIM_NOTHING, true, false },
	{ "dissimilarity index ", "%", CLAIM_NOTHING, true, false },
	{ "rename from ", NULL, CLAIM_RENAME_FROM, true, false },
	{ "rename to ", NULL, CLAIM_RENAME_TO, true, false },
	{ "copy from ", NULL, CLAIM_COPY_FROM, true, false },
	{ "copy to ", NULL, CLAIM_COPY_TO, true, false },
	{ "old mode ", NULL, CLAIM_NOTHING, false, false },
	{ "new mode ", NULL, CLAIM_MODE, false, false },
	{ "deleted file mode ", NULL, CLAIM_DELETED_MODE, false, false },
	{ "new file mode ", NULL, CLAIM_CREATED, false, false },
	{ "index ", NULL, CLAIM_INDEX, false, false },
	{ "GIT binary patch", NULL, CLAIM_BINARY, false, true },
	{ "Binary files ", " differ", CLAIM_BINARY, false, true },
	{ "Submodule ", ":", CLAIM_SUBMODULE, false, false },
	{ "*** Delete File: ", NULL, CLAIM_DELETED, false, true },
	{ "*** Move to: ", NULL, CLAIM_RENAME_TO, false, true },
	{ "*** Add File: ", NULL, CLAIM_NOTHING, false, true },
	{ "===================", "===================", CLAIM_NOTHING, false, false },
};

static const struct claim_row *claim_row_of(struct span line)
{
	line = span_trim(line);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (span_starts(line, span_str(rows[i].prefix)) &&
		    (!rows[i].suffix || span_ends(line, span_str(rows[i].suffix))))
			return &rows[i];
	return NULL;
}

/* Six octal digits, as git writes a mode. */
static bool is_mode(struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.data[i] < '0' || text.data[i] > '7')
			return false;
	return text.len == 6;
}

/* A submodule, a link, or a file's permission. */
static void take_mode(struct claims *claims, struct span mode, bool changes)
{
	if (!is_mode(mode))
		return;
	claims->submodule |= span_starts(mode, SPAN("160"));
	claims->link |= span_starts(mode, SPAN("120"));
	if (changes)
		claims->mode = mode;
}

/* The last word: "0123456..89abcde 100644". */
static struct span last_word(struct span text)
{
	size_t at = text.len;

	while (at && text.data[at - 1] != ' ')
		at--;
	return span_skip(text, at);
}

/* One of a pair, such as "rename from": the other must follow it if it stands alone. */
static bool is_paired(const struct claim_row *row, const struct claims *claims, struct span next)
{
	switch (row->claim) {
	case CLAIM_RENAME_FROM:
		return span_starts(next, SPAN("rename to "));
	case CLAIM_COPY_FROM:
		return span_starts(next, SPAN("copy to "));
	case CLAIM_RENAME_TO:
		return claims->rename_from.len > 0;
	case CLAIM_COPY_TO:
		return claims->copy_from.len > 0;
	default:
		return false;
	}
}

bool claims_take(struct claims *claims, struct span line, struct span next, bool in_git_header)
{
	const struct claim_row *row = claim_row_of(line);
	struct span rest;

	if (!row || (row->prose && !in_git_header && !is_paired(row, claims, next)))
		return false;
	rest = span_trim(span_skip(span_trim(line), strlen(row->prefix)));
	switch (row->claim) {
	case CLAIM_NOTHING:
		break;
	case CLAIM_FILE:
		claims->files++;
		break;
	case CLAIM_RENAME_FROM:
		claims->rename_from = rest;
		break;
	case CLAIM_RENAME_TO:
		claims->rename_to = rest;
		break;
	case CLAIM_COPY_FROM:
		claims->copy_from = rest;
		break;
	case CLAIM_COPY_TO:
		claims->copy_to = rest;
		break;
	case CLAIM_DELETED:
		claims->deletes = true;
		claims->deleted = rest;
		break;
	case CLAIM_DELETED_MODE:
		claims->deletes |= is_mode(rest);
		take_mode(claims, rest, false);
		break;
	case CLAIM_CREATED:
		claims->creates |= is_mode(rest);
		take_mode(claims, rest, true);
		break;
	case CLAIM_MODE:
		take_mode(claims, rest, true);
		break;
	case CLAIM_INDEX:
		take_mode(claims, last_word(rest), false);
		break;
	case CLAIM_BINARY:
		claims->binary = true;
		break;
	case CLAIM_SUBMODULE:
		claims->submodule |= memmem(rest.data, rest.len, "..", 2) != NULL;
		break;
	}
	return true;
}

bool claims_end_hunk(struct span line)
{
	const struct claim_row *row = claim_row_of(line);

	return row && row->ends_hunk && line.len && line.data[0] != ' ';
}

static int name_shown_len(struct span name)
{
	return (int)(name.len < NAME_SHOWN ? name.len : NAME_SHOWN);
}

bool claims_check(const struct claims *claims, struct err *err)
{
	struct span from = claims->rename_from, to = claims->rename_to;

	if (claims->binary)
		return err_set(err, ERR_INVALID_DIFF,
		               "Invalid Diff: this is a binary diff; only text can be patched.");
	if (claims->submodule)
		return err_set(err, ERR_INVALID_DIFF,
		               "Invalid Diff: the diff changes a submodule. Nothing was written; a "
		               "submodule is changed by git, in its folder.");
	if (claims->link)
		return err_set(err, ERR_INVALID_DIFF,
		               "Invalid Diff: the diff makes or changes a symbolic link (mode "
		               "120000). Nothing was written; links are made by a command.");
	if (to.len && !span_eq(from, to))
		return err_set(err, ERR_INVALID_DIFF,
		               "Invalid Diff: besides its hunks the diff renames %.*s to %.*s. "
		               "Nothing was written. Use apply_changes with a change of kind move "
		               "and one of kind patch, or send the hunks alone.",
		               from.len ? name_shown_len(from) : 8, from.len ? from.data :
		               "the file",
		               name_shown_len(to), to.data);
	if (claims->copy_to.len)
		return err_set(err, ERR_INVALID_DIFF,
		               "Invalid Diff: the diff copies %.*s to %.*s. Nothing was written. "
		               "Make the copy with write_file, or send the hunks alone.",
		               name_shown_len(claims->copy_from), claims->copy_from.data,
		               name_shown_len(claims->copy_to), claims->copy_to.data);
	if (claims->deletes)
		return err_set(err, ERR_INVALID_DIFF,
		               "Invalid Diff: the diff deletes %.*s. Nothing was written. Use "
		               "apply_changes with a change of kind delete, or, to empty the file, "
		               "name it after +++.",
		               claims->deleted.len ? name_shown_len(claims->deleted) : 8,
		               claims->deleted.len ? claims->deleted.data : "the file");
	return true;
}

/* ---- names ---- */

/* How far a name in the diff is that of the file. */
enum likeness { LIKE_NONE, LIKE_LEAF, LIKE_PATH };

/* The last part of a path from *end on, which becomes where the part before ends. */
static struct span part_before(struct span path, size_t *end)
{
	size_t stop = *end, start;

	while (stop && path.data[stop - 1] == '/')
		stop--;
	start = stop;
	while (start && path.data[start - 1] != '/')
		start--;
	*end = start;
	return span_of(path.data + start, stop - start);
}

/* Endings that people give to the other copy of a file. */
static struct span without_copy_ending(struct span leaf)
{
	static const char *const endings[] = { ".orig", ".old", ".bak", ".new", "~" };

	for (size_t i = 0; i < ARRAY_LEN(endings); i++)
		if (leaf.len > strlen(endings[i]) && span_ends(leaf, span_str(endings[i])))
			return span_head(leaf, leaf.len - strlen(endings[i]));
	return leaf;
}

/* Compares part by part from the end: one may be longer at its beginning, where prefixes
 * and other roots are. */
static enum likeness claims_compare_paths(struct span name, struct span path)
{
	size_t a = name.len, b = path.len;
	struct span one = part_before(name, &a), other = part_before(path, &b);

	if (!span_eq(one, other) && !span_eq(without_copy_ending(one), other))
		return LIKE_NONE;
	while (a && b) {
		one = part_before(name, &a);
		other = part_before(path, &b);
		if (!one.len || !other.len || span_eq(one, SPAN(".")))
			break;
		if (!span_eq(one, other))
			return LIKE_LEAF;
	}
	return LIKE_PATH;
}

/* Words such as "original" name no file. */
static bool names_file(struct span name)
{
	return name.len && !span_eq(name, SPAN("/dev/null")) &&
	       (memchr(name.data, '/', name.len) || memchr(name.data, '.', name.len));
}

/* Words may follow a name: "a.c (original)". */
static enum likeness likeness_of(struct span name, const char *path)
{
	_cleanup_free_ char *plain = script_unquote_name(name);
	enum likeness whole = claims_compare_paths(span_str(plain), span_str(path)), head;
	const char *blank = strchr(plain, ' ');

	if (whole == LIKE_PATH || !blank)
		return whole;
	head = claims_compare_paths(span_of(plain, (size_t)(blank - plain)), span_str(path));
	return head > whole ? head : whole;
}

/* The likeness to the file's path, or to the name by which it was reached. */
static enum likeness likeness_of_either(struct span name, const struct patch_options *options)
{
	enum likeness like = likeness_of(name, options->path), other;

	if (like == LIKE_PATH || !options->called)
		return like;
	other = likeness_of(name, options->called);
	return other > like ? other : like;
}

static bool claims_compare_names(const struct claims *claims, const struct patch_options *options,
                                 struct buf *note, struct err *err)
{
	struct span names[2] = { claims->new_name, claims->old_name }, odd = span_of("", 0);
	enum likeness best = LIKE_NONE;
	bool any = false;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		enum likeness like;

		if (!names_file(names[i]))
			continue;
		any = true;
		like = likeness_of_either(names[i], options);
		best = like > best ? like : best;
		if (like != LIKE_PATH && !odd.len)
			odd = names[i];
	}
	if (!any || !odd.len)
		return true;
	if (best == LIKE_NONE)
		return err_set(err, ERR_INVALID_DIFF,
		               "Invalid Diff: the diff is for %.*s, but the call names %s. Nothing "
		               "was written. Name the file that is meant in both.",
		               name_shown_len(odd), odd.data, options->path);
	buf_printf(note, "The diff names %.*s; only %s was changed.", name_shown_len(odd), odd.data,
	           options->path);
	return true;
}

bool claims_compare(const struct claims *claims, const struct patch_options *options,
                    char *note, size_t note_size, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(note_size - 1);
	bool executable = claims->mode.len && (claims->mode.data[3] & 1);

	if (options->path && !claims_compare_names(claims, options, &text, err))
		return false;
	if (options->path && options->exists && !text.len &&
	    (claims->creates || span_eq(claims->old_name, SPAN("/dev/null"))))
		buf_str(&text, "The diff calls the file new, but it existed and was changed.");
	if (options->path && claims->mode.len &&
	    (executable != options->executable || claims->files > 1))
		buf_printf(&text, "%sNot done: the diff also sets the mode %.*s. Use chmod.",
		           text.len ? " " : "", (int)claims->mode.len, claims->mode.data);
	snprintf(note, note_size, "%.*s", (int)text.len, text.len ? text.data : "");
	return true;
}
