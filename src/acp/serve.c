/* SPDX-License-Identifier: Apache-2.0 */
/* The connection's life: from the first message to the last session's end. */
#include <signal.h>

#include "acp/private.h"
#include "base/mem.h"

/* Threads that open and close sessions: these wait for disks and programs, and do not compute. */
enum { ACP_THREADS = 4, ACP_THREADS_MAX = 64 };

/* ---- the end --------------------------------------------------------------------- */

/* As acp.end: closes all sessions, then stops the loop.  Again is fine. */
static void acp_end(struct acp *acp)
{
	struct acp_session *session, *next;

	if (acp->is_ending)
		return;
	acp->is_ending = acp->input_ended = true;
	acp_offers_cancel(acp);
	for (session = acp->sessions; session; session = next) {
		next = session->next;
		acp_session_close(session, NULL);
	}
	acp_end_if_done(acp);
}

static void acp_caught(void *data, int signal)
{
	struct acp *acp = data;

	acp->signal = signal;
	acp_end(acp);
}

static bool acp_catch_signals(struct acp *acp, struct err *err)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

	for (size_t i = 0; i < ARRAY_LEN(signals); i++)
		if (!loop_on_signal(acp->loop, signals[i], acp_caught, acp, err))
			return false;
	return true;
}

/* As acp.drained. */
static void acp_take_all(struct acp *acp)
{
	struct acp_session *session, *next;

	for (session = acp->sessions; session && !acp->is_full; session = next) {
		next = session->next;
		acp_session_take(session);
	}
}

/* ---- the whole ------------------------------------------------------------------- */

bool acp_serve(const struct acp_options *options, int *ret_signal, struct err *err)
{
	struct acp acp = { .options = options, .receive = acp_receive, .end = acp_end,
		           .drained = acp_take_all };
	bool ok;

	if (!loop_new(&acp.loop, err))
		return false;
	acp.pool = pool_new(ACP_THREADS, ACP_THREADS_MAX);
	ok = acp_catch_signals(&acp, err) && acp_wire_open(&acp, err);
	if (ok) {
		loop_hold(acp.loop);
		loop_run(acp.loop);
		loop_unhold(acp.loop);
		acp_wire_close(&acp);
	}
	pool_free(acp.pool);
	loop_free(acp.loop);
	*ret_signal = acp.signal;
	return ok;
}
