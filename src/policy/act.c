/* SPDX-License-Identifier: Apache-2.0 */
/* What a call does, in the words of rules: its acts, and how selectors meet them. */
#include "policy/decide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "policy/policy.h"

/* ---- what JSON.stringify prints, with sorted names ---- */

static bool print(struct buf *out, const json_t *value, unsigned depth);

void act_write_string(struct buf *out, struct span text)
{
	static const char shorts[] = "\"\"\\\\\bb\ff\nn\rr\tt";
	size_t from = 0;

	buf_char(out, '"');
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.data[i];
		const char *pair;

		if (c >= 0x20 && c != '"' && c != '\\')
			continue;
		buf_append(out, text.data + from, i - from);
		from = i + 1;
		for (pair = shorts; *pair && *pair != (char)c; pair += 2)
			;
		if (*pair && c)
			buf_printf(out, "\\%c", pair[1]);
		else
			buf_printf(out, "\\u%04x", c);
	}
	if (text.len > from)
		buf_append(out, text.data + from, text.len - from);
	buf_char(out, '"');
}

/* The shortest decimal that is the same number; JavaScript's exponents differ, and do not
 * matter. */
static void print_real(struct buf *out, double value)
{
	char text[40];

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	if (fabs(value) < 1e21 && value == floor(value))
		buf_printf(out, "%.0f", value);
	else
		buf_str(out, text);
}

static int compare_member_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool print_object(struct buf *out, const json_t *object, unsigned depth)
{
	size_t count = json_object_size(object), i = 0;
	_cleanup_free_ const char **names = mem_alloc(count + 1, sizeof(*names));
	const char *mark = depth == 0 ? "\0" : NULL;
	const char *name;
	json_t *member;
	bool fits = true;

	json_object_foreach((json_t *)object, name, member)
		names[i++] = name;
	qsort(names, count, sizeof(*names), compare_member_names);
	buf_char(out, '{');
	for (i = 0; i < count && fits; i++) {
		if (i)
			buf_char(out, ',');
		if (mark)
			buf_append(out, mark, 1);
		act_write_string(out, span_str(names[i]));
		buf_char(out, ':');
		fits = print(out, json_object_get(object, names[i]), depth + 1);
		if (mark)
			buf_append(out, mark, 1);
	}
	buf_char(out, '}');
	return fits;
}

static bool print_array(struct buf *out, const json_t *array, unsigned depth)
{
	bool fits = true;

	buf_char(out, '[');
	for (size_t i = 0; i < json_array_size(array) && fits; i++) {
		if (i)
			buf_char(out, ',');
		fits = print(out, json_array_get(array, i), depth + 1);
	}
	buf_char(out, ']');
	return fits;
}

static bool print(struct buf *out, const json_t *value, unsigned depth)
{
	if (depth > JSON_DEPTH_MAX)
		return false;
	if (json_is_object(value))
		return print_object(out, value, depth);
	if (json_is_array(value))
		return print_array(out, value, depth);
	if (json_is_string(value))
		act_write_string(out, json_span(value));
	else if (json_is_integer(value))
		buf_printf(out, "%lld", (long long)json_integer_value(value));
	else if (json_is_real(value))
		print_real(out, json_real_value(value));
	else
		buf_str(out, json_is_true(value) ? "true" : json_is_false(value) ?
		        "false" : "null");
	return !out->overflowed;
}

bool act_write_json(struct buf *out, const json_t *value)
{
	return print(out, value, 0) && !out->overflowed;
}

/* ---- how acts and selectors meet ---- */

/* The stable text of a call whose write_file carries a generated file; more is not matched at
 * all. */
#define TEXT_MAX ((size_t)1 << 30)

/* Rules name agents without their owners: "acme:review" is "review". */
static const char *agent_short_name(const char *name)
{
	const char *last = name;

	for (const char *at = name; at && *at; at++)
		if (strchr(":.", *at))
			last = at + 1;
	return last;
}

void act_init(const struct policy_call *call, const json_t *arguments, struct act *ret)
{
	const bool foreign = strncmp(call->tool, "mcp_", strlen("mcp_")) == 0;

	*ret = (struct act){
		.name = call->tool,
		.info = foreign ? NULL : tool_info_of(call->tool),
		.arguments = json_incref((json_t *)arguments),
	};
	ret->own.max = ret->other.max = ret->whole.max = TEXT_MAX;
	if (ret->info && ret->info->kind == TOOL_KIND_AGENT && ret->info->one)
		ret->agent = agent_short_name(
			json_string_value(json_object_get(call->arguments, ret->info->one)));
}

void act_release(struct act *act)
{
	json_decref(act->arguments);
	buf_release(&act->own);
	buf_release(&act->other);
	buf_release(&act->whole);
}

/* ---- names -------------------------------------------------------------------------- */

static bool tool_fits(const char *name, const char *pattern)
{
	return span_fits(span_str(name), span_str(pattern));
}

static bool fits_server(const char *name, const struct policy_call *call,
                        const struct selector *selector)
{
	const char *tool = call->server_tool ? call->server_tool : call->tool;

	if (!call->server ||
	    (strcmp(selector->server, "*") != 0 && strcmp(selector->server, call->server) != 0))
		return false;
	return tool_fits(tool, name) || tool_fits(call->tool, name);
}

/* mcp_SERVER_*: that server's tools, whatever is in its name. */
static bool names_server(const char *name, const char *server)
{
	size_t len = strlen(name), server_len = strlen(server);

	return len == 4 + server_len + 2 && strncmp(name + 4, server, server_len) == 0 &&
	       strcmp(name + len - 2, "_*") == 0;
}

/* mcp_SERVER_TOOL as the server and the settings have it.  The caller frees. */
static char *whole_name(const struct policy_call *call)
{
	return mem_printf("mcp_%s_%s", call->server, call->server_tool ? call->server_tool :
	                                                                 call->tool);
}

/* With '_' for what some providers do not take.  The caller frees. */
static char *plain_server_name(const char *name)
{
	char *plain = mem_strdup(name);

	for (char *c = plain; *c; c++)
		if (!ascii_is_alnum(*c) && *c != '-')
			*c = '_';
	return plain;
}

/* mcp_SERVER_TOOL of a tool whose name is too long, or taken: rules have it whole.  With characters
 * replaced, or as Gemini CLI cuts it (30 bytes at either end), it may be several tools', and so may
 * one that only another tool can have: good enough to deny. */
static bool names_whole(const char *name, const struct policy_call *call, bool strict)
{
	enum { NAME_BYTES = 63, KEPT = 30 };
	_cleanup_free_ char *whole = NULL, *plain = NULL, *given = NULL;
	size_t len;

	if (strncmp(name, "mcp_", 4) != 0)
		return false;
	whole = whole_name(call);
	plain = plain_server_name(whole);
	len = strlen(whole);
	if (strcmp(name, whole) == 0 &&
	    (strict || len > NAME_BYTES || strcmp(plain, whole) != 0))
		return true;
	if (!strict)
		return false;
	given = plain_server_name(name);
	return strcmp(given, plain) == 0 ||
	       (len > NAME_BYTES && strlen(given) == NAME_BYTES &&
	        memcmp(given, plain, KEPT) == 0 && memcmp(given + KEPT, "___", 3) == 0 &&
	        memcmp(given + NAME_BYTES - KEPT, plain + len - KEPT, KEPT) == 0);
}

/* Whether a pattern for a whole name fits the tool; the model may know it by a shortened name. */
static bool fits_whole(const char *name, const struct policy_call *call)
{
	_cleanup_free_ char *whole = whole_name(call), *plain = plain_server_name(whole);

	return tool_fits(whole, name) || tool_fits(plain, name);
}

static bool fits_wildcard(const char *name, const struct act *act,
                          const struct policy_call *call, bool strict)
{
	bool for_servers = strncmp(name, "mcp_", 4) == 0;

	if (call->server) {
		if (for_servers && (name[4] == '*' || names_server(name, call->server)))
			return name[4] != '*' || name[5] == '\0' || tool_fits(call->tool, name) ||
			       (strict && fits_whole(name, call));
		/* Where the server's name ends cannot be seen: good enough to deny. */
		return strict && (tool_fits(call->tool, name) || fits_whole(name, call));
	}
	if (for_servers)
		return false;
	for (const char *const *alias = act->info ? act->info->aliases : NULL; alias && *alias;
	     alias++)
		if (tool_fits(*alias, name))
			return true;
	return tool_fits(act->name, name) || (act->agent && tool_fits(act->agent, name));
}

/* Whether the name is another agent's for the tool. */
static bool covers_act(const char *tool, const char *name, const struct tool_info *known)
{
	return tool && known && strcmp(known->name, tool) == 0 &&
	       tool_info_means_other(known, name);
}

static enum fit fit_name(const struct selector *selector, size_t i, const struct act *act,
                         const struct policy_call *call, bool strict)
{
	const char *name = selector->names[i];
	const struct tool_info *known = selector->known[i];

	if (selector->server)
		return fits_server(name, call, selector) ? FIT_OWN : FIT_NONE;
	if (strcmp(name, "*") == 0)
		return FIT_OWN;
	if (strchr(name, '*'))
		return fits_wildcard(name, act, call, strict) ? FIT_OWN : FIT_NONE;
	if (call->server && names_whole(name, call, strict))
		return FIT_OWN;
	if (strcmp(name, act->name) == 0 || (act->agent && strcmp(name, act->agent) == 0) ||
	    (known && known == act->info))
		return FIT_OWN;
	if (covers_act(act->covers, name, known) ||
	    (strict && (covers_act(act->strict, name, known) ||
	                (act->info && act->info->edit && tool_info_means_edits(name)))))
		return FIT_COVER;
	return FIT_NONE;
}

enum fit act_fit(const struct act *act, const struct policy_call *call,
                 const struct selector *selector, bool strict)
{
	enum fit best = FIT_NONE;

	if (selector->server_identity && (!call->server_identity ||
	                                  strcmp(selector->server_identity, call->server_identity)))
		return FIT_NONE;
	for (size_t i = 0; i < selector->name_count && best != FIT_OWN; i++) {
		enum fit fit = fit_name(selector, i, act, call, strict);

		if (fit != FIT_NONE)
			best = fit;
	}
	return best;
}

/* ---- arguments ------------------------------------------------------------------------ */

static enum js_regex_result match_text(struct js_regex *regex, const json_t *value,
                                       struct buf *text,
                                     bool *made)
{
	if (!value)
		return JS_REGEX_NO;
	if (!*made) {
		*made = true;
		if (!act_write_json(text, value))
			text->overflowed = true;
	}
	return text->overflowed ? JS_REGEX_UNKNOWN : js_regex_test(regex, buf_from(text, 0));
}

static bool matches_as_spelled(struct act *act, const struct policy_call *call,
                               struct js_regex *regex, enum fit fit, bool strict)
{
	const enum js_regex_result least = strict ? JS_REGEX_UNKNOWN : JS_REGEX_YES;
	/* Among several changes of one call, none is allowed by the arguments of the others. */
	bool all = !act->alone && (strict || (fit == FIT_OWN && !act->part));
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

/* ---- what each tool's call does, in Gemini CLI's words ---- */

/* Takes the reference to `arguments`; the act is good until the next one is added. */
static struct act *acts_add(struct acts *acts, const struct policy_call *call, json_t *arguments)
{
	struct act *act;

	if (acts->count == acts->cap)
		acts->items = mem_grow(acts->items, &acts->cap, acts->count + 1,
		                       sizeof(*acts->items));
	act = &acts->items[acts->count++];
	act_init(call, arguments, act);
	json_decref(arguments);
	return act;
}

/* The lines of a diff that are there before (side '-') or after ('+') it. */
static json_t *side_of(struct span diff, char side)
{
	_cleanup_buf_ struct buf text = BUF_INIT(diff.len + 1);
	char other = side == '-' ? '+' : '-';

	while (diff.len) {
		const char *end = memchr(diff.data, '\n', diff.len);
		size_t len = end ? (size_t)(end - diff.data) + 1 : diff.len;

		if (diff.data[0] != other && diff.data[0] != '@')
			buf_append(&text, diff.data + (diff.data[0] != '\n'),
			           len - (diff.data[0] != '\n'));
		diff = span_skip(diff, len);
	}
	return json_stringn(text.data ? text.data : "", text.len);
}

/* A diff as a call of replace. */
static json_t *diff_as_replace(const json_t *path, const json_t *diff)
{
	struct span text = span_of(json_string_value(diff), json_string_length(diff));

	return json_pack("{s:O?, s:o?, s:o?}", "file_path", path, "old_string",
	                 side_of(text, '-'), "new_string", side_of(text, '+'));
}

/* ---- tools that are several --------------------------------------------------------------- */

static void acts_add_covering(struct acts *acts, const struct policy_call *call,
                              enum tool_id covers, json_t *arguments)
{
	acts_add(acts, call, arguments)->covers = tool_name(covers);
}

static void acts_add_place(struct acts *acts, const struct policy_call *call, const json_t *path)
{
	if (!path)
		return;
	acts_add_covering(acts, call, TOOL_UPDATE_FILE, json_pack("{s:O}", "file_path", path));
	acts_add_covering(acts, call, TOOL_WRITE_FILE, json_pack("{s:O}", "file_path", path));
}

/* Deleting and moving is what neither of Gemini CLI's editors does: both must allow it. */
static void acts_add_change(struct acts *acts, const struct policy_call *call,
                            const json_t *change)
{
	const json_t *path = json_object_get(change, "file_path");
	const json_t *content = json_object_get(change, "content");
	const json_t *diff = json_object_get(change, "unified_diff");
	const json_t *before = json_object_get(change, "old_content");
	const json_t *after = json_object_get(change, "new_content");

	if (diff)
		acts_add_covering(acts, call, TOOL_UPDATE_FILE, diff_as_replace(path, diff));
	if (before || after)
		acts_add_covering(acts, call, TOOL_UPDATE_FILE,
		                  json_pack("{s:O?, s:O?, s:O?}", "file_path", path, "old_string",
		                            before, "new_string", after));
	if (content)
		acts_add_covering(acts, call, TOOL_WRITE_FILE,
		                  json_pack("{s:O?, s:O}", "file_path", path, "content", content));
	if (!diff && !before && !after && !content) {
		acts_add_place(acts, call, path);
		acts_add_place(acts, call, json_object_get(change, "new_path"));
	}
}

static void acts_of_changes(struct acts *acts, const struct policy_call *call)
{
	const struct tool_info *info = tool_info_of(call->tool);
	const size_t count = tool_edit_count(info, call->arguments);
	json_auto_t *none = json_string("");

	for (size_t i = 0; i < count; i++)
		acts_add_change(acts, call, tool_edit_at(info, call->arguments, i));
	if (acts->count == 0)
		acts_add_place(acts, call, none);
}

static void acts_add_read(struct acts *acts, const struct policy_call *call, json_t *arguments)
{
	acts_add(acts, call, arguments)->strict = tool_name(TOOL_READ_FILE);
}

/* What a folder or a glob among them stands for is judged file by file, when it is opened
 * (policy_decide_spelled). */
static void acts_of_files(struct acts *acts, const struct policy_call *call)
{
	struct tool_place place = { 0 };

	while (tool_place_next(tool_info_of(call->tool), call->arguments, &place))
		acts_add_read(acts, call, json_pack("{s:O}", "file_path", place.path));
	if (acts->count == 0)
		acts_add_read(acts, call, NULL);
}

static void acts_of_patterns(struct acts *acts, const struct policy_call *call)
{
	const json_t *patterns = json_object_get(call->arguments, "patterns");

	for (size_t i = 0; i < json_array_size(patterns); i++) {
		json_t *arguments = tool_info_gemini(tool_info_of(call->tool), call->arguments);

		json_object_set(arguments, "pattern", json_array_get(patterns, i));
		acts_add(acts, call, arguments);
	}
	if (acts->count == 0)
		acts_add(acts, call, NULL);
}

static void acts_of_patch(struct acts *acts, const struct policy_call *call)
{
	const json_t *edit = tool_edit_at(tool_info_of(call->tool), call->arguments, 0);

	acts_add_covering(acts, call, TOOL_UPDATE_FILE,
	                  diff_as_replace(json_object_get(edit, "file_path"),
	                                  json_object_get(edit, "unified_diff")));
}

/* Input of a command is more commands, if it is a shell that reads it. */
static void acts_of_typed(struct acts *acts, const struct policy_call *call)
{
	json_t *input = tool_typed_input(tool_info_of(call->tool), call->arguments);
	struct act *act = acts_add(acts, call, json_pack("{s:O?}", "command", input));

	act->strict = tool_name(TOOL_RUN_SHELL_COMMAND);
}

void acts_make(const struct policy_call *call, struct acts *ret)
{
	static void (*const parts[])(struct acts *acts, const struct policy_call *call) = {
		[TOOL_ACTS_PATCH] = acts_of_patch, [TOOL_ACTS_CHANGES] = acts_of_changes,
		[TOOL_ACTS_FILES] = acts_of_files, [TOOL_ACTS_PATTERNS] = acts_of_patterns,
		[TOOL_ACTS_TYPED] = acts_of_typed,
	};
	const struct tool_info *info = call->server ? NULL : tool_info_of(call->tool);

	*ret = (struct acts){ 0 };
	if (info && info->acts != TOOL_ACTS_CALL)
		parts[info->acts](ret, call);
	if (ret->count == 0)
		acts_add(ret, call, tool_info_gemini(info, call->arguments));
	for (size_t i = 0; i < ret->count; i++)
		ret->items[i].part = ret->count > 1;
}

void acts_release(struct acts *acts)
{
	for (size_t i = 0; i < acts->count; i++)
		act_release(&acts->items[i]);
	free(acts->items);
}
