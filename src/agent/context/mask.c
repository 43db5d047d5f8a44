/* SPDX-License-Identifier: Apache-2.0 */
/* What of old results is not sent again: what newer ones replace, and long ones, masked. */
#include "agent/context/context.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "agent/private.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "model/content.h"
#include "tool/tool.h"

/* ---- states of files --------------------------------------------------------- */

/* The states of files that results of tools carry: where they stand in a conversation.  Results of
 * hasp's own tools alone have them: what a server's tool answers is not believed. */
struct file_state_place {
	json_t *object; /* borrowed, from the response */
	json_t *result; /* what it is a member of, with `diff` and `success`; or the object
	                 * itself */
};

enum {
	FILE_STATES_MAX = 5000, /* of one result: apply_changes has 4,096 at most */
};

/* Whether results of the tool carry such states; by its name, or an alias. NULL: none. */
static bool file_states_have(const struct tool *tool)
{
	return tool && tool->info &&
	       (tool->info->edit || tool->info->files == TOOL_FILES_READ ||
	        tool->info->files == TOOL_FILES_GATHER);
}

static bool file_states_in(const char *tool_name)
{
	return tool_name && file_states_have(tool_find(tool_name));
}

static bool is_state(const json_t *object)
{
	return json_is_string(json_object_get(object, "file_path")) &&
	       json_is_integer(json_object_get(object, "version")) &&
	       json_object_get(object, "sha256") && json_object_get(object, "content");
}

static size_t add_file_state(json_t *result, struct file_state_place *found, size_t count,
                             size_t max)
{
	json_t *state = json_object_get(result, "latest_file_state");

	if (is_state(result) && count < max)
		found[count++] = (struct file_state_place){ result, result };
	if (is_state(state) && count < max)
		found[count++] = (struct file_state_place){ state, result };
	return count;
}

/* All of them, in a fixed order: those whose content was taken out keep their place. */
static size_t file_states_of(json_t *response, struct file_state_place *found, size_t max)
{
	static const char *const lists[] = { "changes", "output" };
	size_t count = add_file_state(response, found, 0, max), i;
	json_t *element;

	for (size_t list = 0; list < ARRAY_LEN(lists); list++)
		json_array_foreach(json_object_get(response, lists[list]), i, element)
			count = add_file_state(element, found, count, max);
	return count;
}

/* The call with this id in the model's message before its answer; borrowed, or
 * NULL. */
static const json_t *file_states_call(const json_t *message, struct span id)
{
	size_t i;
	json_t *part;

	json_array_foreach(json_object_get(message, "parts"), i, part) {
		const json_t *call = part_get_call(part);

		if (call && span_eq(json_span(json_object_get(call, "id")), id))
			return call;
	}
	return NULL;
}

static bool same_text(const json_t *a, const json_t *b)
{
	return json_is_string(a) && json_is_string(b) && span_eq(json_span(a), json_span(b));
}

/* The text that a call sends and that is `content`, word for word. */
static bool file_states_sent(const json_t *call, const json_t *content)
{
	const char *name = json_string_value(json_object_get(call, "name"));
	const struct tool_info *info = name ? tool_info_find(name) : NULL;
	const json_t *args = json_object_get(call, "args"), *edit;
	size_t i = 0;

	while ((edit = tool_edit_at(info, args, i)) &&
	       !same_text(tool_edit_content(info, edit), content))
		i++;
	return edit;
}

/* ---- what newer results replace ---------------------------------------------- */

enum {
	CONTENT_MIN = 256, /* less is not worth a note */
	HOLDERS_MAX = 100000, /* of one session; later ones stay as they are */
};

static const char note_superseded[] =
	"Superseded: a later result has a higher version of this file.";
static const char note_in_call[] = "As written: the content that the call sent.";

/* One place in a result that carries a file's content. */
struct holder {
	json_t *path;      /* owned */
	size_t message, part;
	size_t place;      /* which of the part's holders, from 0 */
	size_t bytes;      /* of the content */
	json_int_t version;
	bool whole;
	bool obsolete, removed;
	size_t by;         /* if obsolete: the message that made it so; its own when it need not
	                    * be sent */
	const char *note;
};

struct superseded {
	struct holder *holders; /* owned; in the order of the history */
	size_t count, cap;
	size_t seen;            /* messages */
	json_t *newest;         /* path: index of the newest whole content */
};

struct superseded *mask_superseded_new(void)
{
	struct superseded *superseded = mem_alloc(1, sizeof(*superseded));

	superseded->newest = json_object();
	return superseded;
}

void mask_superseded_free(struct superseded *superseded)
{
	if (!superseded)
		return;
	for (size_t i = 0; i < superseded->count; i++)
		json_decref(superseded->holders[i].path);
	free(superseded->holders);
	json_decref(superseded->newest);
	free(superseded);
}

/* ---- taking them down -------------------------------------------------------------- */

static void retire_holder(struct holder *holder, size_t by)
{
	holder->obsolete = true;
	holder->by = by;
	if (!holder->note)
		holder->note = note_superseded;
}

/* A new whole content makes the earlier ones of the file obsolete. */
static void retire_earlier(struct superseded *superseded, size_t index)
{
	struct holder *holder = &superseded->holders[index];
	const char *key = json_string_value(holder->path);
	const json_t *before = json_object_get(superseded->newest, key);
	size_t last = before ? (size_t)json_integer_value(before) : index;
	const struct holder *newest = &superseded->holders[last];

	if (newest->message == holder->message && newest->version > holder->version) {
		retire_holder(holder, holder->message);
		return;
	}
	json_object_set_new(superseded->newest, key, json_integer((json_int_t)index));
	for (size_t i = 0; i < index; i++)
		if (!superseded->holders[i].obsolete &&
		    json_equal(superseded->holders[i].path, holder->path))
			retire_holder(&superseded->holders[i], holder->message);
}

/* Whether it says what the whole file holds: here, elsewhere, or that there is none. */
static bool says_whole_file(const json_t *object)
{
	const json_t *exists = json_object_get(object, "exists");

	return (json_is_string(json_object_get(object, "content")) ||
	        json_object_get(object, "content_left_out") ||
	        (json_is_false(exists) && json_is_null(json_object_get(object, "sha256")))) &&
	       !json_is_true(json_object_get(object, "truncated"));
}

static void add_holder(struct superseded *superseded, json_t *object, size_t message, size_t part,
                       size_t place, const json_t *call)
{
	json_t *content = json_object_get(object, "content");
	struct holder holder = {
		.path = json_incref(json_object_get(object, "file_path")),
		.message = message,
		.part = part,
		.place = place,
		.bytes = json_string_length(content),
		.version = json_integer_value(json_object_get(object, "version")),
		.whole = says_whole_file(object),
	};

	superseded->holders = mem_grow(superseded->holders, &superseded->cap,
	                               superseded->count + 1, sizeof(holder));
	if (holder.bytes >= CONTENT_MIN && file_states_sent(call, content)) {
		holder.note = note_in_call;
		holder.obsolete = true;
		holder.by = message;
	}
	superseded->holders[superseded->count++] = holder;
	if (holder.whole)
		retire_earlier(superseded, superseded->count - 1);
}

static void find_holders(struct superseded *superseded, const json_t *history, size_t index)
{
	const json_t *message = json_array_get(history, index);
	const json_t *before = index ? json_array_get(history, index - 1) : NULL;
	_cleanup_free_ struct file_state_place *found = NULL;
	size_t i;
	json_t *part;

	json_array_foreach(json_object_get(message, "parts"), i, part) {
		const json_t *answer = part_get_response(part);
		size_t count;

		if (!answer || superseded->count >= HOLDERS_MAX ||
		    !file_states_in(json_string_value(json_object_get(answer, "name"))))
			continue;
		found = found ? found : mem_alloc(FILE_STATES_MAX, sizeof(*found));
		count = file_states_of(json_object_get(answer, "response"), found, FILE_STATES_MAX);
		for (size_t k = 0; k < count; k++)
			add_holder(superseded, found[k].object, index, i, k,
			           file_states_call(before,
			                            json_span(json_object_get(answer, "id"))));
	}
}

/* ---- taking them out --------------------------------------------------------------- */

/* The message with a copy of the part in place of it: others may hold the old one. */
static json_t *own_part(json_t *history, const struct holder *holder)
{
	json_t *message = json_copy(json_array_get(history, holder->message));
	json_t *parts = json_copy(json_object_get(message, "parts"));
	json_t *part = json_deep_copy(json_array_get(parts, holder->part));

	json_array_set_new(parts, holder->part, part);
	json_object_set_new(message, "parts", parts);
	json_array_set_new(history, holder->message, message);
	return part;
}

static void take_out(json_t *history, struct holder *holder)
{
	json_t *part = own_part(history, holder);
	json_t *response = json_object_get(json_object_get(part, "functionResponse"), "response");
	_cleanup_free_ struct file_state_place *found = mem_alloc(FILE_STATES_MAX, sizeof(*found));
	size_t count = file_states_of(response, found, FILE_STATES_MAX);
	json_t *object;

	holder->removed = true;
	if (holder->place >= count)
		return;
	object = found[holder->place].object;
	json_object_set_new(object, "content", json_null());
	json_object_set_new(object, "content_left_out", json_string(holder->note));
}

static size_t take_out_if_large(json_t *history, struct holder *holder)
{
	if (!holder->obsolete || holder->removed || holder->bytes < CONTENT_MIN)
		return 0;
	take_out(history, holder);
	return holder->bytes;
}

static void find_new_holders(struct superseded *superseded, const json_t *history)
{
	const size_t count = json_array_size(history);

	for (; superseded->seen < count; superseded->seen++)
		find_holders(superseded, history, superseded->seen);
}

size_t mask_superseded_new_messages(struct superseded *superseded, json_t *history)
{
	size_t i = superseded->count, bytes = 0;

	find_new_holders(superseded, history);
	for (; i < superseded->count; i++)
		if (superseded->holders[i].by == superseded->holders[i].message)
			bytes += take_out_if_large(history, &superseded->holders[i]);
	return bytes;
}

size_t mask_superseded_everywhere(struct superseded *superseded, json_t *history)
{
	size_t bytes = 0;

	find_new_holders(superseded, history);
	for (size_t i = 0; i < superseded->count; i++)
		bytes += take_out_if_large(history, &superseded->holders[i]);
	return bytes;
}

/* ---- masked results ---------------------------------------------------------- */

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
		bool plain = ascii_is_alnum(*text) || *text == '-' || *text == '_';

		buf_char(out, plain ? *text : '_');
	}
}

/* A file of that name is this result's: ids are unique in a session, and so is the folder. */
static bool write_output_file(const char *path, struct span text)
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
	if (path.overflowed || !file_make_folders(options->folder, &ignored) ||
	    !write_output_file(path.data, text))
		return NULL;
	return buf_steal(&path);
}

/* ---- truncation -------------------------------------------------------------------- */

static json_t *shortened_text(const struct mask_options *options, const struct cut *cut,
                              const char *path)
{
	_cleanup_buf_ struct buf out = BUF_INIT(options->truncate_chars + 2 * LIMIT_PATH_BYTES);
	size_t head = options->truncate_chars / 5;
	_cleanup_free_ char *place = NULL;

	if (path)
		place = mem_printf("%s %s", cut->removed ? "what the tool gave of them is in" :
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
	struct mask_truncated bytes;
};

/* The text in its short form, or NULL when it stays. `truncated`: its tool has left out
 * something. */
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
	path = save_output(truncation->options, truncation->name, truncation->call_id, suffix,
	                   text);
	truncation->cut++;
	return shortened_text(truncation->options, &cut, path);
}

static void truncate_members(struct truncation *truncation, json_t *object)
{
	const bool truncated = json_is_true(json_object_get(object, "truncated"));
	const char *name;
	json_t *value, *shorter;
	void *next;

	json_object_foreach_safe(object, next, name, value) {
		shorter = short_form(truncation, value, truncated);
		if (!shorter)
			continue;
		truncation->bytes.before += json_string_length(value);
		truncation->bytes.after += json_string_length(shorter);
		json_object_set_new(object, name, shorter);
	}
}

bool mask_truncate_output(const struct mask_options *options, const struct tool *tool,
                          const char *name, const char *call_id, json_t *result,
                          struct mask_truncated *ret)
{
	struct truncation truncation = { options, name, call_id, 0, { 0, 0 } };
	const char *member;
	json_t *list, *element;
	size_t i;

	/* Reading files has separate limits. */
	if (!options->truncate_chars || file_states_have(tool) || !json_is_object(result))
		return false;
	truncate_members(&truncation, result);
	json_object_foreach(result, member, list) /* blocks of text, as MCP servers send them */
		if (json_is_array(list))
			json_array_foreach(list, i, element)
				if (json_is_object(element))
					truncate_members(&truncation, element);
	if (ret)
		*ret = truncation.bytes;
	return truncation.cut > 0;
}

/* ---- masking ----------------------------------------------------------------------- */

/* Answers of the user, and plans, are short and stay. */
static bool result_stays(const json_t *answer)
{
	const json_t *response = json_object_get(answer, "response");
	const char *name = json_string_value(json_object_get(answer, "name"));
	const struct tool_info *info = name ? tool_info_find(name) : NULL;
	const enum tool_kind kind = info ? info->kind : TOOL_KIND_OTHER;

	if (json_object_get(response, "masked") || context_weight(response) < MASK_MIN)
		return true;
	return kind == TOOL_KIND_THINK || kind == TOOL_KIND_PLAN ||
	       kind == TOOL_KIND_COMMUNICATE;
}

static json_t *masked_response(const json_t *response, const char *path)
{
	json_t *kept = json_object();
	_cleanup_free_ char *note = mem_printf(
		"This result was long and is old. Longer parts of it are cut or left out here; the "
		"whole is in %s. Call the tool again for what is so now.", path);
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)response, name, value) {
		struct span text = json_span(value);

		/* Instructions hold on, whatever becomes of the result that they came with. */
		if (context_weight(value) <= MEMBER_MAX || !strcmp(name, FOUND_CONTEXT))
			json_object_set(kept, name, value);
		else if (text.len)
			json_object_set_new(kept, name, json_text(utf8_head(text, MEMBER_HEAD)));
		else if (!strcmp(name, "latest_file_state")) {
			json_t *state = json_copy(value);

			json_object_set_new(state, "content", json_null());
			json_object_set_new(kept, name, state);
		}
	}
	json_object_set_new(kept, "masked", json_string(note));
	return kept;
}

char *mask_save_whole(const struct mask_options *options, const char *name, const char *call_id,
                      const json_t *result)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);

	if (!json_print(&text, result, 1))
		return NULL;
	return save_output(options, name, call_id, ".json", buf_view(&text));
}

static bool mask_one(const struct mask_options *options, json_t *history, size_t message_index,
                     size_t part_index)
{
	json_t *message = json_array_get(history, message_index);
	json_t *part = json_array_get(json_object_get(message, "parts"), part_index);
	const json_t *answer = part_get_response(part);
	const json_t *response = json_object_get(answer, "response");
	_cleanup_free_ char *path = NULL;
	json_t *parts, *new_answer;

	path = mask_save_whole(options, json_string_value(json_object_get(answer, "name")),
	                       json_string_value(json_object_get(answer, "id")), response);
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

static bool is_in_last_turn(const json_t *history, size_t index)
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
		bool latest = options->protect_latest && is_in_last_turn(history, m);

		for (size_t p = json_array_size(parts); p-- > 0;) {
			const json_t *answer = part_get_response(json_array_get(parts, p));
			size_t bytes = context_weight(answer);
			bool old = newer >= protect;

			newer += bytes;
			if (!answer || latest || !old || result_stays(answer) ||
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

size_t mask_outputs(const struct mask_options *options, json_t *history, size_t *ret_candidates)
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
	if (ret_candidates)
		*ret_candidates = places.bytes;
	return masked;
}
