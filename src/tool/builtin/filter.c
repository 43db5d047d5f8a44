/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/builtin/filter.h"

#include <string.h>

#include "tool/builtin/arguments.h"

void filter_rules(const json_t *arguments, struct walk_rules *ret)
{
	const bool all = argument_bool(arguments, "no_ignore", false);
	size_t count = 0;
	const char **names = NULL;

	if (!all && json_array_size(json_object_get(arguments, "ignore_files")))
		names = argument_strings(arguments, "ignore_files", &count);
	*ret = (struct walk_rules){
		.no_git_ignore = all || !argument_respects(arguments, "respect_git_ignore"),
		.no_gemini_ignore = all || !argument_respects(arguments, "respect_gemini_ignore"),
		.hidden_out = !argument_bool(arguments, "hidden", true),
		.ignore_files = names,
		.ignore_file_count = count,
	};
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

void filter_put_state(struct session *session, json_t *file, const struct sha256 *sha256,
                      uint64_t size)
{
	json_object_set_new(file, "version", json_size(session_next_version(session)));
	json_object_set_new(file, "sha256", json_sha256(sha256));
	json_object_set_new(file, "size", json_size(size));
}
