/* SPDX-License-Identifier: Apache-2.0 */
/* seccomp filters, compiled when hasp is built (gen_filters.c, libseccomp), for x86_64 and aarch64.
 *
 *   base      every confined process: foreign architectures are killed; x32, io_uring, clone3 and
 *             calls newer than the table (gen_filters.c) do not exist (ENOSYS)
 *   files     a worker of use FILES, after its start: the deny list (calls that no program inside
 *             needs), and no execve, no sockets, no processes, no signals to others: EPERM
 *             but for a fork without shared memory, for its readers
 *   reader    a process that parses one file (read/child.c): nothing but the calls on its list;
 *             of opening, what is beneath the folders that Landlock leaves it, for reading
 *   reader_sealed   the same, and nothing is opened or looked at by its path
 *   command   a command, network off, with namespaces: the deny list
 *   command_net                 the same, network on
 *   command_landlock, command_landlock_net   without namespaces: more is denied, and more brokered
 *
 * The deny list is not in `base`, because of several filters the kernel takes the strictest
 * answer: a plain refusal there would go before the supervisor's, and have no record.
 *
 * The command filters hand over to the supervisor (supervise.h): opening for writing, all of
 * openat2, making and moving names, truncate, mode and owner by path, removing folders, umask,
 * connect, bind, sockets of AF_UNIX, every call on the deny list (so
 * that a denial has a record), and, where only loopback is there, sendto with an address; at the
 * landlock level also removing files and what Landlock does not cover: mode, owner, times,
 * attributes, and with the network off listen.  All else is answered by the kernel alone.
 *
 * Costs (Linux 6.18, a virtual machine): 40 ns for any call, 80 ns for openat; what is notified,
 * see supervise.h. */
#ifndef HASP_SANDBOX_APPLY_FILTER_H
#define HASP_SANDBOX_APPLY_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>

/* file_setattr (Linux 6.17).  What comes later is ENOSYS, as on the kernel of that time, until the
 * filters know it; programs fall back. */
enum { FILTER_LAST_CALL = 469 };

enum filter_name {
	FILTER_BASE,
	FILTER_FILES,
	FILTER_READER,
	FILTER_READER_SEALED,
	FILTER_COMMAND, /* and all after it have a supervisor */
	FILTER_COMMAND_NET,
	FILTER_COMMAND_LANDLOCK,
	FILTER_COMMAND_LANDLOCK_NET,
	FILTER_COUNT
};

/* The filter's name in reports, and of its program in what is generated. */
static inline const char *filter_label(enum filter_name name)
{
	static const char *const labels[FILTER_COUNT] = {
		[FILTER_BASE] = "base",
		[FILTER_FILES] = "files",
		[FILTER_READER] = "reader",
		[FILTER_READER_SEALED] = "reader_sealed",
		[FILTER_COMMAND] = "command",
		[FILTER_COMMAND_NET] = "command_net",
		[FILTER_COMMAND_LANDLOCK] = "command_landlock",
		[FILTER_COMMAND_LANDLOCK_NET] = "command_landlock_net",
	};

	return labels[name];
}

/* Installs it on all threads; needs no_new_privs. System calls alone. False with errno set. */
bool filter_install(enum filter_name name);
/* Number of BPF instructions; for tests and --explain. */
size_t filter_size(enum filter_name name);

/* ---- what gen_filters prints ---- */

/* Inside the sandbox folder only. */

struct filter_program {
	const struct sock_filter *code;
	size_t count;
};

extern const struct filter_program filter_programs[FILTER_COUNT];

/* The rows of calls that the supervisor gets, on this architecture; a call may have several rows.
 * error 0: it is not refused as such. */
struct filter_call {
	int number, error;
	const char *name, *why;
};

extern const struct filter_call *const filter_calls;
extern const size_t filter_call_count;

#endif
