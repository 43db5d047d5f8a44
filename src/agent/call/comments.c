/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/call/questions.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"

/* ---- what is commented on ----------------------------------------------------------- */

/* The part of the question's details that is about the file; NULL: there is none. */
static json_t *details_of_file(const json_t *details, const json_t *path)
{
	const json_t *files = json_object_get(details, "files");
	size_t i;
	json_t *file;

	if (!files)
		return json_equal(path, json_object_get(details, "filePath")) ? (json_t *)details :
		                                                               NULL;
	json_array_foreach((json_t *)files, i, file)
		if (json_equal(path, json_object_get(file, "filePath")))
			return file;
	return NULL;
}

/* From 1, both included; empty if there are fewer.  *ret_last: as many as there are. */
static struct span lines_between(struct span text, size_t first, size_t last, size_t *ret_last)
{
	struct span rest = text, line, from = span_of(text.data, 0);
	size_t number = 0;

	*ret_last = 0;
	while (number < last && line_next(&rest, &line)) {
		if (++number == first)
			from = span_of(line.data, 0);
		if (number >= first)
			from.len = (size_t)(rest.data - from.data);
	}
	*ret_last = number;
	return from;
}

/* ---- one comment -------------------------------------------------------------------- */

struct comment_place {
	const json_t *file_path, *hash;
	struct span lines;
	json_int_t first, last;
	bool is_old;
};

static bool refuse_comment(struct err *err, size_t number, const char *why)
{
	return err_set(err, ERR_INVALID_ARGUMENT, "Comment %zu %s.", number + 1, why);
}

static bool has_shape(const json_t *comment, size_t number, struct err *err)
{
	const struct span side = json_span(json_object_get(comment, "side"));
	const json_t *text = json_object_get(comment, "text");

	if (!json_is_object(comment) || !json_is_string(text) ||
	    !json_is_integer(json_object_get(comment, "startLine")) ||
	    !json_is_integer(json_object_get(comment, "endLine")))
		return refuse_comment(err, number, "lacks text, startLine or endLine");
	if (!span_eq(side, SPAN("old")) && !span_eq(side, SPAN("new")))
		return refuse_comment(err, number, "must have the side \"old\" or \"new\"");
	if (!span_trim(json_span(text)).len)
		return refuse_comment(err, number, "is empty");
	if (json_string_length(text) > LIMIT_COMMENT_BYTES)
		return refuse_comment(err, number, "is longer than 16 KB");
	return true;
}

static bool place_find(const json_t *details, const json_t *comment, size_t number,
                       struct comment_place *ret, struct err *err)
{
	const json_t *path = json_object_get(comment, "filePath");
	const json_t *file = json_is_string(path) ? details_of_file(details, path) : NULL;
	const json_t *content;
	size_t last;

	if (!file)
		return refuse_comment(err, number, "names no file of this question");
	ret->file_path = path;
	ret->is_old = span_eq(json_span(json_object_get(comment, "side")), SPAN("old"));
	ret->first = json_integer_value(json_object_get(comment, "startLine"));
	ret->last = json_integer_value(json_object_get(comment, "endLine"));
	content = json_object_get(file, ret->is_old ? "originalContent" : "newContent");
	ret->hash = json_object_get(file, ret->is_old ? "originalSha256" : "newSha256");
	if (!json_is_string(content))
		return refuse_comment(err, number,
		                      "is about a side of the file that has no text here");
	if (ret->first < 1 || ret->last < ret->first)
		return refuse_comment(err, number, "has no lines: they count from 1");
	ret->lines = lines_between(json_span(content), (size_t)ret->first, (size_t)ret->last,
	                           &last);
	if (last < (size_t)ret->last)
		return refuse_comment(err, number, "is about lines that the file does not have");
	return true;
}

/* No more lines than the model needs to find the place. */
static json_t *shown_lines(const struct comment_place *place)
{
	size_t last;
	struct span text = lines_between(place->lines, 1, LIMIT_COMMENT_LINES, &last);

	if (text.len > LIMIT_COMMENT_BYTES)
		text = utf8_head(text, LIMIT_COMMENT_BYTES);
	return json_text(text);
}

static json_t *comment_new(const struct comment_place *place, const json_t *comment,
                           unsigned number, const char *by)
{
	_cleanup_free_ char *id = mem_printf("c%u", number);
	_cleanup_free_ char *lines =
		place->first == place->last ?
			mem_printf("%lld", (long long)place->first) :
			mem_printf("%lld-%lld", (long long)place->first, (long long)place->last);

	return json_pack("{s:s, s:O, s:s, s:s, s:O*, s:o, s:O, s:s*}", "id", id, "file_path",
	                 place->file_path, "side", place->is_old ? "old" : "new", "lines", lines,
	                 "sha256", place->hash, "text", shown_lines(place), "comment",
	                 json_object_get(comment, "text"), "by", by);
}

json_t *comments_read(struct call *call, const json_t *message, const json_t *given,
                      const char *by, struct err *err)
{
	const json_t *details = json_object_get(message, "details");
	json_auto_t *comments = json_array();
	size_t i;
	json_t *comment;

	if (json_array_size(given) > LIMIT_COMMENTS) {
		err_set(err, ERR_LIMIT_REACHED, "An answer has at most %d comments.",
		        LIMIT_COMMENTS);
		return NULL;
	}
	json_array_foreach((json_t *)given, i, comment) {
		struct comment_place place = { 0 };

		if (!has_shape(comment, i, err) || !place_find(details, comment, i, &place, err))
			return NULL;
		json_array_append_new(comments, comment_new(&place, comment,
		                                            ++call->agent->top->comments, by));
	}
	return json_incref(comments);
}

/* ---- rounds ------------------------------------------------------------------------- */

/* Ids of the comments on the file; a new reference. */
static json_t *ids_about(const json_t *comments, const json_t *path)
{
	json_t *ids = json_array(), *comment;
	size_t i;

	json_array_foreach((json_t *)comments, i, comment)
		if (json_equal(path, json_object_get(comment, "file_path")))
			json_array_append(ids, json_object_get(comment, "id"));
	return ids;
}

/* Under the lock; the oldest make room. */
static void proposal_keep(json_t *proposals, const json_t *file, json_int_t round, json_t *ids)
{
	json_t *content = json_object_get(file, "newContent");
	const char *path = json_string_value(json_object_get(file, "filePath")), *oldest;

	json_object_del(proposals, path);
	while (json_object_size(proposals) >= LIMIT_PROPOSALS) {
		oldest = json_object_iter_key(json_object_iter(proposals));
		json_object_del(proposals, oldest);
	}
	json_object_set_new(proposals, path, json_pack(
		"{s:I, s:O, s:O*, s:O*}", "round", round, "comments", ids, "sha256",
		json_object_get(file, "newSha256"), "content",
		json_string_length(content) <= LIMIT_PROPOSAL_BYTES ? content : NULL));
}

static void follow_file(json_t *proposals, const json_t *file, json_int_t round,
                        const json_t *answer, bool declined)
{
	const json_t *path = json_object_get(file, "filePath");
	json_auto_t *ids = ids_about(json_object_get(answer, "comments"), path);

	if (!json_string_length(path))
		return;
	if (declined || json_array_size(ids))
		proposal_keep(proposals, file, round, ids);
	else
		json_object_del(proposals, json_string_value(path));
}

/* Calls `each` for every file of a question about an edit. */
static void for_each_file(const json_t *details, void (*each)(void *data, json_t *file), void *data)
{
	json_t *files = json_object_get(details, "files"), *file;
	size_t i;

	if (!span_eq(json_span(json_object_get(details, "type")), SPAN("edit")))
		return;
	if (!files)
		each(data, (json_t *)details);
	json_array_foreach(files, i, file)
		each(data, file);
}

struct following {
	json_t *proposals;
	const json_t *answer;
	json_int_t round;
	bool declined;
};

static void follow_each(void *data, json_t *file)
{
	const struct following *following = data;

	follow_file(following->proposals, file, following->round, following->answer,
	            following->declined);
}

void comments_follow(struct call *call, const json_t *message, const json_t *answer)
{
	struct agent *top = call->agent->top;
	const struct span outcome = json_span(json_object_get(answer, "outcome"));
	const json_t *round = json_object_get(message, "round");
	struct following following = {
		.proposals = top->proposals, .answer = answer,
		.round = round ? json_integer_value(round) : 1,
		.declined = span_eq(outcome, SPAN("cancel")) &&
		            (json_string_length(json_object_get(answer, "message")) ||
		             json_array_size(json_object_get(answer, "comments"))),
	};

	pthread_mutex_lock(&top->lock);
	for_each_file(json_object_get(message, "details"), follow_each, &following);
	pthread_mutex_unlock(&top->lock);
}

struct rounding {
	const json_t *proposals;
	json_int_t round;       /* the latest of its files */
	json_t *answers;        /* owned */
	json_t *previous;       /* owned */
};

static void round_each(void *data, json_t *file)
{
	struct rounding *rounding = data;
	const char *path = json_string_value(json_object_get(file, "filePath"));
	const json_t *before = path ? json_object_get(rounding->proposals, path) : NULL;
	const json_int_t round = json_integer_value(json_object_get(before, "round"));
	json_t *sum = json_object_get(before, "sha256");
	json_t *content = json_object_get(before, "content");

	if (!before)
		return;
	if (round > rounding->round)
		rounding->round = round;
	json_array_extend(rounding->answers, json_object_get(before, "comments"));
	if (sum)
		json_object_set(rounding->previous, path, sum);
	if (content)
		json_object_set(file, "previousContent", content);
}

void comments_put_round(struct call *call, json_t *message)
{
	struct agent *top = call->agent->top;
	struct rounding rounding = { .proposals = top->proposals, .answers = json_array(),
		                     .previous = json_object() };

	pthread_mutex_lock(&top->lock);
	for_each_file(json_object_get(message, "details"), round_each, &rounding);
	pthread_mutex_unlock(&top->lock);
	if (rounding.round) {
		json_object_set_new(message, "round", json_integer(rounding.round + 1));
		json_object_set(message, "answers", rounding.answers);
		json_object_set(message, "previous", rounding.previous);
	}
	json_decref(rounding.answers);
	json_decref(rounding.previous);
}

/* ---- the report to the model --------------------------------------------------------- */

void comments_report(const json_t *comments, json_t *report, struct buf *text)
{
	const size_t count = json_array_size(comments);

	if (!count)
		return;
	buf_printf(text, "%sThere %s on lines of this edit, in comments: %s file, state and lines.",
	           text->len ? " " : "",
	           count == 1 ? "is 1 comment" : "are comments",
	           count == 1 ? "with its" : "each with its");
	buf_str(text, " Take each into account in what you propose next.");
	json_object_set(report, "comments", (json_t *)comments);
}
