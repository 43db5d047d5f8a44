/* SPDX-License-Identifier: Apache-2.0 */
/* Private to agent/: the checkpoints of one session, as settings ask for them.
 *
 * general.checkpointing.enabled (default false): whether there are any.  hasp.checkpoints.keepDays (default
 * 0): older ones of the project are removed when a session begins; 0: none ever is.  hasp.durability:
 * whether they are synced to the disk.
 */
#ifndef HASP_AGENT_CHECKPOINT_SESSION_H
#define HASP_AGENT_CHECKPOINT_SESSION_H

#include "agent/checkpoint/checkpoint.h"
#include "bus/bus.h"
#include "config/settings.h"

struct checkpoint_session;

struct checkpoint_session_options {
	const struct settings *settings; /* borrowed for the call */
	struct provider *provider;       /* borrowed */
	struct bus *bus;                 /* borrowed: results of calls come from there */
	const char *session_id;
	/* As in checkpoints_options. */
	void (*notice)(void *data, const char *severity, const char *message);
	void *data;
	const struct cancel *cancel;     /* of the session; borrowed */
};

/* NULL when there are to be none, or there can be none (told). */
struct checkpoint_session *checkpoint_session_begin(
	const struct checkpoint_session_options *options);
/* NULL of NULL. */
struct checkpoints *checkpoint_session_of(const struct checkpoint_session *session);
void checkpoint_session_end(struct checkpoint_session *session); /* NULL is fine; before the bus ends */

#endif
