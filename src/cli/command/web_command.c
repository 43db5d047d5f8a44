/* SPDX-License-Identifier: Apache-2.0 */
/* `hasp web`: invites people to the page of a hasp that runs, lists them, and ends their links. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "cli/command/commands.h"
#include "cli/command/private.h"
#include "cli/command/web_page.h"
#include "cli/options/command.h"
#include "cli/options/invocation.h"
#include "cli/view/output.h"
#include "data/json.h"
#include "web/web.h"

enum { MINUTES_LONGEST = 30 * 24 * 60, PID_MOST = 1 << 22 };

bool web_command_number(const struct invocation *invocation, enum flag_id id,
                        const char *name, unsigned least, unsigned most, unsigned *ret,
                        struct err *err)
{
	const char *text = invocation_value(invocation, id);
	unsigned long number;
	char *end;

	if (!text)
		return true;
	number = strtoul(text, &end, 10);
	if (!ascii_is_digit(*text) || strlen(text) > 9 || *end || number < least || number > most)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "--%s takes a number from %u to %u, not \"%.100s\".", name, least,
		               most, text);
	*ret = (unsigned)number;
	return true;
}

static json_t *web_invitation_body(const struct invocation *invocation, unsigned minutes)
{
	const char *role = invocation_value(invocation, FLAG_ROLE);
	json_t *body = json_pack("{s:o, s:s, s:[]}", "name",
	                         json_text(span_str(invocation_positional(invocation, 1))),
	                         "role", role ? role : "comment", "groups");
	_cleanup_free_ const char **groups = NULL;
	size_t count;

	groups = invocation_values(invocation, FLAG_GROUP, &count);
	for (size_t i = 0; i < count; i++)
		json_array_append_new(json_object_get(body, "groups"),
		                      json_text(span_str(groups[i])));
	if (minutes)
		json_object_set_new(body, "minutes", json_integer(minutes));
	return body;
}

/* The name as a part of a path (RFC 3986, 2.1). */
static char *web_revoke_path(const char *name)
{
	_cleanup_buf_ struct buf path = BUF_INIT(LIMIT_PATH_BYTES);

	buf_str(&path, "invites/");
	for (; *name; name++)
		if (ascii_is_alnum(*name))
			buf_char(&path, *name);
		else
			buf_printf(&path, "%%%02X", (unsigned char)*name);
	buf_str(&path, "/revoke");
	return buf_steal(&path);
}

/* One of the actions: which path, with which body. False: *err. */
static bool web_ask(const struct invocation *invocation, unsigned process, unsigned minutes,
                    json_t **ret, struct err *err)
{
	const char *action = invocation_positional(invocation, 0);
	const char *name = invocation_positional(invocation, 1);
	_cleanup_free_ char *path = NULL;
	json_auto_t *body = NULL;

	if (!strcmp(action, "list"))
		return web_control(process, "invites", NULL, ret, err);
	if (!strcmp(action, "invite")) {
		body = web_invitation_body(invocation, minutes);
		return web_control(process, "invite", body, ret, err);
	}
	path = web_revoke_path(name);
	body = json_object();
	return web_control(process, path, body, ret, err);
}

int command_run_web(const struct invocation *invocation)
{
	const char *action = invocation_positional(invocation, 0);
	const bool lists = action && !strcmp(action, "list");
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	json_auto_t *answer = NULL;
	struct err err = ERR_INIT;
	unsigned process = 0, minutes = 0;

	if (invocation->positional_count != (lists ? 1 : 2)) {
		output_complain("hasp web invite NAME, list or revoke NAME");
		return CLI_USAGE;
	}
	if (!web_command_number(invocation, FLAG_PROCESS, "process", 1, PID_MOST, &process, &err) ||
	    !web_command_number(invocation, FLAG_MINUTES, "minutes", 1, MINUTES_LONGEST, &minutes,
	                        &err))
		return output_fail(&err, CLI_USAGE);
	if (!web_ask(invocation, process, minutes, &answer, &err))
		return output_fail(&err, CLI_FAILED);
	if (invocation_has(invocation, FLAG_JSON)) {
		json_print(&out, answer, 2);
		buf_str(&out, "\n");
	} else if (lists) {
		const json_t *row;
		size_t i;

		json_array_foreach((json_t *)answer, i, row)
			buf_printf(&out, "%s  %s  until %s%s\n",
			           json_string_value(json_object_get(row, "name")),
			           json_string_value(json_object_get(row, "role")),
			           json_string_value(json_object_get(row, "expires")),
			           json_is_true(json_object_get(row, "connected")) ? "  connected"
			           : json_is_true(json_object_get(row, "used"))    ? ""
			                                                        : "  not used yet");
		if (!out.len)
			buf_str(&out, "No one has been invited.\n");
	} else if (!strcmp(action, "invite")) {
		buf_printf(&out, "%s\n", json_string_value(json_object_get(answer, "url")));
	}
	if (!output_text(buf_view(&out), &err) || !output_finish(&err))
		return output_fail(&err, CLI_FAILED);
	return CLI_OK;
}
