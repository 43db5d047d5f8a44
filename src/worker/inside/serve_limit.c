/* SPDX-License-Identifier: Apache-2.0 */
/* What whoever started a worker allows at most (`hasp worker --root DIR ...`), against what a HELLO asks
 * for. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "worker/inside/serve_private.h"

static bool is_beneath(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return len == 1 || (strncmp(path, folder, len) == 0 &&
	                    (path[len] == '/' || path[len] == '\0'));
}

/* Whether the path, which may not exist, is one of those or beneath one, links resolved. */
static bool is_among(const char *path, const char *const *paths, size_t count)
{
	_cleanup_free_ char *real = realpath(path, NULL);
	bool found = false;

	for (size_t i = 0; real && i < count && !found; i++) {
		_cleanup_free_ char *allowed = realpath(paths[i], NULL);

		found = allowed && is_beneath(real, allowed);
	}
	return found;
}

static bool check_paths(const char *const *paths, size_t count, const struct worker_options *most,
                        const char *const *also, size_t also_count, const char *what,
                        struct err *err)
{
	for (size_t i = 0; i < count; i++)
		if (!is_among(paths[i], most->roots, most->root_count) &&
		    !is_among(paths[i], also, also_count))
			return err_set(err, ERR_DENIED_BY_SANDBOX,
			               "This worker does not allow %s %s.", what, paths[i]);
	return true;
}

static char **with(const char *const *a, size_t a_count, const char *const *b, size_t b_count)
{
	char **all = mem_alloc(a_count + b_count + 1, sizeof(*all));

	memcpy(all, a, a_count * sizeof(*all));
	memcpy(all + a_count, b, b_count * sizeof(*all));
	return all;
}

static bool check_all(const struct worker_options *options, const struct worker_options *most,
                      struct err *err)
{
	if (!most->root_count)
		return true;
	if (options->network && !most->network)
		return err_set(err, ERR_DENIED_BY_SANDBOX,
		               "This worker does not allow the network (--net).");
	return check_paths(options->roots, options->root_count, most, NULL, 0, "the workspace",
	                   err) &&
	       check_paths(options->write, options->write_count, most, most->write,
	                   most->write_count, "writing", err) &&
	       check_paths(options->read, options->read_count, most, most->read,
	                   most->read_count, "reading", err);
}

static bool check_level(struct worker_options *options, const struct worker_options *most,
                        struct err *err)
{
	if (!most->level_given)
		return true;
	if (options->level_given && options->level != most->level)
		return err_set(err, ERR_DENIED_BY_SANDBOX, "This worker works at level %s only.",
		               sandbox_level_name(most->level));
	options->level_given = true;
	options->level = most->level;
	return true;
}

bool serve_limit(struct worker_options *options, const struct worker_options *most,
                 struct wire_arena *arena, struct err *err)
{
	if (!check_all(options, most, err) || !check_level(options, most, err))
		return false;
	/* What is hidden here is hidden, whatever is asked for. */
	options->deny = (const char *const *)with(options->deny, options->deny_count, most->deny,
	                                          most->deny_count);
	options->deny_count += most->deny_count;
	wire_arena_keep(arena, (void *)options->deny);
	return true;
}

bool serve_limit_run(const struct run_request *request, const struct worker_options *most,
                     struct err *err)
{
	const struct worker_options asked = {
		.network = request->network,
		.write = request->write,
		.write_count = request->write_count,
		.read = request->read,
		.read_count = request->read_count,
	};

	return check_all(&asked, most, err);
}
