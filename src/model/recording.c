/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings: written while a model answers, and a provider that answers from one. */
#include "model/model.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/door.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "model/gemini/gemini.h"
#include "model/part.h"
#include "model/provider.h"
#include "model/sink.h"
#include "model/wire.h"

/* ---- writing ----------------------------------------------------------------- */

struct recording {
	pthread_mutex_t lock;
	char *file;  /* owned */
	int fd;      /* owned */
	bool failed; /* and reported: nothing is written any more */
	void (*trouble)(void *data, const struct err *err);
	void *data;
};

static const char *const reasons[] = {
	[MODEL_FINISH_STOP] = "STOP",         [MODEL_FINISH_TOOLS] = "STOP",
	[MODEL_FINISH_LENGTH] = "MAX_TOKENS", [MODEL_FINISH_SAFETY] = "SAFETY",
	[MODEL_FINISH_OTHER] = "OTHER",       [MODEL_FINISH_PAUSE] = "OTHER",
};

static json_t *usage_json(const struct model_usage *usage)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "promptTokenCount",
	                 json_size(usage->input), "cachedContentTokenCount",
	                 json_size(usage->cached), "candidatesTokenCount", json_size(usage->output),
	                 "thoughtsTokenCount", json_size(usage->thoughts),
	                 "toolUsePromptTokenCount", json_size(usage->tool), "totalTokenCount",
	                 json_size(usage->total));
}

/* The line as a value. */
static json_t *record_line(const struct model_reply *reply)
{
	json_t *candidate = json_pack("{s:O, s:s, s:i}", "content", reply->content, "finishReason",
	                              reasons[reply->finish], "index", 0);
	json_t *own = json_pack("{s:o, s:s, s:o}", "model", json_cstr(reply->model), "finish",
	                        model_finish_name(reply->finish), "cacheWritten",
	                        json_size(reply->usage.cache_written));

	if (reply->grounding)
		json_object_set(candidate, "groundingMetadata", reply->grounding);
	if (reply->finish_text)
		json_object_set_new(own, "word", json_cstr(reply->finish_text));
	return json_pack("{s:s, s:[{s:[o], s:o, s:o}]}", "method", "generateContentStream",
	                 "response", "candidates", candidate, "usageMetadata",
	                 usage_json(&reply->usage), "hasp", own);
}

bool recording_open(const char *file, const char *const *roots,
                    void (*trouble)(void *data, const struct err *err), void *data,
                    struct recording **ret, struct err *err)
{
	_cleanup_door_ struct door door = DOOR_INIT;
	struct err why = ERR_INIT;
	_cleanup_fd_ int fd = door_open(file, roots, &door, &why) ?
	                              door_append(&door, 0600, &why) : -1;

	if (fd < 0)
		return err_set(err, why.code, "The answers cannot be recorded: %s", why.message);
	*ret = mem_alloc(1, sizeof(**ret));
	**ret = (struct recording){ .file = mem_strdup(file), .fd = fd_steal(&fd),
		                    .trouble = trouble, .data = data };
	pthread_mutex_init(&(*ret)->lock, NULL);
	return true;
}

void recording_close(struct recording *recording)
{
	if (!recording)
		return;
	close(recording->fd);
	free(recording->file);
	pthread_mutex_destroy(&recording->lock);
	free(recording);
}

/* Nothing of half a line stays where the file can be cut; elsewhere it is ended. */
static bool write_line(const struct recording *recording, struct span line, struct err *err)
{
	const off_t size = lseek(recording->fd, 0, SEEK_END);

	if (fd_write_all(recording->fd, line.data, line.len))
		return true;
	err_set_errno(err, errno, "Answers are no longer recorded in %s", recording->file);
	if (size < 0 || ftruncate(recording->fd, size) < 0)
		fd_write_all(recording->fd, "\n", 1);
	return false;
}

static bool write_reply(const struct recording *recording, const struct model_reply *reply,
                        struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4 * LIMIT_MODEL_REPLY_BYTES);
	json_auto_t *line = record_line(reply);

	if (json_print(&text, line, 0) && buf_char(&text, '\n'))
		return write_line(recording, buf_view(&text), err);
	return err_set(err, ERR_TOO_LARGE,
	               "Answers are no longer recorded in %s: one is too large.", recording->file);
}

void recording_add(struct recording *recording, const struct model_reply *reply)
{
	struct err err = ERR_INIT;

	if (!recording)
		return;
	pthread_mutex_lock(&recording->lock);
	if (!recording->failed && !write_reply(recording, reply, &err)) {
		recording->failed = true;
		if (recording->trouble)
			recording->trouble(recording->data, &err);
	}
	pthread_mutex_unlock(&recording->lock);
}

/* ---- answering --------------------------------------------------------------- */

/* Bytes of one read from the file. */
enum { PIECE = 64 << 10 };

struct model_replay {
	char *file;          /* owned */
	struct buf text;     /* all of it */
	struct span rest;    /* from the next line on */
	size_t line;         /* of the next line, from 1 */
};

/* ---- one answer ------------------------------------------------------------------------------ */

/* Replays a text as pieces; one with additional data stays a separate part. */
static void replay_text(const json_t *part, struct reply_sink *sink)
{
	static const char *const members[] = { "thoughtSignature", "opaque" };
	struct span text = json_span(json_object_get(part, "text"));
	bool own = false;

	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		own |= json_object_get(part, members[i]) != NULL;
	if (own)
		sink_break(sink);
	if (part_is_thought(part))
		sink_thought(sink, text, NULL);
	else
		sink_text(sink, text, NULL);
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		json_t *value = json_object_get(part, members[i]);

		if (value)
			sink_sign(sink, members[i], json_incref(value));
	}
}

static bool replay_part(const json_t *part, struct reply_sink *sink, struct err *err)
{
	const json_t *call = json_object_get(part, "functionCall");

	if (!json_is_object(part))
		return err_set(err, ERR_MODEL_ERROR, "A part of the recorded answer is no object.");
	if (!call) {
		if (json_is_string(json_object_get(part, "text")))
			replay_text(part, sink);
		else
			sink_part(sink, json_deep_copy(part));
		return true;
	}
	if (!json_span(json_object_get(call, "name")).len)
		return err_set(err, ERR_MODEL_ERROR, "A call in the recorded answer has no name.");
	sink_call(sink, json_deep_copy(part));
	return true;
}

/* Usage, the end and what else Gemini's chunks have is read as from Gemini. */
static bool replay_frame(const json_t *chunk, void *reader, enum wire_trouble *trouble,
                         struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MESSAGE_BYTES);
	json_t *frame = json_copy((json_t *)chunk);
	json_t *candidate = json_array_get(json_object_get(chunk, "candidates"), 0);
	json_t *bare = json_is_object(candidate) ? json_copy(candidate) : json_object();
	struct sse_event event = { .type = SPAN("message") };
	bool ok;

	json_object_del(bare, "content");
	json_object_set_new(frame, "candidates", json_pack("[o]", bare));
	ok = json_print(&text, frame, 0);
	json_decref(frame);
	event.data = buf_view(&text);
	return ok ? gemini_reader.event(reader, &event, trouble, err) :
	            err_set(err, ERR_MODEL_ERROR, "A chunk of the recorded answer is too large.");
}

/* What hasp's own recordings say besides. */
static void replay_hasp_member(const json_t *own, struct reply_sink *sink)
{
	struct span finish = json_span(json_object_get(own, "finish"));
	struct model_usage usage = sink->usage;

	if (!own)
		return;
	usage.cache_written = wire_count(own, "cacheWritten");
	sink_usage(sink, &usage);
	for (int i = MODEL_FINISH_STOP; i <= MODEL_FINISH_OTHER; i++)
		if (span_eq(finish, span_str(model_finish_name((enum model_finish)i))))
			sink_finish(sink, (enum model_finish)i,
			            json_string_value(json_object_get(own, "word")));
}

static bool replay_chunk(const json_t *chunk, void *reader, struct reply_sink *sink,
                         enum wire_trouble *trouble, struct err *err)
{
	const json_t *candidate = json_array_get(json_object_get(chunk, "candidates"), 0);
	const json_t *part;
	size_t i;

	if (!json_is_object(chunk))
		return err_set(err, ERR_MODEL_ERROR, "A chunk of the recording is no object.");
	json_array_foreach(json_object_get(json_object_get(candidate, "content"), "parts"), i, part)
		if (!replay_part(part, sink, err))
			return false;
	if (!replay_frame(chunk, reader, trouble, err))
		return false;
	replay_hasp_member(json_object_get(chunk, "hasp"), sink);
	return true;
}

bool recording_replay(const json_t *line, struct reply_sink *sink, enum wire_trouble *trouble,
                      struct err *err)
{
	const json_t *response = json_object_get(line, "response"), *chunk;
	enum wire_trouble unused;
	struct err ignored = ERR_INIT;
	void *reader = gemini_reader.make(sink);
	bool ok = true;
	size_t i;

	*trouble = WIRE_FATAL;
	if (json_is_array(response)) {
		for (i = 0; ok && i < json_array_size(response); i++) {
			chunk = json_array_get(response, i);
			ok = replay_chunk(chunk, reader, sink, trouble, err);
		}
	} else {
		ok = replay_chunk(response, reader, sink, trouble, err);
	}
	if (ok) /* the grounding */
		gemini_reader.end(reader, &unused, &ignored);
	gemini_reader.free(reader);
	if (ok && !sink->finished)
		return err_set(err, ERR_MODEL_ERROR, "The recorded answer has no finishReason.");
	/* The model did answer so (MALFORMED_FUNCTION_CALL), and was asked again: the next line. */
	if (!ok && sink->finished)
		*trouble = WIRE_BROKEN;
	return ok;
}

/* ---- the file -------------------------------------------------------------------------------- */

static bool replay_read_file(struct model_replay *replay, struct err *err)
{
	_cleanup_fd_ int fd = open(replay->file, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return err_set_errno(err, errno, "Cannot open the recording %s", replay->file);
	for (;;) {
		char *room = buf_reserve(&replay->text, PIECE);
		ssize_t got = room ? fd_read_full(fd, room, PIECE) : 0;

		if (got < 0)
			return err_set_errno(err, errno, "Cannot read the recording %s",
			                     replay->file);
		if (!room)
			return err_set(err, ERR_TOO_LARGE, "The recording %s is too large.",
			               replay->file);
		if (got == 0)
			break;
		replay->text.len += (size_t)got;
	}
	replay->rest = buf_view(&replay->text);
	replay->line = 1;
	return true;
}

static void replay_close(void *state)
{
	struct model_replay *replay = state;

	free(replay->file);
	buf_release(&replay->text);
	free(replay);
}

static bool replay_open(const struct model_options *options, void **ret_state, struct err *err)
{
	struct model_replay *replay;

	if (!options->replay_file)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The provider replay needs the file to replay: replay:FILE.");
	replay = mem_alloc(1, sizeof(*replay));
	replay->file = mem_strdup(options->replay_file);
	replay->text = (struct buf)BUF_INIT(LIMIT_RECORDING_BYTES);
	if (!replay_read_file(replay, err)) {
		replay_close(replay);
		return false;
	}
	*ret_state = replay;
	return true;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* The next line that is not blank, without taking it; false at the end. */
static bool replay_peek(struct model_replay *replay, struct span *ret)
{
	struct span rest = replay->rest, line;

	while (line_next(&rest, &line)) {
		*ret = span_trim(line);
		if (ret->len)
			return true;
		replay->rest = rest;
		replay->line++;
	}
	return false;
}

static void replay_skip_line(struct model_replay *replay)
{
	struct span line;

	line_next(&replay->rest, &line);
	replay->line++;
}

static bool replay_parse_line(const struct model_replay *replay, struct span text, json_t **ret,
                              struct err *err)
{
	struct err why = ERR_INIT;

	if (!json_parse_foreign(text, JSON_DEPTH_MAX, ret, NULL, &why))
		return err_set(err, ERR_MODEL_ERROR, "Line %zu of %s is not JSON: %s", replay->line,
		               replay->file, why.message);
	if (json_is_string(json_object_get(*ret, "method")))
		return true;
	json_decref(*ret);
	return err_set(err, ERR_MODEL_ERROR, "Line %zu of %s has no \"method\".", replay->line,
	               replay->file);
}

enum method { METHOD_GENERATE, METHOD_PASSED_OVER, METHOD_OTHER };

static enum method line_method(const json_t *line)
{
	static const struct {
		const char *name;
		enum method method;
	} methods[] = {
		{ "generateContentStream", METHOD_GENERATE },
		{ "generateContent", METHOD_GENERATE },
		{ "countTokens", METHOD_PASSED_OVER },
		{ "embedContent", METHOD_PASSED_OVER },
	};
	struct span name = json_span(json_object_get(line, "method"));

	for (size_t i = 0; i < ARRAY_LEN(methods); i++)
		if (span_eq(name, span_str(methods[i].name)))
			return methods[i].method;
	return METHOD_OTHER;
}

/* Of Gemini CLI's router, which chooses a model before the request that hasp begins with: its
 * reply is {"reasoning": ..., "model_choice": ...}, and hasp never asks for it. */
static bool line_is_routing(const json_t *line)
{
	const json_t *candidates = json_object_get(json_object_get(line, "response"), "candidates");
	const json_t *content = json_object_get(json_array_get(candidates, 0), "content");
	const json_t *part = json_array_get(json_object_get(content, "parts"), 0);
	json_auto_t *said = NULL;
	struct err ignored = ERR_INIT;

	return json_parse_foreign(json_span(json_object_get(part, "text")), JSON_DEPTH_MAX, &said,
	                          NULL, &ignored) &&
	       json_is_string(json_object_get(said, "reasoning")) &&
	       json_is_string(json_object_get(said, "model_choice"));
}

/* The next line with an answer, taken. */
static bool replay_take_answer(struct model_replay *replay, size_t *ret_number, json_t **ret,
                               struct err *err)
{
	struct span text;
	json_t *line;

	while (replay_peek(replay, &text)) {
		enum method method;

		if (!replay_parse_line(replay, text, &line, err))
			return false;
		method = line_method(line);
		*ret_number = replay->line;
		if (method == METHOD_GENERATE && !line_is_routing(line)) {
			replay_skip_line(replay);
			*ret = line;
			return true;
		}
		json_decref(line);
		if (method == METHOD_OTHER)
			return err_set(err, ERR_MODEL_ERROR, "Line %zu of %s has a method that is "
			               "none of Gemini CLI's.", replay->line, replay->file);
		replay_skip_line(replay);
	}
	return err_set(err, ERR_MODEL_ERROR,
	               "The recording is used up: it has no line %zu in %s for the next answer "
	               "(generateContentStream).", replay->line, replay->file);
}

static bool replay_next(void *state, const struct model_request *request, struct reply_sink *sink,
                        enum wire_trouble *trouble, struct err *err)
{
	struct model_replay *replay = state;
	struct err why = ERR_INIT;
	size_t number = 0;
	json_t *line = NULL;
	bool ok;

	(void)request;
	*trouble = WIRE_FATAL;
	if (!replay_take_answer(replay, &number, &line, err))
		return false;
	ok = recording_replay(line, sink, trouble, &why);
	json_decref(line);
	return ok || err_set(err, why.code, "Line %zu of %s: %s", number, replay->file,
	                     why.message);
}

const struct provider_format format_replay = {
	.name = "replay",
	.open = replay_open,
	.answer = replay_next,
	.close = replay_close,
};
