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
#include "base/text.h"
#include "config/extensions.h"
#include "config/home.h"
#include "install/private.h"

enum {
	GIT_SAID_BYTES = 4096, /* of what git says when it fails */
	GIT_WORDS_MAX = 48,
	GIT_MISSING = 127,
	GIT_REFS_BYTES = 64 << 10, /* of names that end in one that is asked for */
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

/* Takes git's output into a buffer, as far as that has room; true where all of it is there and git
 * succeeded.  *ret_status: git's, -1 where it was cut off. */
static bool git_output(const struct git *git, const char *const *words, struct buf *out,
                       int *ret_status, struct err *err)
{
	char piece[4096];
	_cleanup_fd_ int fd = -1;
	const pid_t pid = git_begin(git, words, false, &fd, err);
	ssize_t got;

	*ret_status = -1;
	if (pid < 0)
		return false;
	while ((got = read(fd, piece, sizeof(piece))) > 0 || (got < 0 && errno == EINTR))
		if (got > 0 && !buf_span(out, span_of(piece, (size_t)got)))
			break;
	if (out->overflowed)
		kill(pid, SIGKILL);
	close(fd_steal(&fd));
	*ret_status = git_end(pid);
	return *ret_status == 0 && !out->overflowed;
}

/* The files of a commit, or of one of its folders, into `folder`, as an archive. */
static bool commit_unpack(const struct git *git, const char *path, int folder, struct err *err)
{
	_cleanup_free_ char *tree = mem_printf("FETCH_HEAD%s%s", path ? ":" : "", path ? path : "");
	const char *const words[] = { "archive", "--format=tar", tree, NULL };
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

/* A new repository with one commit of another, which is FETCH_HEAD. */
static bool commit_get(const struct git *git, const char *url, const char *ref, struct err *err)
{
	const char *const begin[] = { "init", "-q", "--template=", NULL };
	const char *const name[] = { "remote", "add", "origin", url, NULL };
	const char *const get[] = { "fetch", "-q", "--depth", "1", "--no-tags",
		                    "--no-recurse-submodules", "--end-of-options", "origin",
		                    ref ? ref : "HEAD", NULL };

	if (ref && !ref_is_fine(ref))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "--ref takes a branch, a tag or a commit.");
	return git_run(git, begin, err) && git_run(git, name, err) && git_run(git, get, err);
}

static bool is_commit(struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		if (!text.data[i] || !strchr("0123456789abcdef", text.data[i]))
			return false;
	return text.len == 40 || text.len == 64;
}

/* Which commit FETCH_HEAD is; the caller frees. NULL with *err. */
static char *commit_name(const struct git *git, struct err *err)
{
	const char *const words[] = { "rev-parse", "--verify", "FETCH_HEAD^{commit}", NULL };
	_cleanup_buf_ struct buf out = BUF_INIT(GIT_SAID_BYTES);
	int status;

	if (git_output(git, words, &out, &status, err) && is_commit(span_trim(buf_view(&out))))
		return mem_dup(out.data, span_trim(buf_view(&out)).len);
	git_fail(status, "it has fetched no commit", err);
	return NULL;
}

bool git_fetch(const struct git_place *place, const char *folder, char **ret_commit,
               struct err *err)
{
	_cleanup_free_ char *content = home_make(folder, "content", err), *commit = NULL;
	_cleanup_free_ char *inner = content ? mem_printf("%s/.git", content) : NULL;
	const struct git git = { .folder = inner,
		                 .protocols = (char *)protocols_of(place->url) };
	const char *take[] = { "update-ref", "--no-deref", "HEAD", NULL, NULL };
	_cleanup_fd_ int open_content = -1;

	if (!content)
		return false;
	open_content = open(content, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (open_content < 0)
		return err_set_errno(err, errno, "Cannot open %s", content);
	if (!commit_get(&git, place->url, place->ref, err))
		return false;
	commit = commit_name(&git, err);
	take[3] = commit; /* what was fetched may be a tag */
	if (!commit || !git_run(&git, take, err) ||
	    !commit_unpack(&git, place->path, open_content, err))
		return false;
	*ret_commit = mem_steal(&commit);
	return true;
}

/* ---- without its files ------------------------------------------------------------------ */

bool git_read(const struct git_place *place, const char *folder, const char *const *files,
              struct buf *out, size_t *ret_which, struct err *err)
{
	_cleanup_free_ char *inner = mem_printf("%s/list.git", folder);
	const struct git git = { .folder = inner,
		                 .protocols = (char *)protocols_of(place->url) };

	if (!commit_get(&git, place->url, place->ref, err))
		return false;
	for (size_t i = 0; files[i]; i++) {
		_cleanup_free_ char *blob = mem_printf("FETCH_HEAD:%s", files[i]);
		const char *const words[] = { "cat-file", "blob", blob, NULL };
		int status;

		if (git_output(&git, words, out, &status, err)) {
			*ret_which = i;
			return true;
		}
		if (out->overflowed)
			return err_set(err, ERR_TOO_LARGE, "%s has more than %zu bytes.", files[i],
			               out->max);
	}
	return err_set(err, ERR_FILE_NOT_FOUND, "There is no %s in the repository.", files[0]);
}

/* The commit of a name in what ls-remote says: "COMMIT TAB NAME" lines; empty: none. */
static struct span remote_named(struct span lines, const char *name)
{
	struct span line;

	while (line_next(&lines, &line)) {
		const char *tab = memchr(line.data, '\t', line.len);
		const size_t len = tab ? (size_t)(tab - line.data) : 0;

		if (tab && span_eq(span_trim(span_skip(line, len + 1)), span_str(name)) &&
		    is_commit(span_head(line, len)))
			return span_head(line, len);
	}
	return SPAN("");
}

char *git_remote_commit(const struct git_place *place, struct err *err)
{
	/* As git looks for one that is fetched; what a tag stands for before the tag. */
	static const char *const forms[][2] = {
		{ "", "" }, { "refs/", "" }, { "refs/tags/", "^{}" }, { "refs/tags/", "" },
		{ "refs/heads/", "" },
	};
	const char *ref = place->ref ? place->ref : "HEAD";
	_cleanup_free_ char *peeled = mem_printf("%s^{}", ref);
	const struct git git = { .folder = "/dev/null", /* no repository is needed */
		                 .protocols = (char *)protocols_of(place->url) };
	const char *const words[] = { "ls-remote", "-q", "--end-of-options", place->url, ref,
		                      peeled, NULL };
	_cleanup_buf_ struct buf out = BUF_INIT(GIT_REFS_BYTES);
	struct span found = SPAN("");
	int status;

	if (is_commit(span_str(ref)))
		return mem_strdup(ref);
	if (!ref_is_fine(ref) || !git_output(&git, words, &out, &status, err))
		return NULL;
	for (size_t i = 0; !found.len && i < ARRAY_LEN(forms); i++) {
		_cleanup_free_ char *name = mem_printf("%s%s%s", forms[i][0], ref, forms[i][1]);

		found = remote_named(buf_view(&out), name);
	}
	return found.len ? mem_dup(found.data, found.len) : NULL;
}
