/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that tells of output. Private to op_run.
 *
 * Whoever is told may take as long as he likes, which holds the command up, and nothing else: the
 * loop goes on watching over time, limits and orders to kill.  One piece is told at a time;
 * until that is done nothing more is read.
 */
#ifndef HASP_WORKER_INSIDE_RUN_REPORT_H
#define HASP_WORKER_INSIDE_RUN_REPORT_H

#include <pthread.h>

#include "worker/run.h"

enum { RUN_PIECE_BYTES = 64 << 10 };

struct run_reporter {
	void (*tell)(void *data, enum run_stream stream, struct span bytes);
	void *data;
	int wake;              /* borrowed eventfd: written to when a piece was told */
	char *buffer;          /* owned; RUN_PIECE_BYTES: the loop's while nothing is told */
	pthread_t thread;      /* made by the first piece */
	bool started;
	pthread_mutex_t lock;  /* of what follows */
	pthread_cond_t changed;
	bool stop;
	size_t len;            /* of what is being told; 0: nothing is */
	enum run_stream stream;
};

void run_reporter_init(struct run_reporter *reporter,
                       void (*tell)(void *data, enum run_stream stream, struct span bytes),
                       void *data, int wake);
bool run_reporter_busy(struct run_reporter *reporter);
/* Hands over what is in the buffer; not while it is busy. Where no thread can be had it tells
 * on this one. */
void run_reporter_output(struct run_reporter *reporter, enum run_stream stream, size_t len);
void run_reporter_wait(struct run_reporter *reporter);    /* until it is not busy */
void run_reporter_release(struct run_reporter *reporter); /* waits too */

#endif
