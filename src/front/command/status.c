/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that say how it stands: /about, /doctor, /bug, /docs. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "catalog/documents.h"
#include "data/json.h"
#include "model/choose.h"
#include "sandbox/plan/plan.h"
#include "front/command/private.h"
#include "worker/provider.h"

enum { STATUS_WIDTH = 12 };

static const char *status_member(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

static void about_row(struct command_call *call, const char *name, const char *text,
                       enum role role)
{
	command_term(call, name, STATUS_WIDTH, span_str(text), STYLE(role));
}

/* ---- about ----------------------------------------------------------------------- */

/* What a bug report may have: nothing of the conversation, the settings or the environment. */
static void version_rows(struct command_call *call)
{
	const struct host_facts facts = host_facts(call->context->host);
	const struct provider_info *info = facts.provider->ops->info(facts.provider);
	struct utsname system = { 0 };

	uname(&system);
	about_row(call, "version", HASP_VERSION, ROLE_TEXT);
	about_row(call, "system", system.release, ROLE_TEXT);
	about_row(call, "model", facts.model, ROLE_TEXT);
	about_row(call, "sandbox", sandbox_level_name(info->level), ROLE_TEXT);
	if (info->weaker_because)
		about_row(call, "", info->weaker_because, ROLE_WARNING);
	about_row(call, "mode", policy_mode_name(agent_mode(facts.agent)), ROLE_TEXT);
}

static void put_key_origin(struct command_call *call, const char *key_from)
{
	_cleanup_free_ char *text = NULL;

	text = !key_from                      ? mem_strdup("none needed, or none found") :
	       !strcmp(key_from, "key store") ? mem_strdup("from the system's key store") :
	                                        mem_printf("from the variable %s", key_from);
	about_row(call, "API key", text, ROLE_TEXT);
}

void command_about(struct command_call *call)
{
	const struct host_facts facts = host_facts(call->context->host);
	const struct settings *settings = call->context->settings;
	char tokens[64];

	version_rows(call);
	if (call->context->sandbox)
		about_row(call, "", call->context->sandbox, ROLE_DIM);
	put_key_origin(call, facts.key_from);
	snprintf(tokens, sizeof(tokens), "%llu tokens (/context shows what is used)",
	         (unsigned long long)facts.context_tokens);
	about_row(call, "context", tokens, ROLE_TEXT);
	about_row(call, "folder", home_project(settings_home(settings)), ROLE_TEXT);
	about_row(call, "", settings_trusted(settings) ? "trusted" : "not trusted", ROLE_DIM);
	about_row(call, "session", facts.session_id, ROLE_TEXT);
	about_row(call, "record", facts.record_file, ROLE_TEXT);
}

/* ---- bug ------------------------------------------------------------------------- */

/* The address that the settings have, with the title. */
static void put_bug_address(struct command_call *call, const char *form)
{
	const char *mark = strstr(form, "{title}");
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MESSAGE_BYTES);
	struct row row = { 0 };

	buf_append(&out, form, mark ? (size_t)(mark - form) : strlen(form));
	if (mark) {
		/* "a%20b" of what stands in an address. */
		for (size_t i = 0; i < call->arguments.len; i++) {
			const unsigned char c = (unsigned char)call->arguments.data[i];

			if (c < 0x80 && (isalnum(c) || strchr("-._~", c)))
				buf_char(&out, (char)c);
			else
				buf_printf(&out, "%%%02X", c);
		}
		buf_str(&out, mark + strlen("{title}"));
	}
	row_link(&row, buf_view(&out), STYLE(ROLE_LINK), buf_view(&out));
	command_row(call, &row);
}

void command_bug(struct command_call *call)
{
	const char *form = settings_string(call->context->settings,
	                                   "advanced.bugCommand.urlTemplate", NULL);

	if (form)
		put_bug_address(call, form);
	else
		command_say(call, STYLE(ROLE_TEXT), "No address for bug reports is configured "
		            "(advanced.bugCommand.urlTemplate).");
	command_say(call, STYLE(ROLE_DIM), "A report should contain this, and what you did:");
	if (call->arguments.len)
		command_term(call, "title", STATUS_WIDTH, call->arguments, STYLE(ROLE_TEXT));
	version_rows(call);
}

/* ---- docs ------------------------------------------------------------------------ */

void command_docs(struct command_call *call)
{
	_cleanup_free_ char *name = mem_dup(call->arguments.data, call->arguments.len);
	const struct manual_page *document = *name ? document_named(name) : NULL;

	if (document) {
		command_text(call, STYLE(ROLE_TEXT), span_str(document->text));
		call->result->pager = true;
		return;
	}
	if (call->arguments.len) {
		command_fail(call, "There is no page \"%s\". /docs lists them.", name);
		return;
	}
	command_heading(call, "Documentation");
	for (size_t i = 0; (document = document_at(i)); i++)
		command_term(call, document->name, 20, span_str(document->title),
		             STYLE(ROLE_TEXT));
	command_say(call, STYLE(ROLE_DIM), "/docs PAGE shows one. Flags: man hasp.");
	call->result->pager = true;
}

void command_complete_docs(struct command_completion *completion)
{
	const struct manual_page *document;

	for (size_t i = 0; (document = document_at(i)); i++)
		completion->add(completion, document->name, document->title);
}

/* ---- doctor ---------------------------------------------------------------------- */

/* One check: a mark, what was looked at, how it is; and what to do about it, or NULL. */
static void check_row(struct command_call *call, bool good, const char *what, const char *how,
                      const char *mend)
{
	_cleanup_free_ char *name = mem_printf("%s %s", good ? "ok" : "!!", what);

	about_row(call, name, how, good ? ROLE_TEXT : ROLE_WARNING);
	if (mend)
		about_row(call, "", mend, ROLE_DIM);
	call->result->ok = call->result->ok && good;
}

static void check_session_model(struct command_call *call)
{
	struct model_choice choice = { 0 };
	struct err err = ERR_INIT;
	const char *chosen = call->context->host ? host_facts(call->context->host).model : NULL;

	if (!chosen && !model_choose(call->context->settings, NULL, &choice, &err)) {
		check_row(call, false, "model", err.message, "Run /auth to add a key.");
		return;
	}
	check_row(call, true, "model", chosen ? chosen : choice.options.name, NULL);
	model_choice_release(&choice);
}

static void check_sandbox(struct command_call *call, const struct host_facts *facts)
{
	const struct provider_info *info = facts->provider->ops->info(facts->provider);

	check_row(call, !info->weaker_because, "sandbox", sandbox_level_name(info->level),
	          info->weaker_because);
}

static void check_session_record(struct command_call *call)
{
	struct err err = ERR_INIT;

	if (host_recorded(call->context->host, &err))
		check_row(call, true, "record", "this session is being saved", NULL);
	else
		check_row(call, false, "record", err.message, NULL);
}

static void check_servers(struct command_call *call)
{
	json_auto_t *servers = host_servers(call->context->host);
	size_t i;
	json_t *server;

	json_array_foreach(servers, i, server) {
		const char *problem = status_member(server, "problem");
		_cleanup_free_ char *text = mem_printf("%s: %s", status_member(server, "name"),
		                                       *problem ? problem :
		                                       status_member(server, "state"));

		check_row(call, !*problem, "server", text, json_object_get(server, "login") ?
		          "Run /mcp auth NAME to log in." : NULL);
	}
}

static void check_hooks(struct command_call *call, const struct host_facts *facts)
{
	json_auto_t *untrusted = hooks_untrusted(facts->hooks);
	const size_t count = json_array_size(untrusted);
	char text[64];

	snprintf(text, sizeof(text), count ? "%zu of this project not trusted" : "all trusted",
	         count);
	check_row(call, !count, "hooks", text,
	          count ? "/hooks shows them" : NULL);
}

static void check_settings(struct command_call *call)
{
	const json_t *warnings = settings_warnings(call->context->settings), *warning;
	size_t i;

	json_array_foreach((json_t *)warnings, i, warning) {
		const struct span text = json_is_string(warning) ? json_span(warning) :
		                         json_span(json_object_get(warning, "message"));
		_cleanup_free_ char *line = mem_dup(text.data, text.len);

		check_row(call, false, "settings", line, NULL);
	}
	if (!json_array_size(warnings))
		check_row(call, true, "settings", "no problems", NULL);
}

void command_doctor(struct command_call *call)
{
	const bool open = call->context->host != NULL;
	const struct host_facts facts = open ? host_facts(call->context->host) :
	                                       (struct host_facts){ 0 };

	check_row(call, true, "version", HASP_VERSION, NULL);
	check_session_model(call);
	check_settings(call);
	if (open) {
		check_sandbox(call, &facts);
		check_session_record(call);
		check_hooks(call, &facts);
		check_servers(call);
	}
	command_say(call, STYLE(ROLE_DIM), "In a shell, \"hasp models check\" asks the model, and "
	            "\"hasp sandbox --status\" explains the sandbox.");
}
