/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor's parts and what they share: inside this folder only.
 *
 * One call of a supervised process is a `struct syscall`.  Its handler (a row of the table in
 * supervise.c) copies the arguments once, finds what they mean as descriptors, judges those, makes
 * the call with them, and returns an answer.  Only what has a row in SUPERVISE_CONTINUES goes on
 * to the kernel instead.  What belongs to the process can change or end at any time:
 * after reading its memory or opening something under /proc/PID, call_alive reports whether the
 * call still waits, and so whether that memory was the caller's.
 *
 * Everything here runs on the supervisor's thread. */
#ifndef HASP_SANDBOX_SUPERVISE_PRIVATE_H
#define HASP_SANDBOX_SUPERVISE_PRIVATE_H

#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/limits.h"
#include "sandbox/apply/filter.h"
#include "sandbox/supervise/decode.h"
#include "sandbox/supervise/supervise.h"

struct waiting;
struct waiting_open;
struct denial_record;
struct bound;
struct segment;

/* Calls that the kernel makes after the supervisor has seen them, although the process can change
 * its memory meanwhile: no decision rests on what is in memory.  All others are answered.
 *
 * X(symbol, calls, why) */
#define SUPERVISE_CONTINUES(X)                                                                    \
	X(PATH_ONLY, "open openat",                                                               \
	  "O_PATH opens nothing for writing or creation, and the flags are an argument")          \
	X(LOOPBACK, "sendto",                                                                     \
	  "for the record: the network namespace has nothing but loopback")                       \
	X(INET_ONLY, "connect bind",                                                              \
	  "any address is allowed, and where sockets cannot be taken over none is AF_UNIX")       \
	X(SOCKET, "socket", "an allowed family; all arguments are numbers")                       \
	X(GROUP, "setsid setpgid", "allowed until the end; all arguments are numbers")            \
	X(SEGMENT, "shmat shmctl",                                                                \
	  "the command's own segment, named by a number; memory is only written to")              \
	X(EXECUTABLE, "fchmod",                                                                   \
	  "only waits until copies of descriptors are closed; all arguments are numbers")         \
	X(UMASK, "umask", "noted: files are made with it; the argument is a number")              \
	X(FOLDER, "chdir fchdir",                                                                 \
	  "noted: the folder is looked up again; to enter one no decision is needed")

enum continued {
#define CONTINUE_SYMBOL(symbol, calls, why) CONTINUE_##symbol,
	SUPERVISE_CONTINUES(CONTINUE_SYMBOL)
#undef CONTINUE_SYMBOL
	CONTINUE_COUNT
};

/* What is kept to answer faster. */
enum {
	KEPT_PROCS = 16,
	KEEP_AFTER = 8, /* relative paths of a thread, before more is kept of it */
};

struct kept_proc {
	pid_t thread;  /* 0: none */
	int fd;        /* O_PATH of /proc/THREAD */
	int pidfd;     /* of the thread alone; -1: not asked for yet, or not to be had */
	int folder;    /* O_PATH: its working folder, while folder_epoch holds; -1: not known */
	unsigned relative;     /* relative paths that were looked up */
	unsigned folder_epoch; /* supervisor->folder_epoch when these were counted */
	unsigned in_epoch;     /* of the relative paths, those from the working folder since */
	unsigned umask_epoch; /* supervisor->umask_epoch when it was read; 0: it was not */
	mode_t umask;
};

struct umask_call {
	pid_t thread;
	mode_t wanted;
};

struct supervisor {
	const struct sandbox_plan *plan; /* borrowed */
	/* By number, the names of calls that the plan forbids (borrowed), or NULL. */
	const char *forbidden[FILTER_LAST_CALL + 1];
	struct supervisor_events events;
	int notify_fd, stop_fd;          /* owned */
	struct seccomp_notif *request;   /* owned; as large as the kernel's */
	struct seccomp_notif_resp *response;
	size_t request_size, response_size;
	struct waiting *waiting;         /* owned list of connects that are not done */
	unsigned waiting_count;
	struct waiting_open *opens;      /* owned list of opens that are not done */
	unsigned opens_count;
	struct denial_record *records;          /* owned list of denials */
	unsigned record_count, unlisted; /* unlisted: met when there were too many */
	struct bound *bound;             /* owned list of addresses that commands have bound */
	unsigned bound_count;
	struct segment *segments;        /* owned list of System V segments that commands have
	                                  * made */
	unsigned segment_count;
	atomic_bool holds_groups;        /* from supervise_hold_groups on */
	atomic_bool stopping;            /* from supervise_stop on */
	bool proc_is_own;
	bool takes_descriptors;          /* pidfd_getfd works: containers may forbid it */
	bool own_folder;                 /* working folder and umask are the thread's alone */
	bool same_ids;                   /* no process can have other ids than this one */
	unsigned umask_epoch;            /* counts calls of umask; 0: all are as at the start */
	struct umask_call umasks[8];     /* that are not known to have returned */
	unsigned umask_count;
	bool umask_lost;                 /* there were more: nothing is remembered any more */
	void *ids;                       /* owned; the thread's own while it has a caller's */
	mode_t umask;                    /* that of the thread, at the start every process's */
	unsigned folder_epoch;           /* counts calls of chdir and fchdir */
	struct kept_proc procs[KEPT_PROCS];
	int retired[2 * KEPT_PROCS];     /* owned; folders that this call may still use */
	unsigned retired_count;
	const char *lost_call;           /* the call here that failed; NULL: none */
	int lost_error;                  /* an errno */
};

struct syscall {
	struct supervisor *supervisor;
	uint64_t id;
	int number;             /* of the call */
	pid_t thread;           /* in the supervisor's PID namespace */
	const __u64 *args;
};

struct handler;

enum answer_kind {
	ANSWER_GO_ON,  /* the kernel makes the call: see SUPERVISE_CONTINUES */
	ANSWER_RESULT, /* it returns `value`, or fails with `error` */
	ANSWER_LATER,  /* the handler has kept it */
	ANSWER_SENT,   /* the process has it already */
};

struct call_answer {
	enum answer_kind kind;
	int error;
	int64_t value;
};

static inline struct call_answer answer_go_on(enum continued why)
{
	(void)why;
	return (struct call_answer){ .kind = ANSWER_GO_ON };
}

static inline struct call_answer answer_error(int error)
{
	return (struct call_answer){ .kind = ANSWER_RESULT, .error = error };
}

/* Made by the supervisor, with an errno or 0. */
static inline struct call_answer answer_made(int error)
{
	return (struct call_answer){ .kind = ANSWER_RESULT, .error = error };
}

/* What a system call of the supervisor's own returned: 0 or more, or -1 with errno set. */
struct call_answer supervise_answer_of(int64_t returned);

/* Sends the answer of an earlier call (call.c).  If that fails for another reason than the end of
 * the process, the supervisor is lost. */
void supervise_answer(struct supervisor *supervisor, uint64_t id, struct call_answer answer);

/* Notes that this call, made here, failed with errno set: the supervisor ends after this round. */
void supervise_lose(struct supervisor *supervisor, const char *call);

/* ---- records (call.c) ---- */

/* Records that a call was refused because hasp cannot tell what it is about. */
void call_record_unjudged(const struct syscall *call, const char *why);
/* Counts a denial and reports it if it is new. pid and program are filled in here. */
void supervise_record_denial(const struct syscall *call, struct denial *denial);
/* At the end: reports each denial again, with its count, that was met more than once. */
void supervise_records_finish(struct supervisor *supervisor);
void supervise_records_free(struct supervisor *supervisor);

#endif
