/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/report/explain.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "sandbox/apply/filter.h"
#include "sandbox/apply/landlock.h"
#include "sandbox/apply/steps.h"

const char *explain_access(enum sandbox_access access)
{
	static const char *const names[] = {
		[SANDBOX_HIDDEN] = "hidden",
		[SANDBOX_READ] = "read",
		[SANDBOX_WRITE] = "write",
	};

	return (unsigned)access < ARRAY_LEN(names) ? names[access] : "unknown";
}

/* ---- what is weaker ------------------------------------------------------- */

static bool at_paths(enum sandbox_level level, const struct sandbox_probe *probe)
{
	(void)probe;
	return level == SANDBOX_PATHS;
}

static bool at_landlock(enum sandbox_level level, const struct sandbox_probe *probe)
{
	(void)probe;
	return level == SANDBOX_LANDLOCK;
}

static bool without_landlock(enum sandbox_level level, const struct sandbox_probe *probe)
{
	return level == SANDBOX_FULL && probe->landlock_abi == 0;
}

static bool without_proc(enum sandbox_level level, const struct sandbox_probe *probe)
{
	return level == SANDBOX_FULL && !probe->own_proc;
}

static bool without_refer(enum sandbox_level level, const struct sandbox_probe *probe)
{
	return level == SANDBOX_LANDLOCK && probe->landlock_abi < 2;
}

static bool without_truncate(enum sandbox_level level, const struct sandbox_probe *probe)
{
	return level == SANDBOX_LANDLOCK && probe->landlock_abi < 3;
}

static bool without_tcp(enum sandbox_level level, const struct sandbox_probe *probe)
{
	return level == SANDBOX_LANDLOCK && probe->landlock_abi < 4;
}

static bool without_scopes(enum sandbox_level level, const struct sandbox_probe *probe)
{
	return level == SANDBOX_LANDLOCK && probe->landlock_abi < 6;
}

static bool with_erratum(enum sandbox_level level, const struct sandbox_probe *probe)
{
	return level == SANDBOX_LANDLOCK &&
	       !(probe->landlock_errata & LANDLOCK_ERRATUM_DISCONNECTED);
}

static bool without_groups(enum sandbox_level level, const struct sandbox_probe *probe)
{
	return level != SANDBOX_PATHS && !probe->cgroups;
}

/* To tell of another weakness: a row. */
static const struct {
	bool (*applies)(enum sandbox_level level, const struct sandbox_probe *probe);
	const char *sentence;
} weaknesses[] = {
	{ at_paths, "Commands are not confined at all; hasp's own file tools check paths." },
	{ at_landlock,
	  "Names of files can be listed everywhere, and what is in hidden folders can be looked for "
	  "by name (stat), not read." },
	{ at_landlock,
	  "Protected names inside writable paths can be changed for as long as a command runs, where "
	  "the supervisor misses it; they are put back after it." },
	{ at_landlock,
	  "Files that come to be directly in a folder above a hidden path can be read only by the "
	  "next command." },
	{ at_landlock,
	  "Processes of the same user can be seen, though neither be looked into nor signalled." },
	{ without_refer,
	  "Landlock ABI 1: files cannot be moved from one folder to another." },
	{ without_truncate,
	  "Landlock ABI below 3: the supervisor alone keeps files elsewhere from being shortened." },
	{ without_tcp,
	  "Landlock ABI below 4: the supervisor alone keeps commands from the network." },
	{ without_scopes,
	  "Landlock ABI below 6: commands can signal other processes of the same user; the "
	  "supervisor alone keeps them from abstract sockets." },
	{ with_erratum,
	  "The kernel has an erratum of Landlock: what is moved out of a mount while a command holds "
	  "it can gain rights." },
	{ without_landlock,
	  "There is no Landlock, which would be a second line behind the mounts." },
	{ without_proc,
	  "/proc is the machine's own: the names of other processes can be seen." },
	{ without_groups,
	  "No control group can be made: limits of memory and processes are looked after by hasp, "
	  "some 20 times a second." },
};

void explain_weaker(enum sandbox_level level, const struct sandbox_probe *probe,
                    void (*tell)(void *data, const char *sentence), void *data)
{
	for (size_t i = 0; i < ARRAY_LEN(weaknesses); i++)
		if (weaknesses[i].applies(level, probe))
			tell(data, weaknesses[i].sentence);
}

/* ---- the tree -------------------------------------------------------------- */

static void tell_weaker(void *data, const char *sentence)
{
	const struct teller *teller = data;

	teller->text(teller->data, NULL, sentence);
}

static void tell_namespaces(const struct sandbox_plan *plan, const struct teller *teller)
{
	const struct {
		const char *name;
		bool there;
	} rows[] = {
		{ "user", plan->user_namespace },
		{ "mount", plan->level == SANDBOX_FULL },
		{ "pid", plan->own_processes },
		{ "ipc", plan->level == SANDBOX_FULL },
		{ "network", plan->own_network },
	};

	teller->begin(teller->data, "namespaces", true);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].there)
			teller->text(teller->data, NULL, rows[i].name);
	teller->end(teller->data);
}

static void tell_rights(const struct teller *teller, const char *key, enum landlock_kind kind,
                        uint64_t mask)
{
	size_t count;
	const struct landlock_right *rights = landlock_rights(&count);

	if (!mask)
		return;
	teller->begin(teller->data, key, true);
	for (size_t i = 0; i < count; i++)
		if (rights[i].kind == kind && (rights[i].bit & mask))
			teller->text(teller->data, NULL, rights[i].name);
	teller->end(teller->data);
}

static void tell_layer(const struct sandbox_plan *plan, const struct teller *teller,
                       const char *name, enum landlock_layer layer)
{
	struct landlock_handled handled = landlock_handled(plan, layer);

	teller->begin(teller->data, NULL, false);
	teller->text(teller->data, "layer", name);
	tell_rights(teller, "files", LANDLOCK_KIND_FILES, handled.files);
	tell_rights(teller, "network", LANDLOCK_KIND_NETWORK, handled.network);
	tell_rights(teller, "scope", LANDLOCK_KIND_SCOPE, handled.scope);
	teller->end(teller->data);
}

static void tell_landlock(const struct sandbox_plan *plan, const struct teller *teller)
{
	if (!plan->landlock_abi)
		return;
	teller->begin(teller->data, "landlock", false);
	teller->number(teller->data, "abi", plan->landlock_abi);
	teller->begin(teller->data, "layers", true);
	tell_layer(plan, teller, "worker", LANDLOCK_LAYER_WORKER);
	if (plan->use == SANDBOX_USE_COMMAND)
		tell_layer(plan, teller, "command", LANDLOCK_LAYER_COMMAND);
	teller->end(teller->data);
	teller->end(teller->data);
}

static void tell_filters(const struct sandbox_plan *plan, const struct teller *teller)
{
	static const char *const names[FILTER_COUNT] = {
		[FILTER_BASE] = "base",
		[FILTER_FILES] = "files",
		[FILTER_COMMAND] = "command",
		[FILTER_COMMAND_NET] = "command_net",
		[FILTER_COMMAND_LANDLOCK] = "command_landlock",
		[FILTER_COMMAND_LANDLOCK_NET] = "command_landlock_net",
	};
	enum filter_name used[2] = { FILTER_BASE, FILTER_FILES };

	if (plan->level == SANDBOX_PATHS)
		return;
	if (plan->use == SANDBOX_USE_COMMAND)
		used[1] = plan->level == SANDBOX_FULL
		                  ? (plan->network ? FILTER_COMMAND_NET : FILTER_COMMAND)
		                  : (plan->network ? FILTER_COMMAND_LANDLOCK_NET
		                                   : FILTER_COMMAND_LANDLOCK);
	teller->begin(teller->data, "filters", true);
	for (size_t i = 0; i < ARRAY_LEN(used); i++) {
		teller->begin(teller->data, NULL, false);
		teller->text(teller->data, "name", names[used[i]]);
		teller->number(teller->data, "instructions", filter_size(used[i]));
		teller->end(teller->data);
	}
	teller->end(teller->data);
}

static void tell_reason(const struct teller *teller, enum sandbox_reason reason, const char *why)
{
	teller->text(teller->data, "reason", sandbox_reason_name(reason));
	teller->text(teller->data, "why", why ? why : sandbox_reason_text(reason));
}

static void tell_rules(const struct sandbox_plan *plan, const struct teller *teller)
{
	teller->begin(teller->data, "rules", true);
	for (size_t i = 0; i < plan->rule_count; i++) {
		const struct sandbox_rule *rule = &plan->rules[i];

		teller->begin(teller->data, NULL, false);
		teller->text(teller->data, "access", explain_access(rule->access));
		teller->text(teller->data, "path", rule->path);
		tell_reason(teller, rule->reason, rule->why);
		teller->flag(teller->data, "folder", rule->folder);
		teller->end(teller->data);
	}
	teller->end(teller->data);
	teller->begin(teller->data, "absent", true);
	for (size_t i = 0; i < plan->absent_count; i++) {
		teller->begin(teller->data, NULL, false);
		teller->text(teller->data, "path", plan->absent[i].path);
		tell_reason(teller, plan->absent[i].reason, plan->absent[i].why);
		teller->end(teller->data);
	}
	teller->end(teller->data);
}

static void tell_limits(const struct sandbox_plan *plan, const struct teller *teller)
{
	const struct sandbox_limits *limits = &plan->limits;
	const struct {
		const char *name;
		uint64_t value;
	} rows[] = {
		{ "memory_bytes", limits->memory_bytes }, { "file_bytes", limits->file_bytes },
		{ "processes", limits->processes },       { "open_files", limits->open_files },
		{ "cpu_seconds", limits->cpu_seconds },
	};

	if (plan->use != SANDBOX_USE_COMMAND)
		return;
	teller->begin(teller->data, "limits", false);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].value)
			teller->number(teller->data, rows[i].name, rows[i].value);
	teller->end(teller->data);
}

static void tell_mounts(const struct sandbox_plan *plan, const struct teller *teller)
{
	__attribute__((cleanup(steps_release))) struct steps steps = { 0 };
	_cleanup_buf_ struct buf line = BUF_INIT(4 * LIMIT_PATH_BYTES);

	if (plan->level != SANDBOX_FULL)
		return;
	steps_make(plan, &steps);
	teller->begin(teller->data, "mounts", true);
	for (size_t i = 0; i < steps.count; i++) {
		buf_clear(&line);
		step_describe(&steps, i, &line);
		teller->text(teller->data, NULL, line.data ? line.data : "");
	}
	teller->end(teller->data);
}

void explain_plan(const struct sandbox_plan *plan, const struct sandbox_probe *probe,
                  const struct teller *teller)
{
	teller->text(teller->data, "level", sandbox_level_name(plan->level));
	teller->text(teller->data, "use", plan->use == SANDBOX_USE_FILES ? "files" : "command");
	teller->flag(teller->data, "network", plan->network);
	teller->begin(teller->data, "roots", true);
	for (size_t i = 0; i < plan->root_count; i++)
		teller->text(teller->data, NULL, plan->roots[i]);
	teller->end(teller->data);
	if (plan->temp)
		teller->text(teller->data, "temp", plan->temp);
	tell_namespaces(plan, teller);
	tell_landlock(plan, teller);
	tell_filters(plan, teller);
	tell_rules(plan, teller);
	tell_limits(plan, teller);
	tell_mounts(plan, teller);
	teller->begin(teller->data, "unjudged", true);
	for (size_t i = 0; i < plan->unjudged_count; i++)
		teller->text(teller->data, NULL, plan->unjudged[i]);
	teller->end(teller->data);
	teller->begin(teller->data, "weaker", true);
	if (plan->weaker_because)
		teller->text(teller->data, NULL, plan->weaker_because);
	explain_weaker(plan->level, probe, tell_weaker, (void *)teller);
	teller->end(teller->data);
}
