/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/report/status.h"

#include "base/mem.h"

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
	{ FULL, "Without --net a command has a network of its own, in which only loopback is." },
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

void status_print(const struct sandbox_probe *probe, enum sandbox_level level,
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
