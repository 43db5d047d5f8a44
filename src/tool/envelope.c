/* SPDX-License-Identifier: Apache-2.0 */
/* "*** Begin Patch": an envelope taken apart into changes of files. */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "tool/spelling.h"

static const struct {
	struct span head;
	const char *kind;
} sections[] = {
	{ { "*** Add File:", 13 }, "write" },
	{ { "*** Delete File:", 16 }, "delete" },
	{ { "*** Update File:", 16 }, "patch" },
};
static const struct span move_head = { "*** Move to:", 12 };
static const struct span begin_line = { "*** Begin Patch", 15 };
static const struct span end_line = { "*** End Patch", 13 };

struct envelope {
	struct lines lines;
	size_t at;             /* the next line */
	struct span folder;
	json_t *changes;       /* owned */
	json_t *named;         /* owned; paths that an earlier change is about: a set */
	struct buf *problems;
	bool failed;
};

static struct span envelope_line(const struct envelope *envelope)
{
	return span_trim(lines_at(&envelope->lines, envelope->at));
}

static bool more(const struct envelope *envelope)
{
	return !envelope->failed && envelope->at < envelope->lines.count;
}

static void fail(struct envelope *envelope, const char *why)
{
	const bool there = envelope->at < envelope->lines.count;
	const struct span line = there ? utf8_head(envelope_line(envelope), 80) : span_of("", 0);

	envelope->failed = true;
	buf_printf(envelope->problems, "%sline %zu of the patch%s%.*s%s: %s",
	           envelope->problems->len ? "; " : "", envelope->at + 1, there ? " (\"" : "",
	           (int)line.len, line.len ? line.data : "", there ? "\")" : "", why);
}

/* The section that a line opens; ARRAY_LEN: none. */
static size_t section_of(struct span line)
{
	size_t i = 0;

	while (i < ARRAY_LEN(sections) && !span_starts(line, sections[i].head))
		i++;
	return i;
}

/* Whether a line at the left edge is the envelope's, and no section's: hunks indent theirs. */
static bool opens_anything(struct span line)
{
	return section_of(line) < ARRAY_LEN(sections) || span_eq(span_trim(line), begin_line) ||
	       span_eq(span_trim(line), end_line);
}

static json_t *envelope_path(struct envelope *envelope, struct span name)
{
	_cleanup_buf_ struct buf path = BUF_INIT(LIMIT_MODEL_REQUEST_BYTES);

	name = span_trim(name);
	if (!name.len)
		fail(envelope, "it names no file");
	if (envelope->folder.len && name.len && name.data[0] != '/') {
		buf_span(&path, envelope->folder);
		if (envelope->folder.data[envelope->folder.len - 1] != '/')
			buf_char(&path, '/');
	}
	buf_span(&path, name);
	return json_text(buf_view(&path));
}

/* Of several changes of one file only the first has to name its state; what is added may be there
 * already, and is overwritten then as by any write. */
static void envelope_add(struct envelope *envelope, json_t *change)
{
	const char *path = json_string_value(json_object_get(change, "file_path"));
	const bool named = json_object_get(envelope->named, path) != NULL;

	if (!named)
		json_object_set_new(change, "base_content_sha256", json_string(BASE_SEEN));
	json_object_set_new(envelope->named, path, json_true());
	json_array_append_new(envelope->changes, change);
}

static void read_added(struct envelope *envelope, json_t *path)
{
	_cleanup_buf_ struct buf content = BUF_INIT(LIMIT_MODEL_REQUEST_BYTES);

	while (more(envelope)) {
		struct span line = line_body(lines_at(&envelope->lines, envelope->at));

		if (opens_anything(line))
			break;
		if (line.len && line.data[0] != '+') {
			fail(envelope, "each line of a new file begins with +");
			break;
		}
		buf_span(&content, line.len ? span_skip(line, 1) : line);
		buf_char(&content, '\n');
		envelope->at++;
	}
	envelope_add(envelope,
	             json_pack("{s:s, s:o, s:o}", "kind", "write", "file_path", path, "content",
	                     json_text(buf_view(&content))));
}

static bool has_hunk(const struct envelope *envelope, size_t from)
{
	for (size_t i = from; i < envelope->at; i++)
		if (span_trim(lines_at(&envelope->lines, i)).len)
			return true;
	return false;
}

/* The text of an update goes to the engine as it is, in an envelope. */
static json_t *section_text(const struct envelope *envelope, const json_t *path, size_t from)
{
	_cleanup_buf_ struct buf text = BUF_INIT(2 * (size_t)LIMIT_MODEL_REQUEST_BYTES);
	struct span body = lines_range(&envelope->lines, from, envelope->at);

	buf_printf(&text, "*** Begin Patch\n*** Update File: %s\n", json_string_value(path));
	buf_span(&text, body);
	if (body.len && body.data[body.len - 1] != '\n')
		buf_char(&text, '\n');
	buf_str(&text, "*** End Patch\n");
	return json_text(buf_view(&text));
}

static void read_updated(struct envelope *envelope, json_t *path)
{
	json_auto_t *to = NULL;
	size_t from;

	if (more(envelope) && span_starts(envelope_line(envelope), move_head)) {
		to = envelope_path(envelope, span_skip(envelope_line(envelope), move_head.len));
		envelope->at++;
	}
	from = envelope->at;
	while (more(envelope) && !opens_anything(lines_at(&envelope->lines, envelope->at)))
		envelope->at++;
	if (has_hunk(envelope, from))
		envelope_add(envelope,
		             json_pack("{s:s, s:O, s:o}", "kind", "patch", "file_path", path,
		                     "unified_diff", section_text(envelope, path, from)));
	else if (!to)
		fail(envelope, "the section before it changes nothing");
	if (to)
		envelope_add(envelope,
		             json_pack("{s:s, s:O, s:O}", "kind", "move", "file_path", path,
		                     "new_path", to));
	json_decref(path);
}

static void read_section_of_file(struct envelope *envelope)
{
	struct span line = envelope_line(envelope);
	const size_t which = section_of(line);
	json_t *path;

	if (which == ARRAY_LEN(sections)) {
		fail(envelope, "expected *** Add File:, *** Delete File: or *** Update File:");
		return;
	}
	path = envelope_path(envelope, span_skip(line, sections[which].head.len));
	if (envelope->failed) {
		json_decref(path);
		return;
	}
	envelope->at++;
	if (which == 0)
		read_added(envelope, path);
	else if (which == 2)
		read_updated(envelope, path);
	else
		envelope_add(envelope,
		             json_pack("{s:s, s:o}", "kind", "delete", "file_path", path));
}

/* Where the first envelope begins: after its first line; at the first section, if that line is
 * missing. */
static void find_beginning(struct envelope *envelope)
{
	for (size_t i = 0; i < envelope->lines.count; i++) {
		struct span line = span_trim(lines_at(&envelope->lines, i));

		if (span_eq(line, begin_line) || section_of(line) < ARRAY_LEN(sections)) {
			envelope->at = i + span_eq(line, begin_line);
			return;
		}
	}
	envelope->at = envelope->lines.count;
}

/* What may stand around an envelope: blank lines, the end of a fence or of a here-document. */
static bool is_around(struct span line)
{
	static const char *const around[] = { "", "```", "EOF", "PATCH", "\"\"\"", "'''" };

	for (size_t i = 0; i < ARRAY_LEN(around); i++)
		if (span_eq(line, span_str(around[i])))
			return true;
	return false;
}

static void read_envelopes(struct envelope *envelope)
{
	bool inside = true;

	find_beginning(envelope);
	if (!more(envelope))
		fail(envelope, "the text has no *** Begin Patch");
	while (more(envelope)) {
		struct span line = envelope_line(envelope);

		if (span_eq(line, end_line) || span_eq(line, begin_line)) {
			inside = span_eq(line, begin_line);
			envelope->at++;
		} else if (!line.len || (!inside && is_around(line))) {
			envelope->at++;
		} else if (!inside) {
			fail(envelope, "text after *** End Patch");
		} else {
			read_section_of_file(envelope);
		}
	}
	if (!envelope->failed && !json_array_size(envelope->changes))
		fail(envelope, "the patch names no file");
}

json_t *envelope_changes(struct span text, struct span folder, struct buf *problems)
{
	struct envelope envelope = { .folder = folder, .changes = json_array(),
		                     .named = json_object(), .problems = problems };

	lines_index(&envelope.lines, text);
	read_envelopes(&envelope);
	lines_release(&envelope.lines);
	json_decref(envelope.named);
	if (!envelope.failed)
		return envelope.changes;
	json_decref(envelope.changes);
	return NULL;
}

bool envelope_is(struct span text)
{
	struct span line;

	while (line_next(&text, &line)) {
		line = span_trim(line);
		if (span_eq(line, begin_line) || section_of(line) < ARRAY_LEN(sections))
			return true;
		if (line.len && !span_starts(line, SPAN("```")) && !span_starts(line, SPAN("<<")))
			return false;
	}
	return false;
}

/* ---- in a command ------------------------------------------------------------ */

static bool take_literal(struct span *rest, const char *word)
{
	struct span head = span_str(word);

	if (!span_starts(*rest, head))
		return false;
	*rest = span_skip(*rest, head.len);
	return true;
}

static void skip_tabs_and_spaces(struct span *rest)
{
	while (rest->len && (rest->data[0] == ' ' || rest->data[0] == '\t'))
		*rest = span_skip(*rest, 1);
}

/* A word without anything that a shell would expand, perhaps in quotes. */
static bool take_plain_word(struct span *rest, struct span *ret)
{
	static const char special[] = " \t\n\"'\\$`&|;<>()*?[]{}~#!";
	const char quote = rest->len ? rest->data[0] : '\0';
	size_t len = 0;

	if (quote == '\'' || quote == '"') {
		*rest = span_skip(*rest, 1);
		while (len < rest->len && rest->data[len] != quote &&
		       !(quote == '"' && strchr("$`\\", rest->data[len])))
			len++;
		*ret = span_head(*rest, len);
		*rest = span_skip(*rest, len);
		return len && take_literal(rest, quote == '"' ? "\"" : "'");
	}
	while (len < rest->len && !strchr(special, rest->data[len]))
		len++;
	*ret = span_head(*rest, len);
	*rest = span_skip(*rest, len);
	return len > 0;
}

/* Whether a shell hands a here-document on as it is: `stripped` after "<<-", which takes tabs away,
 * `quoted` with quotes around its word, without which it expands. */
static bool is_handed_on(struct span text, bool stripped, bool quoted)
{
	for (size_t i = 0; i < text.len; i++)
		if ((!quoted && strchr("$`\\", text.data[i]) && text.data[i]) ||
		    (stripped && text.data[i] == '\t' && (!i || text.data[i - 1] == '\n')))
			return false;
	return true;
}

/* "<<'EOF'\n" text "EOF": nothing may follow. */
static bool take_here_document(struct span rest, struct span *ret, const char **ret_why)
{
	struct span word, line, all;
	bool stripped, quoted;

	if (!take_literal(&rest, "<<"))
		return false;
	stripped = take_literal(&rest, "-");
	skip_tabs_and_spaces(&rest);
	quoted = rest.len && (rest.data[0] == '\'' || rest.data[0] == '"');
	if (!take_plain_word(&rest, &word))
		return false;
	skip_tabs_and_spaces(&rest);
	if (!take_literal(&rest, "\n") && !take_literal(&rest, "\r\n"))
		return false;
	all = rest;
	while (line_next(&rest, &line)) {
		const bool last = !span_trim(rest).len;

		if (!span_eq(line_body(line), word) && !(last && span_eq(span_trim(line), word)))
			continue;
		*ret = span_head(all, (size_t)(line.data - all.data));
		if (last && !is_handed_on(*ret, stripped, quoted))
			*ret_why = "a shell would change the patch in this here-document, for its "
			           "word has no quotes, or it begins with <<-: begin it with "
			           "<<'EOF'";
		return last;
	}
	return false;
}

/* Whether a line of commands has one that applies a patch. */
static bool has_patch_command(struct span line)
{
	static const char *const names[] = { "apply_patch", "applypatch" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const size_t len = strlen(names[i]);
		const char *at = line.data;

		while ((at = memmem(at, line.len - (size_t)(at - line.data), names[i], len))) {
			const size_t begin = (size_t)(at - line.data), end = begin + len;
			const struct span before = span_trim(span_head(line, begin));

			if ((!before.len || strchr(";&|(", before.data[before.len - 1])) &&
			    end < line.len && strchr(" \t<", line.data[end]))
				return true;
			at += len;
		}
	}
	return false;
}

bool envelope_among_commands(struct span command)
{
	struct span rest = span_trim(command), line;

	return line_next(&rest, &line) && has_patch_command(line_body(line)) &&
	       memmem(command.data, command.len, begin_line.data, begin_line.len);
}

bool envelope_in_command(struct span command, struct span *ret_text, struct span *ret_folder,
                         const char **ret_why)
{
	struct span rest = span_trim(command), folder = { "", 0 };

	*ret_why = NULL;
	if (take_literal(&rest, "cd ")) {
		skip_tabs_and_spaces(&rest);
		/* "cd -" and its like are no folders. */
		if (!take_plain_word(&rest, &folder) || folder.data[0] == '-')
			return false;
		skip_tabs_and_spaces(&rest);
		if (!take_literal(&rest, "&&"))
			return false;
		skip_tabs_and_spaces(&rest);
	}
	if (!take_literal(&rest, "apply_patch") && !take_literal(&rest, "applypatch"))
		return false;
	skip_tabs_and_spaces(&rest);
	if (take_here_document(rest, ret_text, ret_why)) {
		*ret_folder = folder;
		return envelope_is(*ret_text);
	}
	/* One argument in single quotes, in which nothing means more than itself. */
	if (!take_literal(&rest, "'") || !rest.len || rest.data[rest.len - 1] != '\'' ||
	    memchr(rest.data, '\'', rest.len - 1))
		return false;
	*ret_text = span_head(rest, rest.len - 1);
	*ret_folder = folder;
	return envelope_is(*ret_text);
}
