/* SPDX-License-Identifier: Apache-2.0 */
/* Files of instructions, with what they import. */
#include "agent/prompt/prompt.h"

#include <ctype.h>
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

/* ---- imports ----------------------------------------------------------------- */

/* The files on the way to the one that is being read. */
struct import {
	const struct import *parent;
	const char *path;
	unsigned depth;
};

struct importing {
	const struct source *source;
	struct buf *out;
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
	return name.data[0] == '.' || name.data[0] == '/' || span_ends(name, SPAN(".md")) ||
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

static void put_import(struct importing *importing, const struct import *from, struct span name)
{
	_cleanup_free_ char *folder = path_folder(from->path), *word = mem_dup(name.data, name.len);
	_cleanup_free_ char *path = path_join(folder, word);
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MEMORY_FILE_BYTES);
	struct import at = { from, path, from->depth + 1 };
	struct err err = ERR_INIT;

	if (is_on_the_way(from, path)) {
		put_comment(importing->out, "Import failed", name, "it leads back to itself");
		return;
	}
	if (at.depth > IMPORT_DEPTH_MAX || ++importing->count > IMPORTS_MAX) {
		put_comment(importing->out, "Import failed", name, "too many imports");
		return;
	}
	if (!source_read(importing->source, path, &text, &err)) {
		put_import_failure(importing, name,
		                   err.code == ERR_FILE_NOT_FOUND    ? "there is no such file" :
		                   err.code == ERR_OUTSIDE_WORKSPACE ?
		                   "it is outside of the project" :
		                                                "it cannot be read");
		return;
	}
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
	if (first != '.' && first != '/' && !isalpha(first))
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

void memory_resolve_imports(const struct source *source, const char *path, struct span text,
                            struct buf *out)
{
	struct importing importing = { .source = source, .out = out };
	struct import at = { .path = path };

	resolve_text(&importing, &at, text);
}

/* ---- files ------------------------------------------------------------------- */

#define BLOCK_END "--- End of Context from: %s ---\n"

#define MEMORY_LAST_NAME "CLAUDE.md"

enum { FOLDERS_ABOVE_MAX = 64 };

struct memory {
	struct memory_options options;
	char *root;           /* the workspace's first */
	size_t root_count;    /* of the workspace's folders, those whose files count */
	bool trusted;
	json_t *names;        /* of files, in their order */
	bool names_given;     /* by the settings */
	json_t *files, *notices;
	json_t *folders;      /* folders searched so far: path: whether by memory_load */
	bool loaded;
	struct buf global, project;
	pthread_mutex_t lock; /* of memory_found */
};

static void notice_not_counted(struct memory *memory, const char *path, const char *why)
{
	_cleanup_free_ char *text = mem_printf("%s is ignored: %s", path, why);

	warnings_add(memory->notices, json_text(span_str(text)));
}

static void notice_unread(struct memory *memory, const char *path, const struct err *err)
{
	if (err->code == ERR_FILE_NOT_FOUND || err->code == ERR_NOT_A_DIRECTORY)
		return;
	notice_not_counted(memory, path, err->message);
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

static void add_memory_block(struct memory *memory, const struct source *source, const char *path,
                             struct span text, struct buf *out)
{
	size_t before = out->len;

	buf_printf(out, "--- Context from: %s ---\n", path);
	memory_resolve_imports(source, path, text, out);
	if (out->len && out->data[out->len - 1] != '\n')
		buf_char(out, '\n');
	buf_printf(out, BLOCK_END, path);
	if (!out->overflowed) {
		add_file_name(memory->files, path);
		return;
	}
	out->len = before;
	out->overflowed = false;
	notice_not_counted(memory, path, "with it, all of them would be longer than a megabyte.");
}

/* One file of a folder. `last`: the text of the one before, so that a copy does not count twice.
 * Whether it is there, readable or not. */
static bool add_memory_file(struct memory *memory, const struct source *source, const char *path,
                            struct sha256 *last, struct buf *out)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MEMORY_FILE_BYTES);
	struct err err = ERR_INIT;
	struct sha256 sum;

	if (!source_read(source, path, &text, &err)) {
		notice_unread(memory, path, &err);
		return err.code != ERR_FILE_NOT_FOUND && err.code != ERR_NOT_A_DIRECTORY;
	}
	sum = sha256_of(buf_view(&text));
	if (!text.len || memcmp(&sum, last, sizeof(sum)) == 0)
		return true;
	*last = sum;
	add_memory_block(memory, source, path, buf_view(&text), out);
	return true;
}

static void add_memory_folder(struct memory *memory, const struct source *source,
                              const char *folder,
                              struct buf *out)
{
	struct sha256 last = { 0 };
	bool any = memory->names_given;
	size_t i;
	json_t *name;

	if (json_object_get(memory->folders, folder))
		return;
	json_object_set_new(memory->folders, folder, json_boolean(!memory->loaded));
	json_array_foreach(memory->names, i, name) {
		_cleanup_free_ char *path = path_join(folder, json_string_value(name));

		if (path_is_under(path, folder))
			any |= add_memory_file(memory, source, path, &last, out);
	}
	if (!any) {
		_cleanup_free_ char *path = path_join(folder, MEMORY_LAST_NAME);

		add_memory_file(memory, source, path, &last, out);
	}
}

/* The setting is a name or a list of names; both programs' customs count unless it says
 * otherwise, and Claude Code's in a folder that has no file of theirs. */
static json_t *file_names(const struct settings *settings, bool *ret_given)
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
	*ret_given = json_array_size(names) > 0;
	if (*ret_given)
		return names;
	json_decref(names);
	return json_pack("[s,s]", "GEMINI.md", "AGENTS.md");
}

static void load_global(struct memory *memory)
{
	const struct home *home = memory->options.home;
	struct source source = { .root = home_gemini(home), .own_only = true,
		                 .notices = memory->notices };
	struct sha256 none = { 0 };

	add_memory_folder(memory, &source, source.root, &memory->global);
	if (home_temp(home)) {
		_cleanup_free_ char *path = path_join(home_temp(home), "memory/MEMORY.md");

		add_memory_file(memory, &source, path, &none, &memory->global);
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
		struct sha256 last = { 0 };

		json_array_foreach(paths, k, path)
			add_memory_file(memory, &source, json_string_value(path), &last,
			                &memory->project);
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
		.global = BUF_INIT(LIMIT_MEMORY_BYTES), .project = BUF_INIT(LIMIT_MEMORY_BYTES),
	};
	memory->names = file_names(options->settings, &memory->names_given);
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
	free(memory->root);
	json_decref(memory->names);
	json_decref(memory->files);
	json_decref(memory->notices);
	json_decref(memory->folders);
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

	if (!memory->trusted || strlen(whole) > LIMIT_PATH_BYTES)
		return NULL;
	pthread_mutex_lock(&memory->lock);
	for (size_t i = 0; i < memory->root_count; i++) {
		struct source workspace = { .root = root_at(memory, i),
			                    .provider = memory->options.provider,
		                    .notices = memory->notices };

		add_folders_down_to(memory, &workspace, folder, &out);
	}
	pthread_mutex_unlock(&memory->lock);
	if (!out.len)
		return NULL;
	buf_char(&out, 0);
	return buf_steal(&out);
}

/* Whether a text has a block of a file of this folder, to its end. */
static bool texts_have_folder(const struct memory *memory, const char *folder, const json_t *texts)
{
	size_t i, k;
	json_t *name, *text;

	json_array_foreach(memory->names, i, name) {
		_cleanup_free_ char *path = path_join(folder, json_string_value(name));
		_cleanup_free_ char *end = mem_printf(BLOCK_END, path);

		json_array_foreach((json_t *)texts, k, text)
			if (json_is_string(text) && strstr(json_string_value(text), end))
				return true;
	}
	return false;
}

void memory_forget(struct memory *memory, const json_t *kept)
{
	const char *folder;
	json_t *loaded;
	void *next;

	pthread_mutex_lock(&memory->lock);
	json_object_foreach_safe(memory->folders, next, folder, loaded)
		if (json_is_false(loaded) && !texts_have_folder(memory, folder, kept))
			json_object_del(memory->folders, folder);
	pthread_mutex_unlock(&memory->lock);
}
