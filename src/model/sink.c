/* SPDX-License-Identifier: Apache-2.0 */
/* What readers put an answer into: text, thoughts, calls, and where they found it. */
#include "model/sink.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/random.h"
#include "data/json.h"
#include "model/content.h"
#include "model/part.h"

/* ---- grounding --------------------------------------------------------------- */

/* Pages of one answer; providers give some ten. */
enum { PAGES_MAX = 200 };

void model_grounding_release(struct grounding *grounding)
{
	json_decref(grounding->chunks);
	json_decref(grounding->queries);
	*grounding = (struct grounding){ 0 };
}

void model_grounding_add(struct grounding *grounding, struct span url, struct span title)
{
	const json_t *chunk;
	size_t i;

	if (!url.len || json_array_size(grounding->chunks) >= PAGES_MAX)
		return;
	json_array_foreach(grounding->chunks, i, chunk)
		if (span_eq(url, json_span(json_object_get(json_object_get(chunk, "web"), "uri"))))
			return;
	if (!grounding->chunks)
		grounding->chunks = json_array();
	json_array_append_new(grounding->chunks,
	                      json_pack("{s:{s:o, s:o}}", "web", "uri", json_text(url), "title",
	                                json_text(title)));
}

void model_grounding_query(struct grounding *grounding, struct span query)
{
	if (!query.len || json_array_size(grounding->queries) >= PAGES_MAX)
		return;
	if (!grounding->queries)
		grounding->queries = json_array();
	json_array_append_new(grounding->queries, json_text(query));
}

void model_grounding_join(json_t **first, json_t *second)
{
	const char *member;
	json_t *list, *mine;

	if (!*first)
		*first = json_incref(second);
	else
		json_object_foreach(second, member, list) {
			mine = json_object_get(*first, member);
			if (json_is_array(mine) && json_is_array(list))
				json_array_extend(mine, list);
			else if (!mine)
				json_object_set(*first, member, list);
		}
	json_decref(second);
}

json_t *model_grounding_take(struct grounding *grounding)
{
	json_t *taken;

	if (!grounding->chunks && !grounding->queries)
		return NULL;
	taken = json_object();
	if (grounding->queries)
		json_object_set(taken, "webSearchQueries", grounding->queries);
	if (grounding->chunks)
		json_object_set(taken, "groundingChunks", grounding->chunks);
	model_grounding_release(grounding);
	return taken;
}

/* ---- pieces of a reply ------------------------------------------------------- */

void sink_init(struct reply_sink *sink,
               void (*event)(void *data, const struct model_event *event), void *data)
{
	*sink = (struct reply_sink){
		.event = event,
		.data = data,
		.content = content_new("model"),
		.text = BUF_INIT(LIMIT_MODEL_REPLY_BYTES),
		.held = BUF_INIT(8),
		.tagged = { .held = BUF_INIT(LIMIT_MODEL_REPLY_BYTES) },
		.finish = MODEL_FINISH_OTHER,
		.delay_s = -1,
	};
}

void sink_release(struct reply_sink *sink)
{
	json_decref(sink->content);
	json_decref(sink->opaque);
	json_decref(sink->grounding);
	buf_release(&sink->text);
	buf_release(&sink->held);
	buf_release(&sink->tagged.held);
	free(sink->finish_text);
	free(sink->left_out_name);
	free(sink->withheld);
	*sink = (struct reply_sink){ 0 };
}

static void sink_publish(struct reply_sink *sink, const struct model_event *event)
{
	if (sink->event)
		sink->event(sink->data, event);
}

/* True while the reply stays below its limit; what comes after is dropped, and stream.c says so. */
static bool sink_has_room(struct reply_sink *sink, size_t bytes)
{
	sink->bytes += bytes;
	sink->too_large |= sink->bytes > LIMIT_MODEL_REPLY_BYTES ||
	                   json_array_size(json_object_get(sink->content, "parts")) >=
	                           LIMIT_MODEL_REPLY_PARTS;
	return !sink->too_large;
}

static void sink_publish_piece(struct reply_sink *sink, struct span piece);
static void end_tagged(struct reply_sink *sink);

/* Closes the open part.  One without text and without data for the provider is dropped, unless
 * `empty_too`. */
static void close_part(struct reply_sink *sink, bool empty_too)
{
	json_t *part;

	end_tagged(sink);
	if (sink->held.len) { /* the other half did not come */
		buf_str(&sink->text, "\xef\xbf\xbd");
		buf_clear(&sink->held);
		sink_publish_piece(sink, SPAN("\xef\xbf\xbd"));
	}
	if (sink->open != SINK_NOTHING && (sink->text.len || sink->opaque || empty_too)) {
		part = part_text(buf_view(&sink->text));
		if (sink->open == SINK_THOUGHT)
			json_object_set_new(part, "thought", json_true());
		if (sink->opaque)
			json_object_set(part, "opaque", sink->opaque);
		content_add(sink->content, part);
	}
	json_decref(sink->opaque);
	sink->opaque = NULL;
	sink->open = SINK_NOTHING;
	buf_clear(&sink->text);
}

void sink_break(struct reply_sink *sink)
{
	close_part(sink, false);
}

/* Gemini begins the summary of a thought with "**What it is about**". */
static struct span subject_of(struct span piece)
{
	struct span rest = span_skip(piece, 2);

	if (!span_starts(piece, SPAN("**")))
		return span_of("", 0);
	for (size_t i = 0; i + 1 < rest.len && rest.data[i] != '\n'; i++)
		if (rest.data[i] == '*' && rest.data[i + 1] == '*')
			return span_trim(span_head(rest, i));
	return span_of("", 0);
}

static void sink_publish_piece(struct reply_sink *sink, struct span piece)
{
	if (!piece.len)
		return;
	if (sink->open == SINK_THOUGHT) {
		sink_publish(sink, &(struct model_event){ .kind = MODEL_THOUGHT, .text = piece,
		                                          .subject = subject_of(piece) });
		return;
	}
	sink->said |= span_trim(piece).len > 0;
	sink_publish(sink, &(struct model_event){ .kind = MODEL_TEXT, .text = piece });
}

/* A character may be split over two pieces, each with half of its surrogates: the first half
 * waits. */
static void add_halves(struct reply_sink *sink, struct span piece)
{
	_cleanup_buf_ struct buf joined = BUF_INIT(piece.len + 8);
	_cleanup_buf_ struct buf whole = BUF_INIT(piece.len + 8);
	size_t half;

	buf_span(&joined, buf_view(&sink->held));
	buf_span(&joined, piece);
	buf_clear(&sink->held);
	half = json_half_at_end(buf_view(&joined));
	buf_span(&sink->held, span_skip(buf_view(&joined), joined.len - half));
	json_whole_text(&whole, span_head(buf_view(&joined), joined.len - half));
	buf_span(&sink->text, buf_view(&whole));
	sink_publish_piece(sink, buf_view(&whole));
}

static void sink_add_piece(struct reply_sink *sink, enum sink_open kind, struct span piece,
                           const json_t *opaque)
{
	if (!sink_has_room(sink, piece.len))
		return;
	if (sink->open != kind || (opaque && sink->opaque && opaque != sink->opaque))
		sink_break(sink);
	sink->open = kind;
	if (opaque && !sink->opaque)
		sink->opaque = json_incref((json_t *)opaque);
	if (sink->lone) {
		add_halves(sink, piece);
		return;
	}
	buf_span(&sink->text, piece);
	sink_publish_piece(sink, piece);
}

static void tagged_text(struct reply_sink *sink, struct span piece)
{
	sink_add_piece(sink, SINK_TEXT, piece, NULL);
}

static void tagged_thought(struct reply_sink *sink, struct span piece)
{
	sink_add_piece(sink, SINK_THOUGHT, piece, NULL);
}

/* The text that is open is over: what was held of it goes on, as the calls that it is if nothing
 * else was said. */
static void end_tagged(struct reply_sink *sink)
{
	json_auto_t *calls = NULL;
	json_t *part;
	size_t i;

	if (sink->tagging)
		return;
	if (sink->tagged.state == TAGGED_CALLS && !sink->said &&
	    !(sink->request && tagged_is_given(sink->request)))
		calls = tagged_calls(sink, buf_view(&sink->tagged.held), sink->tools);
	if (calls)
		buf_clear(&sink->tagged.held);
	sink->tagging = true;
	tagged_end(&sink->tagged, sink, tagged_text, tagged_thought);
	sink->tagging = false;
	json_array_foreach(calls, i, part)
		sink_call(sink, json_incref(part));
}

void sink_text(struct reply_sink *sink, struct span piece, const json_t *opaque)
{
	if (!opaque && piece.len) {
		sink->tagging = true;
		tagged_feed(&sink->tagged, piece, sink, tagged_text, tagged_thought);
		sink->tagging = false;
		sink->too_large |= sink->tagged.held.overflowed;
	} else if (opaque || (!sink->tagged.held.len && sink->tagged.state != TAGGED_THINK)) {
		end_tagged(sink);
		sink_add_piece(sink, SINK_TEXT, piece, opaque);
	}
}

void sink_thought(struct reply_sink *sink, struct span piece, const json_t *opaque)
{
	end_tagged(sink);
	sink_add_piece(sink, SINK_THOUGHT, piece, opaque);
}

/* A value that is kept (taken) has no half of a character. */
static json_t *whole_value(const struct reply_sink *sink, json_t *value)
{
	json_t *whole;

	if (!sink->lone)
		return value;
	whole = json_whole(value);
	json_decref(value);
	return whole;
}

/* An id that no other call of the conversation has, for providers that give none. */
static json_t *new_call_id(void)
{
	unsigned char random[8];
	char id[32] = "call_";

	random_distinct(random, sizeof(random));
	random_hex_print(random, sizeof(random), id + strlen(id));
	return json_cstr(id);
}

/* About what a value takes in memory, without printing it: bounded by the answer's own size. */
static size_t rough_size(const json_t *value)
{
	size_t size = 32, i;
	const char *name;
	json_t *child;

	if (json_is_string(value))
		return size + json_string_length(value);
	json_array_foreach(value, i, child)
		size += rough_size(child);
	json_object_foreach((json_t *)value, name, child)
		size += strlen(name) + rough_size(child);
	return size;
}

static void keep_name(struct reply_sink *sink, const char *name)
{
	if (!sink->left_out_name)
		sink->left_out_name = mem_strdup(name);
}

void sink_call_left_out(struct reply_sink *sink, const char *name)
{
	sink_break(sink);
	sink->left_out++;
	keep_name(sink, name);
}

void sink_call_late(struct reply_sink *sink, const char *name)
{
	sink->late = true;
	sink_call_left_out(sink, name);
}

void sink_whole(struct reply_sink *sink)
{
	sink_break(sink);
	sink->whole = json_array_size(json_object_get(sink->content, "parts"));
}

void sink_call(struct reply_sink *sink, json_t *part)
{
	json_t *call;

	part = whole_value(sink, part);
	call = json_object_get(part, "functionCall");
	sink_break(sink);
	if (sink->finished || !sink_has_room(sink, rough_size(call))) {
		if (sink->finished)
			sink_call_late(sink, json_string_value(json_object_get(call, "name")));
		json_decref(part);
		return;
	}
	if (!json_span(json_object_get(call, "id")).len)
		json_object_set_new(call, "id", new_call_id());
	if (!json_is_object(json_object_get(call, "args")))
		json_object_set_new(call, "args", json_object());
	if (sink->fit)
		tool_fit_call(sink->fit, call);
	sink->calls++;
	content_add(sink->content, part);
}

void sink_part(struct reply_sink *sink, json_t *part)
{
	part = whole_value(sink, part);
	sink_break(sink);
	if (!sink_has_room(sink, rough_size(part))) {
		json_decref(part);
		return;
	}
	sink->said |= !part_is_thought(part) && !part_get_text(part).data;
	content_add(sink->content, part);
}

void sink_sign(struct reply_sink *sink, const char *member, json_t *value)
{
	json_t *parts = json_object_get(sink->content, "parts"), *part;

	value = whole_value(sink, value);
	close_part(sink, true);
	part = json_array_get(parts, json_array_size(parts) - 1);
	if (part && sink_has_room(sink, rough_size(value)))
		json_object_set(part, member, value);
	json_decref(value);
}

void sink_usage(struct reply_sink *sink, const struct model_usage *usage)
{
	if (memcmp(&sink->usage, usage, sizeof(*usage)) == 0)
		return; /* some say the same with each piece */
	sink->usage = *usage;
	sink_publish(sink, &(struct model_event){ .kind = MODEL_USAGE, .usage = &sink->usage });
}

bool sink_finish_counts(enum model_finish before, enum model_finish finish)
{
	static const int badness[] = {
		[MODEL_FINISH_STOP] = 0,  [MODEL_FINISH_TOOLS] = 0,  [MODEL_FINISH_LENGTH] = 1,
		[MODEL_FINISH_OTHER] = 2, [MODEL_FINISH_SAFETY] = 3, [MODEL_FINISH_PAUSE] = 2,
	};

	return badness[finish] >= badness[before];
}

void sink_finish(struct reply_sink *sink, enum model_finish finish, const char *word)
{
	if (sink->finished && !sink_finish_counts(sink->finish, finish))
		return;
	end_tagged(sink);
	sink->finished = true;
	sink->finish = finish;
	free(sink->finish_text);
	sink->finish_text = mem_strdup(word);
}

void sink_grounding(struct reply_sink *sink, json_t *grounding)
{
	json_decref(sink->grounding);
	sink->grounding = whole_value(sink, grounding);
}

/* ---- the end --------------------------------------------------------------------------------- */

static bool reply_is_whole(const struct reply_sink *sink)
{
	return sink->finish == MODEL_FINISH_STOP || sink->finish == MODEL_FINISH_TOOLS;
}

/* How many parts come before the last one that is no thought. */
static size_t before_last(const json_t *parts)
{
	size_t at = json_array_size(parts);

	while (at-- > 0)
		if (!part_is_thought(json_array_get(parts, at)))
			return at;
	return 0;
}

static void drop_calls(struct reply_sink *sink, json_t *parts)
{
	size_t last = before_last(parts);

	for (size_t i = json_array_size(parts); i-- > 0;) {
		const json_t *call = part_get_call(json_array_get(parts, i));

		if (!call || (sink->finish == MODEL_FINISH_LENGTH && (i < last || i < sink->whole)))
			continue;
		keep_name(sink, json_string_value(json_object_get(call, "name")));
		json_array_remove(parts, i);
		sink->calls--;
		sink->left_out++;
	}
}

static char *why_withheld(const struct reply_sink *sink)
{
	_cleanup_buf_ struct buf text = BUF_INIT(2048);
	const char *word = sink->finish_text;

	if (reply_is_whole(sink))
		buf_str(&text, "The reply went on after its end.");
	else if (sink->finish == MODEL_FINISH_LENGTH)
		buf_str(&text, "The reply is cut: the model reached its limit of output.");
	else if (sink->finish == MODEL_FINISH_SAFETY)
		buf_printf(&text, "The provider blocked the reply (%.100s).",
		           word ? word : "no reason given");
	else if (word)
		buf_printf(&text,
		           "The reply ended with \"%.100s\", which does not say that it is whole.",
		           word);
	else
		buf_str(&text, "The reply has no finish reason, so it may not be whole.");
	if (sink->left_out == 1 && sink->left_out_name)
		buf_printf(&text, " Its call of %.100s was not run.", sink->left_out_name);
	else if (sink->left_out == 1)
		buf_str(&text, " Its call was not run.");
	else
		buf_printf(&text, " %zu of its calls were not run.", sink->left_out);
	return buf_steal(&text);
}

/* A call that stands among other text, may be quoted, or is of no tool, is none; the user hears of
 * it. */
static void report_call_in_text(struct reply_sink *sink)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MODEL_REPLY_BYTES);

	content_text(sink->content, &text);
	if (json_array_size(sink->tools) && !sink->calls && tagged_has_call(buf_view(&text)))
		sink_publish(sink, &(struct model_event){
			.kind = MODEL_NOTE,
			.text = SPAN("The reply has a tool call in its text, which was not run: it "
			             "is not all of the text, cannot be read, names a tool that "
			             "was not offered, or may be quoted, as the model was given "
			             "a text with such a call in it.") });
}

void sink_close(struct reply_sink *sink)
{
	json_t *parts = json_object_get(sink->content, "parts"), *part;
	size_t i;

	sink_break(sink);
	if (sink->calls && sink->finish == MODEL_FINISH_STOP)
		sink->finish = MODEL_FINISH_TOOLS;
	if (!reply_is_whole(sink))
		drop_calls(sink, parts);
	if (sink->finish == MODEL_FINISH_LENGTH || (sink->left_out && !reply_is_whole(sink))) {
		/* Thoughts that preceded a dropped call are useless, and some providers reject
		 * them. */
		size_t count = json_array_size(parts);

		while (count && part_is_thought(json_array_get(parts, count - 1)))
			json_array_remove(parts, --count);
	}
	if (sink->left_out && !sink->withheld)
		sink->withheld = why_withheld(sink);
	json_array_foreach(parts, i, part)
		if (part_get_call(part))
			sink_publish(sink, &(struct model_event){ .kind = MODEL_CALL,
			                                          .call = part_get_call(part) });
	report_call_in_text(sink);
}

void sink_take(struct reply_sink *sink, struct model_reply *ret)
{
	ret->content = mem_steal(&sink->content);
	ret->grounding = mem_steal(&sink->grounding);
	ret->finish_text = mem_steal(&sink->finish_text);
	ret->withheld = mem_steal(&sink->withheld);
	ret->finish = sink->finish;
	ret->usage = sink->usage;
	ret->quota = sink->quota;
}

/* ---- the reply ---- */

const char *model_finish_name(enum model_finish finish)
{
	static const char *const names[] = {
		[MODEL_FINISH_STOP] = "stop",     [MODEL_FINISH_TOOLS] = "tools",
		[MODEL_FINISH_LENGTH] = "length", [MODEL_FINISH_SAFETY] = "safety",
		[MODEL_FINISH_OTHER] = "other",   [MODEL_FINISH_PAUSE] = "pause",
	};

	return (unsigned)finish < ARRAY_LEN(names) ? names[finish] : "other";
}

void model_reply_release(struct model_reply *reply)
{
	json_decref(reply->content);
	json_decref(reply->grounding);
	free(reply->finish_text);
	free(reply->withheld);
	free(reply->model);
	*reply = (struct model_reply){ 0 };
}
