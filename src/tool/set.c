/* SPDX-License-Identifier: Apache-2.0 */
/* The table of tools, in the order shown to a model, and sets of tools made from it. */
#include "tool/set.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "tool/builtin/builtin.h"
#include "tool/services.h"

/* ---- the table --------------------------------------------------------------- */

/* The table of tools, in the order shown to a model. */

static const struct tool *const everywhere[] = {
	&tool_read_file,   &tool_read_many_files, &tool_safe_patch,     &tool_write_file,
	&tool_update_file, &tool_apply_changes,   &tool_search_files, &tool_glob,
	&tool_list_directory, &tool_query_data, &tool_update_data, &tool_update_notebook,
	&tool_run_shell_command,
	&tool_list_background_processes,
	&tool_read_background_output,
	&tool_write_background_input,
	&tool_kill_background_process,
};

/* They have a meaning in a conversation alone: set.h, tool_set_add_conversation. */
static const struct tool *const conversation[] = {
	&tool_web_fetch,   &tool_google_web_search, &tool_save_memory,    &tool_write_todos,
	&tool_ask_user,    &tool_enter_plan_mode,   &tool_exit_plan_mode,
	&tool_update_topic, &tool_request_permission, &tool_search_tools,   &tool_call_tool,
	&tool_get_diagnostics, &tool_run_python,
};

size_t tool_count(void)
{
	return ARRAY_LEN(everywhere);
}

const struct tool *tool_at(size_t i)
{
	return everywhere[i];
}

size_t tool_builtin_count(void)
{
	return ARRAY_LEN(everywhere) + ARRAY_LEN(conversation);
}

const struct tool *tool_builtin_at(size_t i)
{
	return i < tool_count() ? everywhere[i] : conversation[i - tool_count()];
}

const char *const *tool_aliases(const struct tool *tool)
{
	return tool->info ? tool->info->aliases : NULL;
}

static bool is_called(const struct tool *tool, const char *name)
{
	if (strcmp(tool->name, name) == 0)
		return true;
	for (const char *const *alias = tool_aliases(tool); alias && *alias; alias++)
		if (strcmp(*alias, name) == 0)
			return true;
	return false;
}

const struct tool *tool_find(const char *name)
{
	const char *canonical = tool_info_canonical(name);

	for (size_t i = 0; i < tool_count(); i++)
		if (strcmp(everywhere[i]->name, canonical) == 0)
			return everywhere[i];
	return NULL;
}

/* ---- sets -------------------------------------------------------------------- */

struct tool_set_row {
	const struct tool *tool;
	struct tool *owned;             /* the same, if the set releases it */
	void (*release)(struct tool *tool); /* NULL: another set does */
	struct schema *schema;          /* of an added tool, once `compiled`; NULL: anything that is
	                                 * an object. With schema_lock */
	bool compiled;
	bool left_out;                  /* by tool_set_limit, or `gone` */
	bool withdrawn;                 /* not even its name is taken */
	bool settled;                   /* tool_set_defer has decided about it */
	bool deferred;
};

struct tool_set {
	pthread_rwlock_t lock; /* of the rows: tools may be added while others read */
	struct tool_set_row *rows;
	size_t count, cap;
	size_t *offered;       /* rows that are not left out, in their order; owned */
	size_t offered_count, offered_cap;
	size_t *names;         /* a hash table: 1 + the row that is called so, or 0; each row is
	                        * there under its name and its aliases. Owned */
	size_t names_cap;      /* a power of two, or 0 */
	size_t names_count;
	json_t *exclude;       /* of tool_set_limit: for those added later, too; or NULL */
	pthread_mutex_t schema_lock; /* of the rows' schemas, within `lock` */
};

static void set_read(const struct tool_set *set)
{
	pthread_rwlock_rdlock(&((struct tool_set *)set)->lock);
}

static void set_read_end(const struct tool_set *set)
{
	pthread_rwlock_unlock(&((struct tool_set *)set)->lock);
}

/* FNV-1a. */
static size_t name_hash(const char *name)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x100000001b3;
	return (size_t)(hash ^ hash >> 32);
}

static void names_put(struct tool_set *set, const char *name, size_t row)
{
	size_t at = name_hash(name);

	while (set->names[at &= set->names_cap - 1])
		at++;
	set->names[at] = row + 1;
	set->names_count++;
}

static void names_put_row(struct tool_set *set, size_t row)
{
	const struct tool *tool = set->rows[row].tool;

	names_put(set, tool->name, row);
	for (const char *const *alias = tool_aliases(tool); alias && *alias; alias++)
		names_put(set, *alias, row);
}

/* At least half of the table stays empty, with the names of one more row in it. */
static void names_reserve(struct tool_set *set, const struct tool *tool)
{
	size_t more = 1;

	for (const char *const *alias = tool_aliases(tool); alias && *alias; alias++)
		more++;
	if ((set->names_count + more) * 2 <= set->names_cap)
		return;
	free(set->names);
	while ((set->names_count + more) * 2 > set->names_cap)
		set->names_cap = set->names_cap ? set->names_cap * 2 : 128;
	set->names = mem_alloc(set->names_cap, sizeof(*set->names));
	set->names_count = 0;
	for (size_t i = 0; i < set->count; i++)
		names_put_row(set, i);
}

/* The first row that is called so and of which `fits` says yes; NULL: none. */
static struct tool_set_row *
names_find(const struct tool_set *set, const char *name,
           bool (*fits)(const struct tool_set_row *row, const void *data), const void *data)
{
	size_t found = set->count;

	if (!set->names_cap)
		return NULL;
	for (size_t at = name_hash(name); set->names[at &= set->names_cap - 1]; at++) {
		const size_t i = set->names[at] - 1;

		if (i < found && is_called(set->rows[i].tool, name) && fits(&set->rows[i], data))
			found = i;
	}
	return found < set->count ? &set->rows[found] : NULL;
}

static void offer_row(struct tool_set *set, size_t row)
{
	set->offered = mem_grow(set->offered, &set->offered_cap, set->offered_count + 1,
	                        sizeof(*set->offered));
	set->offered[set->offered_count++] = row;
}

/* Rebuilds the list of offered rows after some were left out. */
static void offer_rows(struct tool_set *set)
{
	set->offered_count = 0;
	for (size_t i = 0; i < set->count; i++)
		if (!set->rows[i].left_out)
			offer_row(set, i);
}

static void add_row(struct tool_set *set, const struct tool_set_row *row)
{
	names_reserve(set, row->tool);
	set->rows = mem_grow(set->rows, &set->cap, set->count + 1, sizeof(*set->rows));
	set->rows[set->count] = *row;
	names_put_row(set, set->count);
	if (!row->left_out)
		offer_row(set, set->count);
	set->count++;
}

static void add_own_row(struct tool_set *set, const struct tool *tool)
{
	add_row(set, &(struct tool_set_row){ .tool = tool });
}

struct tool_set *tool_set_new(void)
{
	struct tool_set *set = mem_alloc(1, sizeof(*set));

	pthread_rwlock_init(&set->lock, NULL);
	pthread_mutex_init(&set->schema_lock, NULL);
	for (size_t i = 0; i < tool_count(); i++)
		add_own_row(set, tool_at(i));
	return set;
}

static bool is_way_to_deferred(const struct tool *tool)
{
	return tool == &tool_search_tools || tool == &tool_call_tool;
}

struct tool_set *tool_set_choose(const struct tool_set *from,
                                 bool (*wanted)(void *data, const struct tool *tool), void *data)
{
	struct tool_set *set = mem_alloc(1, sizeof(*set));
	bool deferred = false;

	pthread_rwlock_init(&set->lock, NULL);
	pthread_mutex_init(&set->schema_lock, NULL);
	set_read(from);
	for (size_t i = 0; i < from->count; i++) {
		struct tool_set_row row = from->rows[i];

		if (row.left_out || is_way_to_deferred(row.tool) || !wanted(data, row.tool))
			continue;
		row.release = NULL;
		row.schema = NULL;
		row.compiled = false;
		add_row(set, &row);
		deferred = deferred || row.deferred;
	}
	for (size_t i = 0; i < from->count && deferred; i++)
		if (!from->rows[i].left_out && is_way_to_deferred(from->rows[i].tool))
			add_own_row(set, from->rows[i].tool);
	set_read_end(from);
	return set;
}

static bool can_serve(const struct tool_services *services, const struct tool *tool)
{
	const struct {
		const struct tool *tool;
		bool needs;
	} rows[] = {
		{ &tool_google_web_search, services->ground },
		{ &tool_save_memory, services->memory_file },
		{ &tool_write_todos, services->todos },
		{ &tool_update_topic, services->topic },
		{ &tool_ask_user, services->interactive && services->bus },
		{ &tool_enter_plan_mode, services->plans_folder && services->set_plan_mode },
		{ &tool_exit_plan_mode, services->plans_folder && services->set_plan_mode },
		{ &tool_request_permission, !services->interactive && services->report_missing },
		{ &tool_get_diagnostics, services->interactive },
		{ &tool_run_python, services->python },
		/* tool_set_defer adds them. */
		{ &tool_search_tools, false },
		{ &tool_call_tool, false },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].tool == tool)
			return rows[i].needs;
	return true;
}

void tool_set_add_conversation(struct tool_set *set, const struct tool_services *services)
{
	for (size_t i = tool_count(); i < tool_builtin_count(); i++)
		if (can_serve(services, tool_builtin_at(i)))
			add_own_row(set, tool_builtin_at(i));
}

void tool_set_free(struct tool_set *set)
{
	if (!set)
		return;
	for (size_t i = 0; i < set->count; i++) {
		schema_free(set->rows[i].schema);
		if (set->rows[i].release)
			set->rows[i].release(set->rows[i].owned);
	}
	json_decref(set->exclude);
	pthread_rwlock_destroy(&set->lock);
	pthread_mutex_destroy(&set->schema_lock);
	free(set->names);
	free(set->offered);
	free(set->rows);
	free(set);
}

static bool name_is_valid(const char *name)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
	static const char others[] = "0123456789.:-";
	size_t len = strlen(name);

	if (!len || len > 64 || !strchr(letters, name[0]))
		return false;
	for (size_t i = 1; i < len; i++)
		if (!strchr(letters, name[i]) && !strchr(others, name[i]))
			return false;
	return true;
}

static bool is_present(const struct tool_set_row *row, const void *data)
{
	(void)data;
	return !row->withdrawn;
}

static bool is_taken(const struct tool_set *set, const char *name)
{
	return names_find(set, name, is_present, NULL) != NULL;
}

/* The part of an entry before "(". */
static bool entry_names(const struct tool *tool, const char *entry, size_t len)
{
	_cleanup_free_ char *name = mem_dup(entry, len);
	_cleanup_free_ char *whole = tool->server ? mem_printf("mcp_%s_%s", tool->server,
	                                                       tool->server_tool) : NULL;

	return strcmp(tool->name, name) == 0 || (whole && strcmp(whole, name) == 0) ||
	       (!tool->server && strcmp(tool->name, tool_info_canonical(name)) == 0);
}

static bool list_names(const json_t *list, const struct tool *tool, bool with_prefix)
{
	size_t i;
	json_t *entry;

	json_array_foreach(list, i, entry) {
		const char *text = json_string_value(entry);
		const char *open = text ? strchr(text, '(') : NULL;

		if (text && (!open || with_prefix) &&
		    entry_names(tool, text, open ? (size_t)(open - text) : strlen(text)))
			return true;
	}
	return false;
}

bool tool_set_add(struct tool_set *set, struct tool *tool, void (*release)(struct tool *tool),
                  struct err *err)
{
	struct span shown = utf8_head(span_str(tool->name), 80);
	struct tool_set_row row = { .tool = tool, .owned = tool, .release = release };
	json_t *value = NULL;
	bool taken;

	if (!name_is_valid(tool->name))
		return err_set(err, ERR_INVALID_ARGUMENT, "\"%.*s\" cannot be the name of a tool.",
		               (int)shown.len, shown.data);
	if (!tool->server && !json_parse(span_str(tool->arguments_schema), &value, err))
		return false;
	json_decref(value);
	pthread_rwlock_wrlock(&set->lock);
	taken = is_taken(set, tool->name);
	row.left_out = !taken && list_names(set->exclude, tool, false);
	if (!taken)
		add_row(set, &row);
	pthread_rwlock_unlock(&set->lock);
	return !taken ||
	       err_set(err, ERR_INVALID_ARGUMENT, "There is a tool \"%s\" already.", tool->name);
}

size_t tool_set_withdraw(struct tool_set *set,
                         bool (*withdrawn)(void *data, const struct tool *tool), void *data)
{
	size_t count = 0;

	pthread_rwlock_wrlock(&set->lock);
	for (size_t i = 0; i < set->count; i++) {
		struct tool_set_row *row = &set->rows[i];

		if (!row->owned || row->withdrawn || !withdrawn(data, row->tool))
			continue;
		row->withdrawn = row->left_out = true;
		count++;
	}
	offer_rows(set);
	pthread_rwlock_unlock(&set->lock);
	return count;
}

void tool_set_limit(struct tool_set *set, const json_t *core, const json_t *exclude)
{
	pthread_rwlock_wrlock(&set->lock);
	json_decref(set->exclude);
	set->exclude = json_incref((json_t *)exclude);
	for (size_t i = 0; i < set->count; i++) {
		struct tool_set_row *row = &set->rows[i];

		/* `core` is about the built-in tools. */
		row->left_out = row->withdrawn || list_names(exclude, row->tool, false) ||
		                (json_is_array(core) && !row->owned &&
		                 !list_names(core, row->tool, true));
	}
	offer_rows(set);
	pthread_rwlock_unlock(&set->lock);
}

size_t tool_set_count(const struct tool_set *set)
{
	size_t count;

	if (!set)
		return tool_count();
	set_read(set);
	count = set->offered_count;
	set_read_end(set);
	return count;
}

const struct tool *tool_set_at(const struct tool_set *set, size_t i)
{
	const struct tool *tool;

	if (!set)
		return tool_at(i);
	set_read(set);
	tool = i < set->offered_count ? set->rows[set->offered[i]].tool : NULL;
	set_read_end(set);
	return tool;
}

static bool is_not_left_out(const struct tool_set_row *row, const void *data)
{
	(void)data;
	return !row->left_out;
}

const struct tool *tool_set_find(const struct tool_set *set, const char *name)
{
	const struct tool_set_row *row;
	const struct tool *tool;

	if (!set)
		return tool_find(name);
	set_read(set);
	row = names_find(set, name, is_not_left_out, NULL);
	if (!row)
		row = names_find(set, tool_info_canonical(name), is_not_left_out, NULL);
	tool = row ? row->tool : NULL;
	set_read_end(set);
	return tool;
}

static bool is_of_tool(const struct tool_set_row *row, const void *data)
{
	return row->tool == data;
}

/* Others' schemas may use all of JSON Schema: what cannot be checked here is checked by the one who
 * runs the tool. */
static struct schema *row_schema(const struct tool_set *set, struct tool_set_row *row)
{
	pthread_mutex_t *lock = &((struct tool_set *)set)->schema_lock;
	struct err ignored = ERR_INIT;

	pthread_mutex_lock(lock);
	if (!row->compiled &&
	    !schema_compile(span_str(row->tool->arguments_schema), &row->schema, &ignored))
		row->schema = NULL;
	row->compiled = true;
	pthread_mutex_unlock(lock);
	return row->schema;
}

bool tool_set_schema(const struct tool_set *set, const struct tool *tool, struct schema **ret)
{
	struct tool_set_row *row;
	bool found;

	if (!set)
		return false;
	set_read(set);
	row = names_find(set, tool->name, is_of_tool, tool);
	found = row && row->owned;
	if (found)
		*ret = row_schema(set, row);
	set_read_end(set);
	return found;
}

/* ---- what is declared to a model ---------------------------------------------- */

/* Of the last declaration. */
static void set_loading(json_t *declared, const char *how)
{
	json_object_set_new(json_array_get(declared, json_array_size(declared) - 1), "loading",
	                    json_string(how));
}

json_t *tool_set_declare(const struct tool_set *set,
                         bool (*wanted)(void *data, const struct tool *tool), void *data)
{
	json_t *all = json_array();

	for (size_t i = 0; i < tool_set_count(set); i++) {
		const struct tool *tool = tool_set_at(set, i);

		if (tool_set_is_deferred(set, tool) || (wanted && !wanted(data, tool)))
			continue;
		json_array_append_new(all, tool_declaration(tool));
		if (tool == &tool_search_tools)
			set_loading(all, "loads");
		else if (tool == &tool_call_tool)
			set_loading(all, "instead");
	}
	return all;
}

void tool_set_declare_deferred(const struct tool_set *set,
                               bool (*wanted)(void *data, const struct tool *tool), void *data,
                               json_t *declared)
{
	for (size_t i = 0; i < tool_set_count(set); i++) {
		const struct tool *tool = tool_set_at(set, i);

		if (!tool_set_is_deferred(set, tool) || (wanted && !wanted(data, tool)))
			continue;
		json_array_append_new(declared, tool_declaration(tool));
		set_loading(declared, "deferred");
	}
}

/* ---- deferred ----------------------------------------------------------------- */

/* Of the announcement in every prompt's context. */
enum { ANNOUNCED_BYTES = 20 << 10, ANNOUNCED_LINE = 100, BYTES_A_TOKEN = 4 };

static size_t row_tokens(const struct tool_set_row *row)
{
	return (strlen(row->tool->name) + strlen(row->tool->description) +
	        strlen(row->tool->arguments_schema)) / BYTES_A_TOKEN;
}

static bool is_foreign(const struct tool_set_row *row)
{
	return row->owned && !row->left_out && tool_kind_of(row->tool) != TOOL_KIND_AGENT;
}

/* One of our own that few sessions need. */
static bool is_rare(const struct tool_set_row *row)
{
	return !row->owned && !row->left_out && row->tool->info && row->tool->info->rare;
}

/* After all that was declared before. False: the settings leave one of them out. */
static bool add_ways_to_deferred(struct tool_set *set)
{
	const struct tool *const ways[] = { &tool_search_tools, &tool_call_tool };

	if (list_names(set->exclude, ways[0], false) || list_names(set->exclude, ways[1], false))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(ways); i++)
		if (!is_taken(set, ways[i]->name))
			add_own_row(set, ways[i]);
	return true;
}

void tool_set_defer(struct tool_set *set, enum tool_defer how, size_t budget)
{
	size_t tokens = 0;
	bool new = false, rare = false, defer;

	pthread_rwlock_wrlock(&set->lock);
	for (size_t i = 0; i < set->count; i++) {
		const struct tool_set_row *row = &set->rows[i];

		if (is_foreign(row))
			tokens += row_tokens(row);
		new = new || (is_foreign(row) && !row->settled);
		rare = rare || (is_rare(row) && !row->settled);
	}
	defer = new && (how == TOOL_DEFER_ON || (how == TOOL_DEFER_AUTO && tokens > budget));
	rare = rare && how != TOOL_DEFER_OFF;
	if ((defer || rare) && !add_ways_to_deferred(set))
		defer = rare = false;
	for (size_t i = 0; i < set->count; i++) {
		struct tool_set_row *row = &set->rows[i];

		if (!row->settled && (is_foreign(row) ? defer : rare && is_rare(row)))
			row->deferred = true;
		row->settled = row->settled || is_foreign(row) || is_rare(row);
	}
	pthread_rwlock_unlock(&set->lock);
}

bool tool_set_is_deferred(const struct tool_set *set, const struct tool *tool)
{
	const struct tool_set_row *row;
	bool deferred;

	if (!set)
		return false;
	set_read(set);
	row = names_find(set, tool->name, is_of_tool, tool);
	deferred = row && row->deferred;
	set_read_end(set);
	return deferred;
}

/* One line of at most `longest` bytes: the first sentence, or its beginning. */
static void put_first_sentence(struct buf *out, const char *description, size_t longest)
{
	struct span text = span_trim(span_str(description));
	const char *stop = strstr(description, ". ");

	text = span_head(text, strcspn(text.data, "\r\n") < text.len ?
	                 strcspn(text.data, "\r\n") : text.len);
	if (stop && stop >= text.data && (size_t)(stop - text.data) < text.len)
		text = span_head(text, (size_t)(stop - text.data) + 1);
	if (!longest || !text.len)
		return;
	buf_str(out, ": ");
	buf_span(out, utf8_head(text, longest));
	if (text.len > longest)
		buf_str(out, "...");
}

static void put_announced(const struct tool *const *tools, size_t count, size_t longest,
                          struct buf *out)
{
	for (size_t i = 0; i < count; i++) {
		buf_str(out, "- ");
		buf_str(out, tools[i]->name);
		put_first_sentence(out, tools[i]->description, longest);
		buf_char(out, '\n');
	}
}

char *tool_set_announce(const struct tool_set *set,
                        bool (*wanted)(void *data, const struct tool *tool), void *data)
{
	_cleanup_buf_ struct buf list = BUF_INIT(LIMIT_MODEL_REQUEST_BYTES);
	_cleanup_free_ const struct tool **tools = NULL;
	size_t longest = ANNOUNCED_LINE, count = 0;

	set_read(set);
	tools = mem_alloc(set->count + 1, sizeof(*tools));
	for (size_t i = 0; i < set->count; i++)
		if (set->rows[i].deferred && !set->rows[i].left_out &&
		    (!wanted || wanted(data, set->rows[i].tool)))
			tools[count++] = set->rows[i].tool;
	put_announced(tools, count, longest, &list);
	while (list.len > ANNOUNCED_BYTES && longest) {
		longest = longest > 25 ? longest - 25 : 0;
		buf_clear(&list);
		put_announced(tools, count, longest, &list);
	}
	set_read_end(set);
	if (!list.len)
		return NULL;
	return mem_printf("Tools to be loaded with search_tools (tool_search) before they are "
	                  "called:\n%.*s", (int)list.len, list.data);
}
