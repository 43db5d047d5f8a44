/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor's parts and what they share: inside this folder only.
 *
 * One call of a supervised process is a `struct call`.  Its handler (a row of the table in
 * supervise.c) copies the arguments once, finds what they mean as descriptors, judges those, makes
 * the call with them, and returns an answer.  Only what has a row in SUPERVISE_CONTINUES goes on
 * to the kernel instead.  What belongs to the process can change or end at any time:
 * after reading its memory or opening something under /proc/PID, call_alive says whether the
 * call still waits, and so whether what was read was the caller's.
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
struct record;
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
	unsigned relative;     /* relative paths that were begun */
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
	struct record *records;          /* owned list of denials */
	unsigned record_count, unlisted; /* unlisted: met when there were too many */
	struct bound *bound;             /* owned list of addresses that commands have bound */
	unsigned bound_count;
	struct segment *segments;        /* owned list of System V segments that commands have
	                                  * made */
	unsigned segment_count;
	atomic_bool holds_groups;        /* from supervise_hold_groups on */
	bool proc_is_own;
	bool takes_descriptors;          /* pidfd_getfd is to be had: containers may forbid it */
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
};

struct call {
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

struct answer {
	enum answer_kind kind;
	int error;
	int64_t value;
};

static inline struct answer answer_go_on(enum continued why)
{
	(void)why;
	return (struct answer){ .kind = ANSWER_GO_ON };
}

static inline struct answer answer_error(int error)
{
	return (struct answer){ .kind = ANSWER_RESULT, .error = error };
}

/* Made by the supervisor, with an errno or 0. */
static inline struct answer answer_made(int error)
{
	return (struct answer){ .kind = ANSWER_RESULT, .error = error };
}

/* What a system call of the supervisor's own returned: 0 or more, or -1 with errno set. */
struct answer supervise_answer_of(int64_t returned);

/* Sends the answer of an earlier call (call.c). */
void supervise_answer(struct supervisor *supervisor, uint64_t id, struct answer answer);

/* ---- the process (call.c) ---- */

/* Whether the call still waits: if not, what was read of the process may be of another one. */
bool call_alive(const struct call *call);
/* All of `len` bytes from the process's memory; 0 or an errno: EFAULT, also for memory that the
 * kernel could read and we cannot; EACCES: the process may not be looked into.  Either of the last
 * two has a record. */
int call_read(const struct call *call, uint64_t address, void *data, size_t len);
/* A path: NUL-terminated, at most LIMIT_PATH_BYTES with its NUL. 0, EFAULT, ENAMETOOLONG, EACCES.
 * Without call_alive: the caller checks that before acting on it. */
int call_read_path(const struct call *call, uint64_t address, char path[LIMIT_PATH_BYTES]);
/* A copy of one of the process's descriptors: owned, or -1 with errno set. */
int call_descriptor(const struct call *call, int fd);
/* openat in /proc/THREAD ("task/.." is that itself): owned, or -1 with errno set. */
int call_open_proc(const struct call *call, const char *name, int flags);
/* stat of a name in /proc/THREAD (followed): 0, or -1 with errno set. */
int call_stat_proc(const struct call *call, const char *name, struct stat *ret);
/* The caller's place among supervisor->procs, looked up again if its thread is gone; NULL:
 * unknown. */
struct kept_proc *call_kept(const struct call *call);
/* Where a relative path of the caller's begins, in less than /proc takes: one of its descriptors,
 * owned; or its working folder, which is lent until the call is answered.  -1: not known. */
int call_known_folder(const struct call *call, int folder, bool *ret_lent);
/* Keeps the caller's working folder, as /proc has just given it, if it uses it a lot and nobody can
 * change it but by a call that comes here: `fd` is lent from then on.  False: it stays owned. */
bool call_keep_folder(const struct call *call, int fd);
/* chdir, fchdir: from now on it is looked up. */
struct answer supervise_chdir(const struct call *call, const struct handler *row);
/* After a call: closes what was lent for it and is not kept any more. */
void call_end_loans(struct supervisor *supervisor);
/* Whether /proc counts processes as we do. */
bool call_proc_is_own(void);
void call_free_procs(struct supervisor *supervisor); /* closes supervisor->procs */
/* Whether this process may use pidfd_getfd at all. */
bool call_can_take_descriptors(void);
/* The process's umask, from /proc; 077 if it cannot be read. */
mode_t call_umask(const struct call *call);
/* Gives the thread the process's umask, before something is made. */
void caller_take_umask(const struct call *call);
/* umask itself: from now on it is looked up. */
struct answer supervise_umask(const struct call *call, const struct handler *row);
/* Where processes can have other ids than the supervisor: gives the thread the caller's for opening
 * files.  To be followed by caller_resign_ids.  0 or an errno. */
int caller_take_ids(const struct call *call);
/* Whether that is never needed: this process has nothing by which ids could be changed. */
bool caller_ids_are_fixed(void);
void caller_resign_ids(const struct call *call);
/* The user that files are opened as. */
uid_t caller_user(void);
/* Whether the process may have one more descriptor: EMFILE comes before anything is truncated. */
bool caller_has_room(const struct call *call);
/* The number of the caller's process, and of the one that `text` ("self", or begins with a number)
 * names, both as /proc counts; 0: unknown. */
pid_t call_group(const struct call *call);
pid_t call_proc_group(const char *text);
/* Hands a descriptor over and closes it here: the call's answer.  `flags`: O_CLOEXEC or not.  What
 * may be executed is closed before the process goes on (ETXTBSY); for all else one way there and
 * back does: to become executable it must pass this thread again, which has closed it by then.
 * `doubtful`: whether it may be executed is not known. */
struct answer caller_hand_over(const struct call *call, int fd, uint64_t flags, bool doubtful);
/* Whether a signal with a handler waits for the thread: what would interrupt a call. */
bool call_is_interrupted(const struct call *call);

/* ---- what paths name (named.c) ---- */

/* What one path argument means. */
struct named {
	int folder;  /* owned, O_PATH: what the name is in; -1: none.  To be released */
	bool lent;   /* the folder is not owned: it is the caller's, until the call is answered */
	/* One component, with a slash behind it if there were some; "." is `folder` itself; "": so
	 * too, and it is no folder (a magic link led to it). */
	char name[DECODE_NAME_MAX + 2];
	/* Canonical and absolute, for judging; "": it has none (a pipe, memory) */
	char path[LIMIT_PATH_BYTES + DECODE_NAME_MAX + 2];
};
/* Closes the folder; the path can still be read. */
void named_release(struct named *named);
#define _cleanup_named_ __attribute__((cleanup(named_release)))

/* Finds the folder and name of a path; the name need not exist.  `folder` is a descriptor of the
 * process's or AT_FDCWD.  `follow`: a link of that name is followed, to its end.  0 or an errno;
 * EACCES and ENAMETOOLONG also for what cannot be judged. */
int named_find(const struct call *call, int folder, const char *path, bool follow,
               struct named *ret);
/* Follows the link that a name is. 0 or an errno. */
int named_follow(const struct call *call, struct named *named);
/* Opens a path O_PATH, so that what is judged is what is used later.  Owned, or -1 with errno set.
 * Of `ret` the path alone is filled in, here and in the next two. */
int named_open(const struct call *call, int folder, const char *path, bool follow,
               struct named *ret);
/* The same as openat2 has it, with how->resolve; of the flags, O_NOFOLLOW and O_DIRECTORY count. */
int named_open_within(const struct call *call, int folder, const char *path,
                      const struct open_how *how, struct named *ret);
/* What one of the process's own descriptors is open on, O_PATH. */
int named_open_descriptor(const struct call *call, int fd, struct named *ret);
/* An O_PATH descriptor of the process's working folder (AT_FDCWD), or of one of its own. */
int named_open_folder(const struct call *call, int folder);
/* Whether the name is there (not followed), and is a link. */
bool named_exists(const struct named *named);
bool named_is_link(const struct named *named);
#define FD_PATH_SIZE 32
/* "/proc/self/fd/N", where the kernel takes a path and there is a descriptor; returns `text`. */
const char *fd_path(int fd, char text[static FD_PATH_SIZE]);

/* ---- what the plan says (files.c) ---- */

/* What is wanted of a name. */
struct wanted {
	bool removes;   /* a folder may go away with what is in it */
	bool leaves;    /* it is removed or moved away, which no program that obeys such names
	                 * heeds */
	bool truncates; /* by path, which old Landlock does not cover */
};

struct verdict {
	bool allowed;
	bool refused; /* by the supervisor; neither: the kernel decides, and it is recorded */
	struct denial denial;
};

/* Judges a canonical path; "" (what has none) is allowed. */
void supervise_judge(const struct call *call, const char *path, struct wanted wanted,
                     struct verdict *ret);
/* Records that the kernel (or, if it is refused, the supervisor) said no.  `error`: what the call
 * failed with, 0 for nothing. */
void supervise_record_verdict(const struct call *call, struct verdict *verdict, int error);
/* Records that what was permitted, to open `fd` or what has this name in it with these flags, failed
 * with `error` because at landlock what is new beside something hidden cannot be read; or nothing,
 * if it was something else. */
void supervise_record_unread(const struct call *call, int fd, const char *name, const char *path,
                             uint64_t flags, int error);
/* What the supervisor refuses: its record, and the answer. */
struct answer supervise_refuse_name(const struct call *call, struct verdict *verdict);
/* A name is about to be made, moved to, or opened for writing. */
void supervise_report_made(const struct call *call, const char *path);
/* Whether git is about to begin what it cannot end, as its configuration may not be written: what
 * is moved from `from` (NULL: made) to `to` says so.  *ret is about the configuration then. */
bool supervise_begins_half(const struct call *call, const char *from, const char *to,
                           struct verdict *ret);

/* ---- records (call.c) ---- */

/* Records that a call was refused because hasp cannot tell what it is about. */
void call_record_unjudged(const struct call *call, const char *why);
/* Counts a denial and reports it if it is new. pid and program are filled in here. */
void supervise_record_denial(const struct call *call, struct denial *denial);
/* At the end: reports once more, with its count, what was met more than once. */
void supervise_records_finish(struct supervisor *supervisor);
void supervise_records_free(struct supervisor *supervisor);

/* ---- handlers ---- */

/* Bits of `detail`, which are those of metadata. */
enum {
	DETAIL_NOFOLLOW = 1,  /* metadata: a link is not followed, without a flag */
	DETAIL_NULL_FD = 2,   /* without a path it is about the descriptor */
	DETAIL_REMOVE = 4,    /* of an extended attribute */
	DETAIL_TIMEVAL = 4,   /* times are struct timeval */
	DETAIL_UTIMBUF = 8,   /* times are struct utimbuf */
};

struct handler {
	struct answer (*run)(const struct call *call, const struct handler *row);
	signed char folder, path;   /* arguments; -1: none */
	signed char folder2, path2;
	signed char flags;
	signed char detail;         /* the handler's own */
};

/* files.c: making, moving and removing names. Each is named as the call that it makes (or, with
 * row->flags, any of its forms). */
struct answer supervise_mkdir(const struct call *call, const struct handler *row);
struct answer supervise_mknod(const struct call *call, const struct handler *row);
struct answer supervise_symlink(const struct call *call, const struct handler *row);
struct answer supervise_link(const struct call *call, const struct handler *row);
struct answer supervise_rename(const struct call *call, const struct handler *row);
struct answer supervise_unlink(const struct call *call, const struct handler *row);
struct answer supervise_rmdir(const struct call *call, const struct handler *row);
struct answer supervise_truncate(const struct call *call, const struct handler *row);

/* opens.c: open, openat, creat; openat2. */
struct answer supervise_open(const struct call *call, const struct handler *row);
struct answer supervise_openat2(const struct call *call, const struct handler *row);
/* Tries those again that would block: to be called every so many milliseconds while there are. */
void opens_continue(struct supervisor *supervisor);
enum { OPENS_RETRY_MS = 5 };
void opens_free(struct supervisor *supervisor);

/* sockets.c: all but `listen` at both levels. */
struct answer supervise_socket(const struct call *call, const struct handler *row);
struct answer supervise_connect(const struct call *call, const struct handler *row);
struct answer supervise_sendto(const struct call *call, const struct handler *row);
struct answer supervise_bind(const struct call *call, const struct handler *row);
struct answer supervise_listen(const struct call *call, const struct handler *row);
/* Forgets what was bound. */
void sockets_free_bound(struct supervisor *supervisor);
/* Appends what to poll for the connects that wait (up to LIMIT_WAITING_CONNECTS); returns after how
 * many milliseconds to look after them in any case, -1: never. */
int sockets_poll_connects(const struct supervisor *supervisor, struct pollfd *polls,
                          unsigned *count);
/* Tries them again. */
void sockets_continue_connects(struct supervisor *supervisor);
void sockets_free_connects(struct supervisor *supervisor);

/* metadata.c */
struct answer supervise_chmod(const struct call *call, const struct handler *row);
struct answer supervise_chown(const struct call *call, const struct handler *row);
struct answer supervise_times(const struct call *call, const struct handler *row);
struct answer supervise_xattr(const struct call *call, const struct handler *row);

/* call.c: the deny list */
struct answer supervise_refuse(const struct call *call, const struct handler *row);

#endif
