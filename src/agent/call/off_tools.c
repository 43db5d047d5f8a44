/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/call/off_tools.h"

#include "agent/call/gate.h"
#include "agent/setup/prepare.h"
#include "base/mem.h"

enum { LIST_MAX = 64 << 10 };

enum approval_mode off_tools_mode(const struct policy *policy, const struct policy_call *call)
{
	struct policy_call in = *call;

	for (in.mode = call->mode + 1; in.mode < MODE_COUNT; in.mode++)
		if (!policy_hides(policy, &in))
			break;
	return in.mode;
}

bool off_tools_forbidden(const struct settings *settings, enum approval_mode mode)
{
	struct err err = ERR_INIT;

	return !prepare_mode_check(settings, mode, &err) && err.code != ERR_PERMISSION_DENIED;
}

const char *off_tools_mode_word(enum approval_mode mode)
{
	return mode == MODE_AUTO_EDIT ? "auto_edit" : approval_mode_name(mode);
}

/* Off, and on in `mode`; MODE_COUNT: it is on, or no mode would help. */
static enum approval_mode on_in(const struct off_tools *options, const struct tool *tool)
{
	struct policy_call call = gate_subject(tool);

	call.mode = options->mode;
	call.trusted = settings_trusted(options->settings);
	if ((tool->hidden && tool->hidden(options->session)) || !policy_hides(options->policy, &call))
		return MODE_COUNT;
	return off_tools_mode(options->policy, &call);
}

/* "safe_patch, write_file (--approval-mode auto_edit would allow them)". */
static void put_tools(const struct off_tools *options, enum approval_mode mode, struct buf *out)
{
	const struct tool_set *set = options->session->tools;
	const char *between = out->len ? "; " : "";
	bool any = false;

	for (size_t i = 0; i < tool_set_count(set); i++) {
		const struct tool *tool = tool_set_at(set, i);

		if (on_in(options, tool) != mode)
			continue;
		buf_printf(out, "%s%s", any ? ", " : between, tool->name);
		any = true;
	}
	if (any && !off_tools_forbidden(options->settings, mode))
		buf_printf(out, " (--approval-mode %s would allow them)",
		           off_tools_mode_word(mode));
}

char *off_tools_text(const struct off_tools *options)
{
	_cleanup_buf_ struct buf list = BUF_INIT(LIST_MAX);
	const char *report;

	if (options->interactive || options->mode == MODE_PLAN || !options->policy)
		return NULL;
	for (enum approval_mode mode = options->mode + 1; mode < MODE_COUNT; mode++)
		put_tools(options, mode, &list);
	if (!list.len)
		return NULL;
	report = tool_set_find(options->session->tools, "request_permission") ?
	                 " If the task needs one of them, call request_permission." : "";
	return mem_printf(
		"- These tools are off, because nobody can be asked about their calls: %.*s. "
		"--allowed-tools NAME or a policy rule would allow one of them%s.%s Do what can be done "
		"without them, not by a way around, and say in the end what is missing and which of "
		"these would allow it.\n",
		(int)list.len, list.data,
		settings_trusted(options->settings) ? "" :
		                                      "; modes that allow more are for folders "
		                                      "that are trusted (\"hasp config trust\")",
		report);
}
