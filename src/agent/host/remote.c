/* SPDX-License-Identifier: Apache-2.0 */
/* Agents elsewhere (a2a/a2a.h) as sub-agents: what they log in with, whether a project's may be
 * used, what they ask, and what comes of a task as the result of a call.
 *
 * In the values of "auth" "$NAME" is a variable and "!COMMAND" what a command prints, as Gemini
 * CLI has them; "$$" and "!!" stand for the second character.  An agent of a project's file is
 * used after the user allowed that file as it is now (catalog/agents.h), in words that name its
 * commands.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "a2a/a2a.h"
#include "agent/host/private.h"
#include "agent/host/subagents.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "bus/bus.h"
#include "data/json.h"
#include "tool/builtin/web.h"

enum { QUESTION_BYTES = 4096, PROGRESS_BYTES = 160, COMMAND_MS = 60000, COMMAND_OUT = 64 << 10 };

/* What an agent logs in with, as its file has it: variables and commands may have other values
 * later. */
struct remote_auth {
	const struct host *host;
	char *name;              /* owned; of the agent */
	json_t *said;            /* owned */
};

struct remote {
	struct a2a_agent *agent; /* owned */
	struct remote_auth *auth; /* owned */
};

struct remotes {
	pthread_mutex_t lock;    /* of the rows, and while the user is asked about one */
	struct remote *at;       /* owned; each has been used in this session */
	size_t count, cap;
};

struct remotes *remotes_new(void)
{
	struct remotes *remotes = mem_alloc(1, sizeof(*remotes));

	pthread_mutex_init(&remotes->lock, NULL);
	return remotes;
}

static void remote_auth_free(struct remote_auth *auth)
{
	json_decref(auth->said);
	free(auth->name);
	free(auth);
}

void remotes_free(struct remotes *remotes)
{
	if (!remotes)
		return;
	for (size_t i = 0; i < remotes->count; i++) {
		a2a_free(remotes->at[i].agent);
		remote_auth_free(remotes->at[i].auth);
	}
	pthread_mutex_destroy(&remotes->lock);
	free(remotes->at);
	free(remotes);
}

/* ---- what it logs in with ------------------------------------------------------- */

/* What the command prints, without blanks around it, a new reference; NULL: *err, which says
 * nothing of what it printed, nor how it is called: it may have a secret in it. */
static json_t *command_value(const struct remote_auth *auth, const char *member,
                             const char *command, struct err *err)
{
	_cleanup_buf_ struct buf out = BUF_INIT(COMMAND_OUT);
	struct err why = ERR_INIT;
	json_t *value = NULL;
	struct span said;

	if (!hooks_run(auth->host->hooks, command, COMMAND_MS, SPAN(""), &auth->host->cancel, &out,
	               &why)) {
		err_set(err, why.code == ERR_CANCELLED ? ERR_CANCELLED : ERR_AUTHENTICATION_FAILED,
		        "The command for the \"%s\" that the agent %s logs in with %s.", member,
		        auth->name,
		        why.code == ERR_CANCELLED       ? "was ended" :
		        why.code == ERR_COMMAND_STOPPED ? "took longer than a minute" :
		                                          "failed");
		goto out;
	}
	said = span_trim(buf_view(&out));
	value = said.len && !memchr(said.data, 0, said.len) ?
	                json_stringn(said.data, said.len) : NULL;
	if (!value)
		err_set(err, ERR_AUTHENTICATION_FAILED,
		        "The command for the \"%s\" that the agent %s logs in with printed %s.",
		        member, auth->name, said.len ? "something that is no text" : "nothing");
out:
	if (out.data)
		explicit_bzero(out.data, out.len);
	return value;
}

/* What a text in "auth" stands for, a new reference; NULL: *err. */
static json_t *auth_value(const struct remote_auth *auth, const char *member, const json_t *text,
                          struct err *err)
{
	const struct variables *variables = settings_variables(auth->host->options.settings);
	const char *word = json_string_value(text), *value;
	_cleanup_free_ char *command = agent_auth_command(member, text);

	if (command)
		return command_value(auth, member, command, err);
	if (strncmp(word, "$$", 2) == 0 || strncmp(word, "!!", 2) == 0)
		return json_string(word + 1);
	if (word[0] == '!') {
		err_set(err, ERR_INVALID_ARGUMENT,
		        "The \"auth\" of the agent %s names a command (\"!...\") for its "
		        "\"%.40s\", which can have none.", auth->name, member);
		return NULL;
	}
	if (word[0] != '$')
		return json_incref((json_t *)text);
	value = variables_own(variables, word + 1);
	if (!value)
		value = variables_get(variables, word + 1);
	if (!value || !*value) {
		err_set(err, ERR_AUTHENTICATION_FAILED,
		        "The agent %s logs in with the variable %.100s, which is not set.",
		        auth->name, word + 1);
		return NULL;
	}
	return json_string(value);
}

/* The same with its values resolved, as it will be sent; a new reference. NULL: *err. */
static json_t *auth_resolve(void *data, struct err *err)
{
	const struct remote_auth *auth = data;
	json_t *resolved = json_object(), *value;
	const char *name;

	json_object_foreach(auth->said, name, value) {
		json_t *own = json_is_string(value) ? auth_value(auth, name, value, err) :
		                                      json_incref(value);

		if (!own) {
			json_decref(resolved);
			return NULL;
		}
		json_object_set_new(resolved, name, own);
	}
	return resolved;
}

/* ---- a project's file, or an extension's ------------------------------------------- */

static bool consent_refused(const struct agent_definition *definition, bool nobody,
                            struct err *err)
{
	_cleanup_free_ char *what = agent_facts(definition);

	if (!nobody)
		return err_set(err, ERR_DENIED_BY_USER,
		               "The user does not want the agent %s to be used.",
		               definition->name);
	if (definition->remote)
		return err_set(err, ERR_DENIED_BY_POLICY,
		               "The agent %s runs elsewhere (%.1500s), and its file has not been "
		               "allowed in this project. To allow it: hasp agents allow %s",
		               definition->name, what, definition->name);
	return err_set(err, ERR_DENIED_BY_POLICY,
	               "The agent %s brings its own MCP servers, and its file has not been allowed "
	               "in this project: %.1500s. To allow it: hasp agents allow %s",
	               definition->name, what, definition->name);
}

/* With the lock: several calls are one question. */
static bool consent_ask(struct host *host, const struct agent_definition *definition,
                        struct err *err)
{
	_cleanup_free_ char *what = NULL, *text = NULL;
	json_auto_t *message = NULL, *answer = NULL;
	enum bus_reply reply;

	if (agent_is_allowed(definition, host->home))
		return true;
	what = agent_facts(definition);
	text = mem_printf(definition->remote ?
	                          "A file of %s describes the agent \"%s\", which works "
	                          "elsewhere. Send it tasks? They go to %s." :
	                          "A file of %s describes the agent \"%s\", which brings its own "
	                          "MCP servers. Start them when it runs? %s",
	                  definition->from == AGENTS_PROJECT ? "this project" : "an extension",
	                  definition->name, what);
	message = json_pack("{s:[{s:s, s:s, s:o}]}", "questions", "header",
	                    definition->remote ? "Remote agent" : "Agent", "type", "yesno",
	                    "question", json_text(span_str(text)));
	reply = bus_ask(host->bus, BUS_ASK_USER_REQUEST, message, 0, &host->cancel, &answer);
	if (reply == BUS_ANSWERED &&
	    span_eq(json_span(json_object_get(json_object_get(answer, "answers"), "0")),
	            SPAN("Yes")))
		return agent_allow(definition, host->home, err);
	if (reply == BUS_CANCELLED)
		return err_set(err, ERR_CANCELLED, "The call was cancelled.");
	return consent_refused(definition, reply != BUS_ANSWERED, err);
}

bool host_agent_consent(struct host *host, const struct agent_definition *definition,
                        struct err *err)
{
	bool ok;

	pthread_mutex_lock(&host->chat.remotes->lock);
	ok = consent_ask(host, definition, err);
	pthread_mutex_unlock(&host->chat.remotes->lock);
	return ok;
}

/* ---- which there are -------------------------------------------------------------- */

/* *ret is set only if it can be used. */
static bool remote_open(struct host *host, const struct agent_definition *definition,
                        struct remote *ret, struct err *err)
{
	const json_t *said = json_object_get(definition->remote, "auth");
	struct remote_auth *auth = mem_alloc(1, sizeof(*auth));
	json_auto_t *resolved = NULL;
	struct a2a_options options = {
		.name = definition->name,
		.card_url = json_string_value(json_object_get(definition->remote, "card_url")),
		.card = json_string_value(json_object_get(definition->remote, "card")),
		.renew = said ? auth_resolve : NULL,
		.renew_data = auth,
		.home = home_user(host->home),
		.folder = home_gemini(host->home),
		.login = host_login,
		.notices = host->options.notices,
		.data = host,
	};

	*auth = (struct remote_auth){ host, mem_strdup(definition->name),
		                      json_incref((json_t *)said) };
	resolved = said ? auth_resolve(auth, err) : NULL;
	options.auth = resolved;
	ret->auth = auth;
	if ((!said || resolved) && a2a_open(&options, &ret->agent, err))
		return true;
	remote_auth_free(auth);
	return false;
}

/* Borrowed from the session. */
static bool remote_need(struct host *host, const struct agent_definition *definition,
                        struct a2a_agent **ret, struct err *err)
{
	struct remotes *remotes = host->chat.remotes;
	struct remote one;
	bool ok = false, known = false;

	pthread_mutex_lock(&remotes->lock);
	for (size_t i = 0; i < remotes->count && !known; i++) {
		known = strcmp(remotes->at[i].auth->name, definition->name) == 0;
		*ret = known ? remotes->at[i].agent : NULL;
	}
	ok = known ||
	     (consent_ask(host, definition, err) && remote_open(host, definition, &one, err));
	if (ok && !known) {
		remotes->at = mem_grow(remotes->at, &remotes->cap, remotes->count + 1,
		                       sizeof(*remotes->at));
		remotes->at[remotes->count++] = one;
		*ret = one.agent;
	}
	pthread_mutex_unlock(&remotes->lock);
	return ok;
}

/* ---- while it works --------------------------------------------------------------- */

struct remote_run {
	struct host *host;
	const struct agent_definition *definition;
	const struct call_hooks *hooks;
	unsigned said, answers; /* pieces of text; the user's */
};

/* Without control characters but for ends of lines, invisible ones as escapes; a new reference. */
static json_t *harmless(struct span text)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_AGENT_ANSWER);
	json_auto_t *clean = NULL;

	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.data[i] >= 0x20 ? text.data[i] != 0x7f :
		                                          text.data[i] == '\n' ||
		                                          text.data[i] == '\t')
			buf_char(&out, text.data[i]);
	clean = json_text(buf_view(&out));
	return json_show_unseen(clean, NULL);
}

/* Publishes the line as progress of the call, as for a sub-agent. */
static void remote_said(void *data, struct span text)
{
	struct remote_run *run = data;
	json_auto_t *clean = harmless(text), *message = NULL;
	const struct span whole = json_span(clean);
	const char *end = whole.len ? memchr(whole.data, '\n', whole.len) : NULL;
	const struct span line = utf8_head(end ? span_head(whole, (size_t)(end - whole.data)) :
	                                         whole, PROGRESS_BYTES);
	_cleanup_free_ char *shown = mem_dup(line.len ? line.data : "", line.len);

	run->said++;
	if (run->hooks->reported)
		run->hooks->reported(run->hooks->data, run->said, 0, shown);
	message = json_pack("{s:s, s:s, s:s, s:{s:O}}", "agentName", run->definition->name,
	                    "callId", run->hooks->call ? run->hooks->call : "", "topic",
	                    bus_topic_name(BUS_CONTENT), "message", "text", clean);
	bus_publish(run->host->bus, BUS_SUBAGENT, message);
}

static char *question_unanswered(const struct remote_run *run, const json_t *said, bool login,
                                 struct err *err)
{
	const struct span text = utf8_head(json_span(said), 600);

	err_set(err, ERR_TOOL_FAILED,
	        "The agent %s %s, and this run has no way to ask%s%.*s%s", run->definition->name,
	        login ? "requires the user to log in" : "asks for something",
	        text.len ? ": " : ".", (int)text.len, text.len ? text.data : "",
	        login ? "" : " Call it again with the answer as the prompt to continue its task.");
	return NULL;
}

/* What the agent asks, for people. */
static json_t *remote_question(const struct remote_run *run, const json_t *said, bool login)
{
	const struct span text = utf8_head(json_span(said), QUESTION_BYTES);
	_cleanup_free_ char *question = mem_printf(
		"The agent \"%s\" %s%s%.*s", run->definition->name,
		login ? "requires you to log in; say when that is done" : "asks",
		text.len ? ": " : ".", (int)text.len, text.len ? text.data : "");

	return json_pack("{s:[{s:s, s:s, s:o}]}", "questions", "header", "Agent asks", "type",
	                 "text", "question", json_text(span_str(question)));
}

static char *remote_asks(void *data, struct span text, bool login, struct err *err)
{
	struct remote_run *run = data;
	json_auto_t *said = harmless(text), *answer = NULL, *message = NULL;
	struct span words;

	message = remote_question(run, said, login);
	switch (bus_ask(run->host->bus, BUS_ASK_USER_REQUEST, message, 0, &run->host->cancel,
	                &answer)) {
	case BUS_ANSWERED:
		break;
	case BUS_NOBODY:
	case BUS_TIMED_OUT:
		return question_unanswered(run, said, login, err);
	case BUS_CANCELLED:
		err_set(err, ERR_CANCELLED, "The call was cancelled.");
		return NULL;
	}
	words = json_span(json_object_get(json_object_get(answer, "answers"), "0"));
	if (words.len && !json_is_true(json_object_get(answer, "cancelled"))) {
		run->answers++;
		return mem_dup(words.data, words.len);
	}
	err_set(err, ERR_DENIED_BY_USER, "The user did not answer what the agent %s asked.",
	        run->definition->name);
	return NULL;
}

/* ---- what comes of it ------------------------------------------------------------- */

static const char *remote_end_word(enum a2a_end end)
{
	static const char *const words[] = {
		[A2A_ANSWERED] = "answered", [A2A_ASKED] = "input_required",
		[A2A_TIME_LIMIT] = "time_limit", [A2A_CANCELLED] = "cancelled",
		[A2A_FAILED] = "failed",
	};

	return words[end];
}

static void end_explain(const struct agent_definition *definition, enum a2a_end end,
                        struct err *err)
{
	const double minutes = definition->timeout_ms / 60000.0;

	if (end == A2A_CANCELLED)
		err_set(err, ERR_CANCELLED, "The call was cancelled; what the agent %s had done "
		        "stays done.", definition->name);
	else if (end == A2A_TIME_LIMIT)
		err_set(err, ERR_LIMIT_REACHED,
		        "The agent %s reached its limit of %.3g minute%s before it was done. What "
		        "it says in \"output\" is what it has so far.", definition->name, minutes,
		        minutes == 1 ? "" : "s");
}

static json_t *remote_result(const struct agent_definition *definition,
                             const struct a2a_outcome *outcome, const struct err *err)
{
	json_t *result = outcome->end == A2A_ANSWERED ? json_pack("{s:b}", "success", 1) :
	                                                tool_failure(err);
	json_auto_t *text = harmless(span_str(outcome->text));

	json_object_set_new(result, "agent", json_cstr(definition->name));
	json_object_set_new(result, "end", json_string(remote_end_word(outcome->end)));
	if (json_string_length(text))
		json_object_set_new(result, "output", web_untrusted_json(json_span(text)));
	if (outcome->cut)
		json_object_set_new(result, "truncated", json_true());
	return result;
}

json_t *host_run_remote(struct host *host, const struct agent_definition *definition,
                        const char *task, const struct call_hooks *hooks)
{
	struct remote_run run = { .host = host, .definition = definition, .hooks = hooks };
	const struct a2a_request request = {
		.task = task, .timeout_ms = definition->timeout_ms, .cancel = &host->cancel,
		.progress = remote_said, .question = remote_asks, .data = &run,
	};
	struct agent_run reported = { .agent = definition->name, .call = hooks->call };
	struct a2a_outcome outcome;
	struct a2a_agent *agent;
	struct err err = ERR_INIT;
	json_t *result;

	if (!remote_need(host, definition, &agent, &err)) {
		result = tool_failure(&err);
		json_object_set_new(result, "agent", json_cstr(definition->name));
		return result;
	}
	host_report_run(host, &reported);
	a2a_ask(agent, &request, &outcome, &err);
	reported.end = remote_end_word(outcome.end);
	reported.turns = 1 + run.answers; /* messages that it was sent */
	host_report_run(host, &reported);
	end_explain(definition, outcome.end, &err);
	result = remote_result(definition, &outcome, &err);
	a2a_outcome_release(&outcome);
	return result;
}
