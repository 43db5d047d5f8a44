/* SPDX-License-Identifier: Apache-2.0 */
/* What this machine allows, found out by trying, once a process.
 *
 * Trying means: a child makes the namespaces and mounts that a plan would need, asks for Landlock's
 * version and errata, and installs a filter.  Nothing is left behind.  It costs a millisecond or
 * two, so a worker may be started at the level that sandbox_probe_quick believes in; if that fails,
 * sandbox_probe says what is true, and why.
 *
 *   full      namespaces with mounts; seccomp; and /proc of our own or Landlock, so that other
 *             processes' memory and environment are out of reach
 *   landlock  Landlock; seccomp with notifications, which the supervisor needs
 *
 * What is found out is a struct sandbox_probe (sandbox/plan/plan.h).
 *
 * To add a reason: a row in probe.c.
 */
#ifndef HASP_SANDBOX_APPLY_PROBE_H
#define HASP_SANDBOX_APPLY_PROBE_H

#include "sandbox/plan/plan.h"

/* The result is kept for the process. Never NULL; from any thread. */
const struct sandbox_probe *sandbox_probe(void);

/* What can be known without a child (some 10 us): where nothing speaks against it, namespaces are
 * believed in.  The full result where that is known already, or something speaks against it. */
const struct sandbox_probe *sandbox_probe_quick(void);

/* What a test takes away: "no-userns", "no-landlock", "no-seccomp", "no-notify", "no-proc",
 * "landlock-abi=N", "no-cgroup", joined by commas.  NULL in programs that are installed; in those
 * of test/simulate/ it is the variable HASP_SANDBOX_SIMULATE. */
const char *sandbox_simulation(void);

#endif
