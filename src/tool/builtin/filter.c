/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/builtin/private.h"

#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "data/schema.h"
#include "search/rules/glob.h"
#include "tool/builtin/arguments.h"
#include "tool/history.h"

/* Later names decide: the call's own are last. NULL without any. */
static const char **ignore_files(const struct walk_rules *session, const json_t *arguments,
                                 size_t *ret_count)
{
	size_t own_count;
	_cleanup_free_ const char **own = argument_strings(arguments, "ignore_files", &own_count);
	const char **names = NULL;

	*ret_count = session->ignore_file_count + own_count;
	if (*ret_count > 0)
		names = mem_alloc(*ret_count, sizeof(*names));
	for (size_t i = 0; i < session->ignore_file_count; i++)
		names[i] = session->ignore_files[i];
	for (size_t i = 0; i < own_count; i++)
		names[session->ignore_file_count + i] = own[i];
	return names;
}

void filter_rules(const struct session *session, const json_t *arguments, struct walk_rules *ret)
{
	const struct walk_rules *usual = &session->ignores;
	const bool hidden = argument_bool(arguments, "hidden", !usual->hidden_out);

	if (argument_bool(arguments, "no_ignore", false)) {
		*ret = (struct walk_rules){ .no_git_ignore = true, .no_gemini_ignore = true,
			                    .hidden_out = !hidden };
		return;
	}
	*ret = (struct walk_rules){
		.no_git_ignore = !argument_respects(arguments, "respect_git_ignore",
		                                    !usual->no_git_ignore),
		.no_gemini_ignore = !argument_respects(arguments, "respect_gemini_ignore",
		                                       !usual->no_gemini_ignore),
		.hidden_out = !hidden,
	};
	ret->ignore_files = ignore_files(usual, arguments, &ret->ignore_file_count);
}

void filter_heed(struct read_request *request, const struct walk_rules *rules)
{
	request->gemini_ignore = !rules->no_gemini_ignore;
	request->ignore_files = rules->ignore_files;
	request->ignore_file_count = rules->ignore_file_count;
}

char *filter_prefix(struct provider *provider, const char *folder)
{
	const char *root = provider->ops->root(provider, 0);
	size_t len = strlen(root);

	if (strcmp(folder, root) == 0)
		return mem_strdup("");
	len -= len > 0 && root[len - 1] == '/'; /* "/" itself */
	if (strncmp(folder, root, len) == 0 && folder[len] == '/')
		return mem_printf("%s/", folder + len + 1);
	return mem_printf("%s%s", folder, strcmp(folder, "/") == 0 ? "" : "/");
}

void filter_put_denied(json_t *result, size_t denied, const char *why)
{
	const char *message = json_string_value(json_object_get(result, "message"));
	_cleanup_free_ char *text = NULL;

	if (!denied)
		return;
	text = mem_printf("%s%s%zu file%s left out by policy: %s", message ? message : "",
	                  message ? " " : "", denied, denied == 1 ? " was" : "s were",
	                  why ? why : "a rule denies them.");
	json_object_set_new(result, "left_out_by_policy", json_size(denied));
	json_object_set_new(result, "message", json_cstr(text));
}

void filter_put_state(struct session *session, json_t *file, const struct sha256 *sha256,
                      uint64_t size)
{
	json_object_set_new(file, "version", json_size(session_next_version(session)));
	json_object_set_new(file, "sha256", json_sha256(sha256));
	json_object_set_new(file, "size", json_size(size));
	history_showed(session, NULL, sha256);
}

const char **filter_roots(struct provider *provider, const char *path, size_t *ret_count)
{
	const char **roots, *root;
	size_t count = 1;

	while (!path && provider->ops->root(provider, count))
		count++;
	roots = mem_alloc(count, sizeof(*roots));
	roots[0] = path ? path : ".";
	for (size_t i = 1; i < count && (root = provider->ops->root(provider, i)); i++)
		roots[i] = root;
	*ret_count = count;
	return roots;
}

void filter_put_roots(json_t *result, struct provider *provider, size_t count)
{
	json_t *roots;
	const char *root;

	if (count < 2)
		return;
	roots = json_array();
	for (size_t i = 0; i < count && (root = provider->ops->root(provider, i)); i++)
		json_array_append_new(roots, json_name(root));
	json_object_set_new(result, "roots", roots);
}

char *filter_glob_folder(const char *pattern)
{
	size_t len = strcspn(pattern, "*?[{\\");

	while (len > 0 && pattern[len] != '/')
		len--;
	return mem_dup(pattern, len);
}

char *filter_outer_folder(struct provider *provider, const char *pattern)
{
	_cleanup_free_ char *folder = NULL;
	const char *root;

	for (size_t i = 0; pattern[0] == '/' && (root = provider->ops->root(provider, i)); i++) {
		size_t len = strlen(root);

		len -= len && root[len - 1] == '/'; /* "/" itself */
		if (strncmp(pattern, root, len) == 0 && pattern[len] == '/')
			return NULL;
	}
	folder = filter_glob_folder(pattern);
	return folder[0] == '/' ? mem_steal(&folder) : NULL;
}

/* ---- a file that is not there ---- */

/* Entries of a folder that are compared with the name. */
enum { NEAR_ENTRIES_MAX = 4096 };

/* The file of the folder whose name is most like `name`. */
static char *near_in_folder(const struct session *session, const char *folder, const char *name)
{
	struct walk_request request = { .path = *folder ? folder : ".", .rules = session->ignores,
		                        .max_entries = NEAR_ENTRIES_MAX };
	struct walk_result found = { 0 };
	_cleanup_free_ const char **names = NULL;
	const char *near;
	struct err ignored = ERR_INIT;
	char *path;
	size_t count = 0;

	if (!session->provider->ops->walk(session->provider, &request, &found, &ignored))
		return NULL;
	names = mem_alloc(found.count + 1, sizeof(*names));
	for (size_t i = 0; i < found.count; i++)
		if (found.entries[i].kind == ENTRY_FILE)
			names[count++] = found.entries[i].path;
	near = schema_nearest_name(name, names, count);
	path = near ? mem_printf("%s%s", folder, near) : NULL;
	walk_result_release(&found);
	return path;
}

/* The one file of that name anywhere in the workspace. */
static char *near_elsewhere(const struct session *session, const char *name)
{
	struct walk_request request = { .path = ".", .rules = session->ignores, .include = &name,
		                        .include_count = 1, .recursive = true, .max_entries = 2 };
	struct walk_result found = { 0 };
	struct err ignored = ERR_INIT;
	char *path = NULL;

	if (glob_has_magic(span_str(name)) ||
	    !session->provider->ops->walk(session->provider, &request, &found, &ignored))
		return NULL;
	if (found.count == 1 && !found.more)
		path = mem_strdup(found.entries[0].path);
	walk_result_release(&found);
	return path;
}

void filter_suggest_file(const struct session *session, const char *path, struct buf *out)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	const char *name = slash ? slash + 1 : path;
	_cleanup_free_ char *folder = NULL, *near = NULL;
	json_auto_t *shown = NULL;

	if (!path || !*name || session->hooks.not_at_once)
		return;
	folder = mem_dup(path, (size_t)(name - path));
	near = near_in_folder(session, folder, name);
	if (!near)
		near = near_elsewhere(session, name);
	if (!near)
		return;
	shown = json_name(near);
	buf_printf(out, " Did you mean %s?", json_string_value(shown));
}

json_t *filter_failure(const json_t *arguments, const struct err *err)
{
	const char *path = argument_str(arguments, "path");
	json_t *result = tool_failure(err);

	if (path)
		json_object_set_new(result, "path", json_name(path));
	return result;
}
