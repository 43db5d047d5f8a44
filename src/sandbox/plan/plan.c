/* SPDX-License-Identifier: Apache-2.0 */
/* Making a plan: levels, what the options say, and the tables; the rules are noted in a draft
 * (draft.c). */
#include "sandbox/plan/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "sandbox/plan/calls.h"
#include "sandbox/plan/private.h"

/* ---- levels ---- */

static const char *const level_names[] = {
	[SANDBOX_PATHS] = "paths",
	[SANDBOX_LANDLOCK] = "landlock",
	[SANDBOX_FULL] = "full",
};

const char *sandbox_level_name(enum sandbox_level level)
{
	return (unsigned)level < ARRAY_LEN(level_names) ? level_names[level] : "unknown";
}

bool sandbox_level_parse(const char *name, enum sandbox_level *ret)
{
	if (strcmp(name, "none") == 0)
		name = level_names[SANDBOX_PATHS];
	for (size_t i = 0; i < ARRAY_LEN(level_names); i++) {
		if (strcmp(name, level_names[i]) == 0) {
			*ret = (enum sandbox_level)i;
			return true;
		}
	}
	return false;
}

/* ---- the plan ---- */

struct sandbox_limits sandbox_limits_default(void)
{
	struct sysinfo info;
	uint64_t memory = 0;

	if (sysinfo(&info) == 0)
		memory = (uint64_t)info.totalram * info.mem_unit / 2;
	return (struct sandbox_limits){
		.memory_bytes = memory,
		.file_bytes = (uint64_t)16 << 30,
		.processes = 1024,
	};
}

static bool set_level_refused(const struct sandbox_probe *probe, enum sandbox_level level,
                              struct err *err)
{
	const bool full = level == SANDBOX_FULL;
	const char *why = full ? probe->why_not_full : probe->why_not_landlock;
	const char *remedy = full ? probe->remedy : probe->remedy_landlock;

	return err_set(err, ERR_DENIED_BY_SANDBOX,
	               "the level %s is not available here: %s%s%s", sandbox_level_name(level),
	               why[0] ? why : "the kernel refuses it",
	               remedy[0] ? "; to change that: " : "", remedy);
}

bool sandbox_level_choose(const struct sandbox_options *options, const struct sandbox_probe *probe,
                          enum sandbox_level *ret, struct err *err)
{
	bool landlock = probe->landlock_abi > 0 && probe->seccomp && !probe->why_not_landlock[0];
	enum sandbox_level level = options->level_given ? options->level : probe->best;

	if (level == SANDBOX_FULL && probe->best != SANDBOX_FULL)
		return set_level_refused(probe, SANDBOX_FULL, err);
	if (level == SANDBOX_LANDLOCK && !landlock)
		return set_level_refused(probe, SANDBOX_LANDLOCK, err);
	*ret = level;
	return true;
}

static bool choose_level(const struct sandbox_options *options, const struct sandbox_probe *probe,
                         struct sandbox_plan *plan, struct err *err)
{
	if (!sandbox_level_choose(options, probe, &plan->level, err))
		return false;
	if (plan->level == SANDBOX_FULL)
		return true;
	if (options->level_given && probe->best > plan->level)
		plan->weaker_because = mem_printf("The level %s was asked for.",
		                                  sandbox_level_name(plan->level));
	else
		plan->weaker_because = mem_strdup(probe->why_not_full);
	return true;
}

static void choose_namespaces(const struct sandbox_options *options,
                              const struct sandbox_probe *probe, struct sandbox_plan *plan)
{
	plan->use = options->use;
	/* A worker of use FILES has no sockets at all (filter.h): it needs no network namespace,
	 * which takes longer to make than all the rest. */
	plan->network = options->use == SANDBOX_USE_COMMAND && options->network;
	plan->own_network = plan->level == SANDBOX_FULL && options->use == SANDBOX_USE_COMMAND &&
	                    !options->network;
	plan->own_processes = plan->level == SANDBOX_FULL;
	plan->user_namespace = plan->level == SANDBOX_FULL && probe->user_namespaces;
	plan->landlock_abi = plan->level == SANDBOX_PATHS ? 0 : probe->landlock_abi;
	plan->limits = options->limits;
}

/* Protected names cannot be looked for in a closed folder, which commands of its owner could
 * open. */
static bool may_be_listed(const char *path, struct err *err)
{
	struct stat st;

	if (lstat(path, &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
	    faccessat(AT_FDCWD, path, R_OK | X_OK, AT_EACCESS) == 0)
		return true;
	return err_set(err, ERR_DENIED_BY_SANDBOX,
	               "the folder %s cannot be writable in a sandbox, because it cannot be listed "
	               "and searched for files that must be protected; use chmod u+rx on it first",
	               path);
}

/* Kernel interfaces are no place to work in, and with "/" nothing would be left to protect. */
static bool may_be_writable(const struct sandbox_plan *plan, const char *path, struct err *err)
{
	static const char *const never[] = { "/proc", "/sys" };

	if (!may_be_listed(path, err))
		return false;
	if (plan->level == SANDBOX_PATHS)
		return true;
	if (strcmp(path, "/") == 0 || strcmp(path, "/dev") == 0)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "%s cannot be writable in a sandbox: nothing would be left to "
		               "protect; name a folder in it, or ask for the level paths", path);
	for (size_t i = 0; i < ARRAY_LEN(never); i++)
		if (location_within(path, never[i]))
			return err_set(err, ERR_INVALID_ARGUMENT, "%s cannot be writable in a "
			               "sandbox: it belongs to the kernel", path);
	return true;
}

static bool add_root(struct plan_draft *draft, struct sandbox_plan *plan, const char *root,
                     struct err *err)
{
	_cleanup_location_ struct location place = { 0 };

	if (!location_canonical(root, &place))
		return err_set_errno(err, errno, "the workspace root %s cannot be used", root);
	if (place.kind != LOCATION_FOLDER)
		return err_set(err, ERR_NOT_A_DIRECTORY, "the workspace root %s is not a folder",
		               root);
	for (size_t i = 0; i < plan->root_count; i++)
		if (strcmp(plan->roots[i], place.path) == 0)
			return true;
	if (draft->options->roots_read_only)
		draft_rule(draft, mem_strdup(place.path), true, SANDBOX_READ, SANDBOX_REASON_ROOT,
		           DRAFT_ROOT, NULL);
	else if (may_be_writable(plan, place.path, err))
		draft_writable(draft, &place, SANDBOX_REASON_ROOT, DRAFT_ROOT);
	else
		return false;
	plan->roots[plan->root_count++] = mem_steal(&place.path);
	return true;
}

/* A path to be written to that is not there: fine if it is a name that would be kept from coming
 * into being. */
static bool lift_missing(struct plan_draft *draft, struct sandbox_plan *plan, const char *path,
                         struct err *err)
{
	_cleanup_location_ struct location here = { 0 }, place = { 0 };

	if (path[0] != '/' && !location_here(&here))
		return err_set_errno(err, errno, "the working folder has no name");
	location_resolve(here.path ? here.path : "/", path, NULL, NULL, &place);
	if (place.kind != LOCATION_MISSING || !draft_in_writable(draft, place.path))
		return err_set(err, ERR_FILE_NOT_FOUND,
		               "the path to be writable, %s, does not exist", path);
	draft->lifted = mem_grow(draft->lifted, &draft->lifted_cap, draft->lifted_count + 1,
	                         sizeof(*draft->lifted));
	plan->given[plan->given_count++] = mem_strdup(place.path);
	draft->lifted[draft->lifted_count++] = mem_steal(&place.path);
	return true;
}

static bool add_write(struct plan_draft *draft, struct sandbox_plan *plan, const char *path,
                      struct err *err)
{
	_cleanup_location_ struct location place = { 0 };

	if (location_canonical(path, &place)) {
		if (!may_be_writable(plan, place.path, err))
			return false;
		draft_writable(draft, &place, SANDBOX_REASON_OPTION, DRAFT_OPTION);
		plan->given[plan->given_count++] = mem_steal(&place.path);
		return true;
	}
	if (errno == ENOENT)
		return lift_missing(draft, plan, path, err);
	return err_set_errno(err, errno, "the path to be writable, %s, cannot be used", path);
}

static void add_exact(struct plan_draft *draft, struct sandbox_plan *plan, const char *path)
{
	const struct location place = { (char *)path, LOCATION_FILE };
	struct err err = ERR_INIT;

	if (!location_is_lone_file(path) || !may_be_writable(plan, path, &err))
		return;
	draft_writable(draft, &place, SANDBOX_REASON_OPTION, DRAFT_OPTION);
	plan->given[plan->given_count++] = mem_strdup(path);
}

/* A folder of hasp's own. */
static bool add_own(struct plan_draft *draft, const char *path, enum sandbox_reason reason,
                    struct err *err)
{
	_cleanup_location_ struct location place = { 0 };

	if (!path)
		return true;
	if (!location_canonical(path, &place))
		return err_set_errno(err, errno, "hasp's own folder %s cannot be used", path);
	draft_rule(draft, mem_steal(&place.path), true, SANDBOX_WRITE, reason, DRAFT_ROOT, NULL);
	return true;
}

static bool add_deny(struct plan_draft *draft, const struct sandbox_plan *plan, const char *path,
                     struct err *err)
{
	_cleanup_location_ struct location here = { 0 }, place = { 0 };

	if (path[0] != '/' && !location_here(&here))
		return err_set_errno(err, errno, "the working folder has no name");
	location_resolve(here.path ? here.path : "/", path, NULL, NULL, &place);
	if (place.kind == LOCATION_CLOSED) {
		/* What this user cannot get at, commands cannot either, unless they may open it. */
		draft_closed(draft, here.path ? here.path : "/", path, &(struct sandbox_rule){
			.access = SANDBOX_HIDDEN, .reason = SANDBOX_REASON_DENY,
		}, DRAFT_DENY);
		return true;
	}
	if (strcmp(place.path, "/") == 0)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "/ cannot be denied: no program could start");
	for (size_t i = 0; i < plan->root_count; i++)
		if (strcmp(plan->roots[i], place.path) == 0)
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "%s is a workspace root and denied", place.path);
	if (place.kind == LOCATION_MISSING)
		draft_absent(draft, mem_steal(&place.path), SANDBOX_REASON_DENY, "denied");
	else
		draft_rule(draft, mem_steal(&place.path), place.kind == LOCATION_FOLDER,
		           SANDBOX_HIDDEN, SANDBOX_REASON_DENY, DRAFT_DENY, NULL);
	return true;
}

/* --read: where a rule of the tables hides it. What is denied by its very path stays so, and what
 * is not there need not be lifted. */
static void lift_reading(struct plan_draft *draft, const char *path)
{
	_cleanup_location_ struct location place = { 0 };

	if (location_canonical(path, &place) && !plan_is_seen(draft, place.path))
		draft_rule(draft, mem_steal(&place.path), place.kind == LOCATION_FOLDER,
		           SANDBOX_READ, SANDBOX_REASON_OPTION, DRAFT_OPTION, NULL);
}

static bool add_writables(struct plan_draft *draft, struct sandbox_plan *plan, struct err *err)
{
	const struct sandbox_options *options = draft->options;

	plan->roots = mem_alloc(options->root_count + 1, sizeof(*plan->roots));
	for (size_t i = 0; i < options->root_count; i++)
		if (!add_root(draft, plan, options->roots[i], err))
			return false;
	plan->given = mem_alloc(options->write_count + options->exact_count + 1,
	                        sizeof(*plan->given));
	for (size_t i = 0; i < options->write_count; i++)
		if (!plan_keeps(draft, options->write[i],
		                i + options->permitted_count >= options->write_count) &&
		    !add_write(draft, plan, options->write[i], err))
			return false;
	for (size_t i = 0; i < options->exact_count; i++)
		if (!plan_keeps(draft, options->exact[i], true))
			add_exact(draft, plan, options->exact[i]);
	return add_own(draft, options->temp, SANDBOX_REASON_TEMP, err) &&
	       (options->use != SANDBOX_USE_FILES ||
	        add_own(draft, options->journal, SANDBOX_REASON_JOURNAL, err));
}

/* At full there is a private /dev, and "nodev" everywhere.  Landlock needs rules for devices: those
 * that are not in the table (disks, memory, input) cannot be read. */
static void add_device_rules(struct plan_draft *draft, const struct sandbox_plan *plan)
{
	struct sandbox_names names = names_devices();

	if (plan->level == SANDBOX_LANDLOCK && location_kind_of("/dev") == LOCATION_FOLDER)
		draft_rule(draft, mem_strdup("/dev"), true, SANDBOX_HIDDEN, SANDBOX_REASON_DEVICE,
		           DRAFT_TABLE, "disks, memory and other raw devices");
	if (draft->options->use == SANDBOX_USE_FILES)
		names.count = NAMES_DEVICES_OF_FILES;
	plan_names(draft, "/", names);
}

static void add_tables(struct plan_draft *draft, const struct sandbox_plan *plan)
{
	const char *text = draft->options->home ? draft->options->home : getenv("HOME");
	_cleanup_location_ struct location home = { 0 };
	size_t given = draft->writable_count; /* a repository elsewhere may add to it */

	add_device_rules(draft, plan);
	plan_config_globals(draft);
	for (size_t i = 0; i < given; i++) {
		const char *folder = draft->writable[i];
		bool root = false;

		if (location_kind_of(folder) != LOCATION_FOLDER)
			continue;
		for (size_t k = 0; k < plan->root_count; k++)
			root = root || strcmp(plan->roots[k], folder) == 0;
		plan_names(draft, folder, names_workspace());
		plan_git(draft, folder, root);
	}
	if (text && location_canonical(text, &home) && strcmp(home.path, "/") != 0) {
		plan_home(draft, home.path);
		if (plan_cover(draft, home.path) && !draft_in_writable(draft, home.path))
			draft_rule(draft, mem_strdup(home.path), home.kind == LOCATION_FOLDER,
			           SANDBOX_READ, SANDBOX_REASON_DEFAULT, DRAFT_PIN,
			           "the home folder, which the session's /tmp would cover");
	}
	if (text && !home.path)
		draft_closed(draft, "/", text, &(struct sandbox_rule){
			.access = SANDBOX_HIDDEN, .reason = SANDBOX_REASON_CREDENTIALS,
			.why = "the home folder is in it",
		}, DRAFT_TABLE);
	/* A privileged user's own home may be another than the environment says (sudo). */
	if (geteuid() == 0 && (!home.path || strcmp(home.path, "/root") != 0) &&
	    !draft->options->home)
		plan_home(draft, "/root");
	plan_writable_homes(draft);
	for (size_t i = 0; draft->options->other_homes && i < plan->root_count; i++)
		plan_other_homes(draft, plan->roots[i], home.path);
	plan_variables(draft, home.path);
	plan_system(draft);
}

static bool too_many_named(const struct plan_draft *draft, struct err *err)
{
	const char *last =
		draft->named_by ? draft->reader.pointers[draft->named_by - 1].path : NULL;

	return err_set(err, ERR_TOO_LARGE, "git's configuration names more than %d files%s%s%s",
	               LIMIT_SANDBOX_RULES, last ? " (read last: " : "", last ? last : "",
	               last ? ")" : "");
}

static bool add_all_rules(struct plan_draft *draft, struct sandbox_plan *plan, struct err *err)
{
	const struct sandbox_options *options = draft->options;

	if (!add_writables(draft, plan, err))
		return false;
	if (!options->check_only)
		add_tables(draft, plan);
	if (draft->reader.failed) {
		*err = draft->reader.err;
		return false;
	}
	for (size_t i = 0; i < options->deny_count; i++)
		if (!add_deny(draft, plan, options->deny[i], err))
			return false;
	if (options->check_only)
		return true;
	plan_keep(draft);
	draft_settle(draft);
	plan_twins(draft);
	draft_settle(draft);
	for (size_t i = 0; i < options->read_count; i++) {
		lift_reading(draft, options->read[i]);
		draft_settle(draft);
	}
	plan_views(draft);
	if (draft->reader.failed) {
		*err = draft->reader.err;
		return false;
	}
	draft_pin(draft);
	draft_prune(draft);
	if (draft->too_many_named)
		return too_many_named(draft, err);
	if (draft->too_many)
		return err_set(err, ERR_TOO_LARGE, "the sandbox would have more than %d rules",
		               LIMIT_SANDBOX_RULES);
	return true;
}

static void plan_take_draft(struct plan_draft *draft, struct sandbox_plan *plan)
{
	plan->rules = mem_alloc(draft->rule_count + 1, sizeof(*plan->rules));
	for (size_t i = 0; i < draft->rule_count; i++)
		plan->rules[i] = draft->rules[i].rule;
	plan->rule_count = draft->rule_count;
	draft->rule_count = 0;
	plan->absent = mem_steal(&draft->absent);
	plan->absent_count = draft->absent_count;
	draft->absent_count = 0;
	plan->pointers = mem_steal(&draft->reader.pointers);
	plan->pointer_count = draft->reader.count;
	draft->reader.count = 0;
	plan->unjudged = mem_steal(&draft->unjudged);
	plan->unjudged_count = draft->unjudged_count;
	draft->unjudged_count = 0;
}

/* The folder as it is called: what the rule for it says may have been merged with another's. */
static bool name_temp(struct sandbox_plan *plan, const char *temp, struct err *err)
{
	_cleanup_location_ struct location place = { 0 };

	if (!temp)
		return true;
	if (!location_canonical(temp, &place))
		return err_set_errno(err, errno, "hasp's own folder %s cannot be used", temp);
	plan->temp = mem_steal(&place.path);
	return true;
}

/* What no filter refuses is not called forbidden. */
static bool take_syscalls(const struct sandbox_options *options, struct sandbox_plan *plan,
                          struct err *err)
{
	struct err why = ERR_INIT;

	if (!options->syscall_count || options->use != SANDBOX_USE_COMMAND)
		return true;
	if (plan->level == SANDBOX_PATHS)
		return err_set(err, ERR_DENIED_BY_SANDBOX,
		               "hasp.sandbox.syscalls forbids system calls, which level paths "
		               "cannot do: commands are not confined there.");
	return sandbox_calls_expand(options->syscalls, options->syscall_count, &plan->syscalls,
	                            &plan->syscall_count, &why) ||
	       err_set(err, why.code, "hasp.sandbox.syscalls: %s", why.message);
}

bool sandbox_plan_make(const struct sandbox_options *options, const struct sandbox_probe *probe,
                       struct sandbox_plan **ret, struct err *err)
{
	__attribute__((cleanup(draft_release))) struct plan_draft draft = { .options = options };
	struct sandbox_plan *plan;

	if (options->root_count == 0 && options->use == SANDBOX_USE_FILES)
		return err_set(err, ERR_INVALID_ARGUMENT, "a workspace root is needed");
	plan = mem_alloc(1, sizeof(*plan));
	draft.plan = plan;
	if (!choose_level(options, probe, plan, err) || !take_syscalls(options, plan, err) ||
	    !add_all_rules(&draft, plan, err) ||
	    !name_temp(plan, options->temp, err)) {
		sandbox_plan_free(plan);
		return false;
	}
	choose_namespaces(options, probe, plan);
	plan_take_draft(&draft, plan);
	*ret = plan;
	return true;
}

void sandbox_plan_free(struct sandbox_plan *plan)
{
	if (!plan)
		return;
	for (size_t i = 0; i < plan->rule_count; i++)
		free(plan->rules[i].path);
	for (size_t i = 0; i < plan->absent_count; i++)
		free(plan->absent[i].path);
	for (size_t i = 0; i < plan->root_count; i++)
		free(plan->roots[i]);
	for (size_t i = 0; i < plan->given_count; i++)
		free(plan->given[i]);
	for (size_t i = 0; i < plan->unjudged_count; i++)
		free(plan->unjudged[i]);
	free(plan->unjudged);
	free(plan->given);
	sandbox_calls_free(plan->syscalls);
	sandbox_pointers_free(plan->pointers, plan->pointer_count);
	free(plan->rules);
	free(plan->absent);
	free(plan->roots);
	free(plan->temp);
	free(plan->weaker_because);
	free(plan);
}
