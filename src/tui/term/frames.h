/* SPDX-License-Identifier: Apache-2.0 */
/* When frames are drawn: soon after something has changed, at most 30 times a second; immediately
 * after a key; each second while something is counted.  No timer runs otherwise.
 *
 *     frames_init(&frames, loop, draw, app);
 *     frames_want(&frames);                    // something is different
 *     frames_end(&frames);                     // nothing is drawn any more
 *
 * `draw` is called by the loop, never by these functions; it calls frames_drawn. */
#ifndef HASP_TUI_TERM_FRAMES_H
#define HASP_TUI_TERM_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "net/loop/loop.h"

struct frames {
	struct loop *loop;             /* borrowed */
	void (*draw)(void *data);
	void *data;
	uint64_t drawn_ms;             /* when the last one was */
	struct loop_timer *soon;       /* until the next may be drawn; or NULL */
	struct loop_timer *seconds;    /* frames_tick; or NULL */
	struct loop_task task;
	bool posted;                   /* the task is */
	bool ended;
};

/* Draws nothing. */
void frames_init(struct frames *frames, struct loop *loop, void (*draw)(void *data), void *data);
/* Something has changed: draws within a thirtieth of a second. */
void frames_want(struct frames *frames);
/* The user has done something: draws when the loop has its turn. */
void frames_want_now(struct frames *frames);
/* Notes that a frame is being drawn. */
void frames_drawn(struct frames *frames);
/* Starts or stops drawing a frame each second. */
void frames_tick(struct frames *frames, bool wanted);
/* Nothing changes any more: `ended` is set, and frames_want does nothing. */
void frames_end(struct frames *frames);

#endif
