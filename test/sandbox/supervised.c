/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <ftw.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "sandbox/apply/filter.h"
#include "sandbox/apply/inside.h"
#include "supervised.h"

void check_(bool holds, const char *text, const char *file, int line)
{
	if (holds)
		return;
	fprintf(stderr, "%s:%d: in the child: %s does not hold (errno %d)\n", file, line, text, errno);
	_exit(99);
}

long result(long returned)
{
	return returned < 0 ? -errno : returned;
}

char *temp_make(void)
{
	char *path = mem_strdup("/tmp/hasp-test-XXXXXX");

	assert_non_null(mkdtemp(path));
	assert_int_equal(chmod(path, 0755), 0);
	return path;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void temp_remove(char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(path);
}

void supervised_rule(struct supervised_plan *plan, const char *path, enum sandbox_access access,
                     enum sandbox_reason reason, bool folder)
{
	plan->rules[plan->plan.rule_count++] = (struct sandbox_rule){
		.path = (char *)(uintptr_t)path, .access = access, .reason = reason, .folder = folder };
}

void supervised_absent(struct supervised_plan *plan, const char *path)
{
	plan->absent[plan->plan.absent_count++] = (struct sandbox_absent){
		.path = (char *)(uintptr_t)path, .reason = SANDBOX_REASON_GIT };
}

void supervised_plan_init(struct supervised_plan *plan, enum sandbox_level level, const char *root)
{
	memset(plan, 0, sizeof(*plan));
	plan->plan.level = level;
	plan->plan.use = SANDBOX_USE_COMMAND;
	plan->plan.own_network = level == SANDBOX_FULL;
	plan->plan.landlock_abi = 7;
	plan->plan.rules = plan->rules;
	plan->plan.absent = plan->absent;
	plan->plan.roots = plan->roots;
	plan->plan.root_count = 1;
	plan->roots[0] = (char *)(uintptr_t)root;
	supervised_rule(plan, "/dev", SANDBOX_WRITE, SANDBOX_REASON_DEVICE, true);
	supervised_rule(plan, root, SANDBOX_WRITE, SANDBOX_REASON_ROOT, true);
}

static void heard_denied(void *data, const struct denial *denial)
{
	struct heard *heard = data;

	pthread_mutex_lock(&heard->lock);
	if (heard->count < HEARD_MAX)
		heard->denials[heard->count++] = *denial;
	pthread_mutex_unlock(&heard->lock);
}

static void heard_made(void *data, const char *path)
{
	struct heard *heard = data;

	pthread_mutex_lock(&heard->lock);
	heard->made++;
	snprintf(heard->made_last, sizeof(heard->made_last), "%s", path);
	pthread_mutex_unlock(&heard->lock);
}

/* ---- passing the descriptor ---- */

union control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

static int receive_fd(int socket)
{
	char byte;
	union control control;
	struct iovec data = { &byte, 1 };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes) };
	int fd;

	assert_int_equal(recvmsg(socket, &message, MSG_CMSG_CLOEXEC), 1);
	assert_non_null(CMSG_FIRSTHDR(&message));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

static void child(const struct sandbox_plan *plan, uid_t uid, int socket, int (*body)(void *data),
                  void *data)
{
	struct sandbox_plan filtered = *plan;
	const struct sandbox_command_entry entry = { .plan = &filtered, .ruleset = -1 };
	char byte;

	if (uid && (setgroups(0, NULL) != 0 || setresgid(uid, uid, uid) != 0 ||
	            setresuid(uid, uid, uid) != 0))
		_exit(97);
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (!filter_install(FILTER_BASE))
		_exit(96);
	/* The filter of a command with namespaces, which this one does not have. */
	filtered.own_processes = filtered.level == SANDBOX_FULL;
	filtered.own_network = filtered.own_processes && !filtered.network;
	if (!sandbox_enter_command(&entry, socket))
		_exit(95);
	if (read(socket, &byte, 1) != 1)
		_exit(94);
	close(socket);
	_exit(body(data));
}

void supervised_start(const struct sandbox_plan *plan, uid_t uid, int (*body)(void *data),
                      void *data, struct supervised_child *ret)
{
	struct supervisor_events events = { .denied = heard_denied, .made = heard_made };
	struct err err = ERR_INIT;
	int pair[2];

	ret->heard = mem_alloc(1, sizeof(*ret->heard));
	ret->heard->denials = mem_alloc(HEARD_MAX, sizeof(*ret->heard->denials));
	pthread_mutex_init(&ret->heard->lock, NULL);
	events.data = ret->heard;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	fflush(NULL);
	ret->pid = fork();
	assert_true(ret->pid >= 0);
	if (ret->pid == 0) {
		close(pair[0]);
		child(plan, uid, pair[1], body, data);
	}
	close(pair[1]);
	ret->go = pair[0];
	if (!supervise_start(plan, receive_fd(pair[0]), &events, &ret->supervisor, &err))
		fail_msg("%s", err.message);
}

struct heard *supervised_finish(struct supervised_child *child)
{
	assert_int_equal(waitpid(child->pid, &child->heard->status, 0), child->pid);
	supervise_stop(child->supervisor);
	close(child->go);
	return child->heard;
}

struct heard *supervised(const struct sandbox_plan *plan, int (*body)(void *data), void *data)
{
	struct supervised_child child;

	supervised_start(plan, 0, body, data, &child);
	assert_int_equal(write(child.go, "", 1), 1);
	return supervised_finish(&child);
}

struct program {
	const char *folder;
	const char *const *argv;
};

static int run_program(void *data)
{
	const struct program *program = data;

	if (chdir(program->folder) != 0)
		return 93;
	execvp(program->argv[0], (char *const *)(uintptr_t)program->argv);
	return 92;
}

struct heard *supervised_run(const struct sandbox_plan *plan, const char *folder,
                             const char *const *argv)
{
	struct program program = { folder, argv };

	return supervised(plan, run_program, &program);
}

const struct denial *heard_denial(const struct heard *heard, enum denial_kind kind,
                                  const char *what)
{
	for (size_t i = 0; i < heard->count; i++) {
		if (heard->denials[i].kind == kind &&
		    (!what[0] || strcmp(heard->denials[i].what, what) == 0))
			return &heard->denials[i];
	}
	return NULL;
}

void heard_free(struct heard *heard)
{
	pthread_mutex_destroy(&heard->lock);
	free(heard->denials);
	free(heard);
}
