/* SPDX-License-Identifier: Apache-2.0 */
/* /permissions: what runs without a question, since when and by which choice, and whether the
 * folder is trusted; /policies: the rules behind that. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/setup/prepare.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "front/command/private.h"

static const char *rule_member(const json_t *row, const char *name)
{
	const char *text = json_string_value(json_object_get(row, name));

	return text ? text : "";
}

/* ---- rules ----------------------------------------------------------------------- */

/* "run_shell_command git status" of a rule. */
static char *rule_subject(const json_t *row)
{
	static const char *const members[] = { "toolName", "commandPrefix", "commandRegex",
		                               "argsPattern", "mcpName", "checker" };
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MESSAGE_BYTES);

	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		const json_t *value = json_object_get(row, members[i]);
		size_t k;
		json_t *word;

		if (json_is_string(value))
			buf_printf(&out, "%s%s", out.len ? " " : "", json_string_value(value));
		json_array_foreach((json_t *)value, k, word)
			buf_printf(&out, "%s%s", !out.len ? "" : k ? "|" : " ",
			           json_string_value(word));
	}
	return buf_steal(&out);
}

/* " in plan and default mode"; "" for all modes. */
static char *rule_modes(const json_t *row)
{
	const json_t *modes = json_object_get(row, "modes");
	const size_t count = json_array_size(modes);
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MESSAGE_BYTES);
	size_t i;
	json_t *mode;

	if (!count || count == MODE_COUNT)
		return mem_strdup("");
	json_array_foreach((json_t *)modes, i, mode)
		buf_printf(&out, "%s%s", !i ? "  in mode " : i + 1 == count ? " and " : ", ",
		           json_string_value(mode));
	return buf_steal(&out);
}

static void put_rule(struct command_call *call, const json_t *row, struct span wanted)
{
	_cleanup_free_ char *subject = rule_subject(row), *modes = rule_modes(row);
	const char *decision = rule_member(row, "decision"), *rule = rule_member(row, "rule");
	_cleanup_free_ char *text = mem_printf("%s%s", subject ? subject : "*", modes);
	_cleanup_free_ char *from = mem_printf(
		"%s, priority %.3f", rule, json_real_value(json_object_get(row, "priority")));
	const enum role role = !strcmp(decision, "allow") ? ROLE_SUCCESS :
	                       !strcmp(decision, "deny")  ? ROLE_ERROR : ROLE_TEXT;

	if (!command_has(span_str(text), wanted) && !command_has(span_str(rule), wanted) &&
	    !command_has(span_str(decision), wanted))
		return;
	command_term(call, *decision ? decision : "checker", 9, span_str(text), STYLE(role));
	command_term(call, "", 9, span_str(from), STYLE(ROLE_DIM));
}

/* ---- what was allowed ------------------------------------------------------------ */

/* "since 14:02, until you quit"; the caller frees. */
static char *allowed_note(const json_t *item)
{
	const time_t since = (time_t)json_integer_value(json_object_get(item, "since"));
	char clock[16] = "";
	struct tm tm;

	if (!since || !localtime_r(&since, &tm) || !strftime(clock, sizeof(clock), "%H:%M", &tm))
		return mem_strdup("for this session, by your answer to a question");
	return mem_printf("since %s, for this session, by your answer to a question", clock);
}

static void put_session_allowed(struct command_call *call)
{
	json_auto_t *list = host_allowed(call->context->host);
	size_t i;
	json_t *item;

	if (!json_array_size(list))
		return;
	command_say(call, STYLE_BOLD(ROLE_TEXT), "Allowed for this session:");
	json_array_foreach(list, i, item) {
		_cleanup_free_ char *note = allowed_note(item);
		char number[24];

		snprintf(number, sizeof(number), "%zu", i + 1);
		command_term(call, number, 9, json_span(json_object_get(item, "text")),
		             STYLE(ROLE_SUCCESS));
		command_term(call, "", 9, span_str(note), STYLE(ROLE_DIM));
	}
	command_say(call, STYLE(ROLE_DIM), "To be asked again: /permissions revoke NUMBER, or "
	            "/permissions revoke all");
}

/* From 1; SIZE_MAX: it is none. */
static size_t revoked_number(struct span word)
{
	size_t number = 0;

	for (size_t i = 0; i < word.len; i++) {
		if (word.data[i] < '0' || word.data[i] > '9' || number > SIZE_MAX / 100)
			return SIZE_MAX;
		number = 10 * number + (size_t)(word.data[i] - '0');
	}
	return number ? number : SIZE_MAX;
}

static void allowed_revoke(struct command_call *call, struct span which)
{
	struct host *host = call->context->host;
	json_auto_t *list = host_allowed(host);
	const size_t number = command_word_is(which, "all") ? 0 : revoked_number(which);

	if (!host_revoke(host, number))
		command_fail(call, "No permission \"%.*s\" in this session. /permissions lists "
		             "them.", (int)which.len, which.len ? which.data : "");
	else if (!number)
		command_say(call, STYLE(ROLE_TEXT),
		            "Nothing is allowed for this session any more.");
	else
		command_say(call, STYLE(ROLE_TEXT), "No longer allowed for this session: %s",
		            rule_member(json_array_get(list, number - 1), "text"));
}

void command_policies(struct command_call *call)
{
	const struct policy *policy = host_facts(call->context->host).policy;
	json_auto_t *rules = policy ? policy_list(policy) : json_array();
	struct span wanted = call->arguments, word = command_word(&wanted);
	size_t i;
	json_t *row;

	if (command_word_is(word, "revoke")) {
		allowed_revoke(call, span_trim(wanted));
		return;
	}
	if (!command_word_is(word, "list"))
		wanted = call->arguments;
	if (!span_trim(wanted).len)
		put_session_allowed(call);
	json_array_foreach(rules, i, row)
		put_rule(call, row, wanted);
	if (!call->result->rows.count)
		command_say(call, STYLE(ROLE_TEXT), "No rule contains \"%.*s\".", (int)wanted.len,
		            wanted.data);
	command_say(call, STYLE(ROLE_DIM), "The first rule that matches decides. In a shell, "
	            "\"hasp policy check TOOL ARGS\" says which.");
	call->result->pager = true;
}

/* ---- trust ----------------------------------------------------------------------- */

enum { BROUGHT_NAMES_MAX = 12 };

static void put_brought(struct command_call *call)
{
	json_auto_t *brought = prepare_brought(call->context->settings);
	size_t i;
	json_t *item;

	if (!json_array_size(brought))
		return;
	command_heading(call, "What trust switches on");
	json_array_foreach(brought, i, item) {
		_cleanup_free_ char *names = prepare_brought_names(item, BROUGHT_NAMES_MAX);
		_cleanup_free_ char *text = mem_printf(
			"%s%s%s", json_string_value(json_object_get(item, "what")),
			*names ? ": " : "", names);

		command_term(call, json_string_value(json_object_get(item, "path")), 22,
		             span_str(text), STYLE(ROLE_TEXT));
	}
}

static void put_withheld(struct command_call *call)
{
	const json_t *withheld = settings_withheld(call->context->settings);
	size_t i;
	json_t *one;

	if (!json_array_size(withheld))
		return;
	command_heading(call, "What the project asks for and you have not allowed (hasp config "
	                "allow)");
	json_array_foreach((json_t *)withheld, i, one) {
		const char *name = json_string_value(json_object_get(one, "name"));
		_cleanup_free_ char *value =
			command_setting_text(name, json_object_get(one, "value"), NULL);

		command_term(call, name, 30, span_str(value ? value : ""), STYLE(ROLE_TEXT));
	}
}

static void set_folder_trust(struct command_call *call, bool trusted)
{
	const struct home *home = settings_home(call->context->settings);
	struct err err = ERR_INIT;

	if (trust_set(home, home_project(home), trusted ? "TRUST_FOLDER" : "DO_NOT_TRUST", &err))
		command_say(call, STYLE(ROLE_TEXT), "%s: %s. Takes effect at the next start.",
		            trusted ? "Trusted" : "Not trusted", home_project(home));
	else
		command_fail(call, "%s", err.message);
}

/* ---- modes ----------------------------------------------------------------------- */

static const struct {
	enum approval_mode mode;
	const char *name, *help;
} modes[] = {
	{ MODE_DEFAULT, "Default", "Ask before edits and commands" },
	{ MODE_AUTO_EDIT, "Auto edit", "Edit without asking, ask before commands" },
	{ MODE_PLAN, "Plan", "Explore and write a plan; change nothing" },
	{ MODE_YOLO, "YOLO", "Ask about nothing" },
};

json_t *command_menu_modes(const struct command_context *context)
{
	const enum approval_mode now = agent_mode(host_facts(context->host).agent);
	json_t *menu = json_array();

	for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
		struct err ignored = ERR_INIT;

		if (modes[i].mode == now ||
		    prepare_mode_check(context->settings, modes[i].mode, &ignored))
			json_array_append_new(menu, json_pack(
				"{s:s, s:s, s:s}", "value", policy_mode_name(modes[i].mode),
				"name", modes[i].name, "help", modes[i].help));
	}
	return menu;
}

static void mode_set(struct command_call *call, struct span word)
{
	_cleanup_free_ char *name = mem_dup(word.data, word.len);
	struct host *host = call->context->host;
	struct err err = ERR_INIT;
	enum approval_mode mode;

	if (!policy_mode_parse(name, &mode)) {
		command_fail(call, "Unknown mode \"%s\": use default, auto_edit, plan or yolo.",
		             name);
	} else if (!prepare_mode_check(call->context->settings, mode, &err)) {
		command_fail(call, "%s", err.message);
	} else {
		host_set_mode(host, mode);
		command_say(call, STYLE(ROLE_TEXT), "Mode: %s.", prepare_mode_word(mode));
	}
}

static void modes_offer(struct command_call *call)
{
	const enum approval_mode now = agent_mode(host_facts(call->context->host).agent);

	for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
		const char *word = prepare_mode_word(modes[i].mode);

		command_choice(call, span_str(word), span_str(modes[i].help),
		               mem_printf("/permissions mode %s", word), modes[i].mode == now);
		if (!(call->context->can & 1u << COMMAND_CHOOSE))
			command_term(call, word, 12, span_str(modes[i].help), STYLE(ROLE_TEXT));
	}
	if (!(call->context->can & 1u << COMMAND_CHOOSE))
		return;
	call->result->question = "Mode";
	call->result->then = COMMAND_CHOOSE;
}

/* ---- permissions ----------------------------------------------------------------- */

static void offer_saved(struct command_call *call)
{
	const struct policy *policy = host_facts(call->context->host).policy;
	json_auto_t *rules = policy ? policy_list(policy) : json_array();
	size_t i;
	json_t *row;

	json_array_foreach(rules, i, row) {
		const char *rule = rule_member(row, "rule");
		_cleanup_free_ char *subject = rule_subject(row);
		_cleanup_free_ char *note = mem_printf("in all sessions, saved in %s", rule);

		if (strstr(rule, "auto-saved.toml") &&
		    !strcmp(rule_member(row, "decision"), "allow"))
			command_choice(call, span_str(subject ? subject : "*"), span_str(note),
			               mem_strdup(""), false);
	}
}

static void offer_allowed(struct command_call *call)
{
	json_auto_t *list = host_allowed(call->context->host);
	size_t i;
	json_t *item;

	json_array_foreach(list, i, item) {
		_cleanup_free_ char *note = allowed_note(item);

		command_choice(call, json_span(json_object_get(item, "text")), span_str(note),
		               mem_strdup(""), false);
		call->result->choices[call->result->choice_count - 1].other =
			mem_printf("/permissions revoke %zu", i + 1);
	}
}

static void offer_folder_trust(struct command_call *call)
{
	const struct settings *settings = call->context->settings;
	const bool trusted = settings_trusted(settings);
	_cleanup_free_ char *label = mem_printf("Folder: %s", trusted ? "trusted" :
	                                                                "not trusted");

	command_choice(call, span_str(label), span_str(home_project(settings_home(settings))),
	               mem_strdup(trusted ? "/permissions distrust" : "/permissions trust"),
	               false);
}

/* A list in which each line is changed or revoked, where the front has one. */
static void permissions_page(struct command_call *call)
{
	const enum approval_mode mode = agent_mode(host_facts(call->context->host).agent);
	_cleanup_free_ char *label = mem_printf("Mode: %s", prepare_mode_word(mode));

	command_choice(call, span_str(label), SPAN("what needs your approval"),
	               mem_strdup("/permissions mode"), false);
	offer_folder_trust(call);
	offer_allowed(call);
	offer_saved(call);
	call->result->question = "Permissions";
	call->result->searches = true;
	call->result->other_letter = 'x';
	call->result->other_help = "revoke what is allowed for this session";
	call->result->then = COMMAND_CHOOSE;
}

static void permissions_show(struct command_call *call)
{
	const struct settings *settings = call->context->settings;
	const bool page = call->context->host && call->context->can & 1u << COMMAND_CHOOSE;

	if (!page || !settings_trusted(settings))
		command_say(call, STYLE(ROLE_TEXT), "%s is %s.",
		            home_project(settings_home(settings)),
		            settings_trusted(settings)       ? "trusted" :
		            settings_trust_unknown(settings) ? "not trusted: you have not decided" :
		                                               "not trusted");
	put_brought(call);
	put_withheld(call);
	if (page) {
		permissions_page(call);
		return;
	}
	if (call->context->host)
		put_session_allowed(call);
	command_say(call, STYLE(ROLE_DIM), "/permissions trust, /permissions distrust");
}

void command_permissions(struct command_call *call)
{
	const struct span word = command_word(&call->arguments);

	if (!word.len)
		permissions_show(call);
	else if (command_word_is(word, "trust") || command_word_is(word, "distrust"))
		set_folder_trust(call, command_word_is(word, "trust"));
	else if (!call->context->host)
		command_fail(call, "/permissions %.*s needs a session, and none is open.",
		             (int)word.len, word.data);
	else if (command_word_is(word, "revoke"))
		allowed_revoke(call, call->arguments);
	else if (call->arguments.len)
		mode_set(call, call->arguments);
	else
		modes_offer(call);
}
