/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/builtin/private.h"

#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "tool/builtin/arguments.h"

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

json_t *filter_failure(const json_t *arguments, const struct err *err)
{
	const char *path = argument_str(arguments, "path");
	json_t *result = tool_failure(err);

	if (path)
		json_object_set_new(result, "path", json_name(path));
	return result;
}
