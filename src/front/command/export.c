/* SPDX-License-Identifier: Apache-2.0 */
/* /export, which /chat share is another name of: the session as a file of the workspace.  The file
 * is written like an edit: a new one, or, once that was agreed to, in the place of exactly the
 * state that was there when it was asked. */
#include <string.h>

#include "agent/session/sessions.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "front/command/private.h"
#include "worker/provider.h"

static bool export_text(struct command_call *call, enum export_format format, struct buf *out,
                        struct err *err)
{
	struct host *host = call->context->host;
	struct session_read read;
	struct err why = ERR_INIT;
	bool ok;

	if (!host_recorded(host, err))
		return false;
	if (!session_read_file(host_facts(host).record_file, &read, &why)) {
		*err = why;
		return why.code != ERR_FILE_NOT_FOUND ? false :
		       err_set(err, ERR_INVALID_ARGUMENT,
		               "Nothing was said in this session yet.");
	}
	ok = session_export(&read, format, out) ||
	     err_set(err, ERR_TOO_LARGE, "The session is too large.");
	session_read_release(&read);
	return ok;
}

/* `base` NULL: there must be no such file. */
static bool export_write(struct command_call *call, const char *path, struct span text,
                         const struct sha256 *base, struct err *err)
{
	struct provider *provider = host_facts(call->context->host).provider;
	const struct sha256 sum = sha256_of(text);
	const struct change change = { .kind = base ? CHANGE_WRITE : CHANGE_CREATE, .path = path,
		                       .base = base, .bytes = true, .text = text, .expect = &sum };
	struct edit_options options = { 0 };
	struct change_result result = { 0 };
	bool ok = provider_edit(provider, &change, 1, &options, &result, err);

	if (ok)
		command_say(call, STYLE(ROLE_TEXT), "Written to %s", result.state.path);
	change_result_release(&result);
	return ok;
}

/* Asks whether to replace it, if the user can be asked. */
static void export_ask(struct command_call *call, const char *path)
{
	struct provider *provider = host_facts(call->context->host).provider;
	struct read_request request = { .path = path, .bytes = true };
	struct read_result read;
	struct err err = ERR_INIT;
	char hex[SHA256_HEX_SIZE];

	if (!(call->context->can & 1u << COMMAND_CHOOSE)) {
		command_fail(call, "There is a file %s already.", path);
		return;
	}
	if (!provider_read(provider, &request, &read, &err)) {
		command_fail(call, "%s", err.message);
	} else {
		sha256_hex(&read.state.sha256, hex);
		command_choice(call, SPAN("Leave it"), span_str(path), mem_strdup(""), false);
		command_choice(call, SPAN("Replace it"), span_str(path),
		               mem_printf("/export replace %s %s", hex, path), false);
		call->result->question = "It is there already";
		call->result->then = COMMAND_CHOOSE;
	}
	read_result_release(&read);
}

/* "replace HASH FILE", as the choice above has it. */
static bool export_replaces(struct span *text, struct sha256 *ret)
{
	struct span rest = *text, word = command_word(&rest);

	if (!command_word_is(word, "replace"))
		return false;
	word = command_word(&rest);
	if (!rest.len || !sha256_parse(word, ret))
		return false;
	*text = rest;
	return true;
}

void command_export(struct command_call *call)
{
	struct span name = call->arguments;
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	_cleanup_free_ char *path = NULL;
	struct sha256 base;
	const bool replaces = export_replaces(&name, &base);
	struct err err = ERR_INIT;
	enum export_format format;

	path = name.len ? mem_dup(name.data, name.len) :
	                  mem_printf("conversation-%.8s.md",
	                             host_facts(call->context->host).session_id);
	if (!export_format_of(NULL, path, &format))
		command_fail(call, "%s: the name must end with .md or .json.", path);
	else if (!export_text(call, format, &out, &err))
		command_fail(call, "%s", err.message);
	else if (!export_write(call, path, buf_view(&out), replaces ? &base : NULL, &err) &&
	         err.code == ERR_FILE_EXISTS)
		export_ask(call, path);
	else if (err.code)
		command_fail(call, "%s", err.message);
}
