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

static void print_weaker(void *data, const char *sentence)
{
	const struct reporter *reporter = data;

	reporter->text(reporter->data, NULL, sentence);
}

static void print_namespaces(const struct sandbox_plan *plan, const struct reporter *reporter)
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

	reporter->begin(reporter->data, "namespaces", true);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].there)
			reporter->text(reporter->data, NULL, rows[i].name);
	reporter->end(reporter->data);
}

static void print_rights(const struct reporter *reporter, const char *key, enum landlock_kind kind,
                         uint64_t mask)
{
	size_t count;
	const struct landlock_right *rights = landlock_rights(&count);

	if (!mask)
		return;
	reporter->begin(reporter->data, key, true);
	for (size_t i = 0; i < count; i++)
		if (rights[i].kind == kind && (rights[i].bit & mask))
			reporter->text(reporter->data, NULL, rights[i].name);
	reporter->end(reporter->data);
}

static void print_layer(const struct sandbox_plan *plan, const struct reporter *reporter,
                        const char *name, enum landlock_layer layer)
{
	struct landlock_handled handled = landlock_handled(plan, layer);

	reporter->begin(reporter->data, NULL, false);
	reporter->text(reporter->data, "layer", name);
	print_rights(reporter, "files", LANDLOCK_KIND_FILES, handled.files);
	print_rights(reporter, "network", LANDLOCK_KIND_NETWORK, handled.network);
	print_rights(reporter, "scope", LANDLOCK_KIND_SCOPE, handled.scope);
	reporter->end(reporter->data);
}

static void print_landlock(const struct sandbox_plan *plan, const struct reporter *reporter)
{
	if (!plan->landlock_abi)
		return;
	reporter->begin(reporter->data, "landlock", false);
	reporter->number(reporter->data, "abi", plan->landlock_abi);
	reporter->begin(reporter->data, "layers", true);
	print_layer(plan, reporter, "worker", LANDLOCK_LAYER_WORKER);
	if (plan->use == SANDBOX_USE_COMMAND)
		print_layer(plan, reporter, "command", LANDLOCK_LAYER_COMMAND);
	reporter->end(reporter->data);
	reporter->end(reporter->data);
}

static void print_filters(const struct sandbox_plan *plan, const struct reporter *reporter)
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
	reporter->begin(reporter->data, "filters", true);
	for (size_t i = 0; i < ARRAY_LEN(used); i++) {
		reporter->begin(reporter->data, NULL, false);
		reporter->text(reporter->data, "name", names[used[i]]);
		reporter->number(reporter->data, "instructions", filter_size(used[i]));
		reporter->end(reporter->data);
	}
	reporter->end(reporter->data);
}

static void print_reason(const struct reporter *reporter, enum sandbox_reason reason,
                         const char *why)
{
	reporter->text(reporter->data, "reason", sandbox_reason_name(reason));
	reporter->text(reporter->data, "why", why ? why : sandbox_reason_text(reason));
}

static void print_rules(const struct sandbox_plan *plan, const struct reporter *reporter)
{
	reporter->begin(reporter->data, "rules", true);
	for (size_t i = 0; i < plan->rule_count; i++) {
		const struct sandbox_rule *rule = &plan->rules[i];

		reporter->begin(reporter->data, NULL, false);
		reporter->text(reporter->data, "access", explain_access(rule->access));
		reporter->text(reporter->data, "path", rule->path);
		print_reason(reporter, rule->reason, rule->why);
		reporter->flag(reporter->data, "folder", rule->folder);
		reporter->end(reporter->data);
	}
	reporter->end(reporter->data);
	reporter->begin(reporter->data, "absent", true);
	for (size_t i = 0; i < plan->absent_count; i++) {
		reporter->begin(reporter->data, NULL, false);
		reporter->text(reporter->data, "path", plan->absent[i].path);
		print_reason(reporter, plan->absent[i].reason, plan->absent[i].why);
		reporter->end(reporter->data);
	}
	reporter->end(reporter->data);
}

static void print_limits(const struct sandbox_plan *plan, const struct reporter *reporter)
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
	reporter->begin(reporter->data, "limits", false);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].value)
			reporter->number(reporter->data, rows[i].name, rows[i].value);
	reporter->end(reporter->data);
}

static void print_mounts(const struct sandbox_plan *plan, const struct reporter *reporter)
{
	__attribute__((cleanup(steps_release))) struct steps steps = { 0 };
	_cleanup_buf_ struct buf line = BUF_INIT(4 * LIMIT_PATH_BYTES);

	if (plan->level != SANDBOX_FULL)
		return;
	steps_make(plan, &steps);
	reporter->begin(reporter->data, "mounts", true);
	for (size_t i = 0; i < steps.count; i++) {
		buf_clear(&line);
		step_describe(&steps, i, &line);
		reporter->text(reporter->data, NULL, line.data ? line.data : "");
	}
	reporter->end(reporter->data);
}

void explain_plan(const struct sandbox_plan *plan, const struct sandbox_probe *probe,
                  const struct reporter *reporter)
{
	reporter->text(reporter->data, "level", sandbox_level_name(plan->level));
	reporter->text(reporter->data, "use", plan->use == SANDBOX_USE_FILES ? "files" : "command");
	reporter->flag(reporter->data, "network", plan->network);
	reporter->begin(reporter->data, "roots", true);
	for (size_t i = 0; i < plan->root_count; i++)
		reporter->text(reporter->data, NULL, plan->roots[i]);
	reporter->end(reporter->data);
	if (plan->temp)
		reporter->text(reporter->data, "temp", plan->temp);
	print_namespaces(plan, reporter);
	print_landlock(plan, reporter);
	print_filters(plan, reporter);
	print_rules(plan, reporter);
	print_limits(plan, reporter);
	print_mounts(plan, reporter);
	reporter->begin(reporter->data, "unjudged", true);
	for (size_t i = 0; i < plan->unjudged_count; i++)
		reporter->text(reporter->data, NULL, plan->unjudged[i]);
	reporter->end(reporter->data);
	reporter->begin(reporter->data, "weaker", true);
	if (plan->weaker_because)
		reporter->text(reporter->data, NULL, plan->weaker_because);
	explain_weaker(plan->level, probe, print_weaker, (void *)reporter);
	reporter->end(reporter->data);
}
