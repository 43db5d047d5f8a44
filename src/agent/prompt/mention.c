/* SPDX-License-Identifier: Apache-2.0 */
/* What @ names in a prompt, and the message that the prompt becomes. */
#include "agent/prompt/prompt.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "data/warnings.h"
#include "model/content.h"
#include "tool/answer.h"

/* ---- mentions ---------------------------------------------------------------- */

static bool ends_path(struct span prompt, size_t at)
{
	char c = prompt.data[at];
	char next = at + 1 < prompt.len ? prompt.data[at + 1] : ' ';

	if (isspace((unsigned char)c) || strchr(",;!?()[]{}", c))
		return true;
	return c == '.' && isspace((unsigned char)next);
}

static bool may_precede(struct span prompt, size_t at)
{
	unsigned char c;

	if (at == 0)
		return true;
	c = (unsigned char)prompt.data[at - 1];
	return !isalnum(c) && c != '_' && c < 0x80;
}

/* Reads what follows an @ into `path`; returns its length. */
static size_t read_plain_path(struct span text, struct buf *path)
{
	size_t i = 0;

	while (i < text.len && text.data[i] && !ends_path(text, i)) {
		if (text.data[i] == '\\' && i + 1 < text.len && text.data[i + 1])
			i++;
		buf_char(path, text.data[i++]);
	}
	return i;
}

/* Likewise of "..."; 0: the quotes are not closed on this line. */
static size_t read_quoted_path(struct span text, struct buf *path)
{
	for (size_t i = 1; i < text.len && text.data[i] && text.data[i] != '\n'; i++) {
		if (text.data[i] == '"')
			return i + 1;
		if (text.data[i] == '\\' && i + 1 < text.len && text.data[i + 1])
			i++;
		buf_char(path, text.data[i]);
	}
	return 0;
}

/* Reads what stands at an @; the length of it, with the @. Without a path there is ret->path
 * NULL: nothing, or more than a path can be. That is passed over as one: it would be read again
 * from each @ in it. */
static size_t read_mention(struct span prompt, size_t at, struct mention *ret)
{
	_cleanup_buf_ struct buf path = BUF_INIT(LIMIT_PATH_BYTES);
	struct span rest = span_of(prompt.data + at + 1, prompt.len - at - 1);
	bool quoted = rest.len && rest.data[0] == '"';
	size_t len = quoted ? read_quoted_path(rest, &path) : read_plain_path(rest, &path);

	*ret = (struct mention){ .offset = at, .length = len + 1, .quoted = quoted };
	if (len && path.len && !path.overflowed)
		ret->path = mem_dup(path.data, path.len);
	return ret->length;
}

size_t mentions_find(struct span prompt, struct mention **ret)
{
	size_t count = 0, cap = 0;
	struct mention one;

	*ret = NULL;
	for (size_t i = 0; i < prompt.len && count < LIMIT_MENTIONS; i++) {
		if (prompt.data[i] == '\\') {
			i++;
			continue;
		}
		if (prompt.data[i] != '@' || !may_precede(prompt, i))
			continue;
		i += read_mention(prompt, i, &one) - 1;
		if (!one.path)
			continue;
		*ret = mem_grow(*ret, &cap, count + 1, sizeof(**ret));
		(*ret)[count++] = one;
	}
	return count;
}

void mentions_free(struct mention *mentions, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(mentions[i].path);
	free(mentions);
}

void mention_put_path(struct buf *out, struct span path)
{
	for (size_t i = 0; i < path.len; i++) {
		const char c = path.data[i];

		if (strchr(" ,;!?()[]{}\\\"@", c) || (c == '.' && i + 1 == path.len))
			buf_char(out, '\\');
		buf_char(out, c);
	}
}

/* ---- the message ------------------------------------------------------------- */

/* The message that a prompt with mentions becomes. */

struct building {
	struct session *session;
	bool search;
	const struct mention_others *others; /* or NULL */
	json_t *content;  /* the message */
	json_t *notices;
	bool has_heading;       /* the heading of the files is there */
};

static void message_add_text(struct building *building, const char *text)
{
	content_add(building->content, part_text(span_str(text)));
}

static void mention_notice(struct building *building, const struct mention *mention,
                           const char *why)
{
	_cleanup_free_ char *text = mem_printf("@%s: %s", mention->path, why);

	warnings_add(building->notices, json_text(span_str(text)));
}

static void begin_file(struct building *building, const char *path)
{
	_cleanup_free_ char *heading =
		mem_printf("%sContent from @%s:\n",
	                   building->has_heading ? "\n" :
	                                           "\n--- Content from referenced files ---\n",
	                   path);

	building->has_heading = true;
	message_add_text(building, heading);
}

/* What was made of a file is read as text: its facts as JSON on a line, the outline a line each,
 * then the text itself. */
static bool print_derived(struct buf *out, const json_t *file)
{
	json_auto_t *facts = json_copy((json_t *)file);
	const json_t *outline = json_object_get(file, "outline"), *line;
	const struct span content = json_span(json_object_get(file, "content"));
	size_t i;

	json_object_del(facts, "content");
	json_object_del(facts, "outline");
	if (!json_print(out, facts, 0))
		return false;
	buf_str(out, outline ? "\n\nOutline:\n" : "");
	json_array_foreach(outline, i, line) {
		buf_span(out, json_span(line));
		buf_char(out, '\n');
	}
	buf_str(out, outline ? "\nText:\n" : "\n\n");
	return buf_span(out, content);
}

static bool print_file(struct buf *out, const json_t *file)
{
	return json_is_object(json_object_get(file, "derived")) &&
	                       json_is_string(json_object_get(file, "content")) ?
	               print_derived(out, file) : json_print(out, file, 0);
}

/* A file object is sent as JSON, what was derived from one as text; the bytes of media in a
 * separate part next to it. */
static void message_add_file(struct building *building, const struct mention *mention,
                             const json_t *file)
{
	const char *path = json_string_value(json_object_get(file, "file_path"));
	const char *mime = json_string_value(json_object_get(file, "mime_type"));
	json_t *data = json_object_get(file, "data");
	const struct tool *reader = tool_find(tool_name(TOOL_READ_FILE));
	json_auto_t *brief = answer_brief(building->session, reader, NULL,
	                                  (json_t *)file);
	json_auto_t *bare = json_copy(brief), *shown = NULL;
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	size_t unseen = 0;

	json_object_del(bare, "data");
	shown = json_show_unseen(bare, &unseen);
	if (unseen) {
		json_object_set_new(shown, TOOL_UNSEEN, tool_unseen_note(unseen));
		source_notice_unseen(path ? path : mention->path, unseen, building->notices);
	}
	begin_file(building, path ? path : mention->path);
	if (!print_file(&text, shown))
		return;
	content_add(building->content, part_text(buf_view(&text)));
	if (mime && json_is_string(data))
		content_add(building->content,
		            json_pack("{s:{s:s,s:O}}", "inlineData", "mimeType", mime, "data",
		                      data));
}

/* What could not be read is said in the object itself; the user hears of it too. */
static void report_unread(struct building *building, const struct mention *mention,
                          const json_t *file)
{
	const json_t *error = json_object_get(file, "error");
	const char *message = json_string_value(json_object_get(error, "message"));

	if (error)
		mention_notice(building, mention, message ? message : "cannot be read");
}

/* One image by its name: a screenshot has more bytes than many texts together may have. */
static bool names_image(const char *path)
{
	static const char *const endings[] = { ".png", ".jpg", ".jpeg", ".gif", ".webp" };
	const size_t len = strlen(path);

	for (size_t i = 0; i < ARRAY_LEN(endings); i++)
		if (len > strlen(endings[i]) &&
		    strcasecmp(path + len - strlen(endings[i]), endings[i]) == 0)
			return !strpbrk(path, "*?[{");
	return false;
}

static json_t *read_path(const struct building *building, const char *path)
{
	/* What the user names is not held to the budget of answers. */
	struct session session = *building->session;
	json_auto_t *arguments = json_object();

	session.answer_tokens = 0;
	json_object_set_new(arguments, "paths", json_pack("[o]", json_text(span_str(path))));
	if (names_image(path))
		json_object_set_new(arguments, "max_total_bytes",
		                    json_integer((json_int_t)(2 * LIMIT_MEDIA_BYTES)));
	return tool_call(&session, tool_name(TOOL_READ_MANY_FILES), arguments);
}

/* Whether nothing has this name. */
static bool is_missing(const json_t *result)
{
	const json_t *first = json_is_array(result) ? json_array_get(result, 0) : result;
	const json_t *error = json_object_get(first, "error");
	const char *code = json_string_value(json_object_get(error, "code"));

	if (json_is_array(result) && json_array_size(result) == 0)
		return true;
	return (!json_is_array(result) || json_array_size(result) == 1) && code &&
	       strcmp(code, "file_not_found") == 0;
}

/* The first file of the workspace whose name contains this; NULL: none. The caller frees. */
static char *search_name(const struct building *building, const char *name)
{
	_cleanup_free_ char *pattern = mem_printf("**/*%s*", name);
	json_auto_t *arguments = NULL, *result = NULL;
	const json_t *first;

	if (strpbrk(name, "*?[]{}\\"))
		return NULL;
	arguments = json_pack("{s:o}", "pattern", json_text(span_str(pattern)));
	result = tool_call(building->session, tool_name(TOOL_GLOB), arguments);
	first = json_array_get(json_object_get(result, "files"), 0);
	if (json_is_object(first))
		first = json_object_get(first, "path");
	return json_is_string(first) ? mem_strdup(json_string_value(first)) : NULL;
}

/* "@alice" in a sentence is no path: nothing is said about it. */
static bool looks_like_path(const struct mention *mention)
{
	return mention->quoted || strpbrk(mention->path, "/.*");
}

static json_t *mention_resolve(struct building *building, const struct mention *mention)
{
	json_t *result = read_path(building, mention->path);
	_cleanup_free_ char *found = NULL;

	if (!is_missing(result) || !building->search)
		return result;
	found = search_name(building, mention->path);
	if (!found)
		return result;
	json_decref(result);
	return read_path(building, found);
}

/* A text, or texts and media in their order; what could not be had is said to the user too. */
static void add_other(struct building *building, const struct mention *mention,
                      const json_t *result)
{
	json_t *output = json_object_get(result, "output"), *part;
	const char *message = json_string_value(json_object_get(result, "message"));
	const json_t *note = json_object_get(result, "note");
	size_t i;

	if (note) {
		content_add(building->content, part_text(json_span(note)));
		return;
	}
	begin_file(building, mention->path);
	if (!output) {
		mention_notice(building, mention, message ? message : "cannot be read");
		message_add_text(building, message ? message : "It cannot be read.");
		return;
	}
	if (json_is_string(output))
		content_add(building->content, part_text(json_span(output)));
	json_array_foreach(output, i, part) {
		if (json_object_get(part, "data"))
			content_add(building->content,
			            json_pack("{s:{s:O,s:O}}", "inlineData", "mimeType",
			                      json_object_get(part, "mime_type"), "data",
			                      json_object_get(part, "data")));
		else
			content_add(building->content,
			            part_text(json_span(json_object_get(part, "text"))));
	}
}

/* For the user: that it was read. */
static void note_attached(struct building *building, const struct mention *mention, size_t files)
{
	_cleanup_free_ char *text = files > 1 ? mem_printf("%s (%zu files)", mention->path, files) :
	                                        mem_strdup(mention->path);

	if (building->others && building->others->attached && files)
		json_array_append_new(building->others->attached, json_text(span_str(text)));
}

static void add_mention(struct building *building, const struct mention *mention)
{
	json_auto_t *other = building->others ?
		building->others->read(building->others->data, mention->path) : NULL;
	json_auto_t *result = other ? NULL : mention_resolve(building, mention);
	const char *message = json_string_value(json_object_get(result, "message"));
	size_t i;
	json_t *file;

	if (other) {
		add_other(building, mention, other);
		return;
	}
	if (is_missing(result)) {
		if (looks_like_path(mention))
			mention_notice(building, mention, "there is no such file");
		return;
	}
	if (!json_is_array(result)) {
		mention_notice(building, mention, message ? message : "cannot be read");
		return;
	}
	json_array_foreach(result, i, file) {
		report_unread(building, mention, file);
		message_add_file(building, mention, file);
	}
	note_attached(building, mention, json_array_size(result));
}

/* \@ was written for @. */
static void add_prompt(struct building *building, struct span piped, struct span prompt)
{
	_cleanup_buf_ struct buf text = BUF_INIT(piped.len + prompt.len + 1);

	buf_append(&text, piped.data, piped.len);
	for (size_t i = 0; i < prompt.len; i++) {
		if (prompt.data[i] == '\\' && i + 1 < prompt.len && prompt.data[i + 1] == '@')
			continue;
		buf_char(&text, prompt.data[i]);
	}
	content_add(building->content, part_text(buf_view(&text)));
}

static bool is_repeated(const struct mention *mentions, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (strcmp(mentions[j].path, mentions[i].path) == 0)
			return true;
	return false;
}

json_t *mention_message(struct session *session, struct span piped, struct span prompt, bool search,
                        const struct mention_others *others, json_t *notices)
{
	struct building building = { .session = session, .search = search, .others = others,
		                     .content = content_new("user"), .notices = notices };
	struct mention *mentions;
	size_t count = mentions_find(prompt, &mentions);

	add_prompt(&building, piped, prompt);
	for (size_t i = 0; i < count; i++)
		if (!is_repeated(mentions, i))
			add_mention(&building, &mentions[i]);
	if (building.has_heading)
		message_add_text(&building, "\n--- End of content ---");
	mentions_free(mentions, count);
	return building.content;
}
