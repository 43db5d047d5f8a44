/* SPDX-License-Identifier: Apache-2.0 */
#include "run_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "file/workspace.h"

enum { TEXT_MAX = 8 << 20, WAIT_S = 120 };

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
	(void)info;
	(void)kind;
	(void)where;
	return remove(path);
}

int run_fixture_open(void **state)
{
	struct fixture *fixture = mem_alloc(1, sizeof(*fixture));
	const char *roots[1];
	struct err err = ERR_INIT;

	fixture->root = mem_strdup("/tmp/hasp-test-run-XXXXXX");
	if (!mkdtemp(fixture->root))
		return -1;
	roots[0] = fixture->root;
	fixture->plan.use = SANDBOX_USE_COMMAND;
	*state = fixture;
	return workspace_open(roots, 1, &fixture->workspace, &err) ? 0 : -1;
}

int run_fixture_close(void **state)
{
	struct fixture *fixture = *state;

	workspace_free(fixture->workspace);
	nftw(fixture->root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(fixture->root);
	free(fixture);
	return 0;
}

static void started(void *data, int pid)
{
	((struct told *)data)->started = pid;
}

static void output(void *data, enum run_stream stream, struct span bytes)
{
	struct told *told = data;

	if (told->slow_us)
		usleep(told->slow_us);
	pthread_mutex_lock(&told->lock);
	told->held = true;
	pthread_cond_broadcast(&told->changed);
	while (told->holds)
		pthread_cond_wait(&told->changed, &told->lock);
	assert_int_equal(told->ended, 0);
	told->bytes[stream] += bytes.len;
	buf_span(&told->text[stream], bytes);
	pthread_cond_broadcast(&told->changed);
	pthread_mutex_unlock(&told->lock);
}

static void denied(void *data, const struct denial *denial)
{
	struct told *told = data;

	pthread_mutex_lock(&told->lock);
	told->denial = *denial;
	told->denials++;
	pthread_mutex_unlock(&told->lock);
}

static void main_ended(void *data, const struct run_end *end)
{
	struct told *told = data;

	pthread_mutex_lock(&told->lock);
	told->main_ended++;
	told->main_end = *end;
	pthread_cond_broadcast(&told->changed);
	pthread_mutex_unlock(&told->lock);
}

static void ended(void *data, const struct run_end *end)
{
	struct told *told = data;

	pthread_mutex_lock(&told->lock);
	assert_int_equal(told->main_ended, 1);
	told->ended++;
	told->end = *end;
	pthread_cond_broadcast(&told->changed);
	pthread_mutex_unlock(&told->lock);
}

static const struct run_events events = {
	.started = started,
	.output = output,
	.denied = denied,
	.main_ended = main_ended,
	.ended = ended,
};

bool told_try(struct told *told, struct fixture *fixture, const struct run_request *request,
              struct err *err)
{
	const struct worker worker = { .workspace = fixture->workspace };
	unsigned slow = told->slow_us;
	bool holds = told->holds;

	*told = (struct told){ .fixture = fixture, .slow_us = slow, .holds = holds,
		               .text = { BUF_INIT(TEXT_MAX), BUF_INIT(TEXT_MAX) } };
	pthread_mutex_init(&told->lock, NULL);
	pthread_cond_init(&told->changed, NULL);
	return op_run(&worker, &fixture->plan, request, &events, told, &told->run, err);
}

void told_start(struct told *told, struct fixture *fixture, const char *script,
                const struct run_request *request)
{
	const char *const argv[] = { "bash", "-c", script, NULL };
	struct run_request own = request ? *request : (struct run_request){ .no_input = true };
	struct err err = ERR_INIT;

	own.argv = argv;
	if (!told_try(told, fixture, &own, &err))
		fail_msg("%s", err.message);
}

static struct timespec deadline(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += WAIT_S;
	return until;
}

void told_wait(struct told *told)
{
	struct timespec until = deadline();
	int late = 0;

	pthread_mutex_lock(&told->lock);
	while (!told->ended && !late)
		late = pthread_cond_timedwait(&told->changed, &told->lock, &until);
	pthread_mutex_unlock(&told->lock);
	if (late)
		fail_msg("the command has not ended; its output: %s", told_text(told, 0));
}

void told_wait_text(struct told *told, const char *text)
{
	struct timespec until = deadline();
	int late = 0;

	pthread_mutex_lock(&told->lock);
	while (!late && !(told->text[0].data && strstr(told->text[0].data, text)))
		late = pthread_cond_timedwait(&told->changed, &told->lock, &until);
	pthread_mutex_unlock(&told->lock);
	if (late)
		fail_msg("no \"%s\" in: %s", text, told_text(told, 0));
}

void told_wait_held(struct told *told)
{
	struct timespec until = deadline();
	int late = 0;

	pthread_mutex_lock(&told->lock);
	while (!told->held && !late)
		late = pthread_cond_timedwait(&told->changed, &told->lock, &until);
	pthread_mutex_unlock(&told->lock);
	if (late)
		fail_msg("no output comes");
}

void told_release(struct told *told)
{
	pthread_mutex_lock(&told->lock);
	told->holds = false;
	pthread_cond_broadcast(&told->changed);
	pthread_mutex_unlock(&told->lock);
}

void told_free(struct told *told)
{
	told->run->ops->free(told->run);
	assert_int_equal(told->ended, 1);
	buf_release(&told->text[0]);
	buf_release(&told->text[1]);
	pthread_mutex_destroy(&told->lock);
	pthread_cond_destroy(&told->changed);
}

const char *told_text(const struct told *told, enum run_stream stream)
{
	return told->text[stream].data ? told->text[stream].data : "";
}

void told_run(struct told *told, struct fixture *fixture, const char *script,
              const struct run_request *request)
{
	told_start(told, fixture, script, request);
	told_wait(told);
}
