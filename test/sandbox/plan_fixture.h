/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of its own with a workspace and a home, and plans for it. */
#ifndef HASP_TEST_SANDBOX_PLAN_FIXTURE_H
#define HASP_TEST_SANDBOX_PLAN_FIXTURE_H

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/plan/denial.h"
#include "sandbox/plan/plan.h"
#include "sandbox/apply/probe.h"

struct fixture {
	char top[64];  /* everything is beneath it */
	char work[80]; /* the workspace root */
	char home[80];
	char out[80];  /* neither: what must not be touched */
	const char *root;
	struct sandbox_options options;
	struct sandbox_probe probe;
	char **texts; /* owned */
	size_t text_count, text_cap;
};

/* A machine that can do all. */
static inline struct sandbox_probe able_machine(void)
{
	return (struct sandbox_probe){ .best = SANDBOX_FULL, .user_namespaces = true,
	                               .own_proc = true, .landlock_abi = 7, .seccomp = true,
	                               .seccomp_notify = true, .cgroups = true };
}

/* Runs a script in the fixture's top folder; $W, $H and $O are the three folders. */
__attribute__((format(printf, 2, 3))) static inline void shell(struct fixture *f,
                                                               const char *format, ...)
{
	char script[4096], *command;
	va_list args;

	va_start(args, format);
	vsnprintf(script, sizeof(script), format, args);
	va_end(args);
	command = mem_printf(
		"cd %s && W=%s H=%s O=%s && export HOME=$H GIT_CONFIG_NOSYSTEM=1 && "
		"git() { command git -c user.name=n -c user.email=e -c init.defaultBranch=main "
		"-c protocol.file.allow=always -c advice.detachedHead=false \"$@\"; } && "
		"set -e && { %s\n} >/dev/null 2>log || { cat log >&2; exit 1; }",
		f->top, f->work, f->home, f->out, script);
	if (system(command) != 0)
		fail_msg("failed: %s", script);
	free(command);
}

static inline void fixture_open(struct fixture *f)
{
	*f = (struct fixture){ 0 };
	snprintf(f->top, sizeof(f->top), "/tmp/hasp-test-XXXXXX");
	assert_non_null(mkdtemp(f->top));
	assert_int_equal(chmod(f->top, 0755), 0);
	snprintf(f->work, sizeof(f->work), "%s/tree", f->top);
	snprintf(f->home, sizeof(f->home), "%s/home", f->top);
	snprintf(f->out, sizeof(f->out), "%s/out", f->top);
	assert_int_equal(mkdir(f->work, 0755), 0);
	assert_int_equal(mkdir(f->home, 0755), 0);
	assert_int_equal(mkdir(f->out, 0755), 0);
	f->root = f->work;
	f->probe = able_machine();
	f->options = (struct sandbox_options){ .roots = &f->root, .root_count = 1, .home = f->home,
	                                       .use = SANDBOX_USE_COMMAND };
}

static inline void fixture_close(struct fixture *f)
{
	char *command = mem_printf("chmod -R u+rwx %s; rm -rf %s", f->top, f->top);

	assert_int_equal(system(command), 0);
	free(command);
	for (size_t i = 0; i < f->text_count; i++)
		free(f->texts[i]);
	free(f->texts);
}

static inline struct sandbox_plan *plan_of(struct fixture *f)
{
	struct err err = ERR_INIT;
	struct sandbox_plan *plan;

	if (!sandbox_plan_make(&f->options, &f->probe, &plan, &err))
		fail_msg("no plan: %s", err.message);
	return plan;
}

/* The path of a name beneath the top; valid until the fixture is closed. */
static inline const char *in(struct fixture *f, const char *name)
{
	f->texts = mem_grow(f->texts, &f->text_cap, f->text_count + 1, sizeof(*f->texts));
	f->texts[f->text_count] = mem_printf("%s/%s", f->top, name);
	return f->texts[f->text_count++];
}

static inline const struct sandbox_rule *rule_for(const struct sandbox_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->rule_count; i++)
		if (strcmp(plan->rules[i].path, path) == 0)
			return &plan->rules[i];
	return NULL;
}

static inline bool is_absent(const struct sandbox_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->absent_count; i++)
		if (strcmp(plan->absent[i].path, path) == 0)
			return true;
	return false;
}

#define assert_rule(plan, where, what, because)                                            \
	do {                                                                               \
		const struct sandbox_rule *rule_ = rule_for(plan, where);                  \
		if (!rule_)                                                                \
			fail_msg("no rule for %s", where);                                 \
		assert_int_equal(rule_->access, what);                                     \
		assert_int_equal(rule_->reason, because);                                  \
	} while (0)
#define assert_no_rule(plan, where)                          \
	do {                                                 \
		if (rule_for(plan, where))                   \
			fail_msg("a rule for %s", where);    \
	} while (0)
#define assert_absent(plan, where)                           \
	do {                                                 \
		if (!is_absent(plan, where))                 \
			fail_msg("%s may come to be", where); \
	} while (0)
#define assert_not_absent(plan, where)                          \
	do {                                                    \
		if (is_absent(plan, where))                     \
			fail_msg("%s must not be absent", where); \
	} while (0)

/* Runs `body` in a child, as nobody if `nobody`; what it returns must be 0. */
static inline void in_child(struct fixture *f, bool nobody, int (*body)(struct fixture *f))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		if (nobody && (setgroups(0, NULL) != 0 || setresgid(65534, 65534, 65534) != 0 ||
		               setresuid(65534, 65534, 65534) != 0 ||
		               prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0)) /* as after an exec */
			_exit(100);
		_exit(body(f));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fail_msg("as %s: step %d failed", nobody ? "nobody" : "root",
		         WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

/* Of each test. */
static inline int plan_setup(void **state)
{
	struct fixture *f = mem_alloc(1, sizeof(*f));

	fixture_open(f);
	*state = f;
	return 0;
}

static inline int plan_teardown(void **state)
{
	fixture_close(*state);
	free(*state);
	return 0;
}

static inline bool may(const struct sandbox_plan *plan, const char *path, enum sandbox_access access)
{
	return plan_judge(plan, path, access, false, NULL);
}

#endif
