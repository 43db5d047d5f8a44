/* SPDX-License-Identifier: Apache-2.0 */
/* Starts workers of this machine: the plan, the network and the record that commands share, and the
 * strongest level that the kernel allows. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "sandbox/apply/probe.h"
#include "sandbox/guard/guard.h"
#include "worker/front/local_private.h"

static const char *const worker_argv[] = { "hasp", "worker", "--confined", NULL };

/* ---- plans ---- */

struct sandbox_options local_start_options(const struct local *local, enum sandbox_use use)
{
	const struct worker_options *own = &local->options;

	return (struct sandbox_options){
		.roots = own->roots, .root_count = own->root_count,
		.write = own->write, .write_count = own->write_count,
		.read = own->read, .read_count = own->read_count,
		.deny = own->deny, .deny_count = own->deny_count,
		.keep = own->keep, .keep_count = own->keep_count,
		.ask = own->ask, .ask_count = own->ask_count, .ask_refuses = own->ask_refuses,
		.voted = own->voted, .voted_count = own->voted_count,
		.syscalls = own->syscalls, .syscall_count = own->syscall_count,
		.roots_read_only = own->read_only, .other_homes = own->other_homes,
		.network = own->network, .use = use, .limits = own->limits,
		.level_given = own->level_given || local->none,
		.level = local->none ? SANDBOX_PATHS : own->level,
		.journal = use == SANDBOX_USE_FILES ? own->journal_folder : NULL,
		.assume = true,
	};
}

/* Later plans assume the state that was read.  The worker, which may see less, is not asked. */
static void learn_pointers(struct local *local, struct sandbox_plan *plan)
{
	sandbox_pointers_free(local->known, local->known_count);
	local->known = mem_steal(&plan->pointers);
	local->known_count = plan->pointer_count;
	plan->pointer_count = 0;
}

bool local_start_plan(struct local *local, const struct sandbox_options *options,
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

/* Where a container's filter forbids what entering a shared network needs, the command gets a
 * separate one: it is confined as strictly. */
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
		pthread_mutex_lock(&local->lock);
		local->network_refused = true; /* others may be using it: it stays until the end */
		pthread_mutex_unlock(&local->lock);
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

/* Starting one worker, from the first try to the last. */
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

	if (!local_start_plan(local, &attempt->options, &plan, err)) {
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

void local_start_level(struct local *local, const struct sandbox_plan *plan)
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

bool local_start_worker(struct local *local, const struct sandbox_options *options,
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
			local_start_level(local, plan);
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
