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

static void tell_levels(const struct sandbox_probe *probe, const struct teller *teller)
{
	teller->begin(teller->data, "levels", true);
	for (int i = SANDBOX_FULL; i >= SANDBOX_PATHS; i--) {
		enum sandbox_level level = (enum sandbox_level)i;
		bool full = level == SANDBOX_FULL, available = is_available(probe, level);
		const char *why = full ? probe->why_not_full : probe->why_not_landlock;
		const char *remedy = full ? probe->remedy : probe->remedy_landlock;

		teller->begin(teller->data, NULL, false);
		teller->text(teller->data, "level", sandbox_level_name(level));
		teller->flag(teller->data, "available", available);
		if (available)
			teller->text(teller->data, "why", "can be had");
		else
			teller->text(teller->data, "why", why);
		if (!available && remedy[0])
			teller->text(teller->data, "remedy", remedy);
		teller->end(teller->data);
	}
	teller->end(teller->data);
}

static void tell_sentence(void *data, const char *sentence)
{
	const struct teller *teller = data;

	teller->text(teller->data, NULL, sentence);
}

static void tell_facts(const struct sandbox_probe *probe, const struct teller *teller)
{
	teller->begin(teller->data, "facts", false);
	teller->flag(teller->data, "user_namespaces", probe->user_namespaces);
	teller->flag(teller->data, "privileged", probe->privileged);
	teller->flag(teller->data, "own_proc", probe->own_proc);
	teller->number(teller->data, "landlock_abi", probe->landlock_abi);
	teller->number(teller->data, "landlock_errata", probe->landlock_errata);
	teller->flag(teller->data, "seccomp", probe->seccomp);
	teller->flag(teller->data, "seccomp_notify", probe->seccomp_notify);
	teller->flag(teller->data, "cgroups", probe->cgroups);
	teller->end(teller->data);
}

void status_tell(const struct sandbox_probe *probe, enum sandbox_level level,
                 const struct teller *teller)
{
	teller->text(teller->data, "level", sandbox_level_name(level));
	teller->text(teller->data, "kernel", probe->kernel);
	tell_levels(probe, teller);
	teller->begin(teller->data, "enforced", true);
	for (size_t i = 0; i < ARRAY_LEN(enforced); i++)
		if (enforced[i].levels & 1u << level)
			teller->text(teller->data, NULL, enforced[i].sentence);
	teller->end(teller->data);
	teller->begin(teller->data, "weaker", true);
	explain_weaker(level, probe, tell_sentence, (void *)teller);
	teller->end(teller->data);
	tell_facts(probe, teller);
}
