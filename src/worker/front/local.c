/* SPDX-License-Identifier: Apache-2.0 */
/* Providers with workers: on this machine (started by local_start.c), or behind any command. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "file/journal.h"
#include "sandbox/guard/guard.h"
#include "worker/environment.h"
#include "worker/front/local_private.h"
#include "worker/front/open.h"

extern char **environ;

/* ---- names of the roots ---- */

/* Adds one more spelling of a root, if it is absolute and leads there now. */
static void name_root(const char ***names, size_t *count, size_t *cap, const char *name,
                      const char *root)
{
	_cleanup_free_ char *leads_to = name && name[0] == '/' ? realpath(name, NULL) : NULL;

	if (!leads_to || strcmp(leads_to, root) != 0 || strcmp(name, root) == 0)
		return;
	for (size_t i = 0; i + 1 < *count; i += 2)
		if (strcmp((*names)[i], name) == 0)
			return;
	*names = mem_grow(*names, cap, *count + 3, sizeof(**names));
	(*names)[(*count)++] = mem_strdup(name);
	(*names)[(*count)++] = mem_strdup(root);
	(*names)[*count] = NULL;
}

/* How users spell the roots, and folders for reading: as they gave them, and as their shell spells
 * the current folder ($PWD goes through links where the kernel's name of it does not). */
static void name_roots(struct worker_options *options)
{
	const char *shell = getenv("PWD");
	_cleanup_free_ char *cwd = getcwd(NULL, 0);
	const char **names = (const char **)options->root_names;
	size_t count = options->root_name_count, cap = 0;

	if (names) { /* the copy has room for no more */
		const char **room = mem_alloc(count + 1, sizeof(*room));

		memcpy(room, names, count * sizeof(*room));
		free(names);
		names = room;
		cap = count + 1;
	}
	for (size_t i = 0; i < options->root_count + options->read_count; i++) {
		const char *given = i < options->root_count ? options->roots[i] :
		                    options->read[i - options->root_count];
		_cleanup_free_ char *root = realpath(given, NULL);
		_cleanup_free_ char *here = cwd ? path_join(cwd, given) : NULL;
		_cleanup_free_ char *there =
			shell && shell[0] == '/' ? path_join(shell, given) : NULL;

		if (!root)
			continue;
		name_root(&names, &count, &cap, here, root);
		name_root(&names, &count, &cap, there, root);
		name_root(&names, &count, &cap, shell, root);
	}
	options->root_names = names;
	options->root_name_count = count;
}

static bool open_to_recover(void *data, const char *const *roots, size_t count,
                            const char *journal);

/* Interrupted changes of files outside, by this provider or by processes that have ended. */
static void recover_outside(struct local *local)
{
	if (local->record)
		outside_record_check(local->record);
	else if (!local->is_outside && local->options.journal_folder)
		outside_recover(local->options.journal_folder, open_to_recover, local);
}

static bool local_open(void *data, struct client **ret, struct wire_welcome *ret_welcome,
                       struct err *err)
{
	struct local *local = data;
	struct sandbox_plan *plan;
	/* It is where git's global ignore file is looked for. */
	char **env = environment_for_worker((const char *const *)environ);
	const struct sandbox_options options = local_start_options(local, SANDBOX_USE_FILES);
	bool ok;

	recover_outside(local);
	ok = local_start_worker(local, &options, (const char *const *)env, ret, ret_welcome, &plan,
	                        err);
	environment_free(env);
	if (ok)
		sandbox_plan_free(plan);
	return ok;
}

static const struct provider_info *local_weaker(void *data)
{
	return atomic_load(&((struct local *)data)->announced);
}

/* ---- commands ---- */

/* The session's folder for temporary files; NULL when it cannot be made. */
static const char *temp_of(struct local *local, struct err *err)
{
	const char *path = NULL;

	pthread_mutex_lock(&local->lock);
	if (!local->temp)
		temp_folder_make(&local->temp, err);
	if (local->temp)
		path = temp_folder_path(local->temp);
	pthread_mutex_unlock(&local->lock);
	return path;
}

static const char **local_join_lists(const char *const *a, size_t a_count, const char *const *b,
                                     size_t b_count)
{
	const char **all = mem_alloc(a_count + b_count + 1, sizeof(*all));

	if (a_count)
		memcpy(all, a, a_count * sizeof(*all));
	if (b_count)
		memcpy(all + a_count, b, b_count * sizeof(*all));
	return all;
}

static bool any_limit_given(const struct sandbox_limits *limits)
{
	return limits->memory_bytes || limits->file_bytes || limits->processes ||
	       limits->open_files || limits->cpu_seconds;
}

static bool run_in_worker(struct local *local, const struct sandbox_options *options,
                          const struct run_request *request, const struct run_events *events,
                          void *data, struct run **ret, struct err *err)
{
	char **env = environment_for_worker((const char *const *)environ);
	struct wire_welcome welcome = { 0 };
	struct client_run_options alone = { 0 };
	struct client *client = NULL;
	bool ok = local_start_worker(local, options, (const char *const *)env, &client, &welcome,
	                       &alone.plan, err) &&
	          client_start_run(client, request, events, data, &alone, ret, err);

	if (!ok)
		sandbox_plan_free(alone.plan);
	environment_free(env);
	wire_welcome_release(&welcome);
	client_unref(client);
	return ok;
}

/* What a command's plan is made of: the session's, and what the request adds. */
struct command_plan {
	struct sandbox_options options;
	const char **write, **read, **ask; /* owned */
	char **held;                       /* owned; the last ones of `ask` */
};

/* What hooks run and the user trusts by now, protected as the session's own paths are. */
static void ask_for_held(struct local *local, struct command_plan *command,
                         struct sandbox_options *options)
{
	const struct worker_options *own = &local->options;
	size_t count = 0;

	if (!own->renew_held)
		return;
	pthread_mutex_lock(&local->lock);
	own->renew_held(own->roots[0], &local->held);
	while (local->held.paths && local->held.paths[count])
		count++;
	command->held = worker_texts_copy((const char *const *)local->held.paths, count);
	pthread_mutex_unlock(&local->lock);
	command->ask = local_join_lists(own->ask, own->ask_count,
	                                (const char *const *)command->held, count);
	options->ask = command->ask;
	options->ask_count = own->ask_count + count;
}

static bool command_plan_of(struct local *local, const struct run_request *request,
                            struct command_plan *ret, struct err *err)
{
	const struct worker_options *own = &local->options;
	struct sandbox_options options = local_start_options(local, SANDBOX_USE_COMMAND);

	options.temp = temp_of(local, err);
	if (!options.temp)
		return false;
	ret->write = local_join_lists(own->write, own->write_count, request->write,
	                              request->write_count);
	ret->read = local_join_lists(own->read, own->read_count, request->read,
	                             request->read_count);
	options.write = ret->write;
	options.write_count += request->write_count;
	options.permitted_count = request->write_count;
	options.read = ret->read;
	options.read_count += request->read_count;
	ask_for_held(local, ret, &options);
	options.exact = request->exact;
	options.exact_count = request->exact_count;
	options.network |= request->network;
	if (any_limit_given(&request->limits))
		options.limits = request->limits;
	else if (!any_limit_given(&options.limits))
		options.limits = sandbox_limits_default();
	ret->options = options;
	return true;
}

static void command_plan_release(struct command_plan *command)
{
	free(command->write);
	free(command->read);
	free(command->ask);
	worker_texts_free(command->held);
}

static bool local_run(void *data, const struct run_request *request,
                      const struct run_events *events, void *events_data, struct run **ret,
                      struct err *err)
{
	__attribute__((cleanup(command_plan_release))) struct command_plan command = { 0 };
	_cleanup_free_ char *folder = local_guard_folder();
	struct err ignored = ERR_INIT;
	/* Without such a place nothing can be trusted meanwhile, either. */
	_cleanup_fd_ __attribute__((unused)) int starts =
		folder ? guard_starts_share(folder, &ignored) : -1;

	return command_plan_of(data, request, &command, err) &&
	       run_in_worker(data, &command.options, request, events, events_data, ret, err);
}

static bool local_plan(void *data, const struct run_request *request, struct sandbox_plan **ret,
                       struct err *err)
{
	__attribute__((cleanup(command_plan_release))) struct command_plan command = { 0 };

	return command_plan_of(data, request, &command, err) &&
	       local_start_plan(data, &command.options, ret, err);
}

/* ---- what is outside ---- */

static bool open_local(const struct worker_options *options, const struct local *settings,
                       struct provider **ret, struct err *err);

/* What is hidden from the session stays so, and so are credentials of others: who allows a folder
 * does not mean these.  (One that writes is for a single file, which was looked at.)  What the
 * session may write elsewhere is no business of this one, unless it is for the workspace, too. */
static struct worker_options options_outside(struct local *local, const char *const *roots,
                                            size_t count, bool write)
{
	const struct provider_info *weaker = atomic_load(&local->announced);
	struct worker_options options = {
		.roots = roots, .root_count = count, .read_only = !write, .other_homes = !write,
		.read = local->options.read, .read_count = local->options.read_count,
		.deny = local->options.deny, .deny_count = local->options.deny_count,
		.keep = local->options.keep, .keep_count = local->options.keep_count,
		.ask = local->options.ask, .ask_count = local->options.ask_count,
		.ask_refuses = local->options.ask_refuses,
		.voted = local->options.voted, .voted_count = local->options.voted_count,
		.renew_held = local->options.renew_held,
		.durability = local->options.durability,
		.max_file_bytes = local->options.max_file_bytes,
		.program = local->options.program,
		.level_given = local->options.level_given, .level = local->options.level,
	};

	pthread_mutex_lock(&local->lock);
	if (local->said) {
		options.level_given = true;
		options.level = weaker ? weaker->level : local->said_level;
	}
	pthread_mutex_unlock(&local->lock);
	return options;
}

/* The roots of the new provider: this provider's, canonical, if requested; then the folders.  The
 * caller frees both, this provider's one by one. */
static const char **roots_outside(const struct local *local, const struct outside_request *request,
                                 size_t *ret_own)
{
	const size_t own = request->with_roots ? local->options.root_count : 0;
	const char **roots = mem_alloc(own + request->folder_count + 1, sizeof(*roots));

	*ret_own = 0;
	for (size_t i = 0; i < own; i++) {
		const char *root = realpath(local->options.roots[i], NULL);
		bool known = !root;

		for (size_t k = 0; !known && k < *ret_own; k++)
			known = strcmp(roots[k], root) == 0;
		if (!known)
			roots[(*ret_own)++] = mem_steal(&root);
		free((char *)root);
	}
	for (size_t i = 0; i < request->folder_count; i++)
		roots[*ret_own + i] = request->folders[i];
	return roots;
}

/* Whether it has opened just these roots. */
static bool has_roots(struct provider *provider, const char *const *roots, size_t count,
                      struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		const char *root = provider->ops->root(provider, i);

		if (!root || strcmp(root, roots[i]) != 0)
			return err_set(err, ERR_OUTSIDE_WORKSPACE, "%s leads elsewhere by now.",
			               roots[i]);
	}
	return true;
}

/* `roots`: `own` of this provider, and the request's. */
static bool open_outside(struct local *local, const struct outside_request *request,
                        const char *const *roots, size_t own, struct provider **ret,
                        struct err *err)
{
	const size_t count = own + request->folder_count;
	struct worker_options options = options_outside(local, roots, count, request->write);
	struct local settings = { .none = local->none, .is_outside = true };
	struct provider *provider;

	if (request->with_roots) {
		options.write = local->options.write;
		options.write_count = local->options.write_count;
		options.root_names = local->options.root_names;
		options.root_name_count = local->options.root_name_count;
	}
	if (request->file_count && local->options.journal_folder) {
		if (!outside_record_make(local->options.journal_folder, roots, own, request,
		                        local->options.durability, &settings.record, err))
			return false;
		options.journal_folder = outside_record_journal(settings.record);
	}
	if (!open_local(&options, &settings, &provider, err))
		return false;
	if (has_roots(provider, roots, count, err)) {
		*ret = provider;
		return true;
	}
	provider_free(provider);
	return false;
}

static bool local_outside(void *data, const struct outside_request *request, struct provider **ret,
                         struct err *err)
{
	struct local *local = data;
	_cleanup_free_ const char **roots = NULL;
	size_t own;
	bool ok;

	if (request->with_roots && local->options.read_only)
		return err_set(err, ERR_OUTSIDE_WORKSPACE,
		               "The change is about the workspace, which may only be read, and "
		               "about files outside.");
	roots = roots_outside(local, request, &own);
	ok = open_outside(local, request, roots, own, ret, err);
	for (size_t i = 0; i < own; i++)
		free((char *)roots[i]);
	return ok;
}

/* Starting is all: a worker recovers first. */
static bool open_to_recover(void *data, const char *const *roots, size_t count,
                            const char *journal)
{
	struct local *local = data;
	struct worker_options options = options_outside(local, roots, count, true);
	const struct local settings = { .none = local->none, .is_outside = true };
	struct provider *provider;
	struct err ignored = ERR_INIT;

	options.journal_folder = journal;
	if (!open_local(&options, &settings, &provider, &ignored))
		return false;
	provider_free(provider);
	return true;
}

/* ---- the provider ---- */

/* Whether the recall files were not looked through for LIMIT_GUARD_LOOK_S: the time of an empty
 * file among them says when they were, and from now on that it is now.  A time that is yet to come
 * is that of a clock which has been put back. */
static bool recalls_are_due(const char *folder)
{
	_cleanup_free_ char *path = path_join(folder, ".looked");
	const time_t now = time(NULL);
	_cleanup_fd_ int fd = -1;
	struct stat st;

	if (lstat(path, &st) == 0 && st.st_mtim.tv_sec > now - LIMIT_GUARD_LOOK_S &&
	    st.st_mtim.tv_sec <= now)
		return false;
	fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0)
		futimens(fd, NULL);
	return true;
}

/* At a session's end: removes the recall files of workspaces that are no longer used. */
static void remove_old_recalls(const struct local *local)
{
	_cleanup_free_ char *folder = local->recalls ? local_guard_folder() : NULL;

	if (folder && recalls_are_due(folder))
		guard_remove_old(folder);
}

static void local_release(void *data)
{
	struct local *local = data;

	remove_old_recalls(local);
	temp_folder_free(local->temp);
	fd_cleanup_close(&local->recall);
	sandbox_network_release(&local->network);
	sandbox_pointers_free(local->known, local->known_count);
	outside_record_free(local->record);
	worker_held_release(&local->held);
	worker_options_release(&local->options);
	free((char *)local->weaker.weaker_because);
	pthread_mutex_destroy(&local->lock);
	free(local);
}

static const struct remote_kind kinds[] = {
	{ .name = "local", .open = local_open, .run = local_run, .plan = local_plan,
	  .outside = local_outside, .weaker = local_weaker, .release = local_release },
	{ .name = "none", .open = local_open, .run = local_run, .plan = local_plan,
	  .outside = local_outside, .weaker = local_weaker, .release = local_release },
};

/* The plan lets the worker write to the journal's folder, so it must exist.  If it cannot be
 * created, only changes of several files fail. */
static void make_journal(struct worker_options *options)
{
	struct err err = ERR_INIT;
	_cleanup_fd_ int fd = options->journal_folder && !options->commands_only ?
	                      journal_folder_make(options->journal_folder, &err) : -1;

	if (fd >= 0)
		return;
	free((char *)options->journal_folder);
	options->journal_folder = NULL;
}

/* Its path takes the place of a name; NULL stays NULL. */
static bool find_program(struct worker_options *options, struct err *err)
{
	const char *name = options->program, *path = getenv("PATH");

	if (!name || strchr(name, '/'))
		return true;
	while (path && *path) {
		size_t len = strcspn(path, ":");
		_cleanup_free_ char *tried = mem_printf("%.*s/%s", (int)len, path, name);

		if (len && path[0] == '/' && access(tried, X_OK) == 0) {
			options->program = mem_steal(&tried);
			free((char *)name);
			return true;
		}
		path += len + (path[len] == ':');
	}
	return err_set(err, ERR_FILE_NOT_FOUND, "There is no program \"%.200s\" in PATH.", name);
}

/* `settings` has what else there is to say; its record is owned from now on. */
static bool open_local(const struct worker_options *options, const struct local *settings,
                       struct provider **ret, struct err *err)
{
	struct local *local = mem_alloc(1, sizeof(*local));
	struct remote_options remote = { .kind = &kinds[settings->none], .data = local,
		                         .ret_recovered = options->ret_recovered };
	struct sandbox_options plan_of;
	struct sandbox_plan *plan = NULL;
	bool ok;

	local->none = settings->none;
	local->recall = -1;
	local->is_outside = settings->is_outside;
	local->record = settings->record;
	local->network = (struct sandbox_network)SANDBOX_NETWORK_INIT;
	local->options = worker_options_copy(options);
	pthread_mutex_init(&local->lock, NULL);
	if (!find_program(&local->options, err)) {
		local_release(local);
		return false;
	}
	make_journal(&local->options);
	name_roots(&local->options);
	plan_of = local_start_options(local, SANDBOX_USE_COMMAND);
	plan_of.check_only = true;
	if (options->commands_only) { /* the plan checks the roots, and says what there is */
		if (!local_start_plan(local, &plan_of, &plan, err)) {
			local_release(local);
			return false;
		}
		local_start_level(local, plan);
		remote.later = true;
		remote.roots = (const char *const *)plan->roots;
		remote.root_count = plan->root_count;
		remote.level = plan->level;
		remote.weaker_because = plan->weaker_because;
	}
	ok = remote_provider(&remote, ret, err);
	sandbox_plan_free(plan);
	return ok;
}

bool local_provider(const struct worker_options *options, struct provider **ret, struct err *err)
{
	return open_local(options, &(struct local){ .none = false }, ret, err);
}

bool local_provider_none(const struct worker_options *options, struct provider **ret,
                         struct err *err)
{
	return open_local(options, &(struct local){ .none = true }, ret, err);
}

bool local_provider_open(const struct worker_options *options, struct provider **ret,
                         struct err *err)
{
	if (options->level_given && options->level == SANDBOX_PATHS)
		return local_provider_none(options, ret, err);
	return local_provider(options, ret, err);
}

/* ---- A worker behind the standard input and output of any command ---- */

/* Ssh, docker exec, kubectl exec ... */

extern char **environ;

struct command_worker {
	char **argv;                   /* owned */
	char *name;                    /* owned; "The worker behind "ssh host ..."" */
	struct worker_options options; /* owned */
};

static bool command_open(void *data, struct client **ret, struct wire_welcome *ret_welcome,
                         struct err *err)
{
	struct command_worker *command = data;
	const struct client_options options = { .name = command->name, .hello_ms = 120000,
		                                .banner_max = LIMIT_WIRE_BANNER,
		                                .lease = true };
	const struct wire_hello hello = { .options = command->options };
	const struct process_start start = { .argv = (const char *const *)command->argv,
		                             .envp = (const char *const *)environ };
	struct process process;

	return process_start(&start, &process, err) &&
	       client_open(&process, &hello, &options, ret, ret_welcome, err);
}

static void command_release(void *data)
{
	struct command_worker *command = data;

	worker_texts_free(command->argv);
	free(command->name);
	worker_options_release(&command->options);
	free(command);
}

static const struct remote_kind kind = {
	.name = "command",
	.open = command_open,
	.release = command_release,
};

static char *describe_command(const char *const *argv)
{
	enum { SHOWN = 120 };
	_cleanup_buf_ struct buf words = BUF_INIT(2 * SHOWN);

	for (; *argv && words.len < SHOWN; argv++) {
		if (words.len)
			buf_char(&words, ' ');
		process_say(span_head(span_str(*argv), SHOWN), &words);
	}
	return mem_printf("The worker behind \"%s%s\"", words.data ? words.data : "",
	                  *argv ? " ..." : "");
}

bool local_provider_command(const char *const *argv, const struct worker_options *options,
                            struct provider **ret, struct err *err)
{
	struct command_worker *command = mem_alloc(1, sizeof(*command));
	const struct remote_options remote = { .kind = &kind, .data = command,
		                               .ret_recovered = options->ret_recovered };
	size_t count = 0;

	while (argv[count])
		count++;
	command->argv = worker_texts_copy(argv, count);
	command->name = describe_command(argv);
	command->options = worker_options_copy(options);
	return remote_provider(&remote, ret, err);
}
