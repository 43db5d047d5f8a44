/* SPDX-License-Identifier: Apache-2.0 */
/* Files of instructions. */
#include "agent/prompt/prompt.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/sha256.h"
#include "base/text.h"
#include "config/extensions.h"
#include "data/json.h"
#include "data/warnings.h"

/* ---- files ------------------------------------------------------------------- */

#define BLOCK_END "--- End of Context from: %s ---\n"

enum { FOLDERS_ABOVE_MAX = 64, RULES_MAX = 500 };

/* A rule about some files, which is said when one of them is read. */
struct conditional {
	const struct instruction_rules *row;
	char *path, *base;       /* owned; the patterns are of paths beneath `base` */
	char *root;              /* owned: of its source */
	bool local;              /* its source has no provider */
	struct glob_list patterns;
};

struct memory {
	struct memory_options options;
	char *root;           /* the workspace's first */
	size_t root_count;    /* of the workspace's folders, those whose files count */
	bool trusted;
	json_t *names;        /* of files that the settings name instead, or NULL */
	json_t *families;     /* of files that count */
	struct source users;  /* what ~/.claude/... in an import means; its root is owned */
	json_t *files, *notices;
	json_t *folders;      /* folders searched so far */
	json_t *said;         /* path: {sum, folder, loaded}: what the conversation has */
	struct conditional *rules; /* owned */
	size_t rule_count, rule_cap;
	bool loaded;
	struct buf global, project;
	pthread_mutex_t lock; /* of memory_found */
};

/* A folder that is read, and where its texts go. */
struct reading_folder {
	struct memory *memory;
	const struct source *source;
	const char *path;
	struct buf *out;
	bool user;               /* it is the user's home */
};

static void notice_not_counted(struct memory *memory, const char *path, const char *why)
{
	_cleanup_free_ char *text = mem_printf("%s is ignored: %s", path, why);

	warnings_add(memory->notices, json_text(span_str(text)));
}

static bool is_no_file(const struct err *err)
{
	return err->code == ERR_FILE_NOT_FOUND || err->code == ERR_NOT_A_DIRECTORY;
}

static void add_file_name(json_t *names, const char *path)
{
	size_t i;
	json_t *name;

	json_array_foreach(names, i, name)
		if (strcmp(json_string_value(name), path) == 0)
			return;
	json_array_append_new(names, json_text(span_str(path)));
}

/* ---- what is said once --------------------------------------------------------- */

static bool is_sum_said(const struct memory *memory, const char *sum)
{
	const char *path;
	json_t *said;

	json_object_foreach(memory->said, path, said)
		if (strcmp(json_string_value(json_object_get(said, "sum")), sum) == 0)
			return true;
	return false;
}

static void add_memory_block(const struct reading_folder *reading, const char *path,
                             struct span text)
{
	struct memory *memory = reading->memory;
	struct buf *out = reading->out;
	const size_t before = out->len;
	struct source source = *reading->source;
	char sum[SHA256_HEX_SIZE];
	struct sha256 hash = sha256_of(text);

	sha256_hex(&hash, sum);
	if (is_sum_said(memory, sum))
		return;
	source.said = memory->said;
	source.home = home_user(memory->options.home);
	source.users = &memory->users;
	buf_printf(out, "--- Context from: %s ---\n", path);
	imports_resolve(&source, path, text, out);
	if (out->len && out->data[out->len - 1] != '\n')
		buf_char(out, '\n');
	buf_printf(out, BLOCK_END, path);
	if (out->overflowed) {
		out->len = before;
		out->overflowed = false;
		notice_not_counted(memory, path,
		                   "with it, all of them would be longer than a megabyte.");
		return;
	}
	add_file_name(memory->files, path);
	json_object_set_new_nocheck(memory->said, path,
	                            json_pack("{s:s, s:s%, s:b}", "sum", sum, "folder",
	                                      reading->path, strlen(reading->path), "loaded",
	                                      !memory->loaded));
}

/* Reads what was not said yet. False: there is nothing to say; *ret_there: there is a file. */
static bool read_unsaid(const struct reading_folder *reading, const char *path, struct buf *text,
                        bool *ret_there)
{
	struct err err = ERR_INIT;

	*ret_there = true;
	if (json_object_get(reading->memory->said, path))
		return false;
	if (source_read(reading->source, path, text, &err))
		return text->len > 0;
	*ret_there = !is_no_file(&err);
	if (*ret_there)
		notice_not_counted(reading->memory, path, err.message);
	return false;
}

/* Whether it is there, readable or not. */
static bool add_memory_file(const struct reading_folder *reading, const char *path)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MEMORY_FILE_BYTES);
	bool there;

	if (read_unsaid(reading, path, &text, &there))
		add_memory_block(reading, path, buf_view(&text));
	return there;
}

/* ---- rules --------------------------------------------------------------------- */

static void keep_rule(const struct reading_folder *reading, const struct instruction_rules *row,
                      const char *path, struct rule *rule)
{
	struct memory *memory = reading->memory;

	for (size_t i = 0; i < memory->rule_count; i++)
		if (strcmp(memory->rules[i].path, path) == 0)
			return;
	memory->rules = mem_grow(memory->rules, &memory->rule_cap, memory->rule_count + 1,
	                         sizeof(*memory->rules));
	memory->rules[memory->rule_count++] = (struct conditional){
		.row = row, .path = mem_strdup(path), .root = mem_strdup(reading->source->root),
		.base = mem_strdup(reading->user ? memory->root : reading->path),
		.local = !reading->source->provider,
		.patterns = rule->patterns,
	};
	rule->patterns = (struct glob_list){ 0 };
}

static void say_rule(const struct reading_folder *reading, const char *path,
                     const struct rule *rule)
{
	_cleanup_free_ char *offer = NULL;

	if (rule->when != RULE_CHOSEN) {
		add_memory_block(reading, path, rule->body);
		return;
	}
	offer = mem_printf("This file has rules about: %s\nRead it when the work is about that.\n",
	                   rule->description);
	add_memory_block(reading, path, span_str(offer));
}

static void add_rule(const struct reading_folder *reading, const struct instruction_rules *row,
                     const char *path)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MEMORY_FILE_BYTES);
	_cleanup_rule_ struct rule rule = { 0 };
	struct err err = ERR_INIT;
	bool there;

	if (!read_unsaid(reading, path, &text, &there))
		return;
	if (!instructions_rule_parse(row, buf_view(&text), &rule, &err))
		notice_not_counted(reading->memory, path, err.message);
	else if (rule.when == RULE_FILES)
		keep_rule(reading, row, path, &rule);
	else if (rule.when != RULE_BY_NAME)
		say_rule(reading, path, &rule);
}

static bool family_counts(const struct memory *memory, const char *family)
{
	size_t i;
	json_t *word;

	json_array_foreach(memory->families, i, word)
		if (strcmp(json_string_value(word), family) == 0)
			return true;
	return false;
}

static void add_rules(const struct reading_folder *reading)
{
	struct memory *memory = reading->memory;

	for (const struct instruction_rules *row = instruction_rules; row->family; row++) {
		_cleanup_free_ char *folder = path_join(reading->path, row->folder);
		char **paths = NULL;
		const bool counts = family_counts(memory, row->family) &&
		                    (row->user || !reading->user);
		size_t count = counts ? source_list(reading->source, folder, row->ending, RULES_MAX,
		                                    &paths) : 0;

		if (count == RULES_MAX)
			notice_not_counted(memory, folder, "of its rules, the first 500 count.");
		for (size_t i = 0; i < count; i++) {
			add_rule(reading, row, paths[i]);
			free(paths[i]);
		}
		free(paths);
	}
}

/* Says the rules about a file that are not said yet. */
static void add_rules_about(struct memory *memory, const char *path, struct buf *out)
{
	for (size_t i = 0; i < memory->rule_count; i++) {
		const struct conditional *kept = &memory->rules[i];
		const struct source source = {
			.root = kept->root, .own_only = kept->local, .notices = memory->notices,
			.provider = kept->local ? NULL : memory->options.provider,
		};
		const struct reading_folder reading = { memory, &source, kept->base, out, false };
		_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MEMORY_FILE_BYTES);
		_cleanup_rule_ struct rule rule = { 0 };
		struct err err = ERR_INIT;
		bool there;

		if (!path_is_under(path, kept->base) || strcmp(path, kept->base) == 0 ||
		    !glob_list_match(&kept->patterns, span_str(path + strlen(kept->base) + 1)))
			continue;
		if (read_unsaid(&reading, kept->path, &text, &there) &&
		    instructions_rule_parse(kept->row, buf_view(&text), &rule, &err))
			add_memory_block(&reading, kept->path, rule.body);
	}
}

/* ---- folders ------------------------------------------------------------------- */

static bool has_marker(const struct memory *memory, const char *folder);

static bool is_top(const struct memory *memory, const char *folder)
{
	for (size_t i = 0; i < memory->root_count; i++)
		if (strcmp(memory->options.provider->ops->root(memory->options.provider, i),
		           folder) == 0)
			return true;
	return memory->options.local && has_marker(memory, folder);
}

static void add_instruction_files(const struct reading_folder *reading,
                                  const struct instruction_file *row)
{
	bool instead = false;

	for (; row->family; row++) {
		_cleanup_free_ char *path = path_join(reading->path, row->path);
		const bool counts = family_counts(reading->memory, row->family) && !instead &&
		                    (!row->top || is_top(reading->memory, reading->path));

		instead = counts && add_memory_file(reading, path) && row->instead;
	}
}

static void add_memory_folder(struct memory *memory, const struct source *source,
                              const char *folder, struct buf *out)
{
	const struct reading_folder reading = { memory, source, folder, out, false };
	size_t i;
	json_t *name;

	if (json_object_get(memory->folders, folder))
		return;
	json_object_set_new_nocheck(memory->folders, folder, json_true());
	json_array_foreach(memory->names, i, name) {
		_cleanup_free_ char *path = path_join(folder, json_string_value(name));

		if (path_is_under(path, folder))
			add_memory_file(&reading, path);
	}
	add_instruction_files(&reading, instruction_files);
	add_rules(&reading);
}

/* The setting is a name or a list of names: these files count and no others, unless a setting names
 * families as well. NULL: it names none. */
static json_t *file_names(const struct settings *settings)
{
	const json_t *value = settings_get(settings, "context.fileName");
	json_t *names = json_array();
	size_t i;
	json_t *name;

	if (json_string_length(value))
		json_array_append(names, (json_t *)value);
	json_array_foreach(value, i, name)
		if (json_string_length(name) && !strchr(json_string_value(name), '/'))
			json_array_append(names, name);
	if (json_array_size(names))
		return names;
	json_decref(names);
	return NULL;
}

static bool is_family_of_names(const char *word)
{
	return strcmp(word, "gemini") == 0 || strcmp(word, "agents") == 0;
}

static json_t *file_families(struct memory *memory)
{
	const struct settings *settings = memory->options.settings;
	const bool given = settings_origin_of(settings, "hasp.instructions").scope != SCOPE_DEFAULT;
	const json_t *value = given || !memory->names ?
	                              settings_get(settings, "hasp.instructions") : NULL;
	json_t *families = json_array(), *word;
	size_t i;

	json_array_foreach((json_t *)value, i, word) {
		const char *name = json_string_value(word);

		if (!name || !instructions_family(name))
			warnings_add(memory->notices,
			             json_string("hasp.instructions names something else than "
			                         "gemini, agents, claude, copilot or cursor."));
		else if (!memory->names || !is_family_of_names(name))
			json_array_append(families, word);
	}
	return families;
}

static void load_global(struct memory *memory)
{
	const struct home *home = memory->options.home;
	struct source user = { .root = home_user(home), .own_only = true,
		               .notices = memory->notices };
	struct source gemini = { .root = home_gemini(home), .own_only = true,
		                 .notices = memory->notices };
	const struct reading_folder files = { memory, &user, user.root, &memory->global, true };

	add_instruction_files(&files, instruction_user_files);
	add_rules(&files);
	add_memory_folder(memory, &gemini, gemini.root, &memory->global);
	if (home_temp(home)) {
		_cleanup_free_ char *path = path_join(home_temp(home), "memory/MEMORY.md");
		const struct reading_folder own = { memory, &gemini, gemini.root,
			                            &memory->global, true };

		add_memory_file(&own, path);
	}
}

static bool has_marker(const struct memory *memory, const char *folder)
{
	const json_t *markers = settings_get(memory->options.settings,
	                                     "context.memoryBoundaryMarkers");
	size_t i;
	json_t *marker;

	if (!json_is_array(markers)) {
		_cleanup_free_ char *path = path_join(folder, ".git");

		return access(path, F_OK) == 0;
	}
	json_array_foreach(markers, i, marker) {
		_cleanup_free_ char *path = path_join(
			folder, json_string_length(marker) ? json_string_value(marker) : ".git");

		if (path_is_under(path, folder) && access(path, F_OK) == 0)
			return true;
	}
	return false;
}

/* The folders above the root up to the one with a marker, nearest first; 0: none. */
static size_t folders_above(const struct memory *memory, char *ret[static FOLDERS_ABOVE_MAX])
{
	const char *from = memory->root;
	size_t count = 0;

	while (count < FOLDERS_ABOVE_MAX && strcmp(from, "/") != 0) {
		ret[count] = path_folder(from);
		from = ret[count++];
		if (has_marker(memory, from))
			return count;
	}
	while (count)
		free(ret[--count]);
	return 0;
}

static const char *root_at(const struct memory *memory, size_t i)
{
	struct provider *provider = memory->options.provider;

	return provider->ops->root(provider, i);
}

/* The workspace's folders whose files count. */
static size_t count_roots(const struct memory *memory)
{
	size_t count = 1;

	if (settings_bool(memory->options.settings, "context.loadMemoryFromIncludeDirectories",
	                  false))
		while (root_at(memory, count))
			count++;
	return count;
}

static void load_project(struct memory *memory)
{
	struct source above = { .own_only = true, .notices = memory->notices };
	struct source workspace = { .root = memory->root, .provider = memory->options.provider,
		                    .notices = memory->notices };
	_cleanup_free_ char *top = NULL;
	char *folders[FOLDERS_ABOVE_MAX];
	size_t count = memory->options.local && !memory->options.git ?
	                       folders_above(memory, folders) : 0;

	/* The uppermost holds all of them: neither a link nor an import leads out of it. */
	above.root = count ? top = mem_strdup(folders[count - 1]) : NULL;
	while (count) {
		_cleanup_free_ char *folder = folders[--count];

		add_memory_folder(memory, &above, folder, &memory->project);
	}
	add_memory_folder(memory, &workspace, memory->root, &memory->project);
	for (size_t i = 1; i < memory->root_count; i++) {
		struct source further = { .root = root_at(memory, i),
			                  .provider = memory->options.provider,
		                    .notices = memory->notices };

		add_memory_folder(memory, &further, further.root, &memory->project);
	}
}

/* Before the project's: what is said later is the more particular. */
static void load_extensions(struct memory *memory)
{
	const struct extensions *all = extensions_installed(memory->options.settings);
	json_t *path;
	size_t k;

	for (size_t i = 0; i < all->count; i++) {
		const struct source source = { .root = all->at[i].folder, .own_only = true,
			                       .notices = memory->notices };
		json_auto_t *paths = extension_counts(&all->at[i]) ?
		                             extension_contexts(&all->at[i]) : NULL;
		const struct reading_folder reading = { memory, &source, source.root,
			                                &memory->project, true };

		json_array_foreach(paths, k, path)
			add_memory_file(&reading, json_string_value(path));
	}
}

struct memory *memory_load(const struct memory_options *options)
{
	struct memory *memory = mem_alloc(1, sizeof(*memory));

	*memory = (struct memory){
		.options = *options,
		.root = mem_strdup(options->provider->ops->root(options->provider, 0)),
		.trusted = settings_trusted(options->settings),
		.files = json_array(), .notices = json_array(), .folders = json_object(),
		.said = json_object(),
		.global = BUF_INIT(LIMIT_MEMORY_BYTES), .project = BUF_INIT(LIMIT_MEMORY_BYTES),
	};
	memory->names = file_names(options->settings);
	memory->families = file_families(memory);
	memory->users = (struct source){ .root = path_join(home_user(options->home), ".claude"),
		                         .own_only = true, .notices = memory->notices };
	pthread_mutex_init(&memory->lock, NULL);
	memory->root_count = count_roots(memory);
	load_global(memory);
	load_extensions(memory);
	if (memory->trusted)
		load_project(memory);
	memory->loaded = true;
	return memory;
}

void memory_free(struct memory *memory)
{
	if (!memory)
		return;
	for (size_t i = 0; i < memory->rule_count; i++) {
		free(memory->rules[i].path);
		free(memory->rules[i].base);
		free(memory->rules[i].root);
		glob_list_release(&memory->rules[i].patterns);
	}
	free(memory->rules);
	free(memory->root);
	free((char *)memory->users.root);
	json_decref(memory->names);
	json_decref(memory->families);
	json_decref(memory->files);
	json_decref(memory->notices);
	json_decref(memory->folders);
	json_decref(memory->said);
	buf_release(&memory->global);
	buf_release(&memory->project);
	pthread_mutex_destroy(&memory->lock);
	free(memory);
}

struct span memory_global(const struct memory *memory)
{
	return buf_view(&memory->global);
}

struct span memory_project(const struct memory *memory)
{
	return buf_view(&memory->project);
}

const json_t *memory_files(const struct memory *memory)
{
	return memory->files;
}

const json_t *memory_notices(const struct memory *memory)
{
	return memory->notices;
}

/* From the root down: what is said first is the more general. */
static void add_folders_down_to(struct memory *memory, const struct source *source,
                                const char *folder,
                                struct buf *out)
{
	if (!path_is_under(folder, source->root) || json_object_get(memory->folders, folder))
		return;
	if (strcmp(folder, source->root) != 0) {
		_cleanup_free_ char *above = path_folder(folder);

		add_folders_down_to(memory, source, above, out);
	}
	add_memory_folder(memory, source, folder, out);
}

char *memory_found(struct memory *memory, const char *path)
{
	_cleanup_free_ char *whole = path_join(memory->root, path), *folder = path_folder(whole);
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MEMORY_BYTES);

	if (strlen(whole) > LIMIT_PATH_BYTES)
		return NULL;
	pthread_mutex_lock(&memory->lock);
	for (size_t i = 0; i < memory->root_count && memory->trusted; i++) {
		struct source workspace = { .root = root_at(memory, i),
			                    .provider = memory->options.provider,
			                    .notices = memory->notices };

		add_folders_down_to(memory, &workspace, folder, &out);
	}
	add_rules_about(memory, whole, &out);
	pthread_mutex_unlock(&memory->lock);
	if (!out.len)
		return NULL;
	buf_char(&out, 0);
	return buf_steal(&out);
}

/* Whether a text has the file's block, to its end. */
static bool texts_have_block(const json_t *texts, const char *path)
{
	_cleanup_free_ char *end = mem_printf(BLOCK_END, path);
	size_t i;
	json_t *text;

	json_array_foreach((json_t *)texts, i, text)
		if (json_is_string(text) && strstr(json_string_value(text), end))
			return true;
	return false;
}

void memory_forget(struct memory *memory, const json_t *kept)
{
	const char *path;
	json_t *said;
	void *next;

	pthread_mutex_lock(&memory->lock);
	json_object_foreach_safe(memory->said, next, path, said) {
		if (json_is_true(json_object_get(said, "loaded")) || texts_have_block(kept, path))
			continue;
		json_object_del(memory->folders,
		                json_string_value(json_object_get(said, "folder")));
		json_object_del(memory->said, path);
	}
	pthread_mutex_unlock(&memory->lock);
}
