/* SPDX-License-Identifier: Apache-2.0 */
/* /web shows the session in a browser, too; /share lets other people in. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "front/command/private.h"

/* False: the front has no web front, and the call has failed. */
static bool web_can(struct command_call *call)
{
	if (call->context->web)
		return true;
	command_fail(call, "This works in hasp's own terminal. Elsewhere, start hasp with --web.");
	return false;
}

static void web_show(struct command_call *call)
{
	const struct command_web *web = call->context->web;
	_cleanup_free_ char *address = NULL;
	const char *fingerprint = NULL;
	struct err err = ERR_INIT;

	if (!web->open(web->data, &address, &fingerprint, &err)) {
		command_fail(call, "%s", err.message);
		return;
	}
	command_say(call, STYLE(ROLE_TEXT), "%s", address);
	if (fingerprint)
		command_say(call, STYLE(ROLE_TEXT), "Certificate (SHA-256): %s", fingerprint);
	command_say(call, STYLE(ROLE_DIM),
	            "The link is for you and works once; /web prints another. /share NAME ROLE "
	            "makes one for someone else.");
}

void command_web(struct command_call *call)
{
	struct span word = command_word(&call->arguments);

	if (!web_can(call))
		return;
	if (!word.len) {
		web_show(call);
	} else if (command_word_is(word, "stop")) {
		call->context->web->close(call->context->web->data);
		command_say(call, STYLE(ROLE_TEXT),
		            "The page is closed, and all links have ended.");
	} else {
		command_usage(call);
	}
}

/* ---- people ---------------------------------------------------------------------------------- */

static void share_list(struct command_call *call)
{
	const struct command_web *web = call->context->web;
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MESSAGE_BYTES);

	if (web->people(web->data, &out) && out.len)
		command_text(call, STYLE(ROLE_TEXT), buf_view(&out));
	else
		command_say(call, STYLE(ROLE_TEXT), "No one has been invited.");
}

static void share_revoke(struct command_call *call, struct span which)
{
	const struct command_web *web = call->context->web;
	_cleanup_free_ char *name = mem_dup(which.data, which.len);
	struct err err = ERR_INIT;

	if (web->revoke(web->data, name, &err))
		command_say(call, STYLE(ROLE_TEXT), "%s is out.", name);
	else
		command_fail(call, "%s", err.message);
}

static void share_with(struct command_call *call, struct span who, struct span role)
{
	const struct command_web *web = call->context->web;
	_cleanup_free_ char *name = mem_dup(who.data, who.len);
	_cleanup_free_ char *word = mem_dup(role.data, role.len);
	_cleanup_free_ char *link = NULL;
	struct err err = ERR_INIT;

	if (!web->share(web->data, name, word, &link, &err)) {
		command_fail(call, "%s", err.message);
		return;
	}
	command_say(call, STYLE(ROLE_TEXT), "%s", link);
	command_say(call, STYLE(ROLE_DIM),
	            "The link works once, for the first browser that opens it, and for 8 hours. "
	            "/share revoke %s ends it.", name);
}

bool command_share_works(struct span arguments)
{
	return !command_word(&arguments).len;
}

void command_share(struct command_call *call)
{
	struct span word = command_word(&call->arguments);
	const struct span rest = call->arguments;

	/* What other agents' users expect of it: the conversation as a file. */
	if (!word.len) {
		command_export(call);
		return;
	}
	if (!web_can(call))
		return;
	if (command_word_is(word, "list") && !rest.len)
		share_list(call);
	else if (command_word_is(word, "revoke") && rest.len)
		share_revoke(call, rest);
	else if (rest.len)
		share_with(call, word, rest);
	else
		command_usage(call);
}
