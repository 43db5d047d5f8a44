/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor's parts and what they share: inside this folder only.
 *
 * One call of a supervised process is a `struct call`.  Its handler (a row of the table in
 * supervise.c) returns an answer.  What belongs to the process can change or end at any time:
 * after reading its memory or opening something under /proc/PID, call_alive says whether the
 * call still waits, and so whether what was read was the caller's.
 *
 * Everything here runs on the supervisor's thread. */
#ifndef HASP_SANDBOX_SUPERVISE_PRIVATE_H
#define HASP_SANDBOX_SUPERVISE_PRIVATE_H

#include <linux/seccomp.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "base/limits.h"
#include "sandbox/supervise/supervise.h"

struct waiting;
struct record;
struct bound;
struct segment;

/* What is kept to answer faster. */
enum { KEPT_PROCS = 16, KEPT_FOLDERS = 256 };

struct kept_proc {
	pid_t thread;  /* 0: none */
	int fd;        /* O_PATH of /proc/THREAD */
};

struct supervisor {
	const struct sandbox_plan *plan; /* borrowed */
	struct supervisor_events events;
	int notify_fd, stop_fd;          /* owned */
	struct seccomp_notif *request;   /* owned; as large as the kernel's */
	struct seccomp_notif_resp *response;
	size_t request_size, response_size;
	struct waiting *waiting;         /* owned list of connects that are not done */
	unsigned waiting_count;
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
	struct kept_proc procs[KEPT_PROCS];
	char *folders[KEPT_FOLDERS];     /* owned; paths that are canonical, see named.c */
	int64_t folders_ms;              /* since when */
};

struct call {
	struct supervisor *supervisor;
	const struct seccomp_notif *request;
	uint64_t id;
	pid_t thread;           /* in the supervisor's PID namespace */
	const __u64 *args;
};

enum answer_kind {
	ANSWER_GO_ON,  /* the kernel makes the call */
	ANSWER_RESULT, /* it returns `value`, or fails with `error` */
	ANSWER_LATER,  /* the handler has kept it */
};

struct answer {
	enum answer_kind kind;
	int error;
	int64_t value;
};

static inline struct answer answer_go_on(void)
{
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
/* All of `len` bytes from the process's memory; 0 or an errno (EFAULT; EPERM: not ours to read). */
int call_read(const struct call *call, uint64_t address, void *data, size_t len);
/* A path: NUL-terminated, at most LIMIT_PATH_BYTES with its NUL. 0, EFAULT, ENAMETOOLONG, EPERM.
 * Without call_alive, which whoever acts on it asks anyhow. */
int call_read_path(const struct call *call, uint64_t address, char path[LIMIT_PATH_BYTES]);
/* A copy of one of the process's descriptors: owned, or -1 with errno set. */
int call_descriptor(const struct call *call, int fd);
/* readlink of a name in /proc/THREAD. */
ssize_t call_read_link(const struct call *call, const char *name, char *text, size_t size);
/* openat in /proc/THREAD ("task/.." is that itself): owned, or -1 with errno set. */
int call_open_proc(const struct call *call, const char *name, int flags);
/* Whether /proc counts processes as we do. */
bool call_proc_is_own(void);
void call_free_procs(struct supervisor *supervisor); /* closes supervisor->procs */
/* Whether this process may use pidfd_getfd at all. */
bool call_can_take_descriptors(void);
/* The process's umask; 077 if it cannot be read. */
mode_t call_umask(const struct call *call);
/* Whether a signal with a handler waits for the thread: what would interrupt a call. */
bool call_is_interrupted(const struct call *call);

/* ---- what paths name (named.c) ---- */

/* One path argument of a call. `folder` is a descriptor of the process's or AT_FDCWD. */
struct named {
	char path[LIMIT_PATH_BYTES * 2]; /* canonical and absolute, or "" if nothing can be said */
};

/* The canonical form of a path, for judging: symlinks of the last component are followed if
 * `follow`.  It need not exist.  0 or an errno (the call will fail with it, or with another). */
int named_find(const struct call *call, int folder, const char *path, bool follow,
               struct named *ret);
/* The same, opened O_PATH, so that what is judged is what is used later.  Owned, or -1 with
 * errno set. */
int named_open(const struct call *call, int folder, const char *path, bool follow,
               struct named *ret);
/* What one of the process's own descriptors is open on, O_PATH. */
int named_open_descriptor(const struct call *call, int fd, struct named *ret);
/* Whether the text names one of the process's own descriptors (/proc/self/fd/N). */
bool named_is_descriptor(const char *path);
/* An O_PATH descriptor of the process's working folder. */
int named_open_folder(const struct call *call);
/* A folder is about to be moved or removed: what was found out about paths may be wrong then. */
void named_forget_folders(struct supervisor *supervisor);
/* Whether the name is there (not followed). */
bool named_exists(const struct named *named);
#define FD_PATH_SIZE 32
/* "/proc/self/fd/N", where the kernel takes a path and there is a descriptor; returns `text`. */
const char *fd_path(int fd, char text[static FD_PATH_SIZE]);

/* ---- records (call.c) ---- */

/* Counts a denial and reports it if it is new. pid and program are filled in here. */
void supervise_record_denial(const struct call *call, struct denial *denial);
/* At the end: reports once more, with its count, what was met more than once. */
void supervise_records_finish(struct supervisor *supervisor);
void supervise_records_free(struct supervisor *supervisor);

/* ---- handlers ---- */

/* Bits of `detail`; those of names and of metadata share their values. */
enum {
	DETAIL_NOFOLLOW = 1,  /* metadata: a link is not followed, without a flag */
	DETAIL_FOLLOW = 1,    /* names: a link is followed */
	DETAIL_REMOVES = 2,   /* names: a folder may go away */
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

/* files.c: opening for writing, making, moving and removing names. */
struct answer supervise_open(const struct call *call, const struct handler *row);
struct answer supervise_openat2(const struct call *call, const struct handler *row);
struct answer supervise_make(const struct call *call, const struct handler *row);
struct answer supervise_change(const struct call *call, const struct handler *row);
struct answer supervise_link(const struct call *call, const struct handler *row);
struct answer supervise_rename(const struct call *call, const struct handler *row);

/* sockets.c */
struct answer supervise_connect(const struct call *call, const struct handler *row);
struct answer supervise_sendto(const struct call *call, const struct handler *row);
/* Appends what to poll for the connects that wait (up to LIMIT_WAITING_CONNECTS); returns after how
 * many milliseconds to look after them in any case, -1: never. */
int sockets_poll_connects(const struct supervisor *supervisor, struct pollfd *polls,
                          unsigned *count);
/* Tries them again. */
void sockets_continue_connects(struct supervisor *supervisor);
void sockets_free_connects(struct supervisor *supervisor);

/* sockets.c: the landlock level */
struct answer supervise_bind(const struct call *call, const struct handler *row);
struct answer supervise_listen(const struct call *call, const struct handler *row);
void sockets_free_bound(struct supervisor *supervisor);

/* files.c: the landlock level */
struct answer supervise_chmod(const struct call *call, const struct handler *row);
struct answer supervise_chown(const struct call *call, const struct handler *row);
struct answer supervise_times(const struct call *call, const struct handler *row);
struct answer supervise_xattr(const struct call *call, const struct handler *row);

/* call.c: the deny list */
struct answer supervise_refuse(const struct call *call, const struct handler *row);

#endif
