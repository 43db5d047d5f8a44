/* SPDX-License-Identifier: Apache-2.0 */
/* Starting a process inside a plan.
 *
 *     const int fds[] = { socket, socket, 2 };   // become 0, 1, 2; all others are closed
 *     struct sandbox_spawn spawn = { .plan = plan, .program = -1, .argv = argv, .envp = envp,
 *                                    .fds = fds, .fd_count = 3 };
 *     struct sandbox_child child;
 *     if (sandbox_spawn(&spawn, &child, &err)) ...
 *     sandbox_child_kill(&child);
 *     sandbox_child_wait(&child, -1, &status);
 *     sandbox_child_release(&child);
 *
 * What is done, in this order, before the program's first instruction: namespaces and id maps;
 * mounts (steps.h: computed by the parent, carried out by the child with system calls
 * alone); descriptors, session, limits; capabilities dropped (of a FILES worker of root: all but
 * CHOWN, DAC_OVERRIDE, FOWNER, FSETID inside its own user namespace); no_new_privs; Landlock; the
 * base seccomp filter (filter.h).  Any step that fails ends the child, and sandbox_spawn says
 * which.
 *
 * The child begins in the plan's first root (without a plan: where its parent is), with all signals
 * at their defaults and none blocked, no core dumps, and the parent's umask.
 *
 * With a PID namespace the child is its process 1: when it dies the kernel kills all that
 * run in it.  The child does not die with the parent by itself: it reads a socket and ends
 * when that ends.
 */
#ifndef HASP_SANDBOX_APPLY_SPAWN_H
#define HASP_SANDBOX_APPLY_SPAWN_H

#include <sys/types.h>

#include "sandbox/plan/plan.h"

struct sandbox_network; /* below */

struct sandbox_spawn {
	const struct sandbox_plan *plan; /* NULL or level paths: not confined, but descriptors,
	                                  * session and environment are set up as usual */
	const struct sandbox_network *network; /* where plan->own_network: which; NULL: a new one */
	int program;               /* descriptor of the program; -1: this program itself */
	const char *const *argv;   /* NULL-terminated */
	const char *const *envp;   /* NULL-terminated; the whole environment */
	const int *fds;            /* what becomes 0, 1, ... in the child; -1: /dev/null */
	size_t fd_count;           /* 3 or more */
};

struct cgroup; /* cgroup.h */

struct sandbox_child {
	pid_t pid;             /* as the parent sees it; 0 when it was waited for */
	int pidfd;             /* owned */
	struct cgroup *group;  /* owned; NULL: none could be had, or it is no command's worker */
	bool whole_tree;       /* a command's worker without a PID namespace: its children do not
	                        * die with it, so killing means all of them */
};

/* From any thread. DENIED_BY_SANDBOX: a step was refused by the kernel (names the step, so that a
 * caller that may do with less can try the next level); FILE_NOT_FOUND: a path of the plan has been
 * removed or has become a symlink since the plan was made (make it again); TOO_LARGE: no memory,
 * descriptors or processes; what execve says of the program, if it cannot be executed. */
bool sandbox_spawn(const struct sandbox_spawn *spawn, struct sandbox_child *ret, struct err *err);

/* SIGKILL, to all of a command's processes; fine if they have ended. */
void sandbox_child_kill(const struct sandbox_child *child);
/* Waits up to `timeout_ms` (-1: for ever); false when it still runs. *ret_status as waitpid has
 * it. */
bool sandbox_child_wait(struct sandbox_child *child, int timeout_ms, int *ret_status);
/* Kills it if it was not waited for, reaps it, and removes its control group. */
void sandbox_child_release(struct sandbox_child *child);

/* ---- a session's network ---- */

/* A network that the commands of a session share: loopback and nothing else.
 *
 *     struct sandbox_network network = SANDBOX_NETWORK_INIT;
 *     if (sandbox_network_make(plan, &network, &err))
 *             ... spawn.network = &network (spawn.h), for as many commands as there are ...
 *     sandbox_network_release(&network);
 *
 * What holds it is two descriptors of this process: of a network namespace, and of the user
 * namespace that owns it.  No process lives in them but the commands'; the kernel takes both away
 * when the descriptors are closed and the last of those processes has ended.
 *
 * A command's own user namespace is made inside the one that owns the network, so that it has no
 * capability over it, not even before it gives up all others: it can use the network, and not
 * change it.  By itself it could not get in either: the filters refuse setns.
 *
 * All commands of the session share what is in it: ports, and names of abstract sockets (which
 * Landlock still keeps apart, from Linux 6.12 on).
 */

struct sandbox_network {
	int user; /* owned; -1: a privileged user makes namespaces without one */
	int net;  /* owned; -1: there is none */
};

#define SANDBOX_NETWORK_INIT { -1, -1 }

/* For plans of level full like this one (plan->user_namespace).  From any thread; costs about what
 * a process and a network namespace cost.  DENIED_BY_SANDBOX: the kernel refuses it. */
bool sandbox_network_make(const struct sandbox_plan *plan, struct sandbox_network *ret,
                          struct err *err);
void sandbox_network_release(struct sandbox_network *network); /* leaves SANDBOX_NETWORK_INIT */

/* Inside the folder.  The calling process, which has one thread, enters both namespaces; system
 * calls alone.  0 or an errno. */
int network_join(const struct sandbox_network *network);
/* Puts up the loopback interface of the network namespace that the caller is in; system calls
 * alone.
 * 0 or an errno. */
int network_loopback_up(void);

#endif
