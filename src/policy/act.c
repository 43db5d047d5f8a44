/* SPDX-License-Identifier: Apache-2.0 */
/* How acts and selectors meet. */
#include "policy/act.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "policy/names.h"
#include "policy/stable.h"

/* The stable text of a call whose write_file carries a generated file; more is not matched at all. */
#define TEXT_MAX ((size_t)1 << 30)

void act_init(const struct policy_call *call, const json_t *arguments, struct act *ret)
{
	const char *const *lists[] = { names_same(call->tool), call->other_names };
	size_t count = 0;

	*ret = (struct act){ .arguments = json_incref((json_t *)arguments) };
	ret->own.max = ret->other.max = ret->whole.max = TEXT_MAX;
	ret->names[count++] = call->tool;
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		for (const char *const *name = lists[i]; name && *name; name++)
			if (count + 2 < ACT_NAMES_MAX)
				ret->names[count++] = *name;
	/* A sub-agent goes by its own name too. */
	if (strcmp(call->tool, "invoke_agent") == 0)
		ret->names[count] = json_string_value(json_object_get(call->arguments,
		                                                      "agent_name"));
}

void act_release(struct act *act)
{
	json_decref(act->arguments);
	buf_release(&act->own);
	buf_release(&act->other);
	buf_release(&act->whole);
}

/* ---- names -------------------------------------------------------------------------- */

static bool is_among(const char *name, const char *const *names)
{
	for (; names && *names; names++)
		if (strcmp(name, *names) == 0)
			return true;
	return false;
}

static bool fits_server(const char *name, const struct policy_call *call,
                        const struct selector *selector)
{
	const char *tool = call->server_tool ? call->server_tool : call->tool;

	if (!call->server ||
	    (strcmp(selector->server, "*") != 0 && strcmp(selector->server, call->server) != 0))
		return false;
	return names_glob(name, tool) || names_glob(name, call->tool);
}

/* mcp_SERVER_*: that server's tools, whatever is in its name. */
static bool names_server(const char *name, const char *server)
{
	size_t len = strlen(name), server_len = strlen(server);

	return len == 4 + server_len + 2 && strncmp(name + 4, server, server_len) == 0 &&
	       strcmp(name + len - 2, "_*") == 0;
}

static bool fits_wildcard(const char *name, const struct act *act,
                          const struct policy_call *call, bool strict)
{
	bool for_servers = strncmp(name, "mcp_", 4) == 0;

	if (call->server) {
		if (for_servers && (name[4] == '*' || names_server(name, call->server)))
			return name[4] != '*' || name[5] == '\0' || names_glob(name, call->tool);
		/* Where the server's name ends cannot be seen: good enough to deny. */
		return strict && names_glob(name, call->tool);
	}
	for (size_t i = 0; !for_servers && act->names[i]; i++)
		if (names_glob(name, act->names[i]))
			return true;
	return false;
}

static enum fit fit_name(const char *name, const struct act *act, const struct policy_call *call,
                         const struct selector *selector, bool strict)
{
	if (selector->server)
		return fits_server(name, call, selector) ? FIT_OWN : FIT_NONE;
	if (strcmp(name, "*") == 0)
		return FIT_OWN;
	if (strchr(name, '*'))
		return fits_wildcard(name, act, call, strict) ? FIT_OWN : FIT_NONE;
	if (is_among(name, act->names))
		return FIT_OWN;
	if (is_among(name, act->covers) || (strict && is_among(name, act->strict)))
		return FIT_COVER;
	return FIT_NONE;
}

enum fit act_fit(const struct act *act, const struct policy_call *call,
                 const struct selector *selector, bool strict)
{
	enum fit best = FIT_NONE;

	for (size_t i = 0; i < selector->name_count && best != FIT_OWN; i++) {
		enum fit fit = fit_name(selector->names[i], act, call, selector, strict);

		if (fit != FIT_NONE)
			best = fit;
	}
	return best;
}

/* ---- arguments ------------------------------------------------------------------------ */

static enum js_regex_result match_text(struct js_regex *regex, const json_t *value, struct buf *text,
                                     bool *made)
{
	if (!value)
		return JS_REGEX_NO;
	if (!*made) {
		*made = true;
		if (!stable_json(text, value))
			text->overflowed = true;
	}
	return text->overflowed ? JS_REGEX_UNKNOWN : js_regex_test(regex, buf_from(text, 0));
}

static bool matches_as_spelled(struct act *act, const struct policy_call *call,
                               struct js_regex *regex, enum fit fit, bool strict)
{
	const enum js_regex_result least = strict ? JS_REGEX_UNKNOWN : JS_REGEX_YES;
	/* What is allowed for one change of several is not allowed by what another one says. */
	bool all = strict || (fit == FIT_OWN && !act->part);
	enum js_regex_result outcome;

	outcome = match_text(regex, act->arguments, &act->own, &act->own_made);
	if (outcome == JS_REGEX_YES || outcome == least)
		return true;
	if (!all)
		return false;
	outcome = match_text(regex, call->arguments, &act->whole, &act->whole_made);
	if (outcome == JS_REGEX_YES || outcome == least)
		return true;
	outcome = match_text(regex, call->other_arguments, &act->other, &act->other_made);
	return outcome == JS_REGEX_YES || outcome == least;
}

void act_whole_init(struct act_whole *whole, const json_t *arguments)
{
	*whole = (struct act_whole){ .arguments = arguments, .text = BUF_INIT(TEXT_MAX) };
}

void act_whole_release(struct act_whole *whole)
{
	buf_release(&whole->text);
	free(whole->answers);
}

bool act_whole_matches(struct act_whole *whole, struct js_regex *regex)
{
	enum js_regex_result result;

	for (size_t i = 0; i < whole->count; i++)
		if (whole->answers[i].regex == regex)
			return whole->answers[i].found;
	result = match_text(regex, whole->arguments, &whole->text, &whole->made);
	if (whole->count == whole->cap)
		whole->answers = mem_grow(whole->answers, &whole->cap, whole->count + 1,
		                          sizeof(*whole->answers));
	whole->answers[whole->count++] = (struct act_answer){
		.regex = regex, .found = result == JS_REGEX_YES || result == JS_REGEX_UNKNOWN };
	return whole->answers[whole->count - 1].found;
}

bool act_matches(struct act *act, const struct policy_call *call, struct js_regex *regex,
                 enum fit fit, bool strict)
{
	for (; act; call = act->spelled_in, act = act->spelled)
		if (matches_as_spelled(act, call, regex, fit, strict))
			return true;
	return false;
}
