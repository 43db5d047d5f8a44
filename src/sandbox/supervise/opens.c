/* SPDX-License-Identifier: Apache-2.0 */
/* Opening: for writing by any call, and all of openat2, whose flags are in memory.
 *
 * The supervisor opens what was judged, and hands the descriptor over (SECCOMP_IOCTL_NOTIF_ADDFD).
 * Its own copy is closed before the process goes on, or can make the file executable: a program
 * that was just written could not be executed while it is open for writing here (ETXTBSY).
 *
 * Nothing that may block is waited for on this thread: everything is opened with O_NONBLOCK, which
 * is taken off afterwards.  What would have blocked (a FIFO without a reader, a file under a lease)
 * waits in a list and is opened again, found and judged from the beginning, until it works or the
 * process has ended or has a signal.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/plan/denial.h"
#include "sandbox/supervise/call.h"
#include "sandbox/supervise/handlers.h"
#include "sandbox/supervise/named.h"
#include "sandbox/supervise/private.h"

#define FOR_WRITING (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)

/* One open, with all that was copied of it. */
struct opening {
	int folder;           /* the process's descriptor, or AT_FDCWD */
	struct open_how how;
	bool strict;          /* openat2: flags that are not known are errors */
	bool made;            /* by the supervisor, just now: a regular file with this mode */
	int held;             /* owned; a FIFO that waits for its writer, -1: none */
	char path[LIMIT_PATH_BYTES];
};

struct waiting_open {
	struct waiting_open *next;
	uint64_t id;
	pid_t thread;
	int number;
	struct opening opening;
};

static bool is_nameless(const struct opening *opening)
{
	return (opening->how.flags & O_TMPFILE) == O_TMPFILE;
}

static bool opens_for_writing(const struct opening *opening)
{
	return (opening->how.flags & FOR_WRITING) && !(opening->how.flags & O_PATH);
}

/* ---- the open itself ---- */

/* Whether the call makes a new file or fails, and so never waits. */
static bool only_makes(uint64_t flags)
{
	return (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
}

/* What is added to the flags: never a controlling terminal, nor a wait. */
static uint64_t safe_flags(uint64_t flags)
{
	if (!(flags & O_PATH))
		flags |= O_NOCTTY | (only_makes(flags) ? 0 : O_NONBLOCK);
	return flags | O_CLOEXEC;
}

/* What open and openat know; the rest they leave out, where openat2 fails. */
#define KNOWN_FLAGS (O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | \
	O_SYNC | O_ASYNC | O_DIRECT | O_DIRECTORY | O_NOFOLLOW | O_NOATIME | O_CLOEXEC | O_PATH | \
	O_TMPFILE)

static int open_with(int folder, const char *name, const struct opening *opening, uint64_t flags,
                     uint64_t resolve)
{
	struct open_how how = { .flags = safe_flags(flags), .resolve = resolve };

	if (flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY)))
		how.mode = opening->how.mode;
	if (!opening->strict)
		how.flags &= KNOWN_FLAGS;
	return (int)syscall(SYS_openat2, folder, name, &how, sizeof(how));
}

/* Opens what a descriptor (O_PATH) stands for. */
static int reopen_descriptor(int fd, const struct opening *opening)
{
	char text[FD_PATH_SIZE];

	return open_with(AT_FDCWD, fd_path(fd, text), opening,
	                 opening->how.flags & ~(uint64_t)(O_CREAT | O_EXCL | O_NOFOLLOW), 0);
}

/* A name that ends in a slash is a folder, which cannot be opened for writing; the kernel would
 * follow a link despite O_NOFOLLOW. */
static int open_folder_name(const struct named *named, const struct opening *opening)
{
	char name[sizeof(named->name)];
	struct stat st;

	memcpy(name, named->name, sizeof(name));
	name[strcspn(name, "/")] = '\0';
	if (opening->how.flags & O_CREAT)
		errno = EISDIR;
	else if (fstatat(named->folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		errno = S_ISDIR(st.st_mode) ? EISDIR : S_ISLNK(st.st_mode) ? ELOOP : ENOTDIR;
	return -1;
}

/* Checked before truncating a file for a process that could not get the descriptor. */
static bool open_room(const struct syscall *call, const struct opening *opening)
{
	if (!(opening->how.flags & O_TRUNC) || caller_has_room(call))
		return true;
	errno = EMFILE;
	return false;
}

/* A final link is ELOOP.  What may be made is made as new first: of a new file all is known that
 * else would be asked for. */
static int open_opening(const struct syscall *call, const struct named *named,
                        struct opening *opening)
{
	const uint64_t flags = opening->how.flags;
	int fd;

	if (!named->name[0])
		return open_room(call, opening) ? reopen_descriptor(named->folder, opening) : -1;
	if (strchr(named->name, '/'))
		return open_folder_name(named, opening);
	if (flags & O_CREAT) {
		fd = open_with(named->folder, named->name, opening, flags | O_EXCL,
		               RESOLVE_NO_SYMLINKS);
		opening->made = fd >= 0;
		if (fd >= 0 || errno != EEXIST || (flags & O_EXCL))
			return fd;
	}
	return open_room(call, opening) ? open_with(named->folder, named->name, opening, flags,
	                                           RESOLVE_NO_SYMLINKS) : -1;
}

/* ---- the caller's terminal ---- */

/* Its number as stat has it, from field 7 of /proc/PID/stat; 0: none. */
static dev_t terminal_of(const struct syscall *call)
{
	char text[1024], *at;
	_cleanup_fd_ int fd = call_open_proc(call, "stat", O_RDONLY);
	unsigned number = 0;

	if (!fd_read_text(fd, text, sizeof(text)))
		return 0;
	at = strrchr(text, ')');
	if (!at || sscanf(at + 1, " %*c %*d %*d %*d %u", &number) != 1)
		return 0;
	return number ? makedev(number >> 8 & 0xfff, (number & 0xff) | (number >> 12 & 0xfff00)) :
	                0;
}

static bool is_terminal(int fd, dev_t terminal)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == terminal;
}

/* /dev/tty is another for each session, and the supervisor has none: what the caller has open on
 * it already, else the one that /dev/pts has by this number. */
static int open_terminal(const struct syscall *call, const struct opening *opening)
{
	dev_t terminal = terminal_of(call);
	char text[32];

	for (int i = 0; terminal && i <= 3; i++) {
		_cleanup_fd_ int fd = -1;

		snprintf(text, sizeof(text), "/dev/pts/%u", minor(terminal));
		fd = i < 3 ? named_open_folder(call, i) : open(text, O_PATH | O_CLOEXEC);
		if (is_terminal(fd, terminal))
			return reopen_descriptor(fd, opening);
	}
	errno = ENXIO;
	return -1;
}

/* ---- judging ---- */

/* Whether the call would fail anyway, because the name is not there, or is: with which error. */
static int fails_anyway(const struct named *named, const struct opening *opening)
{
	if (!(opening->how.flags & O_CREAT))
		return named_exists(named) ? 0 : ENOENT;
	return (opening->how.flags & O_EXCL) && named_exists(named) ? EEXIST : 0;
}

static bool follows(const struct opening *opening)
{
	return !(opening->how.flags & O_NOFOLLOW) && !only_makes(opening->how.flags);
}

/* Judges and opens one name. *ret_answer when that is settled without a descriptor; then, and on
 * failure, -1. */
static int try_named(const struct syscall *call, struct opening *opening,
                     const struct named *named, struct call_answer *ret_answer)
{
	struct name_use wanted = { .truncates = opening->how.flags & O_TRUNC };
	struct verdict verdict, config;
	int fd, error;

	supervise_judge(call, named->path, wanted, &verdict);
	if (verdict.refused && follows(opening) && named_is_link(named)) {
		errno = ELOOP;
		return -1;
	}
	if (verdict.refused) {
		error = fails_anyway(named, opening);
		*ret_answer = error ? answer_error(error) : supervise_refuse_name(call, &verdict);
		return -1;
	}
	if ((opening->how.flags & O_CREAT) &&
	    supervise_ends_half_done(call, NULL, named->path, &config)) {
		*ret_answer = supervise_refuse_name(call, &config);
		return -1;
	}
	supervise_report_made(call, named->path);
	fd = strcmp(named->path, "/dev/tty") == 0 ? open_terminal(call, opening) :
	                                            open_opening(call, named, opening);
	error = fd < 0 ? errno : 0;
	supervise_record_verdict(call, &verdict, error);
	supervise_record_unread(call, named->folder, named->name, named->path, opening->how.flags,
	                        error);
	errno = error;
	return fd;
}

/* Follows links one by one: each is judged as what it leads to. */
static int open_path(const struct syscall *call, struct opening *opening,
                     struct call_answer *ret_answer)
{
	_cleanup_named_ struct named named;
	int error = named_find(call, opening->folder, opening->path, false, &named);
	int fd = -1;

	if (!error && !call_alive(call))
		error = ESRCH;
	for (unsigned i = 0; !error && i <= LIMIT_SYMLINKS; i++) {
		fd = try_named(call, opening, &named, ret_answer);
		if (fd >= 0 || ret_answer->kind != ANSWER_LATER || errno != ELOOP ||
		    !follows(opening) || !named_is_link(&named))
			return fd;
		error = named_follow(call, &named);
	}
	errno = error ? error : ELOOP;
	return -1;
}

/* A nameless file can be anywhere: at the landlock level, where the machine's /tmp is not writable,
 * it is made in the session's folder.  tmpfile(3) tries no other folder than /tmp. */
static int open_nameless(const struct syscall *call, const struct opening *opening, int folder,
                         const char *path, struct call_answer *ret_answer)
{
	const struct sandbox_plan *plan = call->supervisor->plan;
	struct verdict verdict;
	int fd;

	supervise_judge(call, path, (struct name_use){ 0 }, &verdict);
	if (!verdict.allowed && plan->level == SANDBOX_LANDLOCK && plan->temp &&
	    strcmp(path, "/tmp") == 0)
		return open_with(AT_FDCWD, plan->temp, opening, opening->how.flags, 0);
	if (verdict.refused) {
		*ret_answer = supervise_refuse_name(call, &verdict);
		return -1;
	}
	fd = open_with(folder, ".", opening, opening->how.flags, 0);
	supervise_record_verdict(call, &verdict, fd < 0 ? errno : 0);
	return fd;
}

/* ---- what is opened as a whole: reading, files without a name, openat2's ways to resolve ---- */

/* What is there already. */
static int open_existing(const struct syscall *call, const struct opening *opening, int found,
                      const char *path, struct call_answer *ret_answer)
{
	struct verdict verdict = { .allowed = true };
	char text[FD_PATH_SIZE];
	struct stat st;
	int fd, error;

	if (only_makes(opening->how.flags)) {
		errno = EEXIST;
		return -1;
	}
	if (opening->how.flags & O_PATH)
		return reopen_descriptor(found, opening);
	if (fstat(found, &st) != 0 || S_ISLNK(st.st_mode)) {
		errno = ELOOP;
		return -1;
	}
	if (opens_for_writing(opening))
		supervise_judge(call, path, (struct name_use){ .truncates =
		                opening->how.flags & O_TRUNC }, &verdict);
	if (verdict.refused) {
		*ret_answer = supervise_refuse_name(call, &verdict);
		return -1;
	}
	if (!open_room(call, opening))
		return -1;
	if (opens_for_writing(opening))
		supervise_report_made(call, path);
	fd = strcmp(path, "/dev/tty") == 0 ? open_terminal(call, opening) :
	                                     reopen_descriptor(found, opening);
	error = fd < 0 ? errno : 0;
	supervise_record_verdict(call, &verdict, error);
	supervise_record_unread(call, AT_FDCWD, fd_path(found, text), path, opening->how.flags,
	                        error);
	errno = error;
	return fd;
}

/* What is not there yet: its folder is found in the same way, and the name made there. */
static int make_within(const struct syscall *call, struct opening *opening,
                       struct call_answer *ret_answer)
{
	struct opening folder = *opening;
	struct decoded_path parts;
	_cleanup_named_ struct named named = { .folder = -1 };
	size_t len;
	int fd;

	errno = decode_path(opening->path, &parts);
	if (!errno && (!parts.plain || parts.slash))
		errno = parts.plain ? EISDIR : ENOENT;
	if (errno)
		return -1;
	memcpy(folder.path + parts.folder_len, ".", parts.folder_len ? 1 : 2);
	folder.path[parts.folder_len + 1] = '\0';
	folder.how.flags = O_PATH | O_DIRECTORY;
	fd = named_open_within(call, opening->folder, folder.path, &folder.how, &named);
	if (fd < 0)
		return -1;
	named.folder = fd;
	memcpy(named.name, parts.name, parts.name_len);
	named.name[parts.name_len] = '\0';
	len = strlen(named.path);
	snprintf(named.path + len, sizeof(named.path) - len, "%s%s", len > 1 ? "/" : "",
	         named.name);
	return try_named(call, opening, &named, ret_answer);
}

static int open_within(const struct syscall *call, struct opening *opening,
                       struct call_answer *ret_answer)
{
	const bool plain = !opening->how.resolve;
	struct named named;
	_cleanup_fd_ int found = -1;

	if (opening->how.resolve & RESOLVE_CACHED) { /* "not without waiting": always true */
		errno = EAGAIN;
		return -1;
	}
	found = plain ? named_open(call, opening->folder, opening->path,
	                           !(opening->how.flags & O_NOFOLLOW), &named) :
	                named_open_within(call, opening->folder, opening->path, &opening->how,
	                                  &named);
	if (found < 0 && errno == ENOENT && !plain && (opening->how.flags & O_CREAT))
		return make_within(call, opening, ret_answer);
	if (found < 0)
		return -1;
	return is_nameless(opening) ?
	       open_nameless(call, opening, found, named.path, ret_answer) :
	       open_existing(call, opening, found, named.path, ret_answer);
}

/* ---- what would block ---- */

static bool is_fifo(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

static bool names_fifo(const struct syscall *call, const struct opening *opening)
{
	struct named named;
	_cleanup_fd_ int fd = named_open(call, opening->folder, opening->path,
	                                 !(opening->how.flags & O_NOFOLLOW), &named);

	return fd >= 0 && is_fifo(fd);
}

/* Whether opening failed only because nothing is waited for. */
static bool would_block(const struct syscall *call, const struct opening *opening, int error)
{
	if (opening->how.flags & (O_NONBLOCK | O_PATH))
		return false;
	if (error == EAGAIN)
		return !(opening->how.resolve & RESOLVE_CACHED);
	return error == ENXIO && names_fifo(call, opening);
}

/* Whether the caller would block here until the FIFO has a writer.  Only data, or the end of it,
 * shows that there was one. */
static bool awaits_writer(const struct opening *opening, int fd)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };

	return !(opening->how.flags & (O_ACCMODE | O_NONBLOCK | O_PATH)) && is_fifo(fd) &&
	       poll(&ready, 1, 0) == 0;
}

static int open_any(const struct syscall *call, struct opening *opening,
                    struct call_answer *ret_answer)
{
	if (!opens_for_writing(opening) || opening->how.resolve || is_nameless(opening))
		return open_within(call, opening, ret_answer);
	return open_path(call, opening, ret_answer);
}

/* One try: ANSWER_LATER when it would block. */
static struct call_answer try_open(const struct syscall *call, struct opening *opening)
{
	struct call_answer answer = { .kind = ANSWER_LATER };
	int fd;

	if (opening->how.flags & O_CREAT)
		caller_take_umask(call);
	fd = opening->held >= 0 ? fd_steal(&opening->held) : open_any(call, opening, &answer);
	if (fd < 0 && answer.kind == ANSWER_LATER && !would_block(call, opening, errno))
		return answer_error(errno);
	if (fd < 0)
		return answer;
	if (!opening->made && awaits_writer(opening, fd)) {
		opening->held = fd;
		return answer;
	}
	if (!opening->made) {
		/* O_NONBLOCK was not asked for. */
		if (!(opening->how.flags & (O_NONBLOCK | O_PATH)))
			fcntl(fd, F_SETFL,
			      (int)opening->how.flags & (O_APPEND | O_DIRECT | O_NOATIME));
	}
	return caller_hand_over(call, fd, opening->how.flags,
	                        !opening->made || (opening->how.mode & 0111));
}

static void keep_open(const struct syscall *call, const struct opening *opening)
{
	struct supervisor *supervisor = call->supervisor;
	struct waiting_open *kept = mem_alloc(1, sizeof(*kept));

	*kept = (struct waiting_open){ .next = supervisor->opens, .id = call->id,
		.thread = call->thread, .number = call->number, .opening = *opening };
	supervisor->opens = kept;
	supervisor->opens_count++;
}

static void remove_open(struct supervisor *supervisor, struct waiting_open **at)
{
	struct waiting_open *kept = *at;

	*at = kept->next;
	fd_cleanup_close(&kept->opening.held);
	free(kept);
	supervisor->opens_count--;
}

void opens_continue(struct supervisor *supervisor)
{
	for (struct waiting_open **at = &supervisor->opens; *at;) {
		struct syscall call = { .supervisor = supervisor, .id = (*at)->id,
			.thread = (*at)->thread, .number = (*at)->number };
		struct call_answer answer = { .kind = ANSWER_LATER };
		bool alive = call_alive(&call);

		if (alive && call_is_interrupted(&call)) {
			answer = answer_error(EINTR);
		} else if (alive) {
			int error = caller_take_ids(&call);

			answer = error ? answer_error(error) : try_open(&call, &(*at)->opening);
			caller_resign_ids(&call);
		}
		if (alive && answer.kind == ANSWER_LATER) {
			at = &(*at)->next;
			continue;
		}
		remove_open(supervisor, at);
		if (alive && answer.kind != ANSWER_SENT)
			supervise_answer(supervisor, call.id, answer);
	}
}

void opens_free(struct supervisor *supervisor)
{
	while (supervisor->opens)
		remove_open(supervisor, &supervisor->opens);
}

/* ---- the calls ---- */

static struct call_answer open_or_wait(const struct syscall *call, struct opening *opening)
{
	struct call_answer answer;

	opening->held = -1;
	answer = try_open(call, opening);
	if (answer.kind != ANSWER_LATER)
		return answer;
	if (call->supervisor->opens_count >= LIMIT_WAITING_OPENS) {
		fd_cleanup_close(&opening->held);
		return answer_error(EAGAIN);
	}
	keep_open(call, opening);
	return answer;
}

/* Unlike openat2, these leave out what they do not know. */
struct call_answer supervise_open(const struct syscall *call, const struct handler *row)
{
	const unsigned path = (unsigned char)row->path;
	uint64_t flags = row->flags < 0 ? O_WRONLY | O_CREAT | O_TRUNC /* creat */ :
	                                  (uint32_t)call->args[(unsigned char)row->flags];
	struct opening opening; /* its path is large: nothing is cleared that is written to */
	int error;

	if (flags & O_PATH)
		return answer_go_on(CONTINUE_PATH_ONLY);
	opening.folder = row->folder < 0 ? AT_FDCWD : (int)call->args[(unsigned char)row->folder];
	opening.how = (struct open_how){
		.flags = flags, .mode = call->args[row->flags < 0 ? path + 1 : path + 2] & 07777 };
	opening.strict = opening.made = false;
	error = call_read_path(call, call->args[path], opening.path);
	return error ? answer_error(error) : open_or_wait(call, &opening);
}

struct call_answer supervise_openat2(const struct syscall *call, const struct handler *row)
{
	struct opening opening = { .folder = (int)call->args[0], .strict = true };
	unsigned char bytes[sizeof(opening.how) * 8] = { 0 };
	size_t size = call->args[3];
	int error = 0;

	(void)row;
	if (size < sizeof(opening.how) || size > sizeof(bytes))
		error = size > sizeof(bytes) ? E2BIG : EINVAL;
	if (!error)
		error = call_read(call, call->args[2], bytes, size);
	if (!error)
		error = decode_open_how(bytes, size, &opening.how);
	if (!error)
		error = call_read_path(call, call->args[1], opening.path);
	return error ? answer_error(error) : open_or_wait(call, &opening);
}
