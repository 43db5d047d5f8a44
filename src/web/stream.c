/* SPDX-License-Identifier: Apache-2.0 */
/* Events, as server-sent events: each page that follows a session is a separate front that may
 * only watch, so that it has its place among the events. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "net/http/sse.h"
#include "web/private.h"

/* How soon a browser comes back after it lost its connection. */
enum { RETRY_MS = 500 };

struct web_stream {
	struct web_later later;   /* the first member */
	struct web_follower follower;
	struct web_session *session; /* NULL: it has ended */
	struct http_request *request;
	struct front *front;
	struct loop_waker *waker;
	bool is_full;             /* until the client has taken what waits */
};

/* ---- an event as text ------------------------------------------------------------- */

static const char *const kind_names[] = {
	[FRONT_BUS] = "bus",       [FRONT_NOTICE] = "notice", [FRONT_FOUND] = "found",
	[FRONT_STARTED] = "started", [FRONT_OPENED] = "opened", [FRONT_CLOSED] = "closed",
	[FRONT_ENDED] = "ended",   [FRONT_DONE] = "done",     [FRONT_MISSED] = "missed",
	[FRONT_OVER] = "over",     [FRONT_PAUSED] = "paused",
};

static void event_print_member(struct buf *out, const char *name, const json_t *value)
{
	buf_printf(out, ", \"%s\": ", name);
	json_print(out, value, 0);
}

static void event_print_text(struct buf *out, const char *name, const char *text)
{
	buf_printf(out, ", \"%s\": ", name);
	json_print_string(out, span_str(text));
}

void web_event_print(struct buf *out, const struct front_event *event, bool is_own)
{
	buf_str(out, "{");
	if (event->number)
		buf_printf(out, "\"number\": %llu, \"last\": %llu, ",
		           (unsigned long long)event->number, (unsigned long long)event->last);
	buf_printf(out, "\"kind\": \"%s\"", kind_names[event->kind]);
	if (event->kind == FRONT_BUS)
		event_print_text(out, "topic", bus_topic_name(event->topic));
	/* A path as bytes, which is for this program alone. */
	if (event->message && event->kind != FRONT_FOUND)
		event_print_member(out, "message", event->message);
	if (event->by)
		event_print_text(out, "by", event->by);
	if (event->by)
		buf_printf(out, ", \"own\": %s", is_own ? "true" : "false");
	if (event->ends)
		buf_str(out, ", \"ends\": true");
	if (event->kind == FRONT_ENDED)
		event_print_text(out, "end", agent_end_name(event->end));
	if (event->err) {
		json_auto_t *error = json_pack("{s:s, s:o}", "code", err_name(event->err->code),
		                               "message",
		                               json_text(span_str(event->err->message)));

		event_print_member(out, "error", error);
	}
	buf_str(out, "}");
}

/* `by` is the front that answers and orders for the person, not this one. */
static bool event_is_own(const struct web_stream *stream, const struct front_event *event)
{
	for (const struct web_seat *seat = stream->session->seats; event->by && seat;
	     seat = seat->next)
		if (seat->person == stream->follower.person)
			return !strcmp(front_name(seat->front), event->by);
	return false;
}

/* ---- taking ----------------------------------------------------------------------- */

static void page_leave(struct web_stream *stream)
{
	struct web_follower **link;

	if (!stream->session)
		return;
	link = &stream->session->followers;
	while (*link != &stream->follower)
		link = &(*link)->next;
	*link = stream->follower.next;
	stream->session->web->stream_count--;
	stream->follower.person->streams--;
	front_detach(stream->front);
	loop_waker_free(stream->waker);
	stream->front = NULL;
	stream->waker = NULL;
	stream->session = NULL;
}

/* True: it was the last of the session. */
static bool stream_write(struct web_stream *stream, struct front_event *event, struct buf *out)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	const bool is_last = event->kind == FRONT_OVER;
	char id[24];

	web_event_print(&text, event, event_is_own(stream, event));
	snprintf(id, sizeof(id), "%llu", (unsigned long long)event->last);
	sse_write(out, event->number ? id : NULL, buf_view(&text));
	front_event_free(event);
	return is_last;
}

static void stream_take(void *data)
{
	struct web_stream *stream = data;
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	struct front_event *event, *next;
	bool is_last;

	if (!stream->session || stream->is_full)
		return;
	is_last = web_person_is_over(stream->follower.person);
	for (event = is_last ? NULL : front_take(stream->front); event; event = next) {
		next = event->next;
		is_last = stream_write(stream, event, &out) || is_last;
	}
	if (out.len)
		http_stream_write(stream->request, buf_view(&out));
	stream->is_full = http_stream_waiting(stream->request) > LIMIT_WEB_WAITING;
	if (is_last) {
		struct http_request *request = stream->request;

		page_leave(stream);
		http_stream_end(request);
	}
}

/* As web_later.drained. */
static void stream_drained(struct web_later *later)
{
	struct web_stream *stream = (struct web_stream *)later;

	if (!stream->is_full)
		return;
	stream->is_full = false;
	stream_take(stream);
}

/* As web_later.closed. */
static void stream_closed(struct web_later *later)
{
	struct web_stream *stream = (struct web_stream *)later;

	page_leave(stream);
	free(stream);
}

/* As web_follower.end. */
static void stream_stop(struct web_follower *follower, bool cut)
{
	struct web_stream *stream =
		(struct web_stream *)((char *)follower - offsetof(struct web_stream, follower));
	struct http_request *request = stream->request;

	/* What its session published last. */
	stream->is_full = false;
	if (!cut)
		stream_take(stream);
	if (!stream->session)
		return;
	page_leave(stream);
	if (cut)
		http_request_drop(request);
	else
		http_stream_end(request);
}

/* ---- beginning and end ------------------------------------------------------------ */

/* Number of the last event that a page has; false: it says something else. */
static bool read_after(struct http_request *request, uint64_t *ret)
{
	const char *text = http_request_header(request, "Last-Event-ID");
	char *end;

	if (!text)
		text = http_request_query(request, "after");
	*ret = 0;
	if (!text || !*text)
		return true;
	if (!ascii_is_digit(*text) || strlen(text) > 18)
		return false;
	*ret = strtoull(text, &end, 10);
	return *end == '\0';
}

static bool stream_may_open(struct web_exchange *exchange)
{
	struct err err = ERR_INIT;

	if (exchange->web->stream_count >= LIMIT_WEB_STREAMS ||
	    exchange->person->streams >= LIMIT_WEB_STREAMS_EACH)
		err_set(&err, ERR_LIMIT_REACHED, "Too many pages are open. Close one.");
	else if (web_seat_of(exchange->session, exchange->person, &err))
		return true;
	web_refuse(exchange->http, &err);
	return false;
}

static void stream_open(struct web_exchange *exchange, uint64_t after)
{
	struct web_stream *stream = mem_alloc(1, sizeof(*stream));
	struct web_session *session = exchange->session;
	_cleanup_buf_ struct buf retry = BUF_INIT(64);

	*stream = (struct web_stream){ .later = { stream_closed, stream_drained },
		                       .follower = { .next = session->followers,
		                                     .person = exchange->person,
		                                     .end = stream_stop },
		                       .session = session, .request = exchange->http };
	session->followers = &stream->follower;
	exchange->web->stream_count++;
	exchange->person->streams++;
	stream->waker = loop_waker_new(exchange->web->loop, stream_take, stream);
	http_request_set_data(exchange->http, &stream->later);
	http_stream_begin(exchange->http);
	sse_write_retry(&retry, RETRY_MS);
	http_stream_write(exchange->http, buf_view(&retry));
	/* Its name is empty; the person's own front is the one that others see. */
	stream->front = front_attach(session->runner, &(struct front_options){
		.name = "", .wake = loop_waker_wake, .data = stream->waker, .after = after });
	if (!stream->front) {
		page_leave(stream);
		http_stream_end(exchange->http);
	}
}

void web_do_events(struct web_exchange *exchange)
{
	struct web_session *session = exchange->session;
	uint64_t after;

	if (!read_after(exchange->http, &after))
		web_refuse_with(exchange->http, 400, "invalid_argument",
		                "Last-Event-ID and after take the number of an event.");
	else if (session->is_over && after >= session->last)
		http_answer(exchange->http, 204, NULL, NULL);
	else if (stream_may_open(exchange))
		stream_open(exchange, after);
}
