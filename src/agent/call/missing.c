/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/call/calls.h"

#include <string.h>

#include "agent/call/call.h"
#include "agent/call/gate.h"
#include "agent/setup/prepare.h"
#include "base/mem.h"
#include "data/json.h"

enum {
	NOTES_MAX = 100,
	NAMED_MAX = 5,        /* calls that the sentence names */
	SHOWN_BYTES = 80,     /* of each */
	SENTENCE_MAX = 16 << 10,
};

void missing_begin(struct agent *agent)
{
	pthread_mutex_lock(&agent->lock);
	json_decref(agent->missing);
	agent->missing = json_array();
	agent->changed = false;
	pthread_mutex_unlock(&agent->lock);
}

/* ---- notes ------------------------------------------------------------------------- */

/* {tool, call, allow: [words for --allowed-tools], mode, kind?, flags?, reason?}; takes it. */
static void add_note(struct agent *agent, json_t *note)
{
	size_t i;
	json_t *other;

	json_array_foreach(agent->missing, i, other)
		if (json_equal(other, note)) {
			json_decref(note);
			return;
		}
	if (json_array_size(agent->missing) < NOTES_MAX)
		json_array_append_new(agent->missing, note);
	else
		json_decref(note);
}

static enum approval_mode mode_for(struct agent *agent, const struct tool *tool)
{
	struct policy_call subject = gate_subject(tool);

	subject.mode = agent_mode(agent);
	subject.trusted = agent->trusted;
	return gate_off_mode(agent->options.policy, &subject);
}

/* `words`: for --allowed-tools; takes the reference. */
static json_t *note_of(struct agent *agent, const struct tool *tool, const char *shown,
                       json_t *words)
{
	json_t *note = json_object();

	json_object_set_new(note, "tool", json_cstr(tool->name));
	json_object_set_new(note, "call", json_text(span_str(shown)));
	json_object_set_new(note, "allow", words);
	json_object_set_new(note, "mode", json_integer((json_int_t)mode_for(agent, tool)));
	return note;
}

static void note_refused(struct call *call)
{
	_cleanup_free_ char *shown = display_call(call->tool, call->args);
	json_t *note = note_of(call->agent, call->tool, shown,
	                       call->allowing ? json_incref(call->allowing) : json_array());

	json_object_set_new(note, "kind", json_integer(tool_kind_of(call->tool)));
	if (call->missing == CALL_MISSING_FLAGS)
		json_object_set_new(note, "flags",
		                    json_string("--net, --write PATH or --read PATH"));
	else if (call->missing == CALL_MISSING_HOOK_ANSWER)
		json_object_set_new(note, "flags",
		                    json_string("another answer of the hook that asks"));
	else if (call->missing == CALL_MISSING_REVIEW)
		json_object_set_new(note, "flags", json_pack("s+", "hasp mcp allow ",
		                                             call->tool->server));
	add_note(call->agent, note);
}

static bool kind_changes_files(enum tool_kind kind)
{
	return kind == TOOL_KIND_EDIT || kind == TOOL_KIND_DELETE || kind == TOOL_KIND_MOVE ||
	       kind == TOOL_KIND_EXECUTE;
}

/* What was refused before was not needed: another call of the kind did it. */
static void forget_kind(struct agent *agent, enum tool_kind kind)
{
	for (size_t i = json_array_size(agent->missing); i-- > 0;) {
		const json_t *known = json_object_get(json_array_get(agent->missing, i), "kind");

		if (known && json_integer_value(known) == (json_int_t)kind)
			json_array_remove(agent->missing, i);
	}
}

void missing_pass_on(struct agent *from)
{
	struct agent *parent = from->options.parent;
	size_t i;
	json_t *note;

	pthread_mutex_lock(&parent->lock);
	json_array_foreach(from->missing, i, note)
		add_note(parent, json_incref(note));
	pthread_mutex_unlock(&parent->lock);
}

void missing_note(struct call *call)
{
	struct agent *agent = call->agent->top;

	if (!call->tool)
		return;
	pthread_mutex_lock(&agent->lock);
	if (call->missing != CALL_MISSING_NOTHING) {
		note_refused(call);
	} else if (call->success) {
		forget_kind(agent, tool_kind_of(call->tool));
		agent->changed = agent->changed || kind_changes_files(tool_kind_of(call->tool));
	}
	pthread_mutex_unlock(&agent->lock);
}

static bool is_off(struct agent *agent, const char *name, const struct tool **ret, struct err *err)
{
	*ret = tool_set_find(agent->options.session->tools, name);
	if (!*ret)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "There is no tool \"%.100s\". Name tools that are off.", name);
	if (!gate_hides(agent, *ret))
		return err_set(err, ERR_INVALID_ARGUMENT, "%s is not off: call it.", (*ret)->name);
	return true;
}

bool missing_report(struct agent *agent, const json_t *tools, const char *reason, struct err *err)
{
	const struct tool *tool;
	size_t i;
	json_t *name;

	json_array_foreach((json_t *)tools, i, name)
		if (!is_off(agent, json_string_value(name), &tool, err))
			return false;
	pthread_mutex_lock(&agent->lock);
	json_array_foreach((json_t *)tools, i, name) {
		json_t *note;

		is_off(agent, json_string_value(name), &tool, err);
		note = note_of(agent, tool, "", json_pack("[s]", tool->name));
		json_object_set_new(note, "reason", json_text(span_str(reason)));
		add_note(agent, note);
	}
	pthread_mutex_unlock(&agent->lock);
	return true;
}

/* ---- the sentence ------------------------------------------------------------------ */

static void put_calls(const json_t *notes, struct buf *out)
{
	size_t count = json_array_size(notes), i;
	json_t *note;

	json_array_foreach((json_t *)notes, i, note) {
		struct span shown = json_span(json_object_get(note, "call"));

		if (i == NAMED_MAX) {
			buf_printf(out, " and %zu more", count - NAMED_MAX);
			break;
		}
		buf_printf(out, "%s%s", i ? ", " : "",
		           json_string_value(json_object_get(note, "tool")));
		if (!shown.len)
			continue;
		buf_str(out, " (");
		buf_span(out, utf8_head(shown, SHOWN_BYTES));
		buf_printf(out, "%s)", shown.len > SHOWN_BYTES ? "..." : "");
	}
}

/* The least mode in which all of it would run; MODE_COUNT: none would help. */
static enum approval_mode least_mode(const struct agent *agent, const json_t *notes)
{
	enum approval_mode least = MODE_DEFAULT;
	size_t i;
	json_t *note;

	json_array_foreach((json_t *)notes, i, note) {
		enum approval_mode mode = (enum approval_mode)json_integer_value(
			json_object_get(note, "mode"));

		if (!json_object_get(note, "flags") && mode > least)
			least = mode;
	}
	if (least != MODE_COUNT && agent->options.settings &&
	    gate_off_forbidden(agent->options.settings, least))
		return MODE_COUNT;
	return least;
}

/* The words of all notes, except those that another flag than --allowed-tools covers. */
static json_t *all_words(const json_t *notes)
{
	json_t *words = json_array(), *note, *word;
	size_t i, k;

	json_array_foreach((json_t *)notes, i, note)
		if (!json_object_get(note, "flags"))
			json_array_foreach(json_object_get(note, "allow"), k, word)
				if (!json_lists(words, json_span(word)))
					json_array_append(words, word);
	return words;
}

static void put_flag_words(const json_t *words, struct buf *out)
{
	bool quoted = false;
	size_t i;
	json_t *word;

	json_array_foreach((json_t *)words, i, word)
		quoted = quoted || strpbrk(json_string_value(word), "( ");
	buf_str(out, quoted ? "\"" : "");
	json_array_foreach((json_t *)words, i, word)
		buf_printf(out, "%s%s", i ? "," : "", json_string_value(word));
	buf_str(out, quoted ? "\"" : "");
}

/* Some call cannot be allowed by --allowed-tools. */
static bool lacks_words(const json_t *notes)
{
	size_t i;
	json_t *note;

	json_array_foreach((json_t *)notes, i, note)
		if (!json_object_get(note, "flags") &&
		    !json_array_size(json_object_get(note, "allow")))
			return true;
	return false;
}

/* What would allow the calls that a rule refused. */
static void put_ways(const struct agent *agent, const json_t *notes, struct buf *out)
{
	const enum approval_mode mode = least_mode(agent, notes);
	json_auto_t *words = all_words(notes);

	if (mode != MODE_COUNT && mode > MODE_DEFAULT)
		buf_printf(out, " --approval-mode %s%s, or", prepare_mode_word(mode),
		           mode == MODE_YOLO ? " (-y)" : "");
	if (!lacks_words(notes)) {
		buf_str(out, " --allowed-tools ");
		put_flag_words(words, out);
		buf_str(out, ", or");
	}
	buf_str(out, " a policy rule");
}

static void put_special(const json_t *notes, bool first, struct buf *out)
{
	json_auto_t *seen = json_array();
	size_t i;
	json_t *note;

	json_array_foreach((json_t *)notes, i, note) {
		json_t *flags = json_object_get(note, "flags");

		if (!flags || json_lists(seen, json_span(flags)))
			continue;
		json_array_append(seen, flags);
		buf_printf(out, "%s %s", first ? "" : ";", json_string_value(flags));
		first = false;
	}
}

static void put_flags(const struct agent *agent, const json_t *notes, struct buf *out)
{
	bool ways = false;
	size_t i;
	json_t *note;

	json_array_foreach((json_t *)notes, i, note)
		ways = ways || !json_object_get(note, "flags");
	buf_str(out, " What would allow it:");
	if (ways)
		put_ways(agent, notes, out);
	put_special(notes, !ways, out);
	buf_char(out, '.');
	if (ways && !agent->trusted && least_mode(agent, notes) != MODE_COUNT)
		buf_str(out,
		        " That mode requires a trusted folder: hasp config trust, or --skip-trust "
		             "for one run.");
}

static void put_reasons(const json_t *notes, struct buf *out)
{
	json_auto_t *seen = json_array();
	size_t i;
	json_t *note;

	json_array_foreach((json_t *)notes, i, note) {
		json_t *reason = json_object_get(note, "reason");

		if (!reason || json_lists(seen, json_span(reason)))
			continue;
		json_array_append(seen, reason);
		buf_str(out, " The model says: ");
		buf_span(out, json_span(reason));
	}
}

char *missing_sentence(const struct agent *agent)
{
	_cleanup_buf_ struct buf out = BUF_INIT(SENTENCE_MAX);

	if (!json_array_size(agent->missing))
		return NULL;
	buf_str(&out, agent->changed ? "Not all of it was done" : "Nothing was changed");
	buf_str(&out, ", because this run had no way to ask for approval: ");
	put_calls(agent->missing, &out);
	buf_char(&out, '.');
	put_flags(agent, agent->missing, &out);
	put_reasons(agent->missing, &out);
	return buf_steal(&out);
}
