/* SPDX-License-Identifier: Apache-2.0 */
/* Every answer of cases/NAME.json, damaged: cut at each byte, its end left out, its reason for the end
 * exchanged for every other word, written in other ways, fed in pieces of chance (fixed seeds).
 *
 *   - no call runs unless all of the event that ends the reply has come, and its word is one of those
 *     that say that the reply is whole (or cut: then not the last call);
 *   - a stream in other pieces, with other line ends, comments and spaces, gives the same events and
 *     the same reply.
 *
 * What ends a reply, and how, is said here once more (rules[]), and not asked of the readers.
 */
#include <stdio.h>

#include "answers.h"
#include "base/mem.h"

static json_t *cases;
static const struct provider_format *format;

/* Each cut is fed in so many ways. */
enum { CUTS = 3, SEEDS = 100, EVENTS_MAX = 64 };

/* ---- the oracle ------------------------------------------------------------------------------ */

static const struct rule {
	const char *provider;
	const char *member;          /* that has the word, wherever it is */
	const char *whole[8], *cut[4];
} rules[] = {
	{ "gemini", "finishReason", { "STOP" }, { "MAX_TOKENS" } },
	{ "openai", "finish_reason",
	  { "stop", "eos", "end_turn", "stop_sequence", "tool_calls", "function_call", "tool_use" },
	  { "length", "max_tokens", "model_length" } },
	{ "openai-responses", "reason", { NULL }, { "max_output_tokens" } },
	{ "anthropic", "stop_reason", { "end_turn", "stop_sequence", "tool_use" },
	  { "max_tokens", "model_context_window_exceeded" } },
};
static const struct rule *rule;

/* Words of all providers, and words of none. */
static const char *const words[] = {
	"STOP", "stop", "end_turn", "tool_calls", "tool_use", "stop_sequence", "eos", "function_call",
	"MAX_TOKENS", "length", "max_tokens", "max_output_tokens", "model_context_window_exceeded",
	"SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "OTHER",
	"IMAGE_SAFETY", "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "FINISH_REASON_UNSPECIFIED",
	"content_filter", "content_filter: SAFETY", "refusal", "pause_turn", "error", "a_new_word",
	"STOPPED", "stop ", "completed", "incomplete", "failed", "null",
};

/* Servers of chat completions write them in either case. */
static bool among(const char *value, const char *const *list, size_t max)
{
	bool either = strcmp(format->name, "openai") == 0;

	for (size_t i = 0; i < max && list[i]; i++)
		if ((either ? strcasecmp(list[i], value) : strcmp(list[i], value)) == 0)
			return true;
	return false;
}

/* ---- reading --------------------------------------------------------------------------------- */

struct result {
	bool ok;
	json_t *log;   /* events told, neighbours of one kind joined; owned */
	json_t *parts; /* owned */
	enum model_finish finish;
	char *word, *withheld;
	struct model_usage usage;
	size_t calls;
};

static void result_release(struct result *result)
{
	json_decref(result->log);
	json_decref(result->parts);
	free(result->word);
	free(result->withheld);
}

static void on_told(void *data, const struct model_event *event)
{
	json_t *log = data, *last = json_array_get(log, json_array_size(log) - 1), *row;

	if (event->kind == MODEL_USAGE)
		return;
	if (event->kind == MODEL_CALL)
		row = json_pack("{s:i, s:O}", "kind", event->kind, "name",
		                json_object_get(event->call, "name"));
	else
		row = json_pack("{s:i, s:o}", "kind", event->kind, "text", json_text(event->text));
	if (last && json_object_get(last, "text") && json_object_get(row, "text") &&
	    json_equal(json_object_get(last, "kind"), json_object_get(row, "kind"))) {
		_cleanup_buf_ struct buf joined = BUF_INIT(LIMIT_MESSAGE_BYTES);

		buf_span(&joined, json_span(json_object_get(last, "text")));
		buf_span(&joined, event->text);
		json_object_set_new(last, "text", json_text(buf_view(&joined)));
		json_decref(row);
		return;
	}
	json_array_append_new(log, row);
}

/* Ids that are given by chance are of no interest. */
static json_t *comparable(json_t *parts)
{
	json_t *copy = json_deep_copy(parts), *part;
	size_t i;

	json_array_foreach(copy, i, part) {
		json_t *call = json_object_get(part, "functionCall");

		if (call && span_starts(json_span(json_object_get(call, "id")), SPAN("call_")))
			json_object_del(call, "id");
	}
	return copy;
}

/* `seed` 0: at once; else in pieces of 1 to 64 bytes by chance. */
static bool feed_by_chance(struct reading *reading, struct span stream, unsigned seed,
                           struct err *err)
{
	struct sse_reader sse;
	bool ok = true;

	sse_reader_init(&sse, LIMIT_MESSAGE_BYTES, on_event, reading);
	while (ok && stream.len) {
		size_t piece = stream.len;

		if (seed) {
			seed = seed * 1103515245u + 12345u;
			piece = (seed >> 16) % ((seed >> 8) % 8 ? 64 : 3) + 1;
		}
		ok = sse_reader_feed(&sse, span_head(stream, piece), err);
		stream = span_skip(stream, piece);
	}
	ok = ok && sse_reader_end(&sse, err) &&
	     reading->format->reader->end(reading->reader, &reading->trouble, err);
	sse_reader_release(&sse);
	return ok;
}

static void read_stream(struct span stream, unsigned seed, struct result *ret)
{
	struct reading reading = { .format = format, .trouble = WIRE_BROKEN };
	struct model_reply reply = { 0 };
	struct err err = ERR_INIT;
	struct reply_sink sink;

	*ret = (struct result){ .log = json_array() };
	sink_init(&sink, on_told, ret->log);
	reading.reader = format->reader->make(&sink);
	ret->ok = feed_by_chance(&reading, stream, seed, &err);
	format->reader->free(reading.reader);
	if (ret->ok) {
		sink_close(&sink);
		sink_take(&sink, &reply);
		ret->calls = content_call_count(reply.content);
		ret->parts = comparable(json_object_get(reply.content, "parts"));
		ret->finish = reply.finish;
		ret->word = mem_strdup(reply.finish_text);
		ret->withheld = mem_strdup(reply.withheld);
		ret->usage = reply.usage;
		model_reply_release(&reply);
	} else if (err.code == ERR_NONE || !err.message[0]) {
		fail_msg("an answer is refused without a word");
	}
	sink_release(&sink);
}

static bool equal_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static void must_be_same(const char *name, const char *how, const struct result *a,
                         const struct result *b)
{
	if (a->ok != b->ok || a->finish != b->finish || !equal_text(a->word, b->word) ||
	    !equal_text(a->withheld, b->withheld) || (a->ok && !json_equal(a->parts, b->parts)) ||
	    (a->ok && !json_equal(a->log, b->log)) ||
	    memcmp(&a->usage, &b->usage, sizeof(a->usage)) != 0)
		fail_msg("%s: %s, it is read otherwise", name, how);
}

/* ---- streams --------------------------------------------------------------------------------- */

/* The stream of a case, and where each event ends in it. */
struct script {
	struct buf text;
	size_t ends[EVENTS_MAX], count;
	size_t end; /* before this byte the reply is not whole; SIZE_MAX: it never is */
};

static json_t *event_value(const json_t *event)
{
	struct err err = ERR_INIT;
	json_t *value = NULL;
	bool lone;

	if (!json_is_string(event))
		return json_incref((json_t *)event);
	if (!json_parse_lenient(json_span(event), 100, &value, &lone, &err))
		return NULL;
	return value;
}

/* The word in `member`, wherever it is; NULL: there is none. */
static const char *find_word(const json_t *value, const char *member)
{
	const char *key, *found = NULL;
	const json_t *child;
	size_t i;

	json_array_foreach(value, i, child)
		if (!found)
			found = find_word(child, member);
	json_object_foreach((json_t *)value, key, child)
		if (!found)
			found = strcmp(key, member) == 0 ? json_string_value(child) :
			                                   find_word(child, member);
	return found && *found ? found : NULL;
}

static bool ends_reply(const json_t *event)
{
	json_t *value = event_value(event);
	const char *type = word(value, "type");
	bool ends = span_eq(span_trim(json_span(event)), SPAN("[DONE]")) &&
	            strcmp(format->name, "openai") == 0;

	if (type && strcmp(format->name, "anthropic") == 0)
		ends = strcmp(type, "message_stop") == 0;
	else if (type)
		ends = strcmp(type, "response.completed") == 0 ||
		       strcmp(type, "response.incomplete") == 0;
	else
		ends |= value && find_word(value, rule->member);
	json_decref(value);
	return ends;
}

static void script_of(const json_t *events, struct script *ret)
{
	const json_t *event;
	size_t i;

	*ret = (struct script){ .text = BUF_INIT(LIMIT_MESSAGE_BYTES), .end = SIZE_MAX };
	json_array_foreach(events, i, event) {
		assert_true(i < EVENTS_MAX);
		add_event(&ret->text, event);
		ret->ends[ret->count++] = ret->text.len;
		if (ret->end == SIZE_MAX && ends_reply(event))
			ret->end = ret->text.len;
	}
}

/* ---- damage ---------------------------------------------------------------------------------- */

static size_t readings;

static void each_case(void (*check)(const char *name, const json_t *test))
{
	const json_t *test;
	size_t i;

	assert_true(json_array_size(json_object_get(cases, "answers")) > 10);
	json_array_foreach(json_object_get(cases, "answers"), i, test)
		check(word(test, "name"), test);
}

static void cut_everywhere(const char *name, const json_t *test)
{
	struct script script;

	script_of(json_object_get(test, "events"), &script);
	for (size_t at = 0; at < script.text.len * CUTS; at++) {
		struct result result;

		read_stream(span_head(buf_view(&script.text), at / CUTS), (unsigned)(at % CUTS),
		            &result);
		readings++;
		if (result.calls && at / CUTS < script.end)
			fail_msg("%s: cut at %zu of %zu (it ends at %zu), a call runs", name,
			         at / CUTS, script.text.len, script.end);
		if (result.ok && at / CUTS < script.end)
			fail_msg("%s: cut at %zu, it is taken for whole", name, at / CUTS);
		result_release(&result);
	}
	buf_release(&script.text);
}

static void no_cut_reply_runs_a_call(void **state)
{
	(void)state;
	each_case(cut_everywhere);
}

/* The events but one. */
static void leave_out(const char *name, const json_t *test)
{
	const json_t *events = json_object_get(test, "events");

	for (size_t i = 0; i < json_array_size(events); i++) {
		json_t *rest = json_copy((json_t *)events);
		struct script script;
		struct result result;

		json_array_remove(rest, i);
		script_of(rest, &script);
		read_stream(buf_view(&script.text), 0, &result);
		readings++;
		if (result.calls && script.end == SIZE_MAX)
			fail_msg("%s: without event %zu, a call runs", name, i);
		result_release(&result);
		buf_release(&script.text);
		json_decref(rest);
	}
}

static void no_reply_without_its_end_runs_a_call(void **state)
{
	(void)state;
	each_case(leave_out);
}

/* Puts the word in the place of each one in `member`; how many there were. */
static size_t exchange(json_t *value, const char *member, const char *with)
{
	const char *key;
	json_t *child;
	size_t count = 0, i;

	json_array_foreach(value, i, child)
		count += exchange(child, member, with);
	json_object_foreach(value, key, child) {
		if (strcmp(key, member) != 0 || !json_is_string(child)) {
			count += exchange(child, member, with);
		} else {
			json_string_set(child, with);
			count++;
		}
	}
	return count;
}

/* How many calls of the case may run when its reply is cut: not the last one, when nothing came after it. */
static size_t most_when_cut(const json_t *test)
{
	json_t *events = json_deep_copy(json_object_get(test, "events")), *last;
	struct script script;
	struct result whole;
	size_t most, at;

	if (rule->whole[0])
		exchange(events, rule->member, rule->whole[0]);
	script_of(events, &script);
	read_stream(buf_view(&script.text), 0, &whole);
	most = whole.calls;
	for (at = json_array_size(whole.parts); at > 0; at--)
		if (!part_is_thought(json_array_get(whole.parts, at - 1)))
			break;
	last = json_array_get(whole.parts, at - 1);
	if (most && part_get_call(last) && rule->whole[0])
		most--;
	result_release(&whole);
	buf_release(&script.text);
	json_decref(events);
	return most;
}

static void other_words(const char *name, const json_t *test)
{
	size_t most = most_when_cut(test);

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		json_t *events = json_deep_copy(json_object_get(test, "events"));
		bool whole = among(words[i], rule->whole, ARRAY_LEN(rule->whole));
		bool cut = among(words[i], rule->cut, ARRAY_LEN(rule->cut));
		struct script script;
		struct result result;

		if (exchange(events, rule->member, words[i])) {
			script_of(events, &script);
			read_stream(buf_view(&script.text), 0, &result);
			readings++;
			if (result.calls && !whole && !cut)
				fail_msg("%s: it ends with %s, and a call runs", name, words[i]);
			if (rule->whole[0] && cut && result.calls > most)
				fail_msg("%s: it is cut (%s), and its last call runs", name,
				         words[i]);
			result_release(&result);
			buf_release(&script.text);
		}
		json_decref(events);
	}
}

static void only_words_for_whole_let_calls_run(void **state)
{
	(void)state;
	each_case(other_words);
}

static void pieces_of_chance(const char *name, const json_t *test)
{
	struct result whole, pieces;
	struct script script;

	script_of(json_object_get(test, "events"), &script);
	read_stream(buf_view(&script.text), 0, &whole);
	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		read_stream(buf_view(&script.text), seed, &pieces);
		readings++;
		must_be_same(name, "in other pieces", &whole, &pieces);
		result_release(&pieces);
	}
	result_release(&whole);
	buf_release(&script.text);
}

static void pieces_change_nothing(void **state)
{
	(void)state;
	each_case(pieces_of_chance);
}

/* The same stream as other servers write it. `style`: bits. */
static void restyle(struct buf *out, struct span text, unsigned style)
{
	static const char *const ends[] = { "\n", "\r\n", "\r" };
	const char *end = ends[style % 3];

	if (style & 4)
		buf_str(out, "\xef\xbb\xbf");
	while (text.len) {
		const char *lf = memchr(text.data, '\n', text.len);
		struct span line = span_head(text, (size_t)(lf - text.data));

		text = span_skip(text, line.len + 1);
		if (!line.len && style & 8) /* after an event, and before its end */
			buf_printf(out, ": a comment%sretry: 10%sid: 7%s", end, end, end);
		if (span_starts(line, SPAN("data: {\"")) && style & 16) {
			buf_printf(out, "data:{%sdata:\"", end); /* no space; two lines */
			line = span_skip(line, 8);
		}
		buf_span(out, line);
		buf_str(out, end);
		if (!line.len && style & 8)
			buf_printf(out, "%s:%s%sevent: ping%s%s", end, end, end, end, end);
	}
}

static void other_styles(const char *name, const json_t *test)
{
	struct result plain, other;
	struct script script;

	script_of(json_object_get(test, "events"), &script);
	read_stream(buf_view(&script.text), 0, &plain);
	for (unsigned style = 1; style < 32; style++) {
		struct buf text = BUF_INIT(LIMIT_MESSAGE_BYTES);

		restyle(&text, buf_view(&script.text), style);
		read_stream(buf_view(&text), style % 5, &other);
		readings++;
		/* Lines and columns of what cannot be read are others. */
		if (plain.ok || other.ok)
			must_be_same(name, "written in another way", &plain, &other);
		result_release(&other);
		buf_release(&text);
	}
	result_release(&plain);
	buf_release(&script.text);
}

static void lines_and_comments_change_nothing(void **state)
{
	(void)state;
	each_case(other_styles);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_cut_reply_runs_a_call),
		cmocka_unit_test(no_reply_without_its_end_runs_a_call),
		cmocka_unit_test(only_words_for_whole_let_calls_run),
		cmocka_unit_test(pieces_change_nothing),
		cmocka_unit_test(lines_and_comments_change_nothing),
	};
	int failed;

	if (argc != 2)
		return 2;
	cases = load(argv[1]);
	format = provider_find(word(cases, "provider"));
	for (size_t i = 0; format && i < ARRAY_LEN(rules); i++)
		if (strcmp(rules[i].provider, format->name) == 0)
			rule = &rules[i];
	failed = rule ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
	printf("# %zu readings\n", readings);
	json_decref(cases);
	return failed;
}
