/* SPDX-License-Identifier: Apache-2.0 */
/* From a HELLO to a provider. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/apply/inside.h"
#include "worker/inside/inprocess.h"
#include "worker/inside/serve_private.h"

/* Inside a sandbox: with this process's rights, which the plan describes. */
static bool open_confined(void *data, const struct wire_hello *hello, struct provider **ret,
                          struct err *err)
{
	const struct worker_options *from = &hello->options;
	const struct inprocess_options options = {
		.roots = from->roots,
		.root_count = from->root_count,
		.root_names = from->root_names,
		.root_name_count = from->root_name_count,
		.journal_folder = from->journal_folder,
		.durability = from->durability,
		.max_file_bytes = (size_t)from->max_file_bytes,
		.keep_cache = from->keep_cache,
		.ret_recovered = from->ret_recovered,
		.plan = hello->plan,
	};

	(void)data;
	if (!from->root_count || !hello->plan)
		return err_set(err, ERR_INVALID_ARGUMENT, "A confined worker needs a plan.");
	if (hello->plan->use == SANDBOX_USE_FILES && !sandbox_harden_files(hello->plan, err))
		return false;
	/* Whoever made the plan has not looked into git's files, which may say anything. */
	if (!sandbox_plan_holds(hello->plan))
		return err_set(err, ERR_STATE_MISMATCH,
		               "git's files say something else than the plan rests on.");
	return provider_inprocess(&options, ret, err);
}

/* Limits of folders mean nothing without confinement: whoever wants that has to say so. */
static bool check_confined(struct provider *provider, const struct worker_options *most,
                           struct err *err)
{
	if (!most || !most->root_count || most->level_given ||
	    provider->ops->info(provider)->level != SANDBOX_PATHS)
		return true;
	return err_set(err, ERR_DENIED_BY_SANDBOX,
	               "This worker has --root, but commands would not be confined (level paths); "
	               "\"hasp worker --sandbox paths\" allows that.");
}

/* Anywhere: with workers of its own, within what whoever started this one allows. */
static bool open_free(void *data, const struct wire_hello *hello, struct provider **ret,
                      struct err *err)
{
	const struct worker_options *most = data;
	struct worker_options options = hello->options;
	struct wire_arena arena = { 0 };
	bool ok;

	if (!options.root_count)
		return err_set(err, ERR_INVALID_ARGUMENT, "Name a workspace folder.");
	if (!options.journal_folder && most)
		options.journal_folder = most->journal_folder;
	ok = (!most || serve_limit(&options, most, &arena, err)) &&
	     (options.level_given && options.level == SANDBOX_PATHS ?
	              provider_none(&options, ret, err) : provider_local(&options, ret, err));
	wire_arena_release(&arena);
	if (ok && !check_confined(*ret, most, err)) {
		provider_free(*ret);
		ok = false;
	}
	return ok;
}

int worker_serve(const struct worker_serve_options *options)
{
	const struct serve_connection connection = {
		.read_fd = options->read_fd,
		.write_fd = options->write_fd,
		.open = options->confined ? open_confined : open_free,
		.data = (void *)options->most,
		.most = options->most,
		.leave_at_once = options->confined,
	};

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files: EFBIG */
	return serve_connection(&connection) ? EXIT_SUCCESS : EXIT_FAILURE;
}
