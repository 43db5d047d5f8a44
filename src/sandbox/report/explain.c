/* SPDX-License-Identifier: Apache-2.0 */
/* A plan, and what this machine allows, as a tree and as lines. */
#include "sandbox/report/report.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
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

/* ---- what is weaker ---- */

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

/* To add a weakness: a row. */
static const struct {
	bool (*applies)(enum sandbox_level level, const struct sandbox_probe *probe);
	const char *sentence;
} weaknesses[] = {
	{ at_paths, "Commands are not confined at all; hasp's own file tools check paths." },
	{ at_landlock,
	  "Names of files can be listed everywhere, and what is in hidden folders can be looked "
	  "for by name (stat), not read." },
	{ at_landlock,
	  "Protected names inside writable paths can be changed for as long as a command runs, "
	  "where the supervisor misses it; they are put back after it." },
	{ at_landlock,
	  "Files that come to be directly in a folder above a hidden path can be read only by the "
	  "next command." },
	{ at_landlock,
	  "Processes of the same user can be seen, though neither be looked into nor signalled." },
	{ without_refer,
	  "Landlock ABI 1: files cannot be moved from one folder to another." },
	{ without_truncate,
	  "Landlock ABI below 3: the supervisor alone keeps files elsewhere from being "
	  "shortened." },
	{ without_tcp,
	  "Landlock ABI below 4: the supervisor alone keeps commands from the network." },
	{ without_scopes,
	  "Landlock ABI below 6: commands can signal other processes of the same user; the "
	  "supervisor alone keeps them from abstract sockets." },
	{ with_erratum,
	  "The kernel has an erratum of Landlock: what is moved out of a mount while a command "
	  "holds it can gain rights." },
	{ without_landlock,
	  "There is no Landlock, which would be a second line behind the mounts." },
	{ without_proc,
	  "/proc is the machine's own: the names of other processes can be seen." },
	{ without_groups,
	  "No control group can be made: limits of memory and processes are looked after by hasp, "
	  "some 20 times a second." },
};

/* What a level leaves open on this machine: sentences, one by one. */
static void explain_weaker(enum sandbox_level level, const struct sandbox_probe *probe,
                           void (*each)(void *data, const char *sentence), void *data)
{
	for (size_t i = 0; i < ARRAY_LEN(weaknesses); i++)
		if (weaknesses[i].applies(level, probe))
			each(data, weaknesses[i].sentence);
}

/* ---- the tree ---- */

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
		reporter->text(reporter->data, "name", filter_label(used[i]));
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

/* What each level does. To add a sentence: a row; the levels are bits. */
enum { FULL = 1 << SANDBOX_FULL, LANDLOCK = 1 << SANDBOX_LANDLOCK, PATHS = 1 << SANDBOX_PATHS };

static const struct {
	unsigned levels;
	const char *sentence;
} enforced[] = {
	{ FULL | LANDLOCK | PATHS, "File tools reach nothing outside the workspace roots." },
	{ FULL,
	  "Commands see all files read-only but the writable paths; hidden paths are covered." },
	{ LANDLOCK,
	  "Landlock lets commands write only to the writable paths, and not read hidden ones." },
	{ FULL, "What git, editors and agents would run or obey is read-only inside them." },
	{ LANDLOCK,
	  "What git, editors and agents would run or obey is put back if a command changed it." },
	{ FULL, "Without --net a command has a separate network with loopback only." },
	{ LANDLOCK, "Without --net a command reaches only what its own processes listen on." },
	{ FULL | LANDLOCK, "Sockets of daemons cannot be connected to." },
	{ FULL, "Processes outside cannot be seen; all of a command's end with it." },
	{ LANDLOCK, "Processes outside cannot be looked into or signalled." },
	{ FULL | LANDLOCK, "System calls that no command needs are refused (seccomp)." },
	{ FULL | LANDLOCK, "No capabilities, no new privileges." },
	{ FULL | LANDLOCK,
	  "Each refusal names the path, the rule, and the flag that would allow it." },
};

static bool is_available(const struct sandbox_probe *probe, enum sandbox_level level)
{
	if (level == SANDBOX_LANDLOCK)
		return probe->landlock_abi > 0 && probe->seccomp_notify;
	return level <= probe->best;
}

static void print_levels(const struct sandbox_probe *probe, const struct reporter *reporter)
{
	reporter->begin(reporter->data, "levels", true);
	for (int i = SANDBOX_FULL; i >= SANDBOX_PATHS; i--) {
		enum sandbox_level level = (enum sandbox_level)i;
		bool full = level == SANDBOX_FULL, available = is_available(probe, level);
		const char *why = full ? probe->why_not_full : probe->why_not_landlock;
		const char *remedy = full ? probe->remedy : probe->remedy_landlock;

		reporter->begin(reporter->data, NULL, false);
		reporter->text(reporter->data, "level", sandbox_level_name(level));
		reporter->flag(reporter->data, "available", available);
		if (available)
			reporter->text(reporter->data, "why", "can be had");
		else
			reporter->text(reporter->data, "why", why);
		if (!available && remedy[0])
			reporter->text(reporter->data, "remedy", remedy);
		reporter->end(reporter->data);
	}
	reporter->end(reporter->data);
}

static void print_sentence(void *data, const char *sentence)
{
	const struct reporter *reporter = data;

	reporter->text(reporter->data, NULL, sentence);
}

static void print_facts(const struct sandbox_probe *probe, const struct reporter *reporter)
{
	reporter->begin(reporter->data, "facts", false);
	reporter->flag(reporter->data, "user_namespaces", probe->user_namespaces);
	reporter->flag(reporter->data, "privileged", probe->privileged);
	reporter->flag(reporter->data, "own_proc", probe->own_proc);
	reporter->number(reporter->data, "landlock_abi", probe->landlock_abi);
	reporter->number(reporter->data, "landlock_errata", probe->landlock_errata);
	reporter->flag(reporter->data, "seccomp", probe->seccomp);
	reporter->flag(reporter->data, "seccomp_notify", probe->seccomp_notify);
	reporter->flag(reporter->data, "cgroups", probe->cgroups);
	reporter->end(reporter->data);
}

void explain_status(const struct sandbox_probe *probe, enum sandbox_level level,
                  const struct reporter *reporter)
{
	reporter->text(reporter->data, "level", sandbox_level_name(level));
	reporter->text(reporter->data, "kernel", probe->kernel);
	print_levels(probe, reporter);
	reporter->begin(reporter->data, "enforced", true);
	for (size_t i = 0; i < ARRAY_LEN(enforced); i++)
		if (enforced[i].levels & 1u << level)
			reporter->text(reporter->data, NULL, enforced[i].sentence);
	reporter->end(reporter->data);
	reporter->begin(reporter->data, "weaker", true);
	explain_weaker(level, probe, print_sentence, (void *)reporter);
	reporter->end(reporter->data);
	print_facts(probe, reporter);
}

/* ---- as lines ---- */

/* Controls, the escape itself, and what is drawn as nothing or turns what follows around. */
static bool character_needs_escape(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{ 0, 0x1f },        { '\\', '\\' },     { 0x7f, 0x9f },     { 0xad, 0xad },
		{ 0x61c, 0x61c },   { 0x180e, 0x180e }, { 0x200b, 0x200f }, { 0x2028, 0x202e },
		{ 0x2060, 0x206f }, { 0xfeff, 0xfeff }, { 0xfff9, 0xfffb }, { 0xe0000, 0xe0fff },
	};

	for (size_t i = 0; i < ARRAY_LEN(ranges); i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

void explain_escape(struct buf *out, const char *text)
{
	struct span rest = span_str(text);
	struct utf8_char c;

	while (utf8_next(&rest, &c)) {
		if (c.bad || (c.code < 0x80 && character_needs_escape(c.code)))
			buf_printf(out, "\\x%02x", (unsigned char)c.bytes.data[0]);
		else if (character_needs_escape(c.code))
			buf_printf(out, "\\u{%" PRIx32 "}", c.code);
		else
			buf_span(out, c.bytes);
	}
}

/* ---- the tree as lines --------------------------------------------------------
 *
 * A value at the top, and its key, is a line.  A list or an object at the top is a heading, with
 * what is in it indented.  An object in a list is one line: its values, and its own lists in words.
 */

struct layout {
	struct buf *out;
	unsigned depth; /* lists and objects that are open */
	unsigned row;   /* depth of the object that is a line; 0: none */
	bool first;     /* nothing of the line is there yet */
	const char *heading; /* that waits for something to stand above */
};

static void put_heading(struct layout *layout)
{
	if (layout->heading)
		buf_printf(layout->out, "%s\n", layout->heading);
	layout->heading = NULL;
}

/* The first words of lines that stand below each other are short: levels, accesses. */
static void put_tree_word(struct layout *layout, const char *value)
{
	size_t start = layout->out->len;

	buf_str(layout->out, !layout->first && layout->depth > layout->row ? " " : "  ");
	explain_escape(layout->out, value);
	while (layout->first && layout->out->len - start < 10 && !layout->out->overflowed)
		buf_char(layout->out, ' ');
	layout->first = false;
}

static void layout_begin(void *data, const char *key, bool list)
{
	struct layout *layout = data;

	layout->depth++;
	if (layout->row) {
		put_tree_word(layout, key);
		buf_char(layout->out, ':');
	} else if (layout->depth == 1) {
		layout->heading = key;
	} else if (!list && !key) {
		put_heading(layout);
		layout->row = layout->depth;
		layout->first = true;
	}
}

static void layout_end(void *data)
{
	struct layout *layout = data;

	if (layout->row == layout->depth && layout->row) {
		buf_char(layout->out, '\n');
		layout->row = 0;
	}
	layout->depth--;
	layout->heading = NULL;
}

static void layout_text(void *data, const char *key, const char *value)
{
	struct layout *layout = data;

	if (layout->row) {
		put_tree_word(layout, value);
		return;
	}
	put_heading(layout);
	if (key)
		buf_printf(layout->out, "%s%-12s ", layout->depth ? "  " : "", key);
	else
		buf_str(layout->out, "  ");
	explain_escape(layout->out, value);
	buf_char(layout->out, '\n');
}

static void layout_number(void *data, const char *key, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	layout_text(data, key, text);
}

/* In a line a flag would be a riddle. */
static void layout_flag(void *data, const char *key, bool value)
{
	const struct layout *layout = data;

	if (!layout->row)
		layout_text(data, key, value ? "yes" : "no");
}

void explain_plan_text(const struct sandbox_plan *plan, const struct sandbox_probe *probe,
                       struct buf *out)
{
	struct layout layout = { .out = out };
	const struct reporter reporter = { &layout, layout_begin, layout_end, layout_text,
	                                   layout_number, layout_flag };

	explain_plan(plan, probe, &reporter);
}

void explain_status_text(const struct sandbox_probe *probe, enum sandbox_level level,
                         struct buf *out)
{
	struct layout layout = { .out = out };
	const struct reporter reporter = { &layout, layout_begin, layout_end, layout_text,
	                                   layout_number, layout_flag };

	explain_status(probe, level, &reporter);
}

void explain_twins_text(const struct twins *twins, struct buf *out)
{
	struct layout layout = { .out = out };
	const struct reporter reporter = { &layout, layout_begin, layout_end, layout_text,
	                                   layout_number, layout_flag };

	twins_print(twins, &reporter);
}
