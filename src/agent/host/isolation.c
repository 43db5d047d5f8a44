/* SPDX-License-Identifier: Apache-2.0 */
/* A separate git worktree for an agent: its files are there, and its tools and commands are
 * confined to it.
 *
 *     ~/.gemini/tmp/SLUG/worktrees/ID/NAME    the worktree; NAME is that of the repository's folder
 *     ~/.gemini/tmp/SLUG/worktrees/ID.json    {"branch", "base", "agent", "tree"}, as long as its
 *                                             agent works there
 *     ~/.gemini/tmp/SLUG/worktrees/ID.lock    locked by the process whose agent works there
 *     ~/.gemini/tmp/SLUG/worktrees/.locks     locked while one of those is made or tried
 *     ~/.gemini/tmp/SLUG/worktrees/.turn      locked while git runs
 *
 * git runs in the sandbox of the session's commands, which may write to ID besides; so what the
 * repository's configuration names (filters) runs there, too, and its hooks do not run at all.
 * What git prints decides nothing that is not checked again here.
 *
 * When the agent has ended, an unchanged worktree is removed with its branch. In a changed one,
 * uncommitted changes are committed, and the worktree stays. One whose process was killed is
 * recognized by its free lock when the next worktree is made; without the .json no agent has worked
 * in it, and it is removed. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/host/private.h"
#include "agent/host/subagents.h"
#include "agent/session/record.h"
#include "base/door.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "data/json.h"
#include "worker/job/job.h"
#include "worker/front/open.h"

enum {
	MAKE_MS = 10 * 60 * 1000, /* a large repository is written out */
	FINISH_MS = 2 * 60 * 1000,
	SAID_BYTES = 8 << 10,     /* of what git says */
	STATE_BYTES = 8 << 10,
	ID_DIGITS = 8,
	TRIES = 3,                /* others may be at work in the repository, and have its locks */
	FOUND_MAX = 200,          /* of others' worktrees that are looked at */
	COMMIT_DIGITS_MIN = 40, COMMIT_DIGITS_MAX = 64,
};

struct isolation {
	struct host *host;
	char *agent;               /* owned; its name; all others too */
	char *id, *branch, *base;  /* base: the commit that it began with */
	char *all;                 /* the folder that all of them are in */
	char *folder, *tree, *root; /* root: the project's place in the tree */
	int lock;                  /* -1: not taken */
	struct provider *provider; /* owned; of the root alone */
	struct jobs *jobs;         /* owned */
};

/* ---- git ------------------------------------------------------------------------------ */

/* Starts each script. The variables of a git process that runs hasp would name another
 * repository. */
#define GIT_COMMON                                                                                \
	"exec 2>/dev/null\n"                                                                      \
	"unset $(git rev-parse --local-env-vars)\n"                                               \
	"g() { git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c gc.auto=0 "             \
	"-c maintenance.auto=false \"$@\"; }\n"

enum {
	MADE = 0, NO_GIT = 21, NO_REPOSITORY, NO_COMMIT, NOT_MADE,
	KEPT = 0, UNTOUCHED = 31, NOT_COMMITTED,
};

/* $1: the tree, $2: the branch. Prints the commit, and the project's folder in the repository. */
static const char make_script[] =
	GIT_COMMON
	"command -v git >/dev/null || exit 21\n"
	"said=$(git rev-parse --show-prefix 2>&1) || { printf '%s\\n' \"$said\"; exit 22; }\n"
	"base=$(g rev-parse -q --verify 'HEAD^{commit}') || exit 23\n"
	"said=$(g worktree add -q --lock --no-track -b \"$2\" \"$1\" \"$base\" 2>&1) ||\n"
	"  { printf '%s\\n' \"$said\"; exit 24; }\n"
	"printf '%s\\n%s\\n' \"$base\" \"$(git rev-parse --show-prefix)\"\n";

/* Likewise; what was never worked in. */
static const char drop_script[] =
	GIT_COMMON
	"g worktree remove -f -f \"$1\"\n"
	"g update-ref -d \"refs/heads/$2\"\n"
	"exit 0\n";

/* $1: the tree, $2: the branch, $3: the commit it began with, $4: the message of a commit.  Prints
 * the branch, and what has changed. */
static const char finish_script[] =
	GIT_COMMON
	"top=$PWD\n"
	"cd \"$1\" || exit 1\n"
	"own=$(g rev-parse --absolute-git-dir) || exit 1\n"
	"[ -e \"$own/gitdir\" ] || printf '%s/.git\\n' \"$1\" >\"$own/gitdir\"\n"
	"look() { g status --porcelain -unormal; }\n"
	"now=$(g rev-parse HEAD) && left=$(look) || exit 1\n"
	"if [ -z \"$left\" ] && [ \"$now\" = \"$3\" ] &&\n"
	"   [ \"$(g rev-parse \"refs/heads/$2\")\" = \"$3\" ]; then\n"
	"  cd \"$top\" && g worktree remove -f -f \"$1\" || exit 1\n"
	"  g update-ref -d \"refs/heads/$2\" \"$3\" || exit 1\n"
	"  exit 31\n"
	"fi\n"
	"if [ -n \"$left\" ]; then\n"
	"  git var GIT_COMMITTER_IDENT && git var GIT_AUTHOR_IDENT ||\n"
	"    export GIT_AUTHOR_NAME=hasp GIT_AUTHOR_EMAIL=hasp@localhost \\\n"
	"           GIT_COMMITTER_NAME=hasp GIT_COMMITTER_EMAIL=hasp@localhost\n"
	"  g add -A && g commit -q --no-verify --no-gpg-sign -m \"$4\"\n"
	"fi >/dev/null\n"
	"g symbolic-ref -q --short HEAD || g rev-parse HEAD\n"
	"g diff --no-ext-diff --no-textconv --no-color --stat=100 --stat-count=40 \"$3\" --\n"
	"[ -z \"$(look)\" ] || exit 32\n"
	"g worktree unlock \"$1\"\n"
	"exit 0\n";

/* How a script ended, and what it printed. */
struct git_said {
	int code;  /* -1: it did not end by itself */
	char *out; /* owned */
};

/* Holds what others of the project hold too, by its name, for the caller to close; -1: *err. */
static int isolation_hold(const struct isolation *own, const char *name,
                          const struct cancel *cancel, unsigned max_ms, struct err *err)
{
	const struct file_lock_wait wait = { .cancel = cancel, .max_ms = max_ms };
	_cleanup_free_ char *path = path_join(own->all, name);
	_cleanup_fd_ int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0) {
		err_set_errno(err, errno, "Cannot open %s", path);
		return -1;
	}
	return file_lock_take(fd, path, &wait, err) ? fd_steal(&fd) : -1;
}

/* In the session's sandbox, in the project, and one at a time: git reads what is known of other
 * worktrees, and fails where it is half written. False: it was not started. */
static bool isolation_git(const struct isolation *own, const char *script, unsigned ms,
                          const struct cancel *cancel, struct git_said *ret, struct err *err)
{
	_cleanup_free_ char *message = mem_printf("Take in what the agent %s left", own->agent);
	const char *const argv[] = { "sh", "-c", script, "hasp", own->tree, own->branch,
		                     own->base ? own->base : "", message, NULL };
	const char *const write[] = { own->folder };
	const struct run_request run = { .argv = argv, .no_input = true, .timeout_ms = ms,
		                         .write = write, .write_count = 1 };
	const struct job_request request = { .run = &run, .command = "git worktree" };
	struct jobs *jobs = jobs_new(&(struct jobs_options){ .head_bytes = SAID_BYTES,
	                                                     .tail_bytes = SAID_BYTES });
	struct job_news news = { .all = true, .bytes = UINT64_MAX, .cancel = cancel,
		                 .ms = -1 };
	struct job_report report;
	_cleanup_fd_ int turn = isolation_hold(own, ".turn", cancel, ms, err);
	struct job *job;

	*ret = (struct git_said){ .code = -1 };
	if (turn < 0) {
		jobs_free(jobs);
		return false;
	}
	if (!job_start(jobs, own->host->options.provider, &request, &job, err)) {
		jobs_free(jobs);
		return false;
	}
	if (!job_wait_news(job, &news)) {
		job_kill(job);
		job_wait_all(job, FINISH_MS);
	}
	job_report(job, &report);
	if (report.info.state != JOB_RUNNING && report.info.end.why == RUN_EXITED)
		ret->code = report.info.end.exit_code;
	ret->out = mem_dup(report.text.head.data, report.text.head.len);
	job_report_release(&report);
	job_release(job);
	jobs_free(jobs);
	return true;
}

/* ---- its names ------------------------------------------------------------------------ */

static void isolation_set_names(struct isolation *own, const char *id)
{
	const char *name = strrchr(own->host->root, '/');

	own->id = mem_strdup(id);
	own->branch = mem_printf("hasp-%s", id);
	own->folder = path_join(own->all, id);
	own->tree = path_join(own->folder, name && name[1] ? name + 1 : "tree");
}

static char *isolation_file(const struct isolation *own, const char *ending)
{
	return mem_printf("%s.%s", own->folder, ending);
}

static void isolation_free(struct isolation *own)
{
	if (own->lock >= 0)
		close(own->lock);
	free(own->agent);
	free(own->id);
	free(own->branch);
	free(own->base);
	free(own->all);
	free(own->folder);
	free(own->tree);
	free(own->root);
	free(own);
}

static struct isolation *isolation_new(struct host *host, const char *all, const char *agent)
{
	struct isolation *own = mem_alloc(1, sizeof(*own));

	*own = (struct isolation){ .host = host, .lock = -1, .all = mem_strdup(all),
		                   .agent = mem_strdup(agent) };
	return own;
}

/* Where they are kept; NULL: *err. The caller frees. */
static char *worktrees_folder(const struct host *host, struct err *err)
{
	const char *temp = home_temp(host->home);
	_cleanup_free_ char *folder = NULL;
	char *real;

	if (!temp) {
		err_set(err, ERR_IO_ERROR, "There is no folder for its worktree.");
		return NULL;
	}
	folder = home_make(temp, "worktrees", err);
	real = folder ? realpath(folder, NULL) : NULL;
	if (folder && !real)
		err_set_errno(err, errno, "Cannot open %s", folder);
	return real;
}

/* Takes the lock if it is free. Its previous holder may have removed the file meanwhile, so the
 * file that was locked must still be the one with that name. A file that is created gets its name
 * when it is already locked. */
static bool isolation_lock(struct isolation *own, bool make)
{
	_cleanup_free_ char *path = isolation_file(own, "lock");
	struct err ignored = ERR_INIT;
	_cleanup_fd_ int all = isolation_hold(own, ".locks", NULL, 0, &ignored);
	const int flags = O_RDWR | (make ? O_CREAT | O_EXCL : 0) | O_NOFOLLOW | O_CLOEXEC;
	_cleanup_fd_ int fd = all < 0 ? -1 : open(path, flags, 0600);
	struct stat held, named;

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0 || fstat(fd, &held) != 0 ||
	    lstat(path, &named) != 0 || held.st_ino != named.st_ino ||
	    held.st_dev != named.st_dev)
		return false;
	own->lock = fd_steal(&fd);
	return true;
}

/* Nothing needs to be done about it any more.  The lock goes first: without the other it would say
 * that nothing has worked there. */
static void isolation_forget(const struct isolation *own)
{
	_cleanup_free_ char *lock = isolation_file(own, "lock"), *state = NULL;

	state = isolation_file(own, "json");
	unlink(lock);
	unlink(state);
}

static bool isolation_write_state(const struct isolation *own, struct err *err)
{
	_cleanup_free_ char *path = isolation_file(own, "json");
	json_auto_t *state = json_pack("{s:o, s:o, s:o, s:o}", "branch", json_cstr(own->branch),
	                               "base", json_cstr(own->base), "agent",
	                               json_cstr(own->agent), "tree", json_cstr(own->tree));
	_cleanup_buf_ struct buf out = BUF_INIT(STATE_BYTES);

	if (!state || !json_print(&out, state, 0))
		return err_set(err, ERR_TOO_LARGE, "The worktree's names are too long.");
	return file_replace(path, buf_view(&out), 0600, err);
}

/* ---- its end -------------------------------------------------------------------------- */

/* Nothing has worked in it. */
static void isolation_drop(struct isolation *own)
{
	struct git_said said = { 0 };
	struct err ignored = ERR_INIT;

	isolation_git(own, drop_script, FINISH_MS, NULL, &said, &ignored);
	free(said.out);
	tree_remove(own->all, own->id, &ignored);
	isolation_forget(own);
}

/* Returns what happened to the worktree, for the result of the agent's call; a new reference. NULL:
 * it was unchanged, and has been removed. */
static json_t *isolation_finish(struct isolation *own)
{
	struct git_said said = { .code = -1 };
	struct err err = ERR_INIT;
	json_t *kept;
	struct span branch, changes;

	for (int i = 0; i < TRIES && said.code != KEPT && said.code != UNTOUCHED; i++) {
		free(said.out);
		if (!isolation_git(own, finish_script, FINISH_MS, NULL, &said, &err))
			said.code = -1;
	}
	isolation_forget(own);
	if (said.code == UNTOUCHED) {
		free(said.out);
		tree_remove(own->all, own->id, &err);
		return NULL;
	}
	kept = json_pack("{s:o, s:o}", "path", json_cstr(own->root ? own->root : own->tree), "base",
	                 json_cstr(own->base));
	branch = span_head(span_str(said.out), said.out ? strcspn(said.out, "\n") : 0);
	changes = span_trim(span_skip(span_str(said.out), branch.len));
	if (said.code != KEPT && said.code != NOT_COMMITTED)
		branch = span_str(own->branch);
	else
		json_object_set_new(kept, "changes", json_text(changes));
	json_object_set_new(kept, "branch", json_text(branch));
	json_object_set_new(kept, "committed", json_boolean(said.code == KEPT));
	free(said.out);
	return kept;
}

/* ---- those of processes that were killed ---------------------------------------------- */

static void isolation_report_found(const struct isolation *own, const json_t *kept)
{
	_cleanup_free_ char *text = mem_printf(
		"The agent %s was interrupted; what it had done is kept on the branch %s, in %s.",
		own->agent, json_string_value(json_object_get(kept, "branch")),
		json_string_value(json_object_get(kept, "path")));

	host_warn(own->host, text);
}

static bool commit_is_valid(const char *commit)
{
	const size_t len = commit ? strspn(commit, "0123456789abcdef") : 0;

	return len >= COMMIT_DIGITS_MIN && len <= COMMIT_DIGITS_MAX && !commit[len];
}

/* False: there is no state, so no agent has worked in it. The project may have been renamed since;
 * the directory keeps its old name. */
static bool isolation_read_state(struct isolation *own)
{
	_cleanup_free_ char *path = isolation_file(own, "json");
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err ignored = ERR_INIT;
	json_auto_t *state = NULL;
	const char *base, *agent, *tree;

	if (!file_read(path, STATE_BYTES, &text, &ignored) || !text.data)
		return false;
	if (!json_parse(file_text_span(&text), &state, &ignored))
		return true;
	base = json_string_value(json_object_get(state, "base"));
	agent = json_string_value(json_object_get(state, "agent"));
	tree = json_string_value(json_object_get(state, "tree"));
	if (commit_is_valid(base))
		own->base = mem_strdup(base);
	if (agent) {
		free(own->agent);
		own->agent = mem_strdup(agent);
	}
	if (tree && path_is_under(tree, own->folder)) {
		free(own->tree);
		own->tree = mem_strdup(tree);
	}
	return true;
}

static void worktree_settle(struct host *host, const char *all, const char *id)
{
	struct isolation *own = isolation_new(host, all, "of an earlier session");

	isolation_set_names(own, id);
	if (isolation_lock(own, false)) {
		if (isolation_read_state(own)) {
			json_auto_t *kept = isolation_finish(own);

			if (kept)
				isolation_report_found(own, kept);
		} else {
			isolation_drop(own);
		}
	}
	isolation_free(own);
}

/* All whose lock is free. */
static void worktrees_settle(struct host *host, const char *all)
{
	char **names;
	const size_t count = door_names(door_folder(all, all), FOUND_MAX, &names);

	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *name = names[i];
		const struct span text = span_str(name);

		if (span_ends(text, SPAN(".lock"))) {
			name[text.len - strlen(".lock")] = '\0';
			worktree_settle(host, all, name);
		}
	}
	free(names);
}

/* ---- its beginning -------------------------------------------------------------------- */

static bool make_failed(const struct isolation *own, const struct git_said *said, struct err *err)
{
	const char *out = said->out ? said->out : "";

	switch (said->code) {
	case NO_GIT:
		return err_set(err, ERR_TOOL_FAILED, "it requires a separate git worktree "
		               "(isolation), and git is not installed.");
	case NO_REPOSITORY:
		return err_set(err, ERR_INVALID_ARGUMENT, "it requires a separate git worktree "
		               "(isolation), and %s is not a git repository: run \"git init\" and "
		               "commit, or take \"isolation\" out of the agent's file. %.300s",
		               own->host->root, out);
	case NO_COMMIT:
		return err_set(err, ERR_INVALID_ARGUMENT, "it requires a separate git worktree "
		               "(isolation), and the repository has no commit yet: commit first.");
	default:
		return err_set(err, ERR_TOOL_FAILED, "git cannot make its worktree: %.800s",
		               *out ? out : "it was ended.");
	}
}

/* The project's folder in the tree, from what was printed: the end of the project's own path. */
static bool isolation_take_made(struct isolation *own, const char *out, struct err *err)
{
	const size_t commit = strcspn(out, "\n");
	const struct span prefix = span_trim(span_skip(span_str(out), commit));
	_cleanup_free_ char *base = mem_dup(out, commit), *project = NULL, *real = NULL;

	project = mem_printf("%s/", own->host->root);
	if (!commit_is_valid(base) || (prefix.len && !span_ends(span_str(project), prefix)))
		return err_set(err, ERR_TOOL_FAILED, "git says nothing usable of its worktree.");
	own->base = mem_steal(&base);
	free(project);
	project = mem_dup(prefix.data, prefix.len);
	own->root = path_join(own->tree, project);
	/* It may not be in the commit; or it is a link there. */
	if (!file_make_folders(own->root, err))
		return false;
	real = realpath(own->root, NULL);
	if (!real || strcmp(real, own->root) != 0 || !path_is_under(real, own->tree))
		return err_set(err, ERR_OUTSIDE_WORKSPACE,
		               "in its worktree the project's folder is a link.");
	return true;
}

static bool isolation_make(struct isolation *own, const struct cancel *cancel, struct err *err)
{
	struct git_said said;
	bool ok;

	if (!isolation_git(own, make_script, MAKE_MS, cancel, &said, err))
		return false;
	if (cancelled(cancel))
		ok = err_set(err, ERR_CANCELLED, "the call was cancelled.");
	else
		ok = said.code == MADE ? isolation_take_made(own, said.out, err) :
		                         make_failed(own, &said, err);
	free(said.out);
	return ok && isolation_write_state(own, err);
}

/* A worker for files and commands that has the root alone. */
static bool isolation_open_provider(struct isolation *own, struct err *err)
{
	struct provider *session = own->host->options.provider;
	const char *const roots[] = { own->root };
	struct worker_options options = *own->host->options.workers;
	_cleanup_free_ char *journal = local_journal_folder();
	_cleanup_free_ char *logs = jobs_default_log_folder();

	options.roots = roots;
	options.root_count = 1;
	options.root_names = NULL;
	options.root_name_count = 0;
	options.journal_folder = journal;
	options.ret_recovered = NULL;
	options.commands_only = options.read_only = false;
	options.level_given = true;
	options.level = session->ops->info(session)->level;
	if (!local_provider_open(&options, &own->provider, err))
		return false;
	own->jobs = jobs_new(&(struct jobs_options){ .log_folder = logs });
	return true;
}

static char *isolation_new_id(const char *agent)
{
	_cleanup_free_ char *random = record_new_id();

	return mem_printf("%s-%.*s", agent, ID_DIGITS, random);
}

bool isolation_open(struct host *host, const char *agent, const struct cancel *cancel,
                    struct isolation **ret, struct err *err)
{
	_cleanup_free_ char *all = NULL, *id = isolation_new_id(agent), *made = NULL;
	struct isolation *own;
	struct provider *provider;

	provider = host->options.provider;
	if (!host->options.local || !host->options.workers || !provider->ops->run)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "it requires a separate git worktree (isolation), which is only "
		               "possible if the workspace is on this machine.");
	if (provider->ops->info(provider)->level == SANDBOX_PATHS)
		return err_set(err, ERR_DENIED_BY_SANDBOX,
		               "it requires a separate git worktree (isolation), and git is not "
		               "run for that without a sandbox, because a repository decides what "
		               "git runs.");
	all = worktrees_folder(host, err);
	if (!all)
		return false;
	worktrees_settle(host, all);
	own = isolation_new(host, all, agent);
	isolation_set_names(own, id);
	if (!isolation_lock(own, true)) {
		err_set(err, ERR_IO_ERROR, "%s cannot be written.", all);
		isolation_free(own);
		return false;
	}
	made = home_make(all, id, err);
	if (!made || !isolation_make(own, cancel, err) || !isolation_open_provider(own, err)) {
		isolation_drop(own);
		isolation_free(own);
		return false;
	}
	*ret = own;
	return true;
}

void isolation_attach(struct isolation *own, struct session *session)
{
	session->provider = own->provider;
	session->jobs = own->jobs;
}

char *isolation_words(const struct isolation *own)
{
	return mem_printf(
		"Workspace folder: %s\n"
		"It is a git worktree of %s, and yours alone: on the branch %s, at the commit "
		"%.12s. What is not committed there is not in it. Where your task names a path in "
		"that folder, use the same one here. When you end, what you have changed is "
		"committed on this branch.\n", own->root, own->host->root, own->branch, own->base);
}

void isolation_close(struct isolation *own, json_t *result)
{
	json_t *kept;

	if (!own)
		return;
	jobs_free(own->jobs);
	provider_free(own->provider);
	kept = isolation_finish(own);
	json_object_set_new(result, "worktree", kept ? kept : json_pack("{s:b}", "changed", 0));
	isolation_free(own);
}
