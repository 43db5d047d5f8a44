/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks that run in the background (Claude Code's "async"): each on a separate thread, with copies
 * of everything it needs, so that reloading the settings cannot free any of it.  Its output is
 * dropped, as its event is over by then. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "hooks/hook.h"

/* At the end of the session they have a little time left. */
enum { BACKGROUND_MAX = 64, BACKGROUND_END_S = 2 };

struct background {
	struct hooks *all;  /* borrowed: the session's */
	struct hooks *own;  /* owned; a copy without hooks */
	struct hook hook;   /* its texts are owned */
	struct buf input;
	pthread_t thread;
	bool ended;         /* with the lock */
	struct background *next;
};

static void background_free(struct background *one)
{
	hook_release(&one->hook);
	hooks_free(one->own);
	buf_release(&one->input);
	free(one);
}

static void *background_run(void *data)
{
	struct background *one = data;
	struct hook_process process;
	struct err why = ERR_INIT;

	if (hook_process_run(one->own, &one->hook, buf_view(&one->input),
	                     &one->all->background_end, &process, &why))
		hook_process_release(&process);
	else
		hooks_notice(one->all, SEVERITY_WARNING, "The hook \"%.200s\" did not run: %s",
		             hook_label(&one->hook), why.message);
	pthread_mutex_lock(&one->all->lock);
	one->ended = true;
	pthread_cond_broadcast(&one->all->background_ended);
	pthread_mutex_unlock(&one->all->lock);
	return NULL;
}

/* Takes those that have ended out of the list, for the caller to join; with the lock. */
static struct background *background_take(struct hooks *hooks, bool all, size_t *ret_left)
{
	struct background **at = &hooks->background, *taken = NULL;

	*ret_left = 0;
	while (*at) {
		struct background *one = *at;

		if (one->ended || all) {
			*at = one->next;
			one->next = taken;
			taken = one;
		} else {
			at = &one->next;
			++*ret_left;
		}
	}
	return taken;
}

static void background_join(struct background *taken)
{
	while (taken) {
		struct background *next = taken->next;

		pthread_join(taken->thread, NULL);
		background_free(taken);
		taken = next;
	}
}

static struct background *background_copy(struct hooks *hooks, const struct hook *hook,
                                          struct span input)
{
	struct background *one = mem_alloc(1, sizeof(*one));
	const struct hooks_options options = {
		.project = hooks->project, .cwd = hooks->cwd, .here = hooks->here,
		.session_id = hooks->session_id,
		.transcript_path = hooks->transcript_path, .plans_folder = hooks->plans_folder,
		.environment = hooks->environment, .trust_file = hooks->trust_file,
		.guards = hooks->guards,
		.roots = (const char *const *)hooks->roots,
	};

	one->all = hooks;
	one->own = hooks_new(&options);
	one->hook = hook_copy(hook);
	one->hook.timeout_ms = HOOK_TIMEOUT_MS_MAX; /* that of the file is for who waits */
	one->input = (struct buf)BUF_INIT(input.len + 1);
	buf_span(&one->input, input);
	return one;
}

static void background_finish(struct hooks *hooks)
{
	struct background *taken;
	struct timespec until;
	size_t left;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += BACKGROUND_END_S;
	pthread_mutex_lock(&hooks->lock);
	do {
		taken = background_take(hooks, false, &left);
		pthread_mutex_unlock(&hooks->lock);
		background_join(taken);
		pthread_mutex_lock(&hooks->lock);
	} while (left && pthread_cond_timedwait(&hooks->background_ended, &hooks->lock,
	                                        &until) != ETIMEDOUT);
	cancel_set(&hooks->background_end);
	taken = background_take(hooks, true, &left);
	pthread_mutex_unlock(&hooks->lock);
	background_join(taken);
	cancel_release(&hooks->background_end);
}

/* Whether one more can run; made ready with the first. */
static bool background_has_room(struct hooks *hooks)
{
	struct background *taken;
	struct err ignored = ERR_INIT;
	size_t left;

	pthread_mutex_lock(&hooks->lock);
	if (!hooks->finish && cancel_init(&hooks->background_end, &ignored))
		hooks->finish = background_finish;
	taken = background_take(hooks, false, &left);
	pthread_mutex_unlock(&hooks->lock);
	background_join(taken);
	return hooks->finish && left < BACKGROUND_MAX;
}

void background_start(struct hooks *hooks, const struct hook *hook, struct span input)
{
	struct background *one = background_has_room(hooks) ? background_copy(hooks, hook, input) :
	                                                      NULL;
	bool started;

	if (!one) {
		hooks_notice(hooks, SEVERITY_WARNING,
		             "The hook \"%.200s\" did not run: %d hooks run in the background "
		             "already.", hook_label(hook), BACKGROUND_MAX);
		return;
	}
	pthread_mutex_lock(&hooks->lock);
	started = pthread_create(&one->thread, NULL, background_run, one) == 0;
	if (started) {
		one->next = hooks->background;
		hooks->background = one;
	}
	pthread_mutex_unlock(&hooks->lock);
	if (!started)
		background_free(one);
}
