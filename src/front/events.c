/* SPDX-License-Identifier: Apache-2.0 */
/* The events of a session: numbered, the last of them kept for fronts that attach late, and queued
 * for each front.  One copy of a message is shared by the log and all queues; nothing is printed.
 *
 * A queue of a front that does not take its events ends at LIMIT_FRONT_WAITING: from there on only
 * what is for it alone is queued, and what is kept follows when it takes them again. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
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

/* The event is the first member. */
static void entry_free(struct front_entry *entry)
{
	buf_release(&entry->more);
	front_event_free(&entry->event);
}

/* The message is shared; the task is the giver's alone. */
static struct front_entry *entry_new(const struct front_event *event)
{
	struct front_entry *entry = mem_alloc(1, sizeof(*entry));

	*entry = (struct front_entry){ .event = *event, .more = BUF_INIT(LIMIT_RESULT_BYTES) };
	entry->event.next = NULL;
	entry->event.message = json_incref(event->message);
	entry->event.by = mem_strdup(event->by);
	entry->event.task = NULL;
	entry->event.err = NULL;
	if (event->err) {
		entry->event.err = mem_alloc(1, sizeof(*entry->event.err));
		*entry->event.err = *event->err;
	}
	return entry;
}

/* ---- pieces of text ------------------------------------------------------------ */

static bool event_is_piece(const struct front_event *event)
{
	return event->kind == FRONT_BUS &&
	       (event->topic == BUS_CONTENT || event->topic == BUS_TOOL_OUTPUT);
}

/* Pieces of an answer name no call. */
static bool piece_is_of(const struct front_event *event, const json_t *call)
{
	const json_t *own = json_object_get(event->message, "callId");

	return own == call || json_equal(own, call);
}

static struct span piece_text(const struct front_event *event)
{
	return json_span(json_object_get(event->message, "text"));
}

/* Joins a piece to the entry that it continues: of an answer, or of the same call's output. `tail`:
 * keep only about so much of the end; 0: all. */
static bool entry_join(struct front_entry *entry, const struct front_event *event, size_t tail)
{
	if (!entry || !event_is_piece(event) || entry->event.kind != FRONT_BUS ||
	    entry->event.topic != event->topic ||
	    !piece_is_of(&entry->event, json_object_get(event->message, "callId")))
		return false;
	if (!tail && piece_text(&entry->event).len + entry->more.len > LIMIT_FRONT_JOINED_BYTES)
		return false;
	buf_span(&entry->more, piece_text(event));
	if (tail && entry->more.len > 2 * tail) {
		memmove(entry->more.data, entry->more.data + entry->more.len - tail, tail);
		entry->more.len = tail;
		entry->more.data[tail] = '\0';
		entry->is_cut = true;
	}
	entry->event.last = event->last;
	return true;
}

/* The last `tail` bytes, from a character's first byte on; 0: all. */
static struct span text_tail(struct span text, size_t tail)
{
	if (!tail || text.len <= tail)
		return text;
	text = span_skip(text, text.len - tail);
	while (text.len && (text.data[0] & 0xC0) == 0x80)
		text = span_skip(text, 1);
	return text;
}

/* The message with all that was joined to it; a new reference. */
static json_t *entry_joined(const struct front_entry *entry, size_t tail)
{
	_cleanup_buf_ struct buf all = BUF_INIT(LIMIT_RESULT_BYTES);
	json_t *message;

	if (!entry->more.len)
		return json_incref(entry->event.message);
	if (!entry->is_cut)
		buf_span(&all, piece_text(&entry->event));
	buf_span(&all, buf_view(&entry->more));
	message = json_copy(entry->event.message);
	json_object_set_new(message, "text", json_text(text_tail(buf_view(&all), tail)));
	return message;
}

/* ---- what is kept -------------------------------------------------------------- */

/* About the memory that a message takes; as deep as the JSON that the bus carries. */
static size_t message_size(const json_t *value)
{
	enum { NODE_BYTES = 48 };
	size_t size = NODE_BYTES + json_string_length(value), i;
	const char *name;
	json_t *member;

	json_object_foreach((json_t *)value, name, member)
		size += strlen(name) + message_size(member);
	json_array_foreach((json_t *)value, i, member)
		size += message_size(member);
	return size;
}

static void log_drop_first(struct front_hub *hub)
{
	struct front_entry *entry = hub->first_kept;

	hub->kept_bytes -= entry->size;
	hub->first_kept = (struct front_entry *)entry->event.next;
	if (!hub->first_kept)
		hub->last_kept = NULL;
	entry_free(entry);
}

/* Under the lock. */
static void log_add(struct front_hub *hub, const struct front_event *event)
{
	struct front_entry *entry = hub->last_kept;
	size_t size;

	if (entry_join(entry, event, 0)) {
		size = piece_text(event).len;
	} else {
		entry = entry_new(event);
		size = sizeof(*entry) + message_size(event->message) +
		       (event->err ? sizeof(*event->err) : 0);
		if (hub->last_kept)
			hub->last_kept->event.next = &entry->event;
		else
			hub->first_kept = entry;
		hub->last_kept = entry;
	}
	entry->size += size;
	hub->kept_bytes += size;
	while (hub->first_kept && hub->kept_bytes > LIMIT_FRONT_LOG_BYTES)
		log_drop_first(hub);
}

/* ---- questions that are open ------------------------------------------------------ */

static void question_free(struct front_open *open)
{
	json_decref(open->message);
	json_decref(open->vote);
	free(open);
}

/* Under the lock. */
static void hub_note_vote(struct front_hub *hub, const struct front_event *event)
{
	const json_t *id = json_object_get(event->message, "correlationId");

	for (struct front_open *open = hub->open; open; open = open->next)
		if (json_equal(id, json_object_get(open->message, "correlationId"))) {
			json_decref(open->vote);
			open->vote = json_incref(event->message);
			open->voted = event->number;
		}
}

/* Under the lock. Answers and withdrawals name the question's id; none outlives its session. */
static void hub_follow_questions(struct front_hub *hub, const struct front_event *event)
{
	const json_t *id = event->kind == FRONT_BUS ?
	                           json_object_get(event->message, "correlationId") : NULL;
	const bool all = event->kind == FRONT_OPENED || event->kind == FRONT_OVER;
	struct front_open **link = &hub->open;

	if (event->kind == FRONT_BUS && event->topic == BUS_QUESTION_VOTE) {
		hub_note_vote(hub, event);
		return;
	}
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
			                      .message = json_incref(event->message) };
	}
}

/* ---- queues ---------------------------------------------------------------------- */

/* Under the lock. Takes the entry. */
static void front_queue_add(struct front *front, struct front_entry *entry)
{
	entry->event.is_own = entry->event.by && strcmp(entry->event.by, front->name) == 0;
	if (front->last)
		front->last->event.next = &entry->event;
	else
		front->first = entry;
	front->last = entry;
	front->waiting++;
}

/* Questions that are open, with their last votes, where these are older than what is kept. */
static void queue_open(struct front_hub *hub, struct front *front, uint64_t before)
{
	for (const struct front_open *open = hub->open; open; open = open->next) {
		if (open->number < before)
			front_queue_add(front, entry_new(&(struct front_event){
				.kind = FRONT_BUS, .topic = open->topic, .number = open->number,
				.last = open->number, .message = open->message }));
		if (open->vote && open->voted < before)
			front_queue_add(front, entry_new(&(struct front_event){
				.kind = FRONT_BUS, .topic = BUS_QUESTION_VOTE,
				.number = open->voted, .last = open->voted,
				.message = open->vote }));
	}
}

/* Under the lock: everything that is kept from this number on. */
static void queue_kept(struct front_hub *hub, struct front *front, uint64_t from)
{
	const uint64_t first = hub->first_kept ? hub->first_kept->event.number : hub->last + 1;

	if (from < first) {
		json_auto_t *missed = json_pack("{s:I, s:I}", "from", (json_int_t)from, "to",
		                                (json_int_t)(first - 1));

		front_queue_add(front, entry_new(&(struct front_event){ .kind = FRONT_MISSED,
		                                                  .message = missed }));
		queue_open(hub, front, first);
	}
	for (const struct front_entry *kept = hub->first_kept; kept;
	     kept = (const struct front_entry *)kept->event.next) {
		struct front_event event = kept->event;

		if (event.last < from)
			continue;
		event.message = entry_joined(kept, 0);
		front_queue_add(front, entry_new(&event));
		json_decref(event.message);
	}
}

/* Under the lock. */
static void queue_event(struct front *front, const struct front_event *event, bool is_giver)
{
	const size_t tail = event->topic == BUS_TOOL_OUTPUT ? front->options.output_tail : 0;
	struct front_entry *entry;

	if (!front->lost_from && entry_join(front->last, event, tail))
		return;
	if (front->waiting >= LIMIT_FRONT_WAITING && !front->lost_from)
		front->lost_from = event->number;
	if (front->lost_from && !(is_giver && event->task))
		return;
	entry = entry_new(event);
	entry->event.task = is_giver ? event->task : NULL;
	front_queue_add(front, entry);
}

/* Under the lock; `taken`: bits of fronts with options.takes, those that have it already. */
static void hub_spread(struct front_hub *hub, struct front_event *event,
                       const struct front *giver, uint64_t taken)
{
	uint64_t bit = 1;

	event->number = event->last = ++hub->last;
	hub_follow_questions(hub, event);
	log_add(hub, event);
	for (struct front *front = hub->fronts; front; front = front->next) {
		const bool has_it = front->options.takes && (taken & bit);

		if (front->options.takes)
			bit <<= 1;
		if (has_it || !front->options.wake)
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
	struct front_event event = { .kind = FRONT_BUS, .topic = topic };
	uint64_t taken = 0, bit = 1;

	pthread_mutex_lock(&hub->lock);
	for (struct front *front = hub->fronts; front; front = front->next) {
		if (!front->options.takes)
			continue;
		if (front->options.takes(front->options.data, topic, message))
			taken |= bit;
		bit <<= 1;
	}
	/* The publisher may go on using its own. */
	event.message = json_deep_copy(message);
	hub_spread(hub, &event, NULL, taken);
	pthread_mutex_unlock(&hub->lock);
	json_decref(event.message);
}

/* ---- fronts ---------------------------------------------------------------------- */

json_t *front_hub_list(struct front_hub *hub)
{
	json_t *list = json_array();

	pthread_mutex_lock(&hub->lock);
	for (const struct front *front = hub->fronts; front; front = front->next)
		json_array_append_new(list, json_pack("{s:o, s:i}", "name",
		                                      json_text(span_str(front->name)), "roles",
		                                      (int)front->options.roles));
	pthread_mutex_unlock(&hub->lock);
	return list;
}

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
	size_t count = 0, takers = 0;

	pthread_mutex_lock(&hub->lock);
	for (; *link; link = &(*link)->next) {
		count++;
		takers += (*link)->options.takes != NULL;
	}
	if (count == LIMIT_FRONTS || (front->options.takes && takers == FRONT_TAKERS_MAX)) {
		pthread_mutex_unlock(&hub->lock);
		return false;
	}
	front->name = mem_strdup(name);
	for (unsigned i = 2; name_is_taken(hub, front->name); i++) {
		free(front->name);
		front->name = mem_printf("%s %u", name, i);
	}
	*link = front;
	if (front->options.wake)
		queue_kept(hub, front, front->options.after + 1);
	if (front->first)
		front->options.wake(front->options.data, false);
	pthread_mutex_unlock(&hub->lock);
	return true;
}

void front_hub_detach(struct front_hub *hub, struct front *front)
{
	struct front_entry *entry, *next;

	pthread_mutex_lock(&hub->lock);
	for (struct front **link = &hub->fronts; *link; link = &(*link)->next)
		if (*link == front) {
			*link = front->next;
			break;
		}
	pthread_cond_broadcast(&hub->taken);
	pthread_mutex_unlock(&hub->lock);
	for (entry = front->first; entry; entry = next) {
		next = (struct front_entry *)entry->event.next;
		entry_free(entry);
	}
}

/* What was joined stands in the messages. */
static struct front_event *queue_events(struct front *front)
{
	struct front_event *first = front->first ? &front->first->event : NULL;

	for (struct front_event *event = first; event; event = event->next) {
		struct front_entry *entry = (struct front_entry *)event;
		json_t *message = entry_joined(entry, event->topic == BUS_TOOL_OUTPUT ?
		                                       front->options.output_tail : 0);

		json_decref(event->message);
		event->message = message;
		buf_release(&entry->more);
	}
	return first;
}

struct front_event *front_hub_take(struct front_hub *hub, struct front *front)
{
	struct front_event *first;

	pthread_mutex_lock(&hub->lock);
	if (front->lost_from)
		queue_kept(hub, front, front->lost_from);
	front->lost_from = 0;
	first = queue_events(front);
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

json_t *front_hub_people(struct front_hub *hub)
{
	json_t *people = json_pack("[{}]"), *person;
	const char *name;

	pthread_mutex_lock(&hub->lock);
	json_object_foreach(hub->invited, name, person)
		json_array_append(people, person);
	for (const struct front *front = hub->fronts; front; front = front->next)
		if (front->person && front->options.roles & FRONT_APPROVE)
			json_array_append(people, front->person);
	pthread_mutex_unlock(&hub->lock);
	return people;
}

json_t *front_hub_voted(struct front_hub *hub)
{
	json_t *ids = json_array();

	pthread_mutex_lock(&hub->lock);
	for (const struct front_open *open = hub->open; open; open = open->next)
		if (json_object_get(open->message, "approvals"))
			json_array_append(ids, json_object_get(open->message, "correlationId"));
	pthread_mutex_unlock(&hub->lock);
	return ids;
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
	hub->invited = json_object();
}

void front_hub_release(struct front_hub *hub)
{
	while (hub->first_kept)
		log_drop_first(hub);
	while (hub->open) {
		struct front_open *next = hub->open->next;

		question_free(hub->open);
		hub->open = next;
	}
	json_decref(hub->invited);
	pthread_mutex_destroy(&hub->lock);
	pthread_cond_destroy(&hub->taken);
}
