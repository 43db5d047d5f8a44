/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/context/mask.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "agent/context/cut.h"
#include "agent/context/file_states.h"
#include "agent/context/weight.h"
#include "agent/private.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "model/content.h"

enum {
	TOKEN_BYTES = 4,
	MASK_MIN = 2000,     /* a result of less stays */
	MEMBER_MAX = 500,    /* of a masked result: longer members go */
	MEMBER_HEAD = 200,
	NAME_MAX_BYTES = 100, /* of a file, of each of its two parts */
};

/* ---- files ------------------------------------------------------------------------- */

static void plain_name(struct buf *out, const char *text)
{
	size_t begin = out->len;

	for (; *text && out->len - begin < NAME_MAX_BYTES; text++) {
		bool plain = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') ||
		             (*text >= '0' && *text <= '9') || *text == '-' || *text == '_';

		buf_char(out, plain ? *text : '_');
	}
}

/* A file of that name is this result's: ids are unique in a session, and so is the folder. */
static bool save(const char *path, struct span text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	bool ok;

	if (fd < 0)
		return errno == EEXIST;
	ok = fd_write_all(fd, text.data, text.len);
	ok = close(fd) == 0 && ok;
	if (!ok)
		unlink(path);
	return ok;
}

/* Returns the path, for the caller; NULL when there is no such file. */
static char *save_output(const struct mask_options *options, const char *name, const char *call_id,
                         const char *suffix, struct span text)
{
	_cleanup_buf_ struct buf path = BUF_INIT(LIMIT_PATH_BYTES);
	struct err ignored = ERR_INIT;

	if (!options->folder)
		return NULL;
	buf_printf(&path, "%s/", options->folder);
	plain_name(&path, name);
	buf_char(&path, '_');
	plain_name(&path, call_id);
	buf_str(&path, suffix);
	if (path.overflowed || !file_make_folders(options->folder, &ignored) || !save(path.data, text))
		return NULL;
	return buf_steal(&path);
}

/* ---- truncation -------------------------------------------------------------------- */

static json_t *shortened(const struct mask_options *options, const struct cut *cut,
                         const char *path)
{
	_cleanup_buf_ struct buf out = BUF_INIT(options->truncate_chars + 2 * LIMIT_PATH_BYTES);
	size_t head = options->truncate_chars / 5;
	_cleanup_free_ char *place = NULL;

	if (path)
		place = mem_printf("%s %s", cut->gone ? "what the tool gave of them is in" :
		                                        "the whole output is in", path);
	else
		place = mem_strdup("they are not kept");
	cut_write(cut, head, options->truncate_chars - head, span_str(place), &out);
	return json_text(buf_view(&out));
}

struct truncation {
	const struct mask_options *options;
	const char *name, *call_id;
	unsigned cut;
};

/* The text in its short form, or NULL when it stays. `truncated`: its tool has left out something. */
static json_t *short_form(struct truncation *truncation, const json_t *value, bool truncated)
{
	struct span text = json_span(value);
	_cleanup_free_ char *path = NULL, *suffix = NULL;
	struct cut cut;

	if (text.len <= truncation->options->truncate_chars)
		return NULL;
	cut = truncated ? cut_of(text) : cut_whole(text);
	if (!cut_is_longer(&cut, truncation->options->truncate_chars))
		return NULL;
	suffix = truncation->cut ? mem_printf("_%u.txt", truncation->cut) : mem_strdup(".txt");
	path = save_output(truncation->options, truncation->name, truncation->call_id, suffix, text);
	truncation->cut++;
	return shortened(truncation->options, &cut, path);
}

static void truncate_members(struct truncation *truncation, json_t *object)
{
	const bool truncated = json_is_true(json_object_get(object, "truncated"));
	const char *name;
	json_t *value, *shorter;
	void *next;

	json_object_foreach_safe(object, next, name, value) {
		shorter = short_form(truncation, value, truncated);
		if (shorter)
			json_object_set_new(object, name, shorter);
	}
}

bool output_truncate(const struct mask_options *options, const struct tool *tool,
                     const char *name, const char *call_id, json_t *result)
{
	struct truncation truncation = { options, name, call_id, 0 };
	const char *member;
	json_t *list, *element;
	size_t i;

	/* Files have limits of their own. */
	if (!options->truncate_chars || file_states_have(tool) || !json_is_object(result))
		return false;
	truncate_members(&truncation, result);
	json_object_foreach(result, member, list) /* blocks of text, as MCP servers send them */
		if (json_is_array(list))
			json_array_foreach(list, i, element)
				if (json_is_object(element))
					truncate_members(&truncation, element);
	return truncation.cut > 0;
}

/* ---- masking ----------------------------------------------------------------------- */

/* What a person or a plan said is short and stays. */
static bool stays(const json_t *answer)
{
	const json_t *response = json_object_get(answer, "response");
	const char *name = json_string_value(json_object_get(answer, "name"));
	const struct tool *tool = name ? tool_find(name) : NULL;

	if (json_object_get(response, "masked") || json_weight(response) < MASK_MIN)
		return true;
	return tool && (tool->kind == TOOL_KIND_THINK || tool->kind == TOOL_KIND_PLAN ||
	                tool->kind == TOOL_KIND_COMMUNICATE);
}

static void keep_small(json_t *kept, const char *name, json_t *value)
{
	struct span text = json_span(value);

	/* Instructions hold on, whatever becomes of the result that they came with. */
	if (json_weight(value) <= MEMBER_MAX || !strcmp(name, FOUND_CONTEXT))
		json_object_set(kept, name, value);
	else if (text.len)
		json_object_set_new(kept, name, json_text(utf8_head(text, MEMBER_HEAD)));
	else if (!strcmp(name, "latest_file_state")) {
		json_t *state = json_copy(value);

		json_object_set_new(state, "content", json_null());
		json_object_set_new(kept, name, state);
	}
}

static json_t *masked_response(const json_t *response, const char *path)
{
	json_t *kept = json_object();
	_cleanup_free_ char *note = mem_printf(
		"This result was long and is old. Longer parts of it are cut or left out here; the "
		"whole is in %s. Call the tool again for what is so now.", path);
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)response, name, value)
		keep_small(kept, name, value);
	json_object_set_new(kept, "masked", json_string(note));
	return kept;
}

static bool mask_one(const struct mask_options *options, json_t *history, size_t message_index,
                     size_t part_index)
{
	json_t *message = json_array_get(history, message_index);
	json_t *part = json_array_get(json_object_get(message, "parts"), part_index);
	const json_t *answer = part_get_response(part);
	const json_t *response = json_object_get(answer, "response");
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	_cleanup_free_ char *path = NULL;
	json_t *parts, *new_answer;

	if (!json_print(&text, response, 1))
		return false;
	path = save_output(options, json_string_value(json_object_get(answer, "name")),
	                   json_string_value(json_object_get(answer, "id")), ".json", buf_view(&text));
	if (!path)
		return false;
	new_answer = json_copy((json_t *)answer);
	json_object_set_new(new_answer, "response", masked_response(response, path));
	json_object_del(new_answer, "parts"); /* media: they are not kept */
	part = json_copy(part);
	json_object_set_new(part, "functionResponse", new_answer);
	message = json_copy(message);
	parts = json_copy(json_object_get(message, "parts"));
	json_array_set_new(parts, part_index, part);
	json_object_set_new(message, "parts", parts);
	json_array_set_new(history, message_index, message);
	return true;
}

struct old_result {
	size_t message, part;
};

struct old_results {
	struct old_result *items; /* owned; the newest first */
	size_t count, cap;
	size_t bytes;
};

static bool last_turn_begins(const json_t *history, size_t index)
{
	return index > 0 && !content_is_user(json_array_get(history, index - 1)) &&
	       index + 1 >= json_array_size(history);
}

/* Those older than the protected ones. */
static void find_prunable(const struct mask_options *options, const json_t *history,
                          struct old_results *places)
{
	size_t protect = options->protect_tokens * TOKEN_BYTES, newer = 0;

	for (size_t m = json_array_size(history); m-- > 0;) {
		const json_t *parts = json_object_get(json_array_get(history, m), "parts");
		bool latest = options->protect_latest && last_turn_begins(history, m);

		for (size_t p = json_array_size(parts); p-- > 0;) {
			const json_t *answer = part_get_response(json_array_get(parts, p));
			size_t bytes = json_weight(answer);
			bool old = newer >= protect;

			newer += bytes;
			if (!answer || latest || !old || stays(answer) ||
			    !json_is_string(json_object_get(answer, "name")) ||
			    !json_is_string(json_object_get(answer, "id")))
				continue;
			places->items = mem_grow(places->items, &places->cap, places->count + 1,
			                         sizeof(*places->items));
			places->items[places->count++] = (struct old_result){ m, p };
			places->bytes += bytes;
		}
	}
}

size_t mask_outputs(const struct mask_options *options, json_t *history)
{
	struct old_results places = { 0 };
	size_t masked = 0;

	if (options->folder)
		find_prunable(options, history, &places);
	if (places.bytes / TOKEN_BYTES >= options->min_tokens)
		for (size_t i = 0; i < places.count; i++)
			if (mask_one(options, history, places.items[i].message,
			             places.items[i].part))
				masked++;
	free(places.items);
	return masked;
}
