/* SPDX-License-Identifier: Apache-2.0 */
/* Plans by hand, and processes inside them. */
#include "den.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/apply/landlock.h"
#include "sandbox/apply/processes.h"

enum { ARGS = 16 };

const char *den_path(const struct den *den, const char *path)
{
	static char paths[16][512];
	static unsigned next;
	char *slot = paths[next++ % ARRAY_LEN(paths)];

	snprintf(slot, sizeof(paths[0]), "%s%s%s", path[0] == '/' ? "" : den->base,
	         path[0] == '/' ? "" : "/", path);
	return slot;
}

void den_make(struct den *den, const char *path)
{
	char whole[512];
	char *slash = whole + strlen(den->base);
	struct stat at;

	snprintf(whole, sizeof(whole), "%s", den_path(den, path));
	while ((slash = strchr(slash + 1, '/')) != NULL) {
		*slash = '\0';
		if (mkdir(whole, 0755) == 0)
			assert_int_equal(chown(whole, den->uid, den->uid), 0);
		*slash = '/';
	}
	if (stat(whole, &at) != 0) {
		int fd = open(whole, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

		assert_true(fd >= 0);
		assert_true(fd_write_all(fd, path, strlen(path)));
		close(fd);
		assert_int_equal(chown(whole, den->uid, den->uid), 0);
	}
}

static void init(struct den *den, const char *above, enum sandbox_use use, uid_t uid)
{
	memset(den, 0, sizeof(*den));
	snprintf(den->base, sizeof(den->base), "%s/den-XXXXXX", above);
	assert_non_null(mkdtemp(den->base));
	assert_int_equal(chown(den->base, uid, uid), 0);
	assert_int_equal(chmod(den->base, 0755), 0);
	den->uid = uid;
	den->program = -1;
	den->plan = (struct sandbox_plan){
		.level = SANDBOX_FULL, .use = use, .own_processes = true, .user_namespace = true,
		.own_network = use == SANDBOX_USE_COMMAND, .landlock_abi = landlock_abi_here(NULL),
		.rules = den->rules, .roots = den->roots, .root_count = 1,
	};
	den_make(den, "ws/");
	den_make(den, "outside/");
	den->roots[0] = mem_strdup(den_path(den, "ws"));
	den_rule(den, "ws", SANDBOX_WRITE, SANDBOX_REASON_ROOT);
}

void den_init(struct den *den, enum sandbox_use use, uid_t uid)
{
	init(den, "/var/tmp", use, uid);
}

void den_init_tmp(struct den *den, enum sandbox_use use, uid_t uid)
{
	init(den, "/tmp", use, uid);
}

static int remove_one(const char *path, const struct stat *at, int type, struct FTW *walk)
{
	(void)at;
	(void)type;
	(void)walk;
	return remove(path);
}

void den_release(struct den *den)
{
	for (size_t i = 0; i < den->plan.rule_count; i++)
		free(den->rules[i].path);
	free(den->roots[0]);
	free(den->plan.temp);
	if (den->program >= 0)
		close(den->program);
	assert_int_equal(nftw(den->base, remove_one, 64, FTW_DEPTH | FTW_PHYS), 0);
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct sandbox_rule *)a)->path, ((const struct sandbox_rule *)b)->path);
}

void den_rule(struct den *den, const char *path, enum sandbox_access access,
              enum sandbox_reason reason)
{
	const char *whole = den_path(den, path);
	struct stat at = { 0 };

	assert_true(den->plan.rule_count < DEN_RULES);
	stat(whole, &at);
	den->rules[den->plan.rule_count++] = (struct sandbox_rule){
		.path = mem_strdup(whole), .access = access, .reason = reason,
		.folder = S_ISDIR(at.st_mode),
	};
	qsort(den->rules, den->plan.rule_count, sizeof(den->rules[0]), by_path);
}

void den_temp(struct den *den)
{
	den_make(den, "temp/");
	den->plan.temp = mem_strdup(den_path(den, "temp"));
	den_rule(den, "temp", SANDBOX_WRITE, SANDBOX_REASON_TEMP);
}

/* ---- running --------------------------------------------------------------------------- */

static const char *own_name = "test"; /* argv[0] inside: the test that this is (unit.c) */

static bool spawn(struct den *den, char *const *args, int out, struct sandbox_child *child,
                  struct err *err)
{
	const char *argv[ARGS + 3] = { own_name, "inside" };
	const char *const envp[] = { "PATH=/usr/local/bin:/usr/bin:/bin", "INSIDE=yes",
		"ASAN_OPTIONS=detect_leaks=0", NULL };
	const int fds[] = { -1, out, 2 };
	struct sandbox_spawn spawn = { .plan = &den->plan, .program = den->program, .argv = argv,
		.envp = envp, .fds = fds, .fd_count = 3 };

	for (size_t i = 0; args[i]; i++)
		argv[i + 2] = args[i];
	return sandbox_spawn(&spawn, child, err);
}

static void become(const struct den *den)
{
	if (den->uid) {
		if (setgid(den->uid) || setuid(den->uid))
			_exit(99);
		prctl(PR_SET_DUMPABLE, 1UL, 0UL, 0UL, 0UL);
	}
	if (den->undumpable)
		prctl(PR_SET_DUMPABLE, 0UL, 0UL, 0UL, 0UL);
}

/* What the process that was the parent tells the test. */
struct told {
	struct err err;
	int status;
	bool explained;
	struct denial denial;
};

static void run(struct den *den, char *const *args)
{
	struct told *told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE,
	                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int pipes[2], status;
	ssize_t len;
	pid_t pid;

	assert_true(told != MAP_FAILED);
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct sandbox_child child = { 0 };

		become(den);
		if (spawn(den, args, pipes[1], &child, &told->err)) {
			sandbox_child_wait(&child, -1, &told->status);
			told->explained = sandbox_limits_explain(&den->plan, &child, &told->denial);
			sandbox_child_release(&child);
		}
		_exit(0);
	}
	close(pipes[1]);
	len = fd_read_full(pipes[0], den->output, sizeof(den->output) - 1);
	close(pipes[0]);
	den->output[len > 0 ? len : 0] = '\0';
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	den->err = told->err;
	den->status = told->status;
	den->explained = told->explained;
	den->denial = told->denial;
	munmap(told, sizeof(*told));
}

static void collect(struct den *den, const char *probe, va_list list, char **args)
{
	const char *arg = probe;
	size_t count = 0;

	for (; arg && count < ARGS; arg = va_arg(list, const char *))
		args[count++] = mem_strdup(strncmp(arg, "./", 2) == 0 ? den_path(den, arg + 2) : arg);
	args[count] = NULL;
}

static void free_args(char **args)
{
	for (size_t i = 0; args[i]; i++)
		free(args[i]);
}

void den_run(struct den *den, const char *probe, ...)
{
	char *args[ARGS + 1];
	va_list list;

	va_start(list, probe);
	collect(den, probe, list, args);
	va_end(list);
	run(den, args);
	free_args(args);
}

void den_expect(struct den *den, const char *output, const char *probe, ...)
{
	char *args[ARGS + 1];
	va_list list;

	va_start(list, probe);
	collect(den, probe, list, args);
	va_end(list);
	run(den, args);
	free_args(args);
	assert_string_equal(den->err.message, "");
	assert_string_equal(den->output, output);
	assert_int_equal(den->status, 0);
}

void den_start(struct den *den, struct sandbox_child *ret, int *ret_out, const char *probe, ...)
{
	char *args[ARGS + 1];
	va_list list;
	int pipes[2];
	struct err err = ERR_INIT;

	va_start(list, probe);
	collect(den, probe, list, args);
	va_end(list);
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	if (!spawn(den, args, pipes[1], ret, &err))
		fail_msg("%s", err.message);
	close(pipes[1]);
	*ret_out = pipes[0];
	free_args(args);
}

/* ---- trees ----------------------------------------------------------------------------- */

static struct buf *tree_out;

static int note(const char *path, const struct stat *at, int type, struct FTW *walk)
{
	(void)type;
	(void)walk;
	buf_printf(tree_out, "%s %o %u\n", path, at->st_mode, at->st_uid);
	return 0;
}

static int by_line(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char *den_tree(const struct den *den)
{
	struct buf text = BUF_INIT(1 << 20), sorted = BUF_INIT(1 << 20);
	char *lines[4096], *at, *end;
	size_t count = 0;

	tree_out = &text;
	assert_int_equal(nftw(den->base, note, 64, FTW_PHYS), 0);
	for (at = text.data; at && *at && count < ARRAY_LEN(lines); at = end + 1) {
		lines[count++] = at;
		end = strchr(at, '\n');
		*end = '\0';
	}
	qsort(lines, count, sizeof(lines[0]), by_line);
	for (size_t i = 0; i < count; i++)
		buf_printf(&sorted, "%s\n", lines[i]);
	buf_release(&text);
	return buf_steal(&sorted);
}

/* ---- inside ---------------------------------------------------------------------------- */

void say(const char *what, long result)
{
	printf("%s: %s\n", what, result >= 0 ? "ok" : strerrorname_np(errno));
}

void den_probe_main(int argc, char **argv, const struct den_probe *probes)
{
	own_name = argv[0];
	if (argc < 3 || strcmp(argv[1], "inside") != 0)
		return;
	for (; probes->name; probes++) {
		if (strcmp(argv[2], probes->name) == 0) {
			probes->run(argv + 3);
			fflush(stdout);
			_exit(0);
		}
	}
	_exit(98);
}
