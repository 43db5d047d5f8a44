/* SPDX-License-Identifier: Apache-2.0 */
/* The table of topics, delivery, and waiting for answers. */
#include "bus/bus.h"

#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/span.h"

/* ---- the table of topics: names, and the members of their messages ---- */

/* Each member is NAME, ? if it may be missing, : and the letters of the types it may have (s
 * string, i integer, r real number, b boolean, o object, a array, n null). */
static const char *const members[BUS_TOPIC_COUNT] = {
	[BUS_TOOL_CONFIRMATION_REQUEST] =
		"correlationId:s callId:s toolName:s serverName?:s arguments:o details:o "
		"outcomes:a reason?:s agentName?:s together?:o modes?:a noAlways?:s rule?:s "
		"shown?:s approvals?:o round?:i answers?:a previous?:o",
	[BUS_TOOL_CONFIRMATION_RESPONSE] =
		"correlationId:s outcome:s newContent?:s message?:s review?:o files?:a "
		"byPolicy?:b mode?:s comments?:a shown?:s signature?:s approvedBy?:a",
	[BUS_TOOL_POLICY_REJECTION] = "callId:s toolName:s message:s rule?:s",
	[BUS_UPDATE_POLICY] = "toolName:s commandPrefix?:a serverName?:s saved:b",
	[BUS_ASK_USER_REQUEST] = "correlationId:s questions:a",
	[BUS_ASK_USER_RESPONSE] = "correlationId:s answers?:o cancelled?:b",
	[BUS_ELICITATION_REQUEST] = "correlationId:s serverName:s message:s mode:s "
	                          "fields?:a url?:s login?:b opened?:b problem?:s model?:s "
	                          "maxTokens?:i",
	[BUS_ELICITATION_RESPONSE] = "correlationId:s action:s content?:o open?:b address?:s "
	                           "session?:b",
	[BUS_PROMPT] = "text:s steer?:b",
	[BUS_CONTENT] = "text:s",
	[BUS_THOUGHT] = "text:s subject?:s",
	[BUS_TOOL_CALL] = "callId:s toolName:s title:s arguments:o description:s "
			  "serverName?:s",
	[BUS_TOOL_OUTPUT] = "callId:s text:s",
	[BUS_TOOL_PROGRESS] = "callId:s progress:ir total?:ir message?:s",
	[BUS_TOOL_RESULT] = "callId:s toolName:s status:s result:oasn display:s durationMs:i "
			    "error?:o serverName?:s decision?:s ranName?:s ranArguments?:o",
	[BUS_COMMAND] = "pid:i state:s command?:s callId?:s secret?:b",
	[BUS_COMMAND_OUTPUT] = "pid:i text:s",
	[BUS_COMMAND_INPUT] = "pid:i text:s answer?:b",
	[BUS_COMMAND_RESIZE] = "pid?:i rows:i columns:i",
	[BUS_COMMAND_BACKGROUND] = "pid:i",
	[BUS_MCP_SERVERS] = "action:s serverName?:s session?:b",
	[BUS_MCP_LISTED] = "serverName:s",
	[BUS_API_REQUEST] = "model:s role:s agentName?:s",
	[BUS_API_RESPONSE] = "model:s role:s durationMs:i reason:s usage:o agentName?:s",
	[BUS_API_ERROR] = "model:s role:s durationMs:i type:s error:s agentName?:s",
	[BUS_HOOK_CALL] = "event:s name:s durationMs:i exitCode:i success:b input?:o "
			  "stdout?:s stderr?:s",
	[BUS_NOTICE] = "severity:s message:s delayMs?:i forget?:i hook?:b waitedMs?:i "
		       "limitMs?:i model?:s cause?:s",
	[BUS_MODEL] = "model:s message?:s reason?:s from?:s until?:i forget?:i window?:i "
		      "keyFrom?:s effort?:s",
	[BUS_COMPRESSED] = "before:i after:i how:s",
	[BUS_TODOS] = "todos:a",
	[BUS_TOPIC_UPDATE] = "title?:s summary?:s strategicIntent:s",
	[BUS_APPROVAL_MODE] = "mode:s",
	[BUS_LOOP_DETECTED] = "kind:s count:i",
	[BUS_OUTPUT_TRUNCATED] = "callId:s toolName:s before:i after:i limit:i",
	[BUS_OUTPUTS_MASKED] = "count:i before:i after:i candidates:i",
	[BUS_REWOUND] = "what:s",
	[BUS_AGENT_RUN] = "agentName:s callId:s agentId:s state:s durationMs?:i turns?:i end?:s",
	[BUS_SLASH_COMMAND] = "command:s status:s",
	[BUS_EXTENSION] = "action:s name:s version?:s previousVersion?:s source?:s scope?:s "
	                  "status:s",
	[BUS_SUBAGENT] = "agentName:s callId:s topic:s message:o",
	[BUS_QUESTION_VOTE] = "correlationId:s by:s from?:s vote:s approvals:i needed:i "
			      "approvedBy:a missing?:s shown:s owner:b signature?:s",
	[BUS_QUESTION_ANSWERED] = "correlationId:s question:s outcome:s by?:s from?:s "
				  "approvedBy?:a",
	[BUS_COMMENT] = "text:s by:s",
	[BUS_TURN_END] = "reason:s usage:o",
};

const char *bus_topic_name(enum bus_topic topic)
{
	static const char *const names[] = {
		[BUS_NONE] = "none",
#define BUS_TOPIC_NAME(symbol, name, answer) [BUS_##symbol] = (name),
		BUS_TOPIC_TABLE(BUS_TOPIC_NAME)
#undef BUS_TOPIC_NAME
	};

	return (unsigned)topic < BUS_TOPIC_COUNT ? names[topic] : "none";
}

enum bus_topic bus_topic_answer(enum bus_topic topic)
{
	static const enum bus_topic answers[BUS_TOPIC_COUNT] = {
#define BUS_TOPIC_ANSWER(symbol, name, answer) [BUS_##symbol] = BUS_##answer,
		BUS_TOPIC_TABLE(BUS_TOPIC_ANSWER)
#undef BUS_TOPIC_ANSWER
	};

	return (unsigned)topic < BUS_TOPIC_COUNT ? answers[topic] : BUS_NONE;
}

bool bus_topic_is_order(enum bus_topic topic)
{
	return topic == BUS_COMMAND_INPUT || topic == BUS_COMMAND_RESIZE ||
	       topic == BUS_COMMAND_BACKGROUND || topic == BUS_MCP_SERVERS;
}

const char *bus_topic_members(enum bus_topic topic)
{
	return (unsigned)topic < BUS_TOPIC_COUNT && members[topic] ? members[topic] : "";
}

static char type_letter(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_STRING: return 's';
	case JSON_INTEGER: return 'i';
	case JSON_REAL: return 'r';
	case JSON_TRUE:
	case JSON_FALSE: return 'b';
	case JSON_OBJECT: return 'o';
	case JSON_ARRAY: return 'a';
	case JSON_NULL: return 'n';
	default: return '-';
	}
}

/* `row` is one member of the table. */
static bool check_member(struct span row, const json_t *message, struct err *err)
{
	size_t colon = (size_t)((const char *)memchr(row.data, ':', row.len) - row.data);
	bool optional = row.data[colon - 1] == '?';
	struct span name = span_head(row, colon - optional);
	const json_t *value = json_object_getn(message, name.data, name.len);

	if (!value && optional)
		return true;
	if (!value)
		return err_set(err, ERR_INVALID_ARGUMENT, "The member %.*s is missing.",
		               (int)name.len, name.data);
	if (!memchr(row.data + colon, type_letter(value), row.len - colon))
		return err_set(err, ERR_INVALID_ARGUMENT, "The member %.*s has the wrong type.",
		               (int)name.len, name.data);
	return true;
}

bool bus_check(enum bus_topic topic, const json_t *message, struct err *err)
{
	const char *row = bus_topic_members(topic);

	if (!json_is_object(message) || !*row)
		return err_set(err, ERR_INVALID_ARGUMENT, "This is no message of a topic.");
	while (*row) {
		size_t len = strcspn(row, " ");

		if (!check_member(span_of(row, len), message, err))
			return false;
		row += len + strspn(row + len, " ");
	}
	return true;
}

/* ---- delivery ---------------------------------------------------------------- */

/* Delivery, and waiting for answers.
 *
 * Two locks.  `delivery` is recursive and held while listeners run: that makes it one message at
 * a time, lets a listener publish and unsubscribe, and makes bus_unsubscribe wait for a listener
 * that another thread runs.  `state` guards the list of those who wait and is never held while
 * anything else runs. Order: delivery before state.
 */

struct subscriber {
	unsigned id; /* 0: unsubscribed while messages were delivered */
	enum bus_topic topic;
	bus_listener *listener;
	void *data;
};

/* One bus_ask, on its stack. */
struct waiter {
	struct waiter *next;
	enum bus_topic question, answer_topic;
	const char *id;
	const struct bus_judge *judge; /* NULL: the first answer counts */
	unsigned judged; /* bus.rejudged, when it was last asked */
	bool claimed;   /* an answer has been taken, and is being published */
	bool deserted;  /* no subscriber that could answer is left */
	json_t *answer; /* owned; set last */
	int fd;         /* an eventfd: look again */
};

struct bus {
	pthread_mutex_t delivery, state;
	struct subscriber *subscribers; /* under delivery */
	size_t count, cap;
	unsigned last_id;
	unsigned depth;                 /* deliveries inside each other, under delivery */
	struct waiter *waiters;         /* under state */
	unsigned rejudged;              /* rounds of bus_rejudge, under delivery */
	json_t *(*people)(void *data);  /* under delivery, with its data */
	void *people_data;
};

struct bus *bus_new(void)
{
	struct bus *bus = mem_alloc(1, sizeof(*bus));
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&bus->delivery, &attributes);
	pthread_mutexattr_destroy(&attributes);
	pthread_mutex_init(&bus->state, NULL);
	return bus;
}

void bus_free(struct bus *bus)
{
	if (!bus)
		return;
	pthread_mutex_destroy(&bus->delivery);
	pthread_mutex_destroy(&bus->state);
	free(bus->subscribers);
	free(bus);
}

/* ---- subscribers --------------------------------------------------------------- */

unsigned bus_subscribe(struct bus *bus, enum bus_topic topic, bus_listener *listener, void *data)
{
	unsigned id;

	pthread_mutex_lock(&bus->delivery);
	if (bus->count == bus->cap)
		bus->subscribers = mem_grow(bus->subscribers, &bus->cap, bus->count + 1,
		                            sizeof(*bus->subscribers));
	id = ++bus->last_id;
	bus->subscribers[bus->count++] = (struct subscriber){
		.id = id, .topic = topic, .listener = listener, .data = data,
	};
	pthread_mutex_unlock(&bus->delivery);
	return id;
}

/* Takes out what was unsubscribed. Under delivery, outside all deliveries. */
static void sweep_listeners(struct bus *bus)
{
	size_t kept = 0;

	for (size_t i = 0; i < bus->count; i++)
		if (bus->subscribers[i].id)
			bus->subscribers[kept++] = bus->subscribers[i];
	bus->count = kept;
}

/* Under delivery. */
static bool topic_has_listener(const struct bus *bus, enum bus_topic topic)
{
	for (size_t i = 0; i < bus->count; i++)
		if (bus->subscribers[i].id && bus->subscribers[i].topic == topic)
			return true;
	return false;
}

static void wake_waiter(const struct waiter *waiter)
{
	fd_ring(waiter->fd);
}

/* Under delivery. */
static void report_deserted(struct bus *bus)
{
	pthread_mutex_lock(&bus->state);
	for (struct waiter *waiter = bus->waiters; waiter; waiter = waiter->next) {
		if (topic_has_listener(bus, waiter->question))
			continue;
		waiter->deserted = true;
		wake_waiter(waiter);
	}
	pthread_mutex_unlock(&bus->state);
}

void bus_unsubscribe(struct bus *bus, unsigned id)
{
	pthread_mutex_lock(&bus->delivery);
	for (size_t i = 0; id && i < bus->count; i++)
		if (bus->subscribers[i].id == id)
			bus->subscribers[i].id = 0;
	if (bus->depth == 0)
		sweep_listeners(bus);
	report_deserted(bus);
	pthread_mutex_unlock(&bus->delivery);
}

bool bus_has_listener(struct bus *bus, enum bus_topic topic)
{
	bool found;

	if (!bus)
		return false;
	pthread_mutex_lock(&bus->delivery);
	found = topic_has_listener(bus, topic);
	pthread_mutex_unlock(&bus->delivery);
	return found;
}

/* ---- messages ------------------------------------------------------------------ */

/* Under delivery. Who subscribes meanwhile gets the next message. */
static void deliver_message(struct bus *bus, enum bus_topic topic, const json_t *message)
{
	size_t count = bus->count;

	bus->depth++;
	for (size_t i = 0; i < count; i++) {
		const struct subscriber subscriber = bus->subscribers[i];

		if (subscriber.id &&
		    (subscriber.topic == topic ||
		     (subscriber.topic == BUS_NONE && topic != BUS_COMMAND_INPUT)))
			subscriber.listener(subscriber.data, topic, message);
	}
	if (--bus->depth == 0)
		sweep_listeners(bus);
}

void bus_publish(struct bus *bus, enum bus_topic topic, const json_t *message)
{
	if (!bus)
		return;
	pthread_mutex_lock(&bus->delivery);
	deliver_message(bus, topic, message);
	pthread_mutex_unlock(&bus->delivery);
}

/* ---- questions ----------------------------------------------------------------- */

/* Under state. */
static void waiter_remove(struct bus *bus, const struct waiter *waiter)
{
	for (struct waiter **link = &bus->waiters; *link; link = &(*link)->next) {
		if (*link == waiter) {
			*link = waiter->next;
			return;
		}
	}
}

/* False: there is no listener, and nothing was published. */
static bool pose(struct bus *bus, enum bus_topic topic, const json_t *message,
                 struct waiter *waiter)
{
	bool delivered;

	pthread_mutex_lock(&bus->delivery);
	delivered = bus->depth == 0 && topic_has_listener(bus, topic);
	if (delivered) {
		pthread_mutex_lock(&bus->state);
		waiter->next = bus->waiters;
		bus->waiters = waiter;
		pthread_mutex_unlock(&bus->state);
		deliver_message(bus, topic, message);
		if (!topic_has_listener(bus, topic))
			report_deserted(bus);
	}
	pthread_mutex_unlock(&bus->delivery);
	return delivered;
}

/* Takes the waiter out, unless an answer that was taken is still on its way. *ret: how it ended. */
static bool settled(struct bus *bus, struct waiter *waiter, bool late, bool stopped,
                    enum bus_reply *ret)
{
	bool over;

	pthread_mutex_lock(&bus->state);
	over = waiter->answer ||
	       (!waiter->claimed && (waiter->deserted || late || stopped));
	if (over)
		waiter_remove(bus, waiter);
	*ret = waiter->answer ? BUS_ANSWERED : stopped ? BUS_CANCELLED
	                                     : late    ? BUS_TIMED_OUT : BUS_NOBODY;
	pthread_mutex_unlock(&bus->state);
	return over;
}

/* Until `end` (ms, 0: none). */
static enum bus_reply wait_for_answer(struct bus *bus, struct waiter *waiter, int64_t end,
                                      const struct cancel *cancel)
{
	enum bus_reply reply;

	for (;;) {
		int64_t left = end ? (int64_t)(end - clock_monotonic_ms()) : -1;
		bool late = end && left <= 0, stopped = cancelled(cancel);
		struct pollfd fds[] = {
			{ .fd = waiter->fd, .events = POLLIN },
			/* Once it is known it need not wake again. */
			{ .fd = stopped ? -1 : cancel_fd(cancel), .events = POLLIN },
		};
		eventfd_t ignored;

		if (settled(bus, waiter, late, stopped, &reply))
			return reply;
		if (late || left > INT32_MAX)
			left = late ? -1 : INT32_MAX;
		if (fd_wait(fds, 2, (int)left) > 0 && fds[0].revents)
			(void)eventfd_read(waiter->fd, &ignored);
	}
}

static void bus_publish_withdrawn(struct bus *bus, enum bus_topic question, const char *id)
{
	json_auto_t *message = json_pack("{s:s, s:s, s:s}", "correlationId", id, "question",
	                                 bus_topic_name(question), "outcome", "withdrawn");

	bus_publish(bus, BUS_QUESTION_ANSWERED, message);
}

/* The word of an answer that says how it was meant. */
static const char *answer_outcome(const json_t *answer)
{
	const char *word = json_string_value(json_object_get(answer, "outcome"));

	if (!word)
		word = json_string_value(json_object_get(answer, "action"));
	if (!word)
		word = json_is_true(json_object_get(answer, "cancelled")) ? "cancelled" :
		                                                            "answered";
	return word;
}

/* A random UUID: only a subscriber that got the question can answer it. */
void bus_identify(json_t *message)
{
	unsigned char bytes[RANDOM_UUID_BYTES];
	char id[RANDOM_UUID_SIZE];
	struct err ignored = ERR_INIT;

	if (!random_fill(bytes, sizeof(bytes), &ignored))
		return;
	random_uuid_print(bytes, id);
	json_object_set_new(message, "correlationId", json_string(id));
}

/* The waiter of a question that has no answer yet; it then waits until `hand_over_answer` or
 * `release_waiter`. */
static struct waiter *claim_waiter(struct bus *bus, enum bus_topic topic, const char *id)
{
	struct waiter *waiter;

	pthread_mutex_lock(&bus->state);
	for (waiter = bus->waiters; waiter; waiter = waiter->next)
		if (waiter->answer_topic == topic && strcmp(waiter->id, id) == 0)
			break;
	if (waiter && waiter->claimed)
		waiter = NULL;
	if (waiter)
		waiter->claimed = true;
	pthread_mutex_unlock(&bus->state);
	return waiter;
}

/* The question stays open. */
static void release_waiter(struct bus *bus, struct waiter *waiter)
{
	pthread_mutex_lock(&bus->state);
	waiter->claimed = false;
	wake_waiter(waiter);
	pthread_mutex_unlock(&bus->state);
}

static void hand_over_answer(struct bus *bus, struct waiter *waiter, json_t *answer)
{
	pthread_mutex_lock(&bus->state);
	waiter->answer = answer;
	wake_waiter(waiter);
	pthread_mutex_unlock(&bus->state);
}

/* Of a reviewer the person, whatever the front is called. */
static void bus_publish_answered(struct bus *bus, const struct waiter *waiter,
                                 const json_t *answer, const struct bus_voter *voter)
{
	json_t *name = json_object_get(voter->person, "name");
	json_auto_t *message = json_pack(
		"{s:s, s:s, s:s, s:s, s:O*}", "correlationId", waiter->id, "question",
		bus_topic_name(waiter->question), "outcome", answer_outcome(answer), "by",
		name ? json_string_value(name) : voter->front, "approvedBy",
		waiter->judge ? json_object_get(answer, "approvedBy") : NULL);

	if (name)
		json_object_set_new(message, "from", json_string(voter->front));
	bus_publish(bus, BUS_QUESTION_ANSWERED, message);
}

/* The claimed waiter gets the answer, or goes on waiting; it may be over on return.  Under
 * delivery. */
static bool judge_answer(struct bus *bus, struct waiter *waiter, const json_t *answer,
                         const struct bus_voter *voter, struct err *err)
{
	enum bus_ruling ruling = BUS_DECIDED;
	json_auto_t *other = NULL;

	if (waiter->judge)
		ruling = waiter->judge->rule(waiter->judge->data, answer, voter, &other, err);
	if (ruling != BUS_DECIDED) {
		release_waiter(bus, waiter);
		return ruling == BUS_OPEN;
	}
	answer = other ? other : answer;
	bus_publish(bus, waiter->answer_topic, answer);
	if (voter)
		bus_publish_answered(bus, waiter, answer, voter);
	/* A copy: the answering thread may go on using its own. */
	hand_over_answer(bus, waiter, json_deep_copy(answer));
	return true;
}

/* ---- asking ---- */

/* Published, and judged for the first time: more may be known than the asker thought. */
static bool pose_judged(struct bus *bus, enum bus_topic topic, const json_t *message,
                        struct waiter *waiter)
{
	struct err ignored = ERR_INIT;
	bool posed;

	pthread_mutex_lock(&bus->delivery);
	posed = pose(bus, topic, message, waiter);
	if (posed && waiter->judge && claim_waiter(bus, waiter->answer_topic, waiter->id))
		judge_answer(bus, waiter, NULL, NULL, &ignored);
	pthread_mutex_unlock(&bus->delivery);
	return posed;
}

static enum bus_reply ask_waiting(struct bus *bus, enum bus_topic topic, json_t *message,
                                  const struct bus_judge *judge, unsigned timeout_ms,
                                  const struct cancel *cancel, json_t **ret)
{
	_cleanup_fd_ int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct waiter waiter = {
		.question = topic, .answer_topic = bus_topic_answer(topic), .fd = fd,
		.judge = judge,
	};
	enum bus_reply reply;

	if (!json_string_length(json_object_get(message, "correlationId")))
		bus_identify(message);
	waiter.id = json_string_value(json_object_get(message, "correlationId"));
	if (!bus || !waiter.id || fd < 0 || !waiter.answer_topic ||
	    !pose_judged(bus, topic, message, &waiter))
		return BUS_NOBODY;
	reply = wait_for_answer(bus, &waiter,
	                        timeout_ms ? clock_monotonic_ms() + timeout_ms : 0, cancel);
	if (reply == BUS_ANSWERED)
		*ret = waiter.answer;
	else
		bus_publish_withdrawn(bus, topic, waiter.id);
	return reply;
}

enum bus_reply bus_ask(struct bus *bus, enum bus_topic topic, json_t *message, unsigned timeout_ms,
                       const struct cancel *cancel, json_t **ret)
{
	return ask_waiting(bus, topic, message, NULL, timeout_ms, cancel, ret);
}

enum bus_reply bus_ask_judged(struct bus *bus, enum bus_topic topic, json_t *message,
                              const struct bus_judge *judge, const struct cancel *cancel,
                              json_t **ret)
{
	return ask_waiting(bus, topic, message, judge, 0, cancel, ret);
}

/* ---- answering ---- */

bool bus_answer(struct bus *bus, enum bus_topic topic, const json_t *answer)
{
	struct err ignored = ERR_INIT;

	return bus_answer_as(bus, topic, answer, NULL, &ignored);
}

bool bus_answer_as(struct bus *bus, enum bus_topic topic, const json_t *answer,
                   const struct bus_voter *voter, struct err *err)
{
	struct waiter *waiter;
	bool taken;

	if (!bus_check(topic, answer, err))
		return false;
	if (bus)
		pthread_mutex_lock(&bus->delivery);
	waiter = bus ? claim_waiter(bus, topic, json_string_value(json_object_get(answer,
		                                                          "correlationId"))) :
	               NULL;
	taken = waiter ? judge_answer(bus, waiter, answer, voter, err) :
	                 err_set(err, ERR_INVALID_ARGUMENT,
	                         "This question is not open: it was answered or withdrawn.");
	if (bus)
		pthread_mutex_unlock(&bus->delivery);
	return taken;
}

/* A judged question that this round has not asked; NULL: none. */
static struct waiter *claim_judged(struct bus *bus)
{
	struct waiter *waiter;

	pthread_mutex_lock(&bus->state);
	for (waiter = bus->waiters; waiter; waiter = waiter->next)
		if (waiter->judge && !waiter->claimed && waiter->judged != bus->rejudged)
			break;
	if (waiter) {
		waiter->claimed = true;
		waiter->judged = bus->rejudged;
	}
	pthread_mutex_unlock(&bus->state);
	return waiter;
}

void bus_rejudge(struct bus *bus)
{
	struct err ignored = ERR_INIT;
	struct waiter *waiter;

	pthread_mutex_lock(&bus->delivery);
	bus->rejudged++;
	while ((waiter = claim_judged(bus)))
		judge_answer(bus, waiter, NULL, NULL, &ignored);
	pthread_mutex_unlock(&bus->delivery);
}

/* ---- people ---- */

void bus_set_people(struct bus *bus, json_t *(*list)(void *data), void *data)
{
	pthread_mutex_lock(&bus->delivery);
	bus->people = list;
	bus->people_data = data;
	pthread_mutex_unlock(&bus->delivery);
}

json_t *bus_people(struct bus *bus)
{
	json_t *people = NULL;

	if (bus) {
		pthread_mutex_lock(&bus->delivery);
		if (bus->people)
			people = bus->people(bus->people_data);
		pthread_mutex_unlock(&bus->delivery);
	}
	return people ? people : json_pack("[{}]");
}
