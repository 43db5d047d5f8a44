/* SPDX-License-Identifier: Apache-2.0 */
/* What starting a process inside a plan is made of: ids and capabilities, and the two halves of
 * sandbox_spawn. */
#ifndef HASP_SANDBOX_APPLY_PRIVATE_H
#define HASP_SANDBOX_APPLY_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbox/apply/cgroup.h"
#include "sandbox/apply/steps.h"
#include "sandbox/plan/plan.h"

/* ---- users, groups, capabilities and memory of children (network.c) ---- */

/* What is written into the map files of a user namespace, each id to itself: the same for one made
 * by this process, and for one inside that.  Files as in /proc/PID, users first. */
struct ids {
	char *all[2];  /* owned; all ids that this process has, for a user who may map any (root);
	                * NULL: not known, or it may not */
	char *own[2];  /* owned; its own alone */
};

/* Makes the texts for this process's ids: before the child, because it reads /proc and
 * allocates. */
void sandbox_ids_prepare(struct ids *ret);
void sandbox_ids_release(struct ids *ids); /* frees the texts; the struct is empty afterwards */

/* Maps the ids of `child`, which was made in a new user namespace by the calling process, and
 * forbids setgroups in it: all ids if that is allowed, so that owners are preserved, else its own.
 * Allocates nothing.  Returns 0 or an errno. */
int sandbox_ids_map(const struct ids *ids, pid_t child);

/* What a process of this plan keeps, as a mask of 1 << CAP_x. */
uint64_t sandbox_caps_kept(const struct sandbox_plan *plan);

/* In the child, before no_new_privs; system calls alone. Takes all others out of every set, for
 * good.
 * Returns 0 or an errno. */
int sandbox_caps_drop(uint64_t kept);

/* Whether a child must not share this process's memory: under sanitizers, and where this process,
 * and so whatever shares its memory, is not dumpable. */
bool sandbox_copies_memory(void);

/* ---- between sandbox_spawn's two halves ---- */

/* What the parent prepares, and what the child does with it.
 *
 * The child may share the parent's memory, while the parent's other threads go on: it only makes
 * system calls, changes nothing but its own stack and what is marked so below, and it and the
 * thread that made it never run at the same time (they share errno).
 *
 *     parent                             child
 *     clone, maps ids                    waits for a byte
 *     sends the byte
 *     waits                              all stages; says how it went; executes, which closes
 *                                        the socket
 */

/* The child's stages in their order.
 * X(symbol, what was tried, for "... was refused: <errno>") */
#define SPAWN_STAGES(X)                                     \
	X(WAIT, "waiting for the parent")                   \
	X(SIGNALS, "resetting signals")                     \
	X(SESSION, "its own session")                  \
	X(NETWORK, "the loopback interface")                \
	X(MOUNTS, "a mount")                                \
	X(FOLDER, "entering the working folder")            \
	X(DESCRIPTORS, "placing descriptors")               \
	X(LIMITS, "limits")                                 \
	X(CAPABILITIES, "dropping capabilities")            \
	X(PRIVILEGES, "no_new_privs")                       \
	X(LANDLOCK, "Landlock")                             \
	X(FILTER, "the seccomp filter")                     \
	X(EXECUTE, "executing the program")

enum spawn_stage {
#define SPAWN_ENUM(symbol, text) SPAWN_##symbol,
	SPAWN_STAGES(SPAWN_ENUM)
#undef SPAWN_ENUM
	SPAWN_STAGE_COUNT
};

/* What the child says: first SPAWN_EXECUTE without an error, when it is about to execute. */
struct spawn_message {
	enum spawn_stage stage;
	int error;
	size_t step; /* MOUNTS: which */
};

struct spawn_task {
	const struct sandbox_plan *plan; /* NULL: not confined */
	const struct steps *steps;       /* NULL: no mounts */
	int *slots;                      /* the child's: room for steps->slots */
	int socket;                      /* the child's end */
	int other_end;                   /* the parent's, which the child closes */
	int program;
	int null;                        /* /dev/null */
	int ruleset;                     /* Landlock; -1: none */
	const int *fds;
	size_t fd_count;
	int *moved;                      /* the child's: room for fd_count */
	const char *const *argv, *const *envp;
	uint64_t caps;                   /* kept */
	bool own_loopback;               /* the network namespace is new: to be put up */
	struct cgroup_door door;
	unsigned long pid_max;           /* of the PID namespace; 0: it has none */
};

/* Does not return. */
void spawn_child(const struct spawn_task *task) __attribute__((noreturn));

#endif
