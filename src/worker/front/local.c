/* SPDX-License-Identifier: Apache-2.0 */
/* How workers are started: of this machine (this program again, inside a plan,
 * sandbox/apply/spawn.h), or behind any command. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/sha256.h"
#include "file/journal.h"
#include "sandbox/apply/spawn.h"
#include "sandbox/apply/temp.h"
#include "sandbox/guard/guard.h"
#include "sandbox/apply/probe.h"
#include "worker/environment.h"
#include "worker/front/private.h"
#include "worker/front/open.h"

/* ---- workers of this machine ---- */

/* This program again, inside a plan (sandbox/apply/spawn.h). */

extern char **environ;

static const char *const worker_argv[] = { "hasp", "worker", "--confined", NULL };

struct local {
	struct worker_options options; /* owned (worker_options_copy) */
	bool none;                     /* never confined */
	bool is_outside;                /* another's, for what is outside of its roots */
	pthread_mutex_t lock;          /* of what follows */
	struct temp_folder *temp;      /* owned; made by the first command */
	struct sandbox_network network; /* of commands without the machine's; made by the first */
	bool network_made;              /* or tried to */
	struct sandbox_pointer *known;  /* owned; what git's files were last seen to say */
	size_t known_count;
	struct worker_held held;       /* options.renew_held's */
	int recall;                     /* owned; -1: none (open_recall) */
	bool recalls;                   /* a command had a file that outlives the session */
	bool network_refused;           /* it cannot be had or entered: each command has its own */
	bool said;                      /* a level was: of the first worker, or of the first plan */
	enum sandbox_level said_level;
	struct provider_info weaker;    /* its reason is owned; what `announced` points to */
	struct outside_record *record;   /* owned; NULL, or of the change that it is for */
	/* NULL, or what is true since a command ran at a weaker level than was said. */
	_Atomic(const struct provider_info *) announced;
};

/* ---- plans ---- */

/* What each kind of plan has in common. */
static struct sandbox_options plan_options(const struct local *local, enum sandbox_use use)
{
	const struct worker_options *own = &local->options;

	return (struct sandbox_options){
		.roots = own->roots, .root_count = own->root_count,
		.write = own->write, .write_count = own->write_count,
		.read = own->read, .read_count = own->read_count,
		.deny = own->deny, .deny_count = own->deny_count,
		.keep = own->keep, .keep_count = own->keep_count,
		.ask = own->ask, .ask_count = own->ask_count, .ask_refuses = own->ask_refuses,
		.syscalls = own->syscalls, .syscall_count = own->syscall_count,
		.roots_read_only = own->read_only, .other_homes = own->other_homes,
		.network = own->network, .use = use, .limits = own->limits,
		.level_given = own->level_given || local->none,
		.level = local->none ? SANDBOX_PATHS : own->level,
		.journal = use == SANDBOX_USE_FILES ? own->journal_folder : NULL,
		.assume = true,
	};
}

/* What was read is what later plans assume.  The worker, from whom more may be hidden, is not
 * asked. */
static void learn_pointers(struct local *local, struct sandbox_plan *plan)
{
	sandbox_pointers_free(local->known, local->known_count);
	local->known = mem_steal(&plan->pointers);
	local->known_count = plan->pointer_count;
	plan->pointer_count = 0;
}

static bool local_make_plan(struct local *local, const struct sandbox_options *options,
                            struct sandbox_plan **ret, struct err *err)
{
	/* Level paths needs nothing of the machine. */
	static const struct sandbox_probe nothing = { .best = SANDBOX_PATHS };
	const struct sandbox_probe *probe = local->none ? &nothing : sandbox_probe_quick();
	struct sandbox_options with = *options;
	bool ok;

	pthread_mutex_lock(&local->lock);
	with.known = local->known;
	with.known_count = local->known_count;
	ok = sandbox_plan_make(&with, probe, ret, err);
	if (ok && !options->assume)
		learn_pointers(local, *ret);
	pthread_mutex_unlock(&local->lock);
	if (!ok)
		return false;
	if (local->none) { /* asked for: nothing to explain */
		free((*ret)->weaker_because);
		(*ret)->weaker_because = NULL;
	}
	return true;
}

/* ---- the session's network ---- */

/* What commands without the machine's network share, so that one reaches what another left running;
 * NULL: nothing. */
static const struct sandbox_network *network_for(struct local *local,
                                                 const struct sandbox_plan *plan)
{
	struct err err = ERR_INIT;
	bool refused;

	if (!plan->own_network)
		return NULL;
	pthread_mutex_lock(&local->lock);
	if (!local->network_made) {
		local->network_made = true;
		local->network_refused = !sandbox_network_make(plan, &local->network, &err);
	}
	refused = local->network_refused;
	pthread_mutex_unlock(&local->lock);
	return refused ? NULL : &local->network;
}

static void refuse_network(struct local *local)
{
	pthread_mutex_lock(&local->lock);
	local->network_refused = true; /* others may be using it: it stays until the end */
	pthread_mutex_unlock(&local->lock);
}

/* ---- what the guards of commands know of each other ---- */

/* A file for each workspace beneath the user's home folder, where no command reaches; where there
 * is no such place, one without a name, that lasts as long as this process.  -1 with errno. */
static int open_recall(struct local *local, const struct sandbox_plan *plan)
{
	_cleanup_free_ char *folder = local_guard_folder();
	const struct sha256 sum = sha256_of(span_str(plan->roots[0]));
	struct err ignored = ERR_INIT;
	char hex[SHA256_HEX_SIZE], link[32];
	int fd = -1;

	sha256_hex(&sum, hex);
	if (folder && file_make_folders(folder, &ignored)) {
		_cleanup_free_ char *path = mem_printf("%s/%.32s", folder, hex);

		fd = guard_open_record(path);
	}
	pthread_mutex_lock(&local->lock);
	if (fd >= 0) {
		local->recalls = true;
		pthread_mutex_unlock(&local->lock);
		return fd;
	}
	if (local->recall < 0)
		local->recall = memfd_create("guard", MFD_CLOEXEC);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", local->recall);
	fd = open(link, O_RDWR | O_CLOEXEC);
	pthread_mutex_unlock(&local->lock);
	return fd;
}

/* ---- starting ---- */

/* Where a container's filter forbids what entering a shared network needs, the command has one of
 * its own: no less is kept from it. */
static bool start_process(struct local *local, const struct process_start *wanted,
                          struct process *ret, struct err *err)
{
	struct process_start start = *wanted;
	struct err why = ERR_INIT;

	_cleanup_fd_ int recall = -1;

	if (start.plan->use == SANDBOX_USE_COMMAND && start.plan->level != SANDBOX_PATHS) {
		recall = open_recall(local, start.plan);
		if (recall < 0)
			return err_set_errno(err, errno, "What commands leave cannot be recorded");
		start.recall = recall;
	}
	start.network = network_for(local, start.plan);
	if (process_start(&start, ret, &why))
		return true;
	if (start.network && why.code == ERR_DENIED_BY_SANDBOX) {
		start.network = NULL;
		if (!process_start(&start, ret, err))
			return false;
		refuse_network(local);
		return true;
	}
	*err = why;
	return false;
}

static bool start_in(struct local *local, const struct sandbox_plan *plan,
                     const char *const *env, struct client **ret, struct wire_welcome *ret_welcome,
                     struct err *err)
{
	const struct client_options options = { 0 };
	struct wire_hello hello = { .options = local->options,
		                    .plan = (struct sandbox_plan *)plan };
	struct process_start start = { .argv = worker_argv, .envp = env, .own = true, .plan = plan,
		                       .program = local->options.program };
	struct process process;

	_cleanup_free_ const char **read = mem_alloc(hello.options.read_count + 1, sizeof(*read));
	size_t read_count = 0;
	bool ok;

	for (size_t i = 0; i < hello.options.read_count; i++) {
		read[read_count] = realpath(hello.options.read[i], NULL);
		read_count += read[read_count] != NULL;
	}
	/* What the plan has resolved, and what is there to be read, and nothing else. */
	hello.options.roots = (const char *const *)plan->roots;
	hello.options.root_count = plan->root_count;
	hello.options.read = read;
	hello.options.read_count = read_count;
	ok = start_process(local, &start, &process, err) &&
	     client_open(&process, &hello, &options, ret, ret_welcome, err);
	while (read_count)
		free((char *)read[--read_count]);
	return ok;
}

/* ---- weaker levels ---- */

/* One worker that is to be started, from the first try to the last. */
struct local_attempt {
	struct sandbox_options options;
	bool level_given;   /* by the user: no other will do */
	bool probed;        /* the full probe was asked, and plans are made of what it says */
	struct err refused; /* of level full, when landlock is tried instead of it; or none */
};

/* Whether to try again after a level that was believed in was refused: first with what the full
 * probe says, which later plans know too; if that sees nothing wrong, at landlock in place of full.
 * Never at paths: that would be no confinement at all. */
static bool weaken(struct local_attempt *attempt, enum sandbox_level tried, const struct err *why)
{
	if (attempt->level_given || why->code != ERR_DENIED_BY_SANDBOX || tried == SANDBOX_PATHS)
		return false;
	if (!attempt->probed) {
		sandbox_probe();
		attempt->probed = true;
		return true;
	}
	if (tried != SANDBOX_FULL)
		return false;
	attempt->options.level_given = true;
	attempt->options.level = SANDBOX_LANDLOCK;
	attempt->refused = *why;
	return true;
}

/* The last word on an attempt. */
static bool give_up_level(const struct local_attempt *attempt, const struct err *why,
                          struct err *err)
{
	*err = *why;
	if (why->code == ERR_DENIED_BY_SANDBOX && !attempt->level_given)
		err_set(err, why->code, "%s With --sandbox paths hasp works unconfined.",
		        why->message);
	return false;
}

/* No worker is started without confinement where confinement was promised. */
static bool worker_may_start(struct local *local, const struct local_attempt *attempt,
                             const struct sandbox_plan *plan, struct err *err)
{
	enum sandbox_level said;

	pthread_mutex_lock(&local->lock);
	said = local->said ? local->said_level : SANDBOX_PATHS;
	pthread_mutex_unlock(&local->lock);
	if (plan->level != SANDBOX_PATHS || said == SANDBOX_PATHS || attempt->level_given)
		return true;
	return err_set(err, ERR_DENIED_BY_SANDBOX,
	               "It would not be confined, but level %s was requested: %s. --sandbox paths "
	               "works without confinement.", sandbox_level_name(said),
	               plan->weaker_because ? plan->weaker_because : "the kernel refuses it");
}

/* What the plan of the attempt is; one that landlock was given for says why. */
static bool attempt_plan(struct local *local, const struct local_attempt *attempt,
                         struct sandbox_plan **ret, struct err *err)
{
	struct sandbox_plan *plan;

	if (!local_make_plan(local, &attempt->options, &plan, err)) {
		if (attempt->refused.code != ERR_NONE)
			give_up_level(attempt, &attempt->refused, err);
		return false;
	}
	if (attempt->refused.code != ERR_NONE) {
		free(plan->weaker_because);
		plan->weaker_because = mem_strdup(attempt->refused.message);
	}
	if (!worker_may_start(local, attempt, plan, err)) {
		sandbox_plan_free(plan);
		return false;
	}
	*ret = plan;
	return true;
}

/* The first level is what info says.  A weaker one, which can only be landlock, takes its place. */
static void note_level(struct local *local, const struct sandbox_plan *plan)
{
	pthread_mutex_lock(&local->lock);
	if (!local->said) {
		local->said = true;
		local->said_level = plan->level;
	} else if (plan->level < local->said_level && !atomic_load(&local->announced)) {
		local->weaker = (struct provider_info){ "local", plan->level,
			                                mem_strdup(plan->weaker_because) };
		atomic_store(&local->announced, &local->weaker);
	}
	pthread_mutex_unlock(&local->lock);
}

static const struct provider_info *local_weaker(void *data)
{
	return atomic_load(&((struct local *)data)->announced);
}

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

/* Starts a worker in the plan of these options, at the strongest level that can be had.  Plans are
 * made on what git's files were last seen to say; if the worker finds that they say something else,
 * they are read (sandbox/plan/read.c) and another is started.  The plan is the caller's. */
static bool start_worker(struct local *local, const struct sandbox_options *options,
                         const char *const *env, struct client **ret,
                         struct wire_welcome *ret_welcome, struct sandbox_plan **ret_plan,
                         struct err *err)
{
	struct local_attempt attempt = { .options = *options, .level_given = options->level_given,
		                         .refused = ERR_INIT };

	for (;;) {
		struct sandbox_plan *plan;
		struct err why = ERR_INIT;
		enum sandbox_level tried;

		if (!attempt_plan(local, &attempt, &plan, err))
			return false;
		if (start_in(local, plan, env, ret, ret_welcome, &why)) {
			note_level(local, plan);
			*ret_plan = plan;
			return true;
		}
		tried = plan->level;
		sandbox_plan_free(plan);
		if (attempt.options.assume && why.code == ERR_STATE_MISMATCH) {
			attempt.options.assume = false;
		} else if (!weaken(&attempt, tried, &why)) {
			return give_up_level(&attempt, &why, err);
		}
	}
}

static bool open_to_recover(void *data, const char *const *roots, size_t count,
                            const char *journal);

/* Changes of files outside that were cut short, this provider's own or of processes that are
 * gone. */
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
	const struct sandbox_options options = plan_options(local, SANDBOX_USE_FILES);
	bool ok;

	recover_outside(local);
	ok = start_worker(local, &options, (const char *const *)env, ret, ret_welcome, &plan, err);
	environment_free(env);
	if (ok)
		sandbox_plan_free(plan);
	return ok;
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
	bool ok = start_worker(local, options, (const char *const *)env, &client, &welcome,
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
	struct sandbox_options options = plan_options(local, SANDBOX_USE_COMMAND);

	options.temp = temp_of(local, err);
	if (!options.temp)
		return false;
	ret->write = local_join_lists(own->write, own->write_count, request->write,
	                              request->write_count);
	ret->read = local_join_lists(own->read, own->read_count, request->read,
	                             request->read_count);
	options.write = ret->write;
	options.write_count += request->write_count;
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
	       local_make_plan(data, &command.options, ret, err);
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

/* The roots of the one that is to be: this provider's own, canonical, if they are asked for; then
 * the folders.  Both are freed by the caller, the own ones one by one. */
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

/* Once, at the session's end: what commands knew of workspaces that nobody uses any more. */
static void remove_old_recalls(const struct local *local)
{
	_cleanup_free_ char *folder = local->recalls ? local_guard_folder() : NULL;

	if (folder)
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

/* The plan lets the worker write to the journal's folder, so it has to be there.  Where it cannot
 * be made, only changes of several files fail. */
static void make_journal(struct worker_options *options)
{
	struct err err = ERR_INIT;
	_cleanup_fd_ int fd = options->journal_folder && !options->commands_only ?
	                      journal_folder_open(options->journal_folder, true, &err) : -1;

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
	plan_of = plan_options(local, SANDBOX_USE_COMMAND);
	plan_of.check_only = true;
	if (options->commands_only) { /* the plan checks the roots, and says what there is */
		if (!local_make_plan(local, &plan_of, &plan, err)) {
			local_release(local);
			return false;
		}
		note_level(local, plan);
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
