/* SPDX-License-Identifier: Apache-2.0 */
/* Making, moving and removing names.
 *
 * Each call is made here, beneath the descriptor of the folder that was judged.  The kernel decides
 * what it can: mounts at level full, Landlock at landlock, and a denial gets its record.  A name is
 * refused here where the kernel would permit it: names that must not come into being, and at the
 * landlock level protected ones inside writable paths.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "sandbox/plan/denial.h"
#include "sandbox/plan/git_change.h"
#include "sandbox/supervise/call.h"
#include "sandbox/supervise/handlers.h"
#include "sandbox/supervise/named.h"
#include "sandbox/supervise/private.h"

/* ---- judging ---- */

/* What a process may do to entries of /proc/NUMBER is not a matter of paths: see named.c. */
static bool is_process(const char *path)
{
	return strncmp(path, "/proc/", 6) == 0 && ascii_is_digit(path[6]);
}

/* Landlock before version 3 (Linux 6.2) says nothing about truncating. */
static bool only_we_refuse(const struct sandbox_plan *plan, struct name_use wanted)
{
	return wanted.truncates && plan->level == SANDBOX_LANDLOCK && plan->landlock_abi < 3;
}

/* A hasp inside tries to make control groups (cgroup.c), and does without them: that is refused
 * like everything else, but not reported. */
static bool is_own_group(const char *path)
{
	return strncmp(path, "/sys/fs/cgroup/", strlen("/sys/fs/cgroup/")) == 0 &&
	       strncmp(strrchr(path, '/'), "/hasp-", strlen("/hasp-")) == 0;
}

/* Names that others obey in any folder (names.h).  No one works yet in a folder that the command
 * itself made: what is cloned, unpacked or copied there may have them. */
static bool judge_obeyed(const struct syscall *call, const char *path, struct name_use wanted,
                         struct denial *ret_denial)
{
	const struct supervisor_events *events = &call->supervisor->events;
	_cleanup_free_ char *folder = NULL;
	size_t at = 0, end = 0;

	if (wanted.leaves || !plan_obeyed(call->supervisor->plan, path, &at, &end))
		return true;
	folder = mem_dup(path, at - 1);
	return (events->fresh && events->fresh(events->data, folder)) ||
	       plan_judge_obeyed(call->supervisor->plan, path, ret_denial);
}

/* What hasp is writing, and then renames over a protected configuration. */
static bool is_becoming_config(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && strncmp(slash + 1, GIT_CHANGE_TEMPORARY,
	                        strlen(GIT_CHANGE_TEMPORARY)) == 0;
}

void supervise_judge(const struct syscall *call, const char *path, struct name_use wanted,
                     struct verdict *ret)
{
	const struct sandbox_plan *plan = call->supervisor->plan;

	*ret = (struct verdict){ 0 };
	if ((wanted.removes || !wanted.leaves) && is_becoming_config(path)) {
		ret->refused = true;
		ret->denial = (struct denial){ .kind = DENIAL_WRITE, .level = plan->level,
			                       .reason = SANDBOX_REASON_GIT };
		snprintf(ret->denial.what, sizeof(ret->denial.what), "%s", path);
		return;
	}
	ret->allowed = !path[0] || is_process(path) ||
	               (plan_judge_rules(plan, path, SANDBOX_WRITE, wanted.removes, &ret->denial) &&
	                judge_obeyed(call, path, wanted, &ret->denial));
	ret->refused = !ret->allowed && (ret->denial.reason != SANDBOX_REASON_DEFAULT ||
	                                 only_we_refuse(plan, wanted));
}

/* Errors that have nothing to do with the sandbox are no denials. */
void supervise_record_verdict(const struct syscall *call, struct verdict *verdict, int error)
{
	bool denied = error == 0 || error == EROFS || error == EACCES || error == EPERM ||
	              error == EXDEV;

	if (!verdict->allowed && denied && !is_own_group(verdict->denial.what))
		supervise_record_denial(call, &verdict->denial);
}

void supervise_record_unread(const struct syscall *call, int folder, const char *name,
                             const char *path, uint64_t flags, int error)
{
	struct denial denial = { .kind = DENIAL_READ, .reason = SANDBOX_REASON_NEXT_TO,
		                 .level = SANDBOX_LANDLOCK };
	const char *hidden = error == EACCES && (flags & O_ACCMODE) == O_RDWR ?
	                     plan_hidden_next_to(call->supervisor->plan, path) : NULL;

	/* Landlock does not ask about access(2): that is about modes. */
	if (!hidden || faccessat(folder, name, R_OK | W_OK, AT_EACCESS) != 0)
		return;
	snprintf(denial.what, sizeof(denial.what), "%s", path);
	snprintf(denial.rule, sizeof(denial.rule), "%s", hidden);
	supervise_record_denial(call, &denial);
}

/* ---- what all have in common ---- */

static int folder_argument(const struct syscall *call, signed char argument)
{
	return argument < 0 ? AT_FDCWD : (int)call->args[(unsigned char)argument];
}

/* Reads and finds one path argument: 0 or an errno. */
static int find_name_argument(const struct syscall *call, signed char folder, signed char path,
                              struct named *ret)
{
	char text[LIMIT_PATH_BYTES];
	int error = call_read_path(call, call->args[(unsigned char)path], text);

	ret->folder = -1;
	ret->lent = false;
	if (!error)
		error = named_find(call, folder_argument(call, folder), text, false, ret);
	return error;
}

/* "." and ".." are never made, moved or removed: the kernel says why. */
static bool is_dots(const struct named *named)
{
	return strcmp(named->name, ".") == 0 || strcmp(named->name, "..") == 0;
}

static void judge_named(const struct syscall *call, const struct named *named,
                        struct name_use wanted, struct verdict *ret)
{
	supervise_judge(call, named->path, wanted, ret);
	if (is_dots(named))
		*ret = (struct verdict){ .allowed = true };
}

/* A folder is about to go: files may. */
static void report_removal(const struct syscall *call, const struct named *named)
{
	const struct supervisor_events *events = &call->supervisor->events;
	struct stat st;

	if (events->removing && named->path[0] && named->folder >= 0 &&
	    (!named->name[0] ||
	     (fstatat(named->folder, named->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	      S_ISDIR(st.st_mode))))
		events->removing(events->data, named->path);
}

void supervise_report_made(const struct syscall *call, const char *path)
{
	const struct supervisor_events *events = &call->supervisor->events;

	if (events->made && path[0])
		events->made(events->data, path);
}

/* What the supervisor refuses: its record, and the error. */
struct call_answer supervise_refuse_name(const struct syscall *call, struct verdict *verdict)
{
	int error = call->supervisor->plan->level == SANDBOX_FULL ? EROFS : EACCES;

	supervise_record_verdict(call, verdict, error);
	return answer_error(error);
}

/* ---- making ---- */

enum made_kind { MADE_FOLDER, MADE_NODE, MADE_LINK };

/* One name that must not be there yet. */
struct name_making {
	enum made_kind kind;
	mode_t mode;
	unsigned device;
	const char *target; /* of a symlink */
};

static int make_at(const struct named *named, const struct name_making *making)
{
	long done = -1;

	switch (making->kind) {
	case MADE_FOLDER:
		done = mkdirat(named->folder, named->name, making->mode);
		break;
	case MADE_NODE:
		done = syscall(SYS_mknodat, named->folder, named->name, making->mode,
		               making->device);
		break;
	case MADE_LINK:
		done = symlinkat(making->target, named->folder, named->name);
		break;
	}
	return done < 0 ? errno : 0;
}

static struct call_answer make(const struct syscall *call, const struct handler *row,
                               const struct name_making *making)
{
	_cleanup_named_ struct named named;
	struct verdict verdict;
	int error = find_name_argument(call, row->folder, row->path, &named);

	if (!error && !call_alive(call))
		error = ESRCH;
	if (error)
		return answer_error(error);
	/* "mkdir -p" asks for each folder on the way. */
	if (making->kind == MADE_FOLDER && named_exists(&named))
		return answer_error(EEXIST);
	judge_named(call, &named, (struct name_use){ 0 }, &verdict);
	if (verdict.refused)
		return named_exists(&named) ? answer_error(EEXIST) :
		                              supervise_refuse_name(call, &verdict);
	caller_take_umask(call);
	supervise_report_made(call, named.path);
	error = make_at(&named, making);
	supervise_record_verdict(call, &verdict, error);
	return answer_made(error);
}

struct call_answer supervise_mkdir(const struct syscall *call, const struct handler *row)
{
	const struct name_making making = { .kind = MADE_FOLDER,
		.mode = (mode_t)call->args[(unsigned char)row->path + 1] };

	return make(call, row, &making);
}

struct call_answer supervise_mknod(const struct syscall *call, const struct handler *row)
{
	const struct name_making making = { .kind = MADE_NODE,
		.mode = (mode_t)call->args[(unsigned char)row->path + 1],
		.device = (unsigned)call->args[(unsigned char)row->path + 2] };

	return make(call, row, &making);
}

/* The text of the link stands first. */
struct call_answer supervise_symlink(const struct syscall *call, const struct handler *row)
{
	char target[LIMIT_PATH_BYTES];
	const struct name_making making = { .kind = MADE_LINK, .target = target };
	int error = call_read_path(call, call->args[0], target);

	if (!error && !target[0])
		error = ENOENT;
	return error ? answer_error(error) : make(call, row, &making);
}

/* ---- second names ---- */

/* What is linked: a name, or (without one) what a descriptor is open on. */
static int find_source(const struct syscall *call, const struct handler *row, uint64_t flags,
                       struct named *ret)
{
	char text[LIMIT_PATH_BYTES];
	int error = call_read_path(call, call->args[(unsigned char)row->path], text);
	int folder = folder_argument(call, row->folder);

	ret->folder = -1;
	ret->lent = false;
	if (error || text[0] || !(flags & AT_EMPTY_PATH))
		return error ? error :
		               named_find(call, folder, text, flags & AT_SYMLINK_FOLLOW, ret);
	ret->folder = named_open_descriptor(call, folder, ret);
	ret->name[0] = '\0';
	return ret->folder < 0 ? errno : 0;
}

static int make_link(const struct named *from, const struct named *to)
{
	char text[FD_PATH_SIZE];
	int done;

	if (from->name[0])
		done = linkat(from->folder, from->name, to->folder, to->name, 0);
	else
		done = linkat(AT_FDCWD, fd_path(from->folder, text), to->folder, to->name,
		              AT_SYMLINK_FOLLOW);
	return done ? errno : 0;
}

/* A second name for a protected file is a way to write it; both names must be writable. */
static struct call_answer link_names(const struct syscall *call, const struct named *from,
                                     const struct named *to)
{
	struct verdict source, target;
	int error;

	judge_named(call, from, (struct name_use){ 0 }, &source);
	judge_named(call, to, (struct name_use){ 0 }, &target);
	if ((source.refused || target.refused) && !named_exists(from))
		return answer_error(ENOENT);
	if ((source.refused || target.refused) && named_exists(to))
		return answer_error(EEXIST);
	if (source.refused)
		return supervise_refuse_name(call, &source);
	if (target.refused)
		return supervise_refuse_name(call, &target);
	supervise_report_made(call, to->path);
	error = make_link(from, to);
	supervise_record_verdict(call, &source, error);
	supervise_record_verdict(call, &target, error);
	return answer_made(error);
}

struct call_answer supervise_link(const struct syscall *call, const struct handler *row)
{
	uint64_t flags = row->flags < 0 ? 0 : call->args[(unsigned char)row->flags];
	_cleanup_named_ struct named from = { .folder = -1 };
	_cleanup_named_ struct named to = { .folder = -1 };
	int error;

	if (flags & ~(uint64_t)(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
		return answer_error(EINVAL);
	error = find_source(call, row, flags, &from);
	if (!error)
		error = find_name_argument(call, row->folder2, row->path2, &to);
	if (!error && !call_alive(call))
		error = ESRCH;
	return error ? answer_error(error) : link_names(call, &from, &to);
}

/* ---- what git does with a protected configuration ---- */

/* The bytes of a small regular file; -1: it is none. */
static ssize_t read_whole_small(int folder, const char *name, char *text, size_t size)
{
	_cleanup_fd_ int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC |
	                                           O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || (size_t)st.st_size >= size)
		return -1;
	return fd_read_full(fd, text, size);
}

/* git writes a configuration by making config.lock and renaming it to config.  Where that is
 * protected, it is compared with the lock file.  The same settings (git writes them again in "git
 * branch -m" of a branch without an upstream, and "git submodule update --init" of what is there):
 * the lock file is removed, and nothing rests on its content.  Harmless ones: hasp writes them from
 * outside of the sandbox, or not.  Else keys says what is not harmless.  True: it has those
 * settings now, and the lock file is removed. */
static bool settle_config(const struct syscall *call, const struct named *from,
                          const struct named *to, char keys[static GIT_CHANGE_KEYS])
{
	const struct supervisor_events *events = &call->supervisor->events;
	_cleanup_free_ char *old = NULL, *new = NULL;
	const size_t len = strlen(to->path);
	enum git_change_kind kind;
	struct denial denial;
	ssize_t n, m;

	if (strncmp(from->path, to->path, len) != 0 || strcmp(from->path + len, ".lock") != 0 ||
	    plan_judge_rules(call->supervisor->plan, to->path, SANDBOX_WRITE, true, &denial) ||
	    denial.reason != SANDBOX_REASON_GIT || strcmp(denial.rule, to->path) != 0 ||
	    !plan_judge(call->supervisor->plan, from->path, SANDBOX_WRITE, true, NULL))
		return false;
	old = mem_alloc(1, LIMIT_GUARD_FILE_BYTES);
	new = mem_alloc(1, LIMIT_GUARD_FILE_BYTES);
	n = read_whole_small(to->folder, to->name, old, LIMIT_GUARD_FILE_BYTES);
	m = read_whole_small(from->folder, from->name, new, LIMIT_GUARD_FILE_BYTES);
	if (n < 0 || m < 0)
		return false;
	if (n == m && memcmp(old, new, (size_t)n) == 0)
		return unlinkat(from->folder, from->name, 0) == 0;
	kind = git_change_judge(span_of(old, (size_t)n), span_of(new, (size_t)m), keys);
	if (kind == GIT_CHANGE_NONE)
		return unlinkat(from->folder, from->name, 0) == 0;
	if (kind == GIT_CHANGE_REFUSED || !events->config ||
	    !events->config(events->data, to->path))
		return false;
	unlinkat(from->folder, from->name, 0); /* or another process has */
	return true;
}

/* "git branch -m" moves the branch's log aside, renames the branch, and then its section of the
 * configuration; "git branch -c" copies the log to that place first.  Where that section could not
 * be written, either is refused before it starts.  Which branch is copied is not known, so any
 * such section counts. */
bool supervise_ends_half_done(const struct syscall *call, const char *from, const char *to,
                              struct verdict *ret)
{
	static const char aside[] = "/logs/refs/.tmp-renamed-log", logs[] = "/logs/refs/heads/";
	const size_t len = strlen(to), git = len - strlen(aside);
	_cleanup_free_ char *config = NULL, *text = NULL;
	struct span branch = { 0 };
	ssize_t n;

	if (len <= strlen(aside) || strcmp(to + git, aside) != 0 ||
	    (from && (strncmp(from, to, git) != 0 ||
	              strncmp(from + git, logs, strlen(logs)) != 0)))
		return false;
	config = mem_printf("%.*s/config", (int)git, to);
	supervise_judge(call, config, (struct name_use){ .removes = true }, ret);
	if (ret->allowed)
		return false;
	if (from)
		branch = span_str(from + git + strlen(logs));
	text = mem_alloc(1, LIMIT_GUARD_FILE_BYTES);
	n = read_whole_small(AT_FDCWD, config, text, LIMIT_GUARD_FILE_BYTES);
	return n < 0 || !git_change_may_move(span_of(text, (size_t)n), branch,
	                                     !!call->supervisor->events.config);
}

/* ---- moving ---- */

static struct call_answer rename_names(const struct syscall *call, const struct named *from,
                                       const struct named *to, unsigned flags)
{
	const bool exchanges = flags & RENAME_EXCHANGE;
	struct verdict source, target, config;
	int error = 0;

	judge_named(call, from, (struct name_use){ .removes = true, .leaves = !exchanges },
	            &source);
	judge_named(call, to, (struct name_use){ .removes = true }, &target);
	if ((source.refused || target.refused) && !named_exists(from))
		return answer_error(ENOENT);
	if (!flags && settle_config(call, from, to, target.denial.keys))
		return answer_made(0);
	if (source.refused)
		return supervise_refuse_name(call, &source);
	if (target.refused)
		return supervise_refuse_name(call, &target);
	if (supervise_ends_half_done(call, from->path, to->path, &config))
		return supervise_refuse_name(call, &config);
	report_removal(call, from);
	report_removal(call, to);
	if (exchanges)
		supervise_report_made(call, from->path);
	supervise_report_made(call, to->path);
	if (syscall(SYS_renameat2, from->folder, from->name, to->folder, to->name, flags) != 0)
		error = errno;
	supervise_record_verdict(call, &source, error);
	supervise_record_verdict(call, &target, error);
	return answer_made(error);
}

struct call_answer supervise_rename(const struct syscall *call, const struct handler *row)
{
	unsigned flags = row->flags < 0 ? 0 : (unsigned)call->args[(unsigned char)row->flags];
	_cleanup_named_ struct named from = { .folder = -1 };
	_cleanup_named_ struct named to = { .folder = -1 };
	int error = find_name_argument(call, row->folder, row->path, &from);

	if (!error)
		error = find_name_argument(call, row->folder2, row->path2, &to);
	if (!error && !call_alive(call))
		error = ESRCH;
	return error ? answer_error(error) : rename_names(call, &from, &to, flags);
}

/* ---- removing ---- */

/* A submodule's .git: the guard checks that the rest of its folder was removed, too. */
static bool git_link_may_go(const struct syscall *call, const struct named *named)
{
	struct stat st;

	return plan_may_go(call->supervisor->plan, named->path) &&
	       fstatat(named->folder, named->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(st.st_mode);
}

static struct call_answer remove_name(const struct syscall *call, const struct handler *row,
                                      int flags)
{
	_cleanup_named_ struct named named;
	struct verdict verdict;
	int error = find_name_argument(call, row->folder, row->path, &named);

	if (!error && !call_alive(call))
		error = ESRCH;
	if (error)
		return answer_error(error);
	judge_named(call, &named, (struct name_use){ .leaves = true }, &verdict);
	if (verdict.refused && !(flags & AT_REMOVEDIR) && git_link_may_go(call, &named))
		verdict = (struct verdict){ .allowed = true };
	if (verdict.refused)
		return named_exists(&named) ? supervise_refuse_name(call, &verdict) :
		                              answer_error(ENOENT);
	if (flags & AT_REMOVEDIR)
		report_removal(call, &named);
	error = unlinkat(named.folder, named.name, flags) ? errno : 0;
	supervise_record_verdict(call, &verdict, error);
	return answer_made(error);
}

/* unlink and unlinkat; the flags say whether it is a folder. */
struct call_answer supervise_unlink(const struct syscall *call, const struct handler *row)
{
	int flags = row->flags < 0 ? 0 : (int)call->args[(unsigned char)row->flags];

	return remove_name(call, row, flags);
}

struct call_answer supervise_rmdir(const struct syscall *call, const struct handler *row)
{
	return remove_name(call, row, AT_REMOVEDIR);
}

/* ---- truncating by path ---- */

/* Otherwise the supervisor's limit would apply, and it would get the signal. */
static bool is_over_limit(const struct syscall *call, int64_t length)
{
	struct rlimit limit;

	return prlimit(call->thread, RLIMIT_FSIZE, NULL, &limit) == 0 &&
	       limit.rlim_cur != RLIM_INFINITY && length > 0 && (rlim_t)length > limit.rlim_cur;
}

struct call_answer supervise_truncate(const struct syscall *call, const struct handler *row)
{
	int64_t length = (int64_t)call->args[(unsigned char)row->path + 1];
	_cleanup_fd_ int fd = -1;
	char text[LIMIT_PATH_BYTES], link[FD_PATH_SIZE];
	struct verdict verdict;
	struct named named;
	int error = call_read_path(call, call->args[(unsigned char)row->path], text);

	if (error)
		return answer_error(error);
	fd = named_open(call, AT_FDCWD, text, true, &named);
	if (fd < 0)
		return answer_error(errno);
	supervise_judge(call, named.path, (struct name_use){ .truncates = true }, &verdict);
	if (verdict.refused)
		return supervise_refuse_name(call, &verdict);
	if (is_over_limit(call, length))
		return answer_error(EFBIG);
	supervise_report_made(call, named.path);
	error = truncate(fd_path(fd, link), length) ? errno : 0;
	supervise_record_verdict(call, &verdict, error);
	return answer_made(error);
}
