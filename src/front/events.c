/* SPDX-License-Identifier: Apache-2.0 */
/* The events of a session: numbered, the last of them kept as text for fronts that come late, and
 * queued for each front.
 *
 * A queue of a front that does not take its events ends at LIMIT_FRONT_WAITING: from there on only
 * what is for it alone is queued, and what is kept follows when it takes them again. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "front/private.h"

void front_event_free(struct front_event *event)
{
	if (!event)
		return;
	json_decref(event->message);
	free(event->err);
	free(event->by);
	free(event);
}

/* What is copied of the message is independent of it: fronts are on other threads. */
static struct front_event *event_copy(const struct front_event *event, json_t *message)
{
	struct front_event *copy = mem_alloc(1, sizeof(*copy));

	*copy = *event;
	copy->next = NULL;
	copy->message = message;
	copy->by = mem_strdup(event->by);
	copy->task = NULL;
	copy->err = NULL;
	if (event->err) {
		copy->err = mem_alloc(1, sizeof(*copy->err));
		*copy->err = *event->err;
	}
	return copy;
}

/* ---- pieces of text ------------------------------------------------------------ */

static bool event_is_piece(const struct front_event *event)
{
	return event->kind == FRONT_BUS &&
	       (event->topic == BUS_CONTENT || event->topic == BUS_TOOL_OUTPUT);
}

/* Whether a piece goes on where `before` ends. */
static bool piece_follows(const struct front_event *before, const json_t *before_message,
                          const struct front_event *event)
{
	return before && event_is_piece(event) && before->kind == FRONT_BUS &&
	       before->topic == event->topic &&
	       (event->topic == BUS_CONTENT ||
	        json_equal(json_object_get(before_message, "callId"),
	                   json_object_get(event->message, "callId")));
}

/* The two texts as one; `max`: only so much of the end; 0: all. */
static json_t *piece_joined(const json_t *before, const json_t *piece, size_t max)
{
	_cleanup_buf_ struct buf all = BUF_INIT(LIMIT_RESULT_BYTES);
	struct span text;

	buf_span(&all, json_span(before));
	buf_span(&all, json_span(piece));
	text = buf_view(&all);
	if (max && text.len > max) {
		text = span_skip(text, text.len - max);
		while (text.len && (text.data[0] & 0xC0) == 0x80)
			text = span_skip(text, 1);
	}
	return json_text(text);
}

/* ---- what is kept -------------------------------------------------------------- */

static size_t kept_size(const struct front_kept *kept)
{
	return sizeof(*kept) + (kept->text ? strlen(kept->text) : 0) + kept->piece.len +
	       (kept->event.err ? sizeof(*kept->event.err) : 0);
}

static void kept_drop_first(struct front_hub *hub)
{
	struct front_kept *kept = hub->first_kept;

	hub->kept_bytes -= kept_size(kept);
	hub->first_kept = kept->next;
	if (!hub->first_kept)
		hub->last_kept = NULL;
	free(kept->text);
	buf_release(&kept->piece);
	free(kept->event.err);
	free(kept->event.by);
	free(kept);
}

/* Pieces of a command's output name their call; those of an answer name nothing. */
static bool kept_joins(const struct front_kept *kept, const struct front_event *event)
{
	const json_t *call = json_object_get(event->message, "callId");
	json_auto_t *before = NULL;
	struct err ignored = ERR_INIT;

	if (!kept || !event_is_piece(event) || !event_is_piece(&kept->event) ||
	    kept->event.topic != event->topic || kept->piece.len > LIMIT_FRONT_JOINED_BYTES)
		return false;
	if (!call)
		return true;
	return json_parse(span_str(kept->text), &before, &ignored) &&
	       json_equal(json_object_get(before, "callId"), call);
}

static char *kept_text(const struct front_event *event)
{
	json_auto_t *rest = NULL;

	if (!event->message)
		return NULL;
	if (!event_is_piece(event))
		return json_dumps(event->message, JSON_COMPACT);
	rest = json_copy(event->message);
	json_object_del(rest, "text");
	return json_dumps(rest, JSON_COMPACT);
}

/* Under the lock. */
static void hub_keep(struct front_hub *hub, const struct front_event *event)
{
	const struct span piece = event_is_piece(event) ?
	                                  json_span(json_object_get(event->message, "text")) :
	                                  SPAN("");
	struct front_kept *kept = hub->last_kept;

	if (kept_joins(kept, event)) {
		buf_span(&kept->piece, piece);
		kept->event.last = event->last;
		hub->kept_bytes += piece.len;
	} else {
		struct front_event *copy = event_copy(event, NULL);

		kept = mem_alloc(1, sizeof(*kept));
		*kept = (struct front_kept){ .event = *copy, .text = kept_text(event),
			                     .piece = BUF_INIT(LIMIT_RESULT_BYTES) };
		free(copy);
		buf_span(&kept->piece, piece);
		if (hub->last_kept)
			hub->last_kept->next = kept;
		else
			hub->first_kept = kept;
		hub->last_kept = kept;
		hub->kept_bytes += kept_size(kept);
	}
	while (hub->first_kept && hub->kept_bytes > LIMIT_FRONT_LOG_BYTES)
		kept_drop_first(hub);
}

static struct front_event *kept_event(const struct front_kept *kept)
{
	struct err ignored = ERR_INIT;
	json_t *message = NULL;

	if (kept->text)
		(void)json_parse(span_str(kept->text), &message, &ignored);
	if (event_is_piece(&kept->event))
		json_object_set_new(message, "text", json_text(buf_view(&kept->piece)));
	return event_copy(&kept->event, message);
}

/* ---- questions that are open ------------------------------------------------------ */

static void question_free(struct front_open *open)
{
	json_decref(open->message);
	free(open);
}

/* Under the lock. Answers and withdrawals name the question's id; none outlives its session. */
static void hub_follow_questions(struct front_hub *hub, const struct front_event *event)
{
	const json_t *id = event->kind == FRONT_BUS ?
	                           json_object_get(event->message, "correlationId") : NULL;
	const bool all = event->kind == FRONT_OPENED || event->kind == FRONT_OVER;
	struct front_open **link = &hub->open;

	while (*link) {
		struct front_open *open = *link;

		if (!all && !(id && json_equal(id, json_object_get(open->message,
		                                                   "correlationId")))) {
			link = &open->next;
			continue;
		}
		*link = open->next;
		question_free(open);
	}
	if (event->kind == FRONT_BUS && bus_topic_answer(event->topic) != BUS_NONE) {
		*link = mem_alloc(1, sizeof(**link));
		**link = (struct front_open){ .number = event->number, .topic = event->topic,
			                      .message = json_deep_copy(event->message) };
	}
}

/* ---- queues ---------------------------------------------------------------------- */

/* Under the lock. Takes the event. */
static void front_queue_add(struct front *front, struct front_event *event)
{
	event->is_own = event->by && strcmp(event->by, front->name) == 0;
	if (front->last)
		front->last->next = event;
	else
		front->first = event;
	front->last = event;
	front->waiting++;
}

/* Joins the message to the last event, which waits still. */
static bool queue_join(struct front *front, const struct front_event *event)
{
	struct front_event *last = front->last;
	const size_t tail = event->topic == BUS_TOOL_OUTPUT ? front->options.output_tail : 0;
	const json_t *before;

	if (front->lost_from || !last || !piece_follows(last, last->message, event))
		return false;
	before = json_object_get(last->message, "text");
	if (!tail && json_string_length(before) > LIMIT_FRONT_JOINED_BYTES)
		return false;
	json_object_set_new(last->message, "text",
	                    piece_joined(before, json_object_get(event->message, "text"), tail));
	last->last = event->last;
	return true;
}

/* Questions that are open, and older than what is kept. */
static void queue_open(struct front_hub *hub, struct front *front, uint64_t before)
{
	for (const struct front_open *open = hub->open; open; open = open->next)
		if (open->number < before)
			front_queue_add(front, event_copy(
				&(struct front_event){ .kind = FRONT_BUS, .topic = open->topic,
				                       .number = open->number,
				                       .last = open->number },
				json_deep_copy(open->message)));
}

/* Under the lock: everything that is kept from this number on. */
static void queue_kept(struct front_hub *hub, struct front *front, uint64_t from)
{
	const uint64_t first = hub->first_kept ? hub->first_kept->event.number : hub->last + 1;

	if (from < first) {
		front_queue_add(front, event_copy(
			&(struct front_event){ .kind = FRONT_MISSED },
			json_pack("{s:I, s:I}", "from", (json_int_t)from, "to",
			          (json_int_t)(first - 1))));
		queue_open(hub, front, first);
	}
	for (const struct front_kept *kept = hub->first_kept; kept; kept = kept->next)
		if (kept->event.last >= from)
			front_queue_add(front, kept_event(kept));
}

/* Under the lock. */
static void queue_event(struct front *front, const struct front_event *event, bool is_giver)
{
	struct front_event *copy;

	if (queue_join(front, event))
		return;
	if (front->waiting >= LIMIT_FRONT_WAITING && !front->lost_from)
		front->lost_from = event->number;
	if (front->lost_from && !(is_giver && event->task))
		return;
	copy = event_copy(event, json_deep_copy(event->message));
	copy->task = is_giver ? event->task : NULL;
	front_queue_add(front, copy);
}

/* Under the lock; `taken`: bits of fronts that have it already. */
static void hub_spread(struct front_hub *hub, struct front_event *event,
                       const struct front *giver, uint64_t taken)
{
	uint64_t bit = 1;

	event->number = event->last = ++hub->last;
	hub_follow_questions(hub, event);
	hub_keep(hub, event);
	for (struct front *front = hub->fronts; front; front = front->next, bit <<= 1) {
		if (taken & bit)
			continue;
		queue_event(front, event, front == giver);
		front->options.wake(front->options.data, event_is_piece(event));
	}
}

uint64_t front_hub_add(struct front_hub *hub, struct front_event *event,
                       const struct front *giver)
{
	pthread_mutex_lock(&hub->lock);
	hub_spread(hub, event, giver, 0);
	pthread_mutex_unlock(&hub->lock);
	json_decref(event->message);
	return event->number;
}

void front_hub_hear(struct front_hub *hub, enum bus_topic topic, const json_t *message)
{
	struct front_event event = { .kind = FRONT_BUS, .topic = topic,
		                     .message = (json_t *)message };
	uint64_t taken = 0, bit = 1;

	pthread_mutex_lock(&hub->lock);
	for (struct front *front = hub->fronts; front; front = front->next, bit <<= 1)
		if (front->options.takes &&
		    front->options.takes(front->options.data, topic, message))
			taken |= bit;
	hub_spread(hub, &event, NULL, taken);
	pthread_mutex_unlock(&hub->lock);
}

/* ---- fronts ---------------------------------------------------------------------- */

static bool name_is_taken(const struct front_hub *hub, const char *name)
{
	for (const struct front *front = hub->fronts; front; front = front->next)
		if (strcmp(front->name, name) == 0)
			return true;
	return false;
}

bool front_hub_attach(struct front_hub *hub, struct front *front)
{
	const char *name = front->options.name;
	struct front **link = &hub->fronts;
	size_t count = 0;

	pthread_mutex_lock(&hub->lock);
	for (; *link; link = &(*link)->next)
		count++;
	if (count == LIMIT_FRONTS) {
		pthread_mutex_unlock(&hub->lock);
		return false;
	}
	front->name = mem_strdup(name);
	for (unsigned i = 2; name_is_taken(hub, front->name); i++) {
		free(front->name);
		front->name = mem_printf("%s %u", name, i);
	}
	*link = front;
	queue_kept(hub, front, front->options.after + 1);
	if (front->first)
		front->options.wake(front->options.data, false);
	pthread_mutex_unlock(&hub->lock);
	return true;
}

void front_hub_detach(struct front_hub *hub, struct front *front)
{
	struct front_event *event, *next;

	pthread_mutex_lock(&hub->lock);
	for (struct front **link = &hub->fronts; *link; link = &(*link)->next)
		if (*link == front) {
			*link = front->next;
			break;
		}
	pthread_cond_broadcast(&hub->taken);
	pthread_mutex_unlock(&hub->lock);
	for (event = front->first; event; event = next) {
		next = event->next;
		front_event_free(event);
	}
}

struct front_event *front_hub_take(struct front_hub *hub, struct front *front)
{
	struct front_event *first;

	pthread_mutex_lock(&hub->lock);
	if (front->lost_from)
		queue_kept(hub, front, front->lost_from);
	front->lost_from = 0;
	first = front->first;
	front->first = front->last = NULL;
	front->waiting = 0;
	front->taken = hub->last;
	pthread_cond_broadcast(&hub->taken);
	pthread_mutex_unlock(&hub->lock);
	return first;
}

void front_hub_await(struct front_hub *hub, uint64_t number, const struct front *giver)
{
	const struct front *front;

	pthread_mutex_lock(&hub->lock);
	do {
		for (front = hub->fronts; front; front = front->next)
			if (front != giver && front->options.uses_host && front->taken < number)
				break;
		if (front && !hub->over)
			pthread_cond_wait(&hub->taken, &hub->lock);
	} while (front && !hub->over);
	pthread_mutex_unlock(&hub->lock);
}

void front_hub_end(struct front_hub *hub)
{
	pthread_mutex_lock(&hub->lock);
	hub->over = true;
	pthread_cond_broadcast(&hub->taken);
	pthread_mutex_unlock(&hub->lock);
}

void front_hub_init(struct front_hub *hub)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&hub->lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
	pthread_cond_init(&hub->taken, NULL);
}

void front_hub_release(struct front_hub *hub)
{
	while (hub->first_kept)
		kept_drop_first(hub);
	while (hub->open) {
		struct front_open *next = hub->open->next;

		question_free(hub->open);
		hub->open = next;
	}
	pthread_mutex_destroy(&hub->lock);
	pthread_cond_destroy(&hub->taken);
}
