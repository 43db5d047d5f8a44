/* SPDX-License-Identifier: Apache-2.0 */
/* Between probe.c, probe_trial.c and probe_reasons.c. */
#ifndef HASP_SANDBOX_APPLY_PROBE_PRIVATE_H
#define HASP_SANDBOX_APPLY_PROBE_PRIVATE_H

#include "sandbox/plan/probe.h"

/* How far the trial came. */
enum trial_step {
	TRIAL_FORK,       /* no child at all */
	TRIAL_NAMESPACES, /* the namespaces */
	TRIAL_MAP,        /* the user's own id in the user namespace */
	TRIAL_PRIVATE,    /* mounts of one's own */
	TRIAL_TREE,       /* a copy of the tree of mounts */
	TRIAL_READ_ONLY,  /* all read-only */
	TRIAL_TMPFS,      /* a new file system, put in a place */
	TRIAL_DONE,
};

struct trial {
	enum trial_step step; /* the one that failed, or DONE */
	int error;            /* errno of that */
	int proc_error;       /* 0: a new /proc can be made */
	int filter_error;     /* 0: a filter can be installed */
	int notify_error;     /* 0: with notifications */
};

/* In a child that is gone when it returns. */
void trial_run(bool user_namespace, struct trial *ret);

/* "the namespaces", ... */
const char *trial_step_name(enum trial_step step);

/* Fill in why and remedy. */
void reasons_not_full(const struct trial *trial, struct sandbox_probe *probe);
void reasons_not_landlock(int landlock_errno, struct sandbox_probe *probe);
/* Something that can be known at once speaks against namespaces, or makes them doubtful: a filter
 * that this process did not ask for, as containers have. */
bool reasons_doubt(void);
/* kernel.yama.ptrace_scope forbids looking into other processes. */
bool reasons_no_ptrace(void);

#endif
