/* SPDX-License-Identifier: Apache-2.0 */
/* Repositories, fetched with git.
 *
 * git brings one commit into a repository of our own making, and hands its files over as an
 * archive, which is unpacked as any stranger's: git itself writes none of them.  No hook and no
 * template, no submodule, no protocol but the one that was asked for (and ssh or https, which the
 * user's own insteadOf may put in its place). */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/extensions.h"
#include "config/home.h"
#include "install/private.h"

enum {
	GIT_SAID_BYTES = 4096, /* of what git says when it fails */
	GIT_WORDS_MAX = 48,
	GIT_MISSING = 127,
	REF_BYTES = 250,
};

/* ---- the program ---------------------------------------------------------------------- */

/* Before each command's own words. */
static const char *const git_settings[] = {
	"git",
	"-c", "core.hooksPath=/dev/null",
	"-c", "core.fsmonitor=false",
	"-c", "core.attributesFile=/dev/null",
	"-c", "fetch.recurseSubmodules=false",
	"-c", "fetch.unpackLimit=1",
	"-c", "gc.auto=0",
	"-c", "maintenance.auto=false",
	"-c", "credential.interactive=false",
	"-c", "http.lowSpeedLimit=1",
	"-c", "http.lowSpeedTime=60",
};

/* Of the variables that git reads these stay: how the user reaches servers. */
static const char *const git_kept[] = {
	"GIT_SSH=", "GIT_SSH_COMMAND=", "GIT_SSH_VARIANT=", "GIT_SSL_", "GIT_PROXY_",
	"GIT_HTTP_", "GIT_ASKPASS=", "GIT_CONFIG_GLOBAL=", "GIT_CONFIG_SYSTEM=",
	"GIT_CONFIG_NOSYSTEM=",
};

static bool git_variable_stays(const char *variable)
{
	if (strncmp(variable, "GIT_", 4) != 0)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(git_kept); i++)
		if (!strncmp(variable, git_kept[i], strlen(git_kept[i])))
			return true;
	return false;
}

/* NULL-terminated; the texts are the process's own but for `protocols`. The caller frees it. */
static char **git_environment(char *protocols)
{
	size_t count = 0, kept = 0;
	char **all;

	while (environ[count])
		count++;
	all = mem_alloc(count + 4, sizeof(*all));
	for (size_t i = 0; i < count; i++)
		if (git_variable_stays(environ[i]))
			all[kept++] = environ[i];
	all[kept++] = (char *)"GIT_TERMINAL_PROMPT=0";
	all[kept++] = (char *)"GIT_LFS_SKIP_SMUDGE=1"; /* large files stay where they are */
	all[kept++] = protocols;
	return all;
}

struct git {
	const char *folder; /* of the repository: its .git */
	char *protocols;    /* GIT_ALLOW_PROTOCOL=... */
};

/* In the child: calls that may follow a fork alone. */
_Noreturn static void git_child(char *const *words, char *const *environment, int in, int out,
                                int said)
{
	const struct rlimit most = { LIMIT_TREE_BYTES, LIMIT_TREE_BYTES };

	(void)setrlimit(RLIMIT_FSIZE, &most);
	if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
	    dup2(said, STDERR_FILENO) >= 0)
		execvpe(words[0], words, environment);
	_exit(GIT_MISSING);
}

/* Begins git with further words, NULL-terminated; its output, or with `errors` what it says of
 * them, is read from *ret_fd, which the caller closes. -1 with *err. */
static pid_t git_begin(const struct git *git, const char *const *words, bool errors, int *ret_fd,
                       struct err *err)
{
	_cleanup_fd_ int none = open("/dev/null", O_RDWR | O_CLOEXEC);
	_cleanup_free_ char **environment = git_environment(git->protocols);
	_cleanup_free_ char *folder = mem_printf("--git-dir=%s", git->folder);
	const char *all[GIT_WORDS_MAX] = { NULL };
	size_t count = ARRAY_LEN(git_settings);
	int ends[2];
	pid_t pid;

	memcpy(all, git_settings, sizeof(git_settings));
	all[count++] = folder;
	for (; *words && count + 1 < GIT_WORDS_MAX; words++)
		all[count++] = *words;
	if (none < 0 || pipe2(ends, O_CLOEXEC) != 0) {
		err_set_errno(err, errno, "Cannot run git");
		return -1;
	}
	pid = fork();
	if (!pid)
		git_child((char *const *)all, environment, none, errors ? none : ends[1],
		          errors ? ends[1] : none);
	close(ends[1]);
	if (pid < 0) {
		err_set_errno(err, errno, "Cannot run git");
		close(ends[0]);
		return -1;
	}
	*ret_fd = ends[0];
	return pid;
}

/* Waits for its end: its exit status, or -1. */
static int git_end(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool git_fail(int status, const char *said, struct err *err)
{
	_cleanup_free_ char *line = extension_line(span_trim(span_str(said)));

	if (status == GIT_MISSING)
		return err_set(err, ERR_INTERNAL,
		               "git is not on this machine (on Debian: apt install git).");
	return err_set(err, ERR_NETWORK_ERROR, "git failed: %.700s",
	               *line ? line : "it does not say why.");
}

/* Runs a command to its end. */
static bool git_run(const struct git *git, const char *const *words, struct err *err)
{
	char said[GIT_SAID_BYTES + 1] = "", rest[512];
	_cleanup_fd_ int fd = -1;
	const pid_t pid = git_begin(git, words, true, &fd, err);
	ssize_t got;
	int status;

	if (pid < 0)
		return false;
	got = fd_read_full(fd, said, GIT_SAID_BYTES);
	said[got > 0 ? got : 0] = '\0';
	while (read(fd, rest, sizeof(rest)) > 0)
		continue;
	status = git_end(pid);
	return status == 0 || git_fail(status, said, err);
}

/* ---- one commit ----------------------------------------------------------------------- */

static bool ref_is_fine(const char *ref)
{
	for (const char *c = ref; *c; c++)
		if ((unsigned char)*c <= ' ' || *c == 0x7f || strchr(":+^~?*[\\", *c))
			return false;
	return *ref && *ref != '-' && strlen(ref) <= REF_BYTES;
}

static const char *protocols_of(const char *url)
{
	return !strncasecmp(url, "file://", 7) ? "GIT_ALLOW_PROTOCOL=file" :
	       !strncasecmp(url, "http://", 7) ? "GIT_ALLOW_PROTOCOL=http" :
	                                         "GIT_ALLOW_PROTOCOL=https:ssh";
}

/* Its files into `folder`, as an archive. */
static bool commit_unpack(const struct git *git, int folder, struct err *err)
{
	const char *const words[] = { "archive", "--format=tar", "FETCH_HEAD", NULL };
	_cleanup_fd_ int fd = -1;
	const pid_t pid = git_begin(git, words, false, &fd, err);
	bool ok;
	int status;

	if (pid < 0)
		return false;
	ok = unpack(fd, 0, "The repository", folder, err);
	if (!ok)
		kill(pid, SIGKILL); /* it may have a good deal more */
	close(fd_steal(&fd));
	status = git_end(pid);
	return ok && (status == 0 || git_fail(status, "the commit cannot be read", err));
}

bool git_fetch(const char *url, const char *ref, const char *folder, struct err *err)
{
	_cleanup_free_ char *content = home_make(folder, "content", err);
	_cleanup_free_ char *inner = content ? mem_printf("%s/.git", content) : NULL;
	const struct git git = { .folder = inner, .protocols = (char *)protocols_of(url) };
	const char *const begin[] = { "init", "-q", "--template=", NULL };
	const char *const name[] = { "remote", "add", "origin", url, NULL };
	const char *const get[] = { "fetch", "-q", "--depth", "1", "--no-tags",
		                    "--no-recurse-submodules", "--end-of-options", "origin",
		                    ref ? ref : "HEAD", NULL };
	const char *const take[] = { "update-ref", "--no-deref", "HEAD", "FETCH_HEAD", NULL };
	_cleanup_fd_ int open_content = -1;

	if (ref && !ref_is_fine(ref))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "--ref takes a branch, a tag or a commit.");
	if (!content)
		return false;
	open_content = open(content, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (open_content < 0)
		return err_set_errno(err, errno, "Cannot open %s", content);
	return git_run(&git, begin, err) && git_run(&git, name, err) && git_run(&git, get, err) &&
	       git_run(&git, take, err) && commit_unpack(&git, open_content, err);
}
