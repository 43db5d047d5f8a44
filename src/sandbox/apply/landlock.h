/* SPDX-License-Identifier: Apache-2.0 */
/* Landlock, as a plan's second line of defence at level full and its first at level landlock.
 *
 *     int ruleset;                                            // in the parent, may allocate
 *     if (!landlock_prepare(plan, LANDLOCK_LAYER_WORKER, &ruleset, &err)) ...
 *     landlock_allow(ruleset, abi, fd, SANDBOX_WRITE)         // in the child: system calls alone
 *     landlock_enter(ruleset, abi, LANDLOCK_LAYER_WORKER)
 *
 * The ruleset handles every right that the running kernel's ABI knows (the tables below go to 10);
 * a newer kernel is treated as 10, and rights that an older one does not know are left out.
 *
 * Layer 1, every worker: "/" may be read, the plan's writable paths and devices written.  Rights
 * are given by inode, so it does not matter that they are given before the mounts are made.
 * Landlock cannot express "all but".  At level full the mounts hide paths instead; at level
 * landlock reading is granted to the siblings of each hidden path, from "/" down to it.  There,
 *   - names can be listed everywhere, content cannot be read;
 *   - what comes to be there later, directly in a folder that has something hidden beneath it,
 *     cannot be read (by the next command it can: that has a new plan);
 *   - beyond LIMIT_SANDBOX_SIBLINGS entries siblings cannot be read either;
 *   - of /dev, which a rule hides, the devices in names.c alone can be opened; a device node
 *     elsewhere is a file like any other;
 *   - what is protected inside a writable path can be written: the supervisor and the guard see
 *     to that.
 * Layer 2, commands: signals and abstract sockets stay among the command's own processes; with the
 * network off and no network namespace, no TCP (and UDP, ABI 10).  Of files it says nothing (but
 * for REFER, which must be said).  The worker's supervisor is outside of it, and connects and binds
 * on the command's behalf what is allowed.
 *
 * Kernel: Documentation/userspace-api/landlock.rst, include/uapi/linux/landlock.h.
 */
#ifndef HASP_SANDBOX_APPLY_LANDLOCK_H
#define HASP_SANDBOX_APPLY_LANDLOCK_H

#include "sandbox/plan/plan.h"

enum landlock_layer { LANDLOCK_LAYER_WORKER, LANDLOCK_LAYER_COMMAND };

/* 0: there is none; *ret_errno, if not NULL, says why: ENOSYS not built in, EOPNOTSUPP not switched
 * on at boot, others a filter's word. */
unsigned landlock_abi_here(int *ret_errno);
/* Bit N - 1: erratum N is fixed. 0 also for kernels that do not say. */
unsigned landlock_errata_here(void);
enum {
	LANDLOCK_ERRATUM_TCP = 1 << 0,          /* sockets that are not TCP are not taken for it */
	LANDLOCK_ERRATUM_THREADS = 1 << 1,      /* signals among threads of one process */
	LANDLOCK_ERRATUM_DISCONNECTED = 1 << 2, /* renames of what was moved out of a mount */
};

enum landlock_kind { LANDLOCK_KIND_FILES, LANDLOCK_KIND_NETWORK, LANDLOCK_KIND_SCOPE };

/* One right: for explanations and tests. */
struct landlock_right {
	enum landlock_kind kind;
	uint64_t bit;
	unsigned abi;     /* the first that knows it */
	bool on_files;    /* can be given for a file, not only for a folder */
	const char *name; /* "write_file", "connect_tcp", "signal" */
};
/* All rights that this program knows, *ret_count of them, in static memory. */
const struct landlock_right *landlock_rights(size_t *ret_count);

/* What a layer of a plan handles, for an ABI. */
struct landlock_handled {
	uint64_t files, network, scope;
};
/* At the ABI of the plan. Of files a command's layer handles nothing but REFER. */
struct landlock_handled landlock_handled(const struct sandbox_plan *plan,
                                         enum landlock_layer layer);
/* The rights to files that an access stands for; without those that only folders have if it is no
 * folder.  `device`: also ioctl. */
uint64_t landlock_files(unsigned abi, enum sandbox_access access, bool folder, bool device);

/* *ret is the caller's to close; -1 when there is nothing to enter. FILE_NOT_FOUND when a path of
 * the plan is not there any more, or has become a symlink; IO_ERROR. */
bool landlock_prepare(const struct sandbox_plan *plan, enum landlock_layer layer, int *ret,
                      struct err *err);

/* Enters a layer in which nothing can be done to files, sockets and other processes but to read
 * what is beneath these folders (NULL-terminated; one that is not there is left out).  For the
 * calling thread and what it starts from now on; no_new_privs must be set.  False with errno set:
 * ENOSYS or EOPNOTSUPP without Landlock. */
bool landlock_enter_reading(const char *const *folders);

/* The following use system calls alone and leave errno.  A `ruleset` of -1 is fine. */

/* Allows reading or writing of what the descriptor (O_PATH will do) is of and all beneath it: for
 * what does not exist before the child has made its mounts (/dev/pts ...). Ioctl is included. */
bool landlock_allow(int ruleset, unsigned abi, int place, enum sandbox_access access);
/* Sets no_new_privs and enters; for the calling thread and what it starts from now on. */
bool landlock_enter(int ruleset, unsigned abi, enum landlock_layer layer);

#endif
