/* SPDX-License-Identifier: Apache-2.0 */
#include "search/ignored.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "search/start.h"

/* Most workspaces have nothing to say: found out without resolving the path. */
static bool nothing_counts(const struct workspace *ws, const struct walk_rules *rules)
{
	if (!rules->no_git_ignore || rules->ignore_file_count > 0)
		return false;
	if (rules->no_gemini_ignore)
		return true;
	/* Asked before every read. For faccessat the kernel makes credentials of their own. */
	for (size_t i = 0; i < workspace_root_count(ws); i++) {
		int root = workspace_root_fd(ws, i);
		struct stat st;

		if (fstatat(root, ".geminiignore", &st, AT_SYMLINK_NOFOLLOW) == 0)
			return false;
	}
	return true;
}

/* From the root down: a folder that is ignored takes all in it along, whatever files there say. */
static bool decided(const struct chain_base *base, const char *path, bool is_folder)
{
	struct chain *chain = NULL;
	const char *end = path;
	bool ignores = false;

	for (const char *at = path; !ignores && *at; at = end + (*end == '/')) {
		_cleanup_free_ char *above = at > path ? mem_dup(path, (size_t)(at - path))
		                                       : mem_strdup(".");
		_cleanup_fd_ int folder = chain_open(base->root, above, O_RDONLY | O_DIRECTORY);
		struct chain *outer = chain;

		if (folder >= 0) {
			chain = chain_enter(base, outer, folder,
			                    span_of(path, (size_t)(at - path)), CHAIN_LOOK);
			chain_unref(outer);
		}
		end = strchrnul(at, '/');
		ignores = chain_ignores(base, chain, span_of(path, (size_t)(end - path)),
		                        *end == '/' || is_folder);
	}
	chain_unref(chain);
	return ignores;
}

bool search_ignored(const struct workspace *ws, const char *path, const struct walk_rules *rules)
{
	_cleanup_start_ struct start start = START_INIT;
	struct err err = ERR_INIT;
	struct chain_base base;
	_cleanup_free_ char *whole = NULL;

	if (nothing_counts(ws, rules) || !start_find(&start, ws, path, rules, &err))
		return false;
	base = start_base(&start, rules);
	whole = mem_printf("%s%s", start.folder, start.is_file ? start.place.leaf : "");
	return decided(&base, whole, !start.is_file);
}
