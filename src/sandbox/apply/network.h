/* SPDX-License-Identifier: Apache-2.0 */
/* A network that the commands of a session share: loopback and nothing else.
 *
 *     struct sandbox_network network = SANDBOX_NETWORK_INIT;
 *     if (sandbox_network_make(plan, &network, &err))
 *             ... spawn.network = &network (spawn.h), for as many commands as there are ...
 *     sandbox_network_release(&network);
 *
 * What holds it is two descriptors of this process: of a network namespace, and of the user
 * namespace that owns it.  No process lives in them but the commands'; the kernel takes both away
 * when the descriptors are closed and the last of those processes is gone.
 *
 * A command's own user namespace is made inside the one that owns the network, so that it has no
 * capability over it, not even before it gives up all others: it can use the network, and not
 * change it.  By itself it could not get in either: the filters refuse setns.
 *
 * What is in it belongs to all commands of the session: ports, and names of abstract sockets (which
 * Landlock keeps apart all the same, from Linux 6.12 on).
 */
#ifndef HASP_SANDBOX_APPLY_NETWORK_H
#define HASP_SANDBOX_APPLY_NETWORK_H

#include "sandbox/plan/plan.h"

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
