/* SPDX-License-Identifier: Apache-2.0 */
/* Records what was sent to the model, so that only changes are sent again and sent messages stay
 * unchanged. */
#include "agent/context/surroundings.h"

#include <string.h>

#include "agent/context/context.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "model/content.h"

/* ---- changes ----------------------------------------------------------------- */

enum { TREE_CHANGES_MAX = 60 };

/* The introduction of a piece that has changed or was removed. */
static const struct {
	const char *name, *now, *removed;
} kinds[] = {
	{ PIECE_CUSTOM, "The system prompt has changed; this holds now in its place:\n",
	  "The system prompt above no longer holds.\n" },
	{ PIECE_SANDBOX, "The sandbox has changed:", "There is no sandbox now.\n" },
	{ PIECE_SKILLS, "The skills have changed; these are all of them now:\n",
	  "There are no skills now.\n" },
	{ PIECE_MEMORY, "The user's instructions have changed; these hold now in their place:\n",
	  "The user's instructions above no longer hold: there are none now.\n" },
	{ PIECE_DATE, "", "" },
	{ PIECE_FOLDERS, "The folders are now:\n", "" },
	{ PIECE_TREE, "The files have changed. ", "The list of files above is out of date.\n" },
	{ PIECE_PROJECT,
	  "The project's instructions have changed; these hold now in their place:\n",
	  "The project's instructions above no longer hold: there are none now.\n" },
	{ PIECE_SERVERS,
	  "What MCP servers say about their tools has changed; this is all of it now:\n",
	  "What MCP servers said about their tools no longer holds.\n" },
	{ PIECE_MODE, "", "" },
	{ PIECE_TOOLS, "", "There are no tools to be loaded now.\n" },
};

void surroundings_add(json_t *pieces, const char *name, struct span text)
{
	json_array_append_new(pieces,
	                      json_pack("{s:s, s:o}", "name", name, "text", json_text(text)));
}

void surroundings_set(json_t *pieces, const char *name, struct span text)
{
	json_t *piece;
	size_t i;

	json_array_foreach(pieces, i, piece)
		if (span_eq(json_span(json_object_get(piece, "name")), span_str(name)))
			json_object_set_new(piece, "text", json_text(text));
}

char *surroundings_text(const json_t *pieces)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MESSAGE_BYTES);
	const json_t *piece;
	size_t i;

	json_array_foreach((json_t *)pieces, i, piece)
		buf_span(&out, json_span(json_object_get(piece, "text")));
	buf_char(&out, 0);
	return buf_steal(&out);
}

static const json_t *find_piece(const json_t *pieces, const char *name)
{
	const json_t *piece;
	size_t i;

	json_array_foreach((json_t *)pieces, i, piece)
		if (span_eq(json_span(json_object_get(piece, "name")), span_str(name)))
			return json_object_get(piece, "text");
	return NULL;
}

/* The text of the first piece of that name in `surroundings`; NULL: it has none. Borrowed. */
static const json_t *surroundings_find(const json_t *surroundings, const char *name)
{
	const json_t *text = find_piece(json_object_get(surroundings, "system"), name);

	return text ? text : find_piece(json_object_get(surroundings, "context"), name);
}

json_t *surroundings_message(const json_t *surroundings)
{
	_cleanup_free_ char *text = surroundings_text(json_object_get(surroundings, "context"));

	return content_user_text(span_str(text));
}

json_t *surroundings_pieces_of(const json_t *message)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MESSAGE_BYTES);
	json_t *pieces = json_array();

	content_text(message, &text);
	surroundings_add(pieces, PIECE_FRAME, buf_view(&text));
	return pieces;
}

json_t *surroundings_by_name(const json_t *surroundings)
{
	json_t *known = json_object();

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		const json_t *text = surroundings_find(surroundings, kinds[i].name);

		if (json_is_string(text))
			json_object_set(known, kinds[i].name, (json_t *)text);
	}
	return known;
}

json_t *surroundings_changes(const json_t *known, const json_t *surroundings)
{
	json_t *changes = json_array();

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		const json_t *now = surroundings_find(surroundings, kinds[i].name);
		struct span before = json_span(json_object_get(known, kinds[i].name));

		if (!span_eq(json_span(now), before))
			surroundings_add(changes, kinds[i].name, json_span(now));
	}
	return changes;
}

void surroundings_update(json_t *known, const json_t *changes)
{
	const json_t *piece;
	size_t i;

	json_array_foreach((json_t *)changes, i, piece) {
		const char *name = json_string_value(json_object_get(piece, "name"));

		if (name)
			json_object_set(known, name, json_object_get(piece, "text"));
	}
}

/* ---- the note ---- */

/* The lines of names (they are indented), as a set. */
static json_t *tree_names(struct span tree)
{
	json_t *names = json_object();
	struct span line;

	while (line_next(&tree, &line)) {
		line = line_body(line);
		if (span_starts(line, SPAN("  "))) {
			_cleanup_free_ char *name = mem_dup(line.data, line.len);

			json_object_set_new(names, name, json_true());
		}
	}
	return names;
}

static size_t put_missing(struct buf *out, const char *title, const json_t *names,
                          const json_t *among)
{
	const char *name;
	json_t *value;
	size_t count = 0;

	json_object_foreach((json_t *)names, name, value) {
		if (json_object_get(among, name))
			continue;
		if (!count++)
			buf_str(out, title);
		buf_printf(out, "%s\n", name);
	}
	return count;
}

static void put_tree_changes(struct buf *out, struct span before, struct span now)
{
	json_auto_t *old = tree_names(before), *new = tree_names(now);
	_cleanup_buf_ struct buf list = BUF_INIT(LIMIT_MESSAGE_BYTES);
	size_t count = put_missing(&list, "New:\n", new, old);

	count += put_missing(&list, "Gone:\n", old, new);
	buf_span(out, count <= TREE_CHANGES_MAX ? buf_view(&list) : now);
}

char *surroundings_note(const json_t *known, const json_t *changes)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MESSAGE_BYTES);

	buf_str(&out, CHANGES_NOTE);
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		const json_t *text = find_piece(changes, kinds[i].name);
		struct span now = json_span(text);

		if (!text)
			continue;
		buf_str(&out, now.len ? kinds[i].now : kinds[i].removed);
		if (now.len && strcmp(kinds[i].name, PIECE_TREE) == 0)
			put_tree_changes(&out, json_span(json_object_get(known, PIECE_TREE)), now);
		else
			buf_span(&out, now);
	}
	buf_str(&out, "</session_context>");
	buf_char(&out, 0);
	return buf_steal(&out);
}

/* ---- what was sent ----------------------------------------------------------- */

struct sent {
	bool any;
	char *system;      /* owned */
	size_t system_len;
	json_t *tools;     /* owned; or NULL */
	json_t *contents;  /* owned; an array of the messages as they were */
	size_t *weights;   /* owned; of each of them */
	size_t cap;
};

struct sent *context_sent_new(void)
{
	return mem_alloc(1, sizeof(struct sent));
}

void context_sent_forget(struct sent *sent)
{
	free(sent->system);
	json_decref(sent->tools);
	json_decref(sent->contents);
	free(sent->weights);
	*sent = (struct sent){ 0 };
}

void context_sent_free(struct sent *sent)
{
	if (!sent)
		return;
	context_sent_forget(sent);
	free(sent);
}

static bool are_equal(const json_t *a, const json_t *b)
{
	return a == b || (a && b && json_equal(a, b));
}

static size_t sent_message_weight(const struct sent *sent, const json_t *message, size_t i)
{
	return message == json_array_get(sent->contents, i) ? sent->weights[i] :
	                                                      context_weight(message);
}

/* The bytes of the parts with which both messages begin; *ret_all: all parts of `before` are in
 * `now`. */
static size_t equal_parts(const json_t *before, const json_t *now, bool *ret_all)
{
	const json_t *old = json_object_get(before, "parts"), *new = json_object_get(now, "parts");
	size_t sum = 0, i = 0;

	*ret_all = false;
	if (!are_equal(json_object_get(before, "role"), json_object_get(now, "role")))
		return 0;
	while (i < json_array_size(old) &&
	       are_equal(json_array_get(old, i), json_array_get(new, i)))
		sum += context_weight(json_array_get(old, i++));
	*ret_all = i == json_array_size(old);
	return sum;
}

/* Adds what the messages have in common; true if all of the old ones are there. */
static bool compare_messages(const struct sent *sent, const json_t *contents, size_t *equal)
{
	size_t count = json_array_size(sent->contents);

	for (size_t i = 0; i < count; i++) {
		const json_t *before = json_array_get(sent->contents, i);
		const json_t *now = json_array_get(contents, i);
		bool all;

		if (now && are_equal(before, now)) {
			*equal += sent->weights[i];
			continue;
		}
		*equal += equal_parts(before, now, &all);
		return all && i + 1 == count;
	}
	return true;
}

struct sent_share context_sent_compare(const struct sent *sent, const struct model_request *request)
{
	struct sent_share share = { .first = !sent->any };
	json_auto_t *before = model_tools_before(request->tools);
	size_t tools = context_weight(before), i;
	const json_t *message;

	share.bytes = tools + request->system.len;
	json_array_foreach((json_t *)request->contents, i, message)
		share.bytes += sent_message_weight(sent, message, i);
	if (share.first)
		return share;
	share.broken = true;
	if (!are_equal(sent->tools, before))
		return share;
	share.equal = tools;
	if (!span_eq(span_of(sent->system, sent->system_len), request->system))
		return share;
	share.equal += request->system.len;
	share.broken = !compare_messages(sent, request->contents, &share.equal);
	return share;
}

void context_sent_take(struct sent *sent, const struct model_request *request)
{
	size_t count = json_array_size(request->contents);
	struct sent next = { .any = true, .system_len = request->system.len };

	next.system = mem_dup(request->system.data, request->system.len);
	next.tools = model_tools_before(request->tools);
	next.contents = json_copy((json_t *)request->contents);
	next.weights = mem_grow(NULL, &next.cap, count + 1, sizeof(*next.weights));
	for (size_t i = 0; i < count; i++)
		next.weights[i] = sent_message_weight(sent, json_array_get(request->contents, i),
		                                      i);
	context_sent_forget(sent);
	*sent = next;
}
