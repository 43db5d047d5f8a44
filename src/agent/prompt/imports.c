/* SPDX-License-Identifier: Apache-2.0 */
/* What files of instructions import. */
#include "agent/prompt/prompt.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "data/json.h"

/* The files on the way to the one that is being read. */
struct import {
	const struct import *parent;
	const struct source *source;
	const char *path;
	unsigned depth;
};

struct importing {
	struct buf *out;
	json_t *seen; /* paths of what was imported: its members */
	unsigned count; /* of imports in all */
};

enum { IMPORTS_MAX = 500 };

static void resolve_text(struct importing *importing, const struct import *at, struct span text);

static bool is_on_the_way(const struct import *at, const char *path)
{
	for (; at; at = at->parent)
		if (strcmp(at->path, path) == 0)
			return true;
	return false;
}

/* Names come from files: they must not end the comment they stand in. */
static void put_comment(struct buf *out, const char *what, struct span name, const char *why)
{
	buf_printf(out, "<!-- %s: ", what);
	for (size_t i = 0; i < name.len; i++)
		buf_char(out, name.data[i] == '>' ||
		         (name.data[i] == '-' && i && name.data[i - 1] == '-') ?
		                      '_' : name.data[i]);
	buf_printf(out, "%s%s -->", *why ? " - " : "", why);
}

/* A word that could mean something else is left unchanged if no such file exists. */
static bool is_surely_a_path(struct span name)
{
	return strchr("./~", name.data[0]) || span_ends(name, SPAN(".md")) ||
	       span_ends(name, SPAN(".txt"));
}

static void put_import_failure(struct importing *importing, struct span name, const char *why)
{
	if (is_surely_a_path(name)) {
		put_comment(importing->out, "Import failed", name, why);
	} else {
		buf_char(importing->out, '@');
		buf_span(importing->out, name);
	}
}

/* What ~/... names: a text of the user's for models, in the folder that the source has for it; a
 * project's file can name nothing else of the user's. */
static bool is_users_text(const struct source *users, const char *path)
{
	const size_t len = strlen(path);

	return users && path_is_under(path, users->root) && len > 3 &&
	       strcmp(path + len - 3, ".md") == 0;
}

/* Where the name leads; the caller frees *ret. */
static const struct source *import_source(const struct import *from, const char *word, char **ret)
{
	const struct source *source = from->source;
	_cleanup_free_ char *folder = path_folder(from->path);

	if (strncmp(word, "~/", 2) != 0 || !source->home) {
		*ret = path_join(folder, word);
		return source;
	}
	*ret = path_join(source->home, word + 2);
	return is_users_text(source->users, *ret) ? source->users : source;
}

static void put_import(struct importing *importing, const struct import *from, struct span name)
{
	_cleanup_free_ char *word = mem_dup(name.data, name.len), *path = NULL;
	const struct source *source = import_source(from, word, &path);
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MEMORY_FILE_BYTES);
	struct import at = { from, source, path, from->depth + 1 };
	struct err err = ERR_INIT;

	if (is_on_the_way(from, path)) {
		put_comment(importing->out, "Import failed", name, "it leads back to itself");
		return;
	}
	if (json_object_get(from->source->said, path) || json_object_get(importing->seen, path)) {
		put_comment(importing->out, "Import", name, "its text is above");
		return;
	}
	if (at.depth > IMPORT_DEPTH_MAX || ++importing->count > IMPORTS_MAX) {
		put_comment(importing->out, "Import failed", name, "too many imports");
		return;
	}
	if (!source_read(source, path, &text, &err)) {
		put_import_failure(importing, name,
		                   err.code == ERR_FILE_NOT_FOUND    ? "there is no such file" :
		                   err.code == ERR_OUTSIDE_WORKSPACE ?
		                   "it is outside of the project" :
		                                                "it cannot be read");
		return;
	}
	json_object_set_new_nocheck(importing->seen, path, json_true());
	put_comment(importing->out, "Imported from", name, "");
	buf_char(importing->out, '\n');
	resolve_text(importing, &at, buf_view(&text));
	buf_char(importing->out, '\n');
	put_comment(importing->out, "End of import from", name, "");
}

/* The length of the name after an @ at `line`[i]; 0: this is no import. */
static size_t name_length(struct span line, size_t i)
{
	size_t end = i + 1;
	unsigned char first;

	if (i && !isspace((unsigned char)line.data[i - 1]))
		return 0;
	if (end >= line.len)
		return 0;
	first = (unsigned char)line.data[end];
	if (!strchr("./~", first) && !isalpha(first))
		return 0;
	while (end < line.len && !isspace((unsigned char)line.data[end]) && line.data[end])
		end++;
	/* A sentence's own dot or comma is not the file's. */
	while (end > i + 1 && strchr(".,;:!?", line.data[end - 1]))
		end--;
	return end - i - 1;
}

static void resolve_line(struct importing *importing, const struct import *at, struct span line)
{
	bool code = false;

	for (size_t i = 0; i < line.len; i++) {
		size_t len;

		if (line.data[i] == '`')
			code = !code;
		len = !code && line.data[i] == '@' ? name_length(line, i) : 0;
		if (len) {
			put_import(importing, at, span_of(line.data + i + 1, len));
			i += len;
		} else {
			buf_char(importing->out, line.data[i]);
		}
	}
}

static bool is_fence(struct span line)
{
	while (line.len && (line.data[0] == ' ' || line.data[0] == '\t'))
		line = span_of(line.data + 1, line.len - 1);
	return span_starts(line, SPAN("```")) || span_starts(line, SPAN("~~~"));
}

static void resolve_text(struct importing *importing, const struct import *at, struct span text)
{
	struct span line;
	bool fenced = false;

	while (line_next(&text, &line)) {
		bool fence = is_fence(line);

		if (fenced || fence)
			buf_span(importing->out, line);
		else
			resolve_line(importing, at, line);
		fenced ^= fence;
	}
}

void imports_resolve(const struct source *source, const char *path, struct span text,
                     struct buf *out)
{
	json_auto_t *seen = json_object();
	struct importing importing = { .out = out, .seen = seen };
	struct import at = { .source = source, .path = path };

	resolve_text(&importing, &at, text);
}
