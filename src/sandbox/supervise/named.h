/* SPDX-License-Identifier: Apache-2.0 */
/* What paths name (named.c), and what the plan says about it (files.c).  Inside this folder only.
 *
 *     struct named named;
 *     if (named_find(call, folder, path, false, &named) == 0)
 *             supervise_judge(call, named.path, wanted, &verdict);
 *     ... the call, beneath named.folder ...
 *     named_release(&named);
 */
#ifndef HASP_SANDBOX_SUPERVISE_NAMED_H
#define HASP_SANDBOX_SUPERVISE_NAMED_H

#include "sandbox/supervise/private.h"

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
int named_find(const struct syscall *call, int folder, const char *path, bool follow,
               struct named *ret);
/* Follows the link that a name is. 0 or an errno. */
int named_follow(const struct syscall *call, struct named *named);
/* Opens a path O_PATH, so that the object judged is the one used later.  Owned, or -1 with errno.
 * Of `ret` the path alone is filled in, here and in the next two. */
int named_open(const struct syscall *call, int folder, const char *path, bool follow,
               struct named *ret);
/* The same as openat2 has it, with how->resolve; of the flags, O_NOFOLLOW and O_DIRECTORY count. */
int named_open_within(const struct syscall *call, int folder, const char *path,
                      const struct open_how *how, struct named *ret);
/* What one of the process's own descriptors is open on, O_PATH. */
int named_open_descriptor(const struct syscall *call, int fd, struct named *ret);
/* An O_PATH descriptor of the process's working folder (AT_FDCWD), or of one of its descriptors. */
int named_open_folder(const struct syscall *call, int folder);
/* Whether the name is there (not followed), and is a link. */
bool named_exists(const struct named *named);
bool named_is_link(const struct named *named);
#define FD_PATH_SIZE 32
/* "/proc/self/fd/N", where the kernel takes a path and there is a descriptor; returns `text`. */
const char *fd_path(int fd, char text[static FD_PATH_SIZE]);

/* ---- what the plan says (files.c) ---- */

/* What is wanted of a name. */
struct name_use {
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
void supervise_judge(const struct syscall *call, const char *path, struct name_use wanted,
                     struct verdict *ret);
/* Records that the kernel (or, if it is refused, the supervisor) said no.  `error`: what the call
 * failed with, 0 for nothing. */
void supervise_record_verdict(const struct syscall *call, struct verdict *verdict, int error);
/* Records that opening this name in the folder with these flags, which was permitted, failed with
 * `error` because at landlock new names next to a hidden one cannot be read; nothing, if it failed
 * for another reason. */
void supervise_record_unread(const struct syscall *call, int folder, const char *name,
                             const char *path, uint64_t flags, int error);
/* What the supervisor refuses: its record, and the answer. */
struct call_answer supervise_refuse_name(const struct syscall *call, struct verdict *verdict);
/* A name is about to be made, moved to, or opened for writing. */
void supervise_report_made(const struct syscall *call, const char *path);
/* Whether git starts something that it cannot finish, because its configuration may not be written:
 * moving `from` (NULL: making) to `to` shows that.  *ret is about the configuration then. */
bool supervise_ends_half_done(const struct syscall *call, const char *from, const char *to,
                              struct verdict *ret);

#endif
