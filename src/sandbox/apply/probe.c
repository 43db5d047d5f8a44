/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/plan/probe.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/span.h"
#include "sandbox/apply/cgroup.h"
#include "sandbox/apply/landlock.h"
#include "sandbox/apply/probe_private.h"

/* What tests take away. */
struct simulation {
	bool any, no_userns, no_landlock, no_seccomp, no_notify, no_proc, no_cgroup;
	unsigned landlock_abi; /* 0: as it is */
};

static void simulate_word(struct simulation *simulation, struct span word)
{
	const struct {
		const char *word;
		bool *flag;
	} flags[] = {
		{ "no-userns", &simulation->no_userns },
		{ "no-landlock", &simulation->no_landlock },
		{ "no-seccomp", &simulation->no_seccomp },
		{ "no-notify", &simulation->no_notify },
		{ "no-proc", &simulation->no_proc },
		{ "no-cgroup", &simulation->no_cgroup },
	};

	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		if (span_eq(word, span_str(flags[i].word)))
			*flags[i].flag = simulation->any = true;
	if (span_starts(word, SPAN("landlock-abi="))) {
		char *end;
		long abi = strtol(span_skip(word, strlen("landlock-abi=")).data, &end, 10);

		if (end == word.data + word.len && abi >= 0 && abi <= 1000) {
			simulation->landlock_abi = (unsigned)abi;
			simulation->no_landlock |= abi == 0;
			simulation->any = true;
		}
	}
}

static struct simulation simulation_read(void)
{
	struct simulation simulation = { 0 };
	struct span rest = span_str(sandbox_simulation());

	while (rest.len) {
		const char *comma = memchr(rest.data, ',', rest.len);
		size_t len = comma ? (size_t)(comma - rest.data) : rest.len;

		simulate_word(&simulation, span_head(rest, len));
		rest = span_skip(rest, comma ? len + 1 : len);
	}
	return simulation;
}

static void note_landlock(const struct simulation *simulation, struct sandbox_probe *probe)
{
	int why;

	probe->landlock_abi = landlock_abi_here(&why);
	if (simulation->no_landlock) {
		probe->landlock_abi = 0;
		why = EOPNOTSUPP;
	}
	if (simulation->landlock_abi && simulation->landlock_abi < probe->landlock_abi)
		probe->landlock_abi = simulation->landlock_abi;
	if (probe->landlock_abi)
		probe->landlock_errata = landlock_errata_here();
	else
		reasons_not_landlock(why, probe);
}

static bool has_action(uint32_t action)
{
	return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

static bool group_can_be_made(void)
{
	const struct sandbox_limits limits = {
		.memory_bytes = (uint64_t)1 << 40, .processes = 1024,
	};
	struct cgroup *group = cgroup_make(&limits);

	cgroup_free(group);
	return group != NULL;
}

static void note_trial(const struct simulation *simulation, struct sandbox_probe *probe)
{
	struct trial trial = { 0 };

	if (simulation->no_userns) {
		trial = (struct trial){ TRIAL_NAMESPACES, EPERM, EPERM, 0, 0 };
		snprintf(probe->why_not_full, sizeof(probe->why_not_full),
		         "user namespaces are taken away for a test (HASP_SANDBOX_SIMULATE)");
		snprintf(probe->remedy, sizeof(probe->remedy), "unset HASP_SANDBOX_SIMULATE");
	} else {
		trial_run(true, &trial);
		probe->user_namespaces = trial.step == TRIAL_DONE;
		if (!probe->user_namespaces && geteuid() == 0) {
			struct trial privileged;

			trial_run(false, &privileged);
			probe->privileged = privileged.step == TRIAL_DONE;
			if (probe->privileged)
				trial = privileged;
		}
		if (trial.step != TRIAL_DONE)
			reasons_not_full(&trial, probe);
	}
	probe->own_proc = trial.step == TRIAL_DONE && trial.proc_error == 0 && !simulation->no_proc;
	probe->seccomp = trial.filter_error == 0 && !simulation->no_seccomp;
	probe->seccomp_notify = probe->seccomp && trial.notify_error == 0 &&
	                        !simulation->no_notify && !reasons_no_ptrace();
}

static void note_filters(struct sandbox_probe *probe)
{
	const char *why = NULL, *remedy = "";

	if (!probe->seccomp) {
		why = "seccomp filters cannot be installed";
	} else if (!probe->seccomp_notify && reasons_no_ptrace()) {
		why = "the supervisor may not look into a command's memory "
		      "(kernel.yama.ptrace_scope is 2 or 3)";
		remedy = "sudo sysctl -w kernel.yama.ptrace_scope=1";
	} else if (!probe->seccomp_notify) {
		why = "the kernel has no seccomp notifications, or a supervisor listens already";
	}
	if (why && !probe->why_not_landlock[0]) {
		snprintf(probe->why_not_landlock, sizeof(probe->why_not_landlock), "%s", why);
		snprintf(probe->remedy_landlock, sizeof(probe->remedy_landlock), "%s", remedy);
	}
	if (why && !probe->why_not_full[0]) {
		snprintf(probe->why_not_full, sizeof(probe->why_not_full), "%s", why);
		snprintf(probe->remedy, sizeof(probe->remedy), "%s", remedy);
	}
}

static void choose_best(struct sandbox_probe *probe)
{
	bool namespaces = probe->user_namespaces || probe->privileged;

	probe->best = SANDBOX_PATHS;
	if (probe->landlock_abi && probe->seccomp_notify)
		probe->best = SANDBOX_LANDLOCK;
	if (namespaces && probe->seccomp_notify && (probe->own_proc || probe->landlock_abi))
		probe->best = SANDBOX_FULL;
	if (probe->best == SANDBOX_FULL)
		return;
	if (!probe->why_not_full[0])
		snprintf(probe->why_not_full, sizeof(probe->why_not_full),
		         "there is neither Landlock nor a /proc of one's own, so that other "
		         "processes could be looked into");
}

static void note_kernel(struct sandbox_probe *probe)
{
	struct utsname name;

	if (uname(&name) == 0)
		snprintf(probe->kernel, sizeof(probe->kernel), "%.64s", name.release);
}

static struct sandbox_probe full_result, quick_result;
static pthread_once_t full_once = PTHREAD_ONCE_INIT, quick_once = PTHREAD_ONCE_INIT;
static atomic_bool full_done;

static void find_out(void)
{
	const struct simulation simulation = simulation_read();
	struct sandbox_probe *probe = &full_result;

	note_kernel(probe);
	note_landlock(&simulation, probe);
	note_trial(&simulation, probe);
	note_filters(probe);
	probe->cgroups = !simulation.no_cgroup && group_can_be_made();
	choose_best(probe);
	atomic_store(&full_done, true);
}

const struct sandbox_probe *sandbox_probe(void)
{
	pthread_once(&full_once, find_out);
	return &full_result;
}

static void find_out_quickly(void)
{
	const struct simulation simulation = simulation_read();
	struct sandbox_probe *probe = &quick_result;

	note_kernel(probe);
	note_landlock(&simulation, probe);
	probe->user_namespaces = probe->own_proc = true;
	probe->seccomp = has_action(SECCOMP_RET_ERRNO);
	probe->seccomp_notify = has_action(SECCOMP_RET_USER_NOTIF) && !reasons_no_ptrace();
	choose_best(probe);
	/* Not what would be worth a mistake: then it is found out by trying. */
	if (simulation.any || probe->best != SANDBOX_FULL || !probe->landlock_abi ||
	    reasons_doubt())
		*probe = *sandbox_probe();
}

const struct sandbox_probe *sandbox_probe_quick(void)
{
	if (atomic_load(&full_done))
		return &full_result;
	pthread_once(&quick_once, find_out_quickly);
	return &quick_result;
}
