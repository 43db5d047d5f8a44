/* SPDX-License-Identifier: Apache-2.0 */
/* What the program without a command prints and ends: sessions, extensions, its version. */
#include <jansson.h>
#include <stdlib.h>
#include <time.h>

#include "agent/session/sessions.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/command/private.h"
#include "cli/options/command.h"
#include "cli/view/output.h"
#include "cli/view/view.h"
#include "config/extensions.h"
#include "config/home.h"

int agent_lists_sessions(const struct invocation *invocation)
{
	const char *deleted = invocation_value(invocation, FLAG_DELETE_SESSION);
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	_cleanup_free_ char *root = realpath(".", NULL);
	json_auto_t *sessions = NULL;
	struct err err = ERR_INIT;
	struct home *home;
	size_t count;
	bool ok;

	if (!root || !home_open(root, &home, &err)) {
		output_complain(root ? err.message : "The current directory no longer exists.");
		return AGENT_EXIT_GENERAL;
	}
	if (deleted) {
		ok = sessions_delete(home, deleted, &err);
		if (ok)
			buf_printf(&out, "Deleted the session %s.\n", deleted);
	} else {
		sessions = sessions_list(home);
		count = json_array_size(sessions);
		buf_printf(&out, "%zu session%s of this project%s\n", count, count == 1 ? "" : "s",
		           count ? ":" : ".");
		sessions_print(sessions, time(NULL), &out);
		ok = true;
	}
	home_free(home);
	if (ok)
		ok = agent_output_lines(buf_view(&out), &err);
	if (!ok)
		output_complain(err.message);
	return ok ? AGENT_EXIT_OK : AGENT_EXIT_INPUT;
}

/* One a line, as Gemini CLI's flag has it. */
int agent_lists_extensions(const struct invocation *invocation)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	struct agent_request request;
	struct front_session *session;
	struct err err = ERR_INIT;
	const struct extensions *all;
	bool ok;

	agent_request_read(invocation, &request);
	session = session_new(&request.session);
	ok = session_load(session, &err);
	if (ok) {
		all = extensions_installed(session_settings(session));
		buf_str(&out, all->count ? "Installed extensions:\n" :
		                           "No extensions installed.\n");
		for (size_t i = 0; i < all->count; i++)
			render_printf(&out, "- %s (%s)%s\n", all->at[i].name, all->at[i].version,
			              extension_counts(&all->at[i]) ? "" : ", not used here");
		ok = agent_output_lines(buf_view(&out), &err);
	}
	session_free(session);
	agent_request_release(&request);
	return ok ? AGENT_EXIT_OK : output_fail(&err, AGENT_EXIT_GENERAL);
}

int agent_lists_version(const struct invocation *invocation)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	struct err err = ERR_INIT;

	if (invocation_has(invocation, FLAG_VERSION))
		buf_str(&out, "hasp " HASP_VERSION "\n");
	else
		help_manpage_print(&out);
	return output_text(buf_view(&out), &err) ? CLI_OK : output_fail(&err, CLI_FAILED);
}
