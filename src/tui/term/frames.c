/* SPDX-License-Identifier: Apache-2.0 */
/* When frames are drawn. */
#include "tui/term/frames.h"

#include <stddef.h>

#include "base/clock.h"
#include "tui/term/screen.h"

void frames_init(struct frames *frames, struct loop *loop, void (*draw)(void *data), void *data)
{
	*frames = (struct frames){ .loop = loop, .draw = draw, .data = data };
}

static void frames_run_task(struct loop_task *task)
{
	struct frames *frames = (struct frames *)((char *)task - offsetof(struct frames, task));

	frames->posted = false;
	frames->draw(frames->data);
}

static void frames_run_timer(void *data)
{
	struct frames *frames = data;

	loop_timer_stop(frames->soon);
	frames->soon = NULL;
	frames->draw(frames->data);
}

void frames_want_now(struct frames *frames)
{
	if (frames->soon) {
		loop_timer_stop(frames->soon);
		frames->soon = NULL;
	}
	if (frames->posted)
		return;
	frames->posted = true;
	frames->task.run = frames_run_task;
	loop_post(frames->loop, &frames->task);
}

void frames_want(struct frames *frames)
{
	const uint64_t since = clock_monotonic_ms() - frames->drawn_ms;

	if (frames->posted || frames->soon || frames->ended)
		return;
	if (since >= SCREEN_FRAME_MS)
		frames_want_now(frames);
	else
		frames->soon = loop_timer_start(frames->loop, SCREEN_FRAME_MS - since, 0,
		                                frames_run_timer, frames);
}

void frames_drawn(struct frames *frames)
{
	frames->drawn_ms = clock_monotonic_ms();
}

static void frames_second(void *data)
{
	frames_want(data);
}

void frames_tick(struct frames *frames, bool wanted)
{
	if (wanted && !frames->seconds) {
		frames->seconds = loop_timer_start(frames->loop, 1000, 1000, frames_second, frames);
	} else if (!wanted && frames->seconds) {
		loop_timer_stop(frames->seconds);
		frames->seconds = NULL;
	}
}

void frames_end(struct frames *frames)
{
	frames->ended = true;
}
