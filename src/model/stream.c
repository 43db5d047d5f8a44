/* SPDX-License-Identifier: Apache-2.0 */
/* One attempt: builds and sends a request, passes the answer's events to the format's reader, and
 * turns an unusable answer into an error. */
#include "model/stream.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "model/fault.h"
#include "model/wire.h"
#include "net/http/headers.h"

/* ---- when to ask again ------------------------------------------------------- */

enum {
	ATTEMPTS = 10,
	FIRST_DELAY_MS = 5000,
	LONGEST_DELAY_MS = 30000,
	/* Breaks begin with a fifth of the delay of overload: 1 s. */
	BREAK_SHARE = 5,
	BREAK_RETRIES = 3,
	UNREADABLE_RETRIES = 1,
	SILENT_RETRIES = 1,
	/* Of hasp's own delay, the least that is waited whatever a server says. */
	FLOOR_SHARE = 10,
	/* Overload is waited for less often if there is a fallback. */
	OVERLOADS_BEFORE_SWITCH = 3,
};

void stream_retry_init(struct retry *retry, const struct model_options *options, bool more_models)
{
	*retry = (struct retry){
		.max_attempts = options->max_attempts ? options->max_attempts : ATTEMPTS,
		.first_delay_ms = options->first_delay_ms ? options->first_delay_ms :
		                                            FIRST_DELAY_MS,
		.no_network = options->no_network_retries,
		.more_models = more_models,
	};
	if (getrandom(&retry->random, sizeof(retry->random), 0) < 0)
		retry->random = clock_monotonic_ms();
	retry->random |= 1;
}

/* A number from [0, 1): xorshift64. */
static double retry_random(struct retry *retry)
{
	retry->random ^= retry->random << 13;
	retry->random ^= retry->random >> 7;
	retry->random ^= retry->random << 17;
	return (double)(retry->random >> 11) / 9007199254740992.0;
}

/* first × 2^n up to the longest, ±30 %. */
static unsigned retry_backoff(struct retry *retry, double first_ms, unsigned n)
{
	double longest = (double)retry->first_delay_ms * LONGEST_DELAY_MS / FIRST_DELAY_MS;
	double delay = first_ms;

	while (n-- && delay < longest)
		delay *= 2;
	if (delay > longest)
		delay = longest;
	return (unsigned)(delay * (0.7 + 0.6 * retry_random(retry)));
}

/* Waits at least as long as the server requests, and not less than the floor, plus up to a fifth so
 * that clients do not return at the same time. */
static enum retry_step retry_overloaded(struct retry *retry, const struct attempt *attempt,
                                        unsigned *ret_delay_ms)
{
	unsigned n = retry->overloads++;

	if (attempt->delay_s > RETRY_LONGEST_S)
		return retry->more_models ? RETRY_SWITCH : RETRY_NEVER;
	if (retry->more_models && retry->overloads >= OVERLOADS_BEFORE_SWITCH)
		return RETRY_SWITCH;
	*ret_delay_ms = retry_backoff(retry, retry->first_delay_ms, n);
	if (attempt->delay_s >= 0) {
		unsigned floor_ms = *ret_delay_ms / FLOOR_SHARE + 1;

		*ret_delay_ms = (unsigned)(attempt->delay_s * 1000 * (1 +
		                                                      0.2 * retry_random(retry)));
		if (*ret_delay_ms < floor_ms)
			*ret_delay_ms = floor_ms;
	}
	return RETRY_AGAIN;
}

static enum retry_step retry_broken(struct retry *retry, unsigned retries, unsigned *ret_delay_ms)
{
	if (retry->breaks >= retries)
		return RETRY_NEVER;
	*ret_delay_ms = retry_backoff(retry, (double)retry->first_delay_ms / BREAK_SHARE,
	                              retry->breaks++);
	return RETRY_AGAIN;
}

enum retry_step stream_retry_after(struct retry *retry, const struct attempt *attempt,
                                   unsigned *ret_delay_ms)
{
	enum retry_step step = RETRY_NEVER;

	*ret_delay_ms = 0;
	retry->attempts++;
	if (attempt->trouble == WIRE_QUOTA)
		return retry->more_models ? RETRY_SWITCH : RETRY_NEVER;
	if (attempt->trouble == WIRE_TRANSIENT)
		step = retry_overloaded(retry, attempt, ret_delay_ms);
	else if (attempt->trouble == WIRE_BROKEN && !(retry->no_network && attempt->network))
		step = retry_broken(retry, attempt->silent ? SILENT_RETRIES : BREAK_RETRIES,
		                    ret_delay_ms);
	else if (attempt->trouble == WIRE_UNREADABLE)
		step = retry_broken(retry, UNREADABLE_RETRIES, ret_delay_ms);
	if (step == RETRY_AGAIN && retry->attempts >= retry->max_attempts)
		step = attempt->trouble == WIRE_TRANSIENT && retry->more_models ? RETRY_SWITCH :
		                                                                  RETRY_NEVER;
	return step;
}

bool stream_retry_wait(unsigned delay_ms, const struct cancel *cancel)
{
	uint64_t end = clock_monotonic_ms() + delay_ms;
	struct pollfd fd = { .fd = cancel_fd(cancel), .events = POLLIN };

	for (;;) {
		uint64_t now = clock_monotonic_ms();

		if (cancelled(cancel))
			return false;
		if (now >= end)
			return true;
		if (poll(&fd, 1, (int)(end - now)) < 0 && errno != EINTR)
			return true;
	}
}

/* ---- an attempt -------------------------------------------------------------- */

#define TOO_LARGE "The reply is too large."

enum answer_shape { SHAPE_UNKNOWN, SHAPE_EVENTS, SHAPE_WHOLE };

/* The answer while it comes. */
struct stream_transfer {
	struct endpoint *endpoint;
	void *reader;           /* NULL: the body is kept whole */
	struct reply_sink *sink; /* the reader's */
	struct sse_reader sse;
	struct buf headers;     /* of the answer */
	struct buf body;        /* of an answer that is no stream */
	enum answer_shape shape; /* of a good answer */
	int status;
	bool failed;            /* the reader: *err, *trouble are set */
	uint64_t started_ms;    /* monotonic, as all of these */
	uint64_t byte_ms;       /* the last byte came */
	uint64_t event_ms;      /* the last event that is no ping came */
	uint64_t next_ms;       /* the next MODEL_WAITING comes so long after it */
	bool over;              /* it lasts too long: asking again is of no use */
	const struct cancel *stop; /* the request's; or NULL */
	bool stopped;              /* it was set */
	enum wire_trouble trouble;
	refusable_set sent;     /* of an answer that refuses the request: what it had */
	json_t *refused;        /* and all of it; owned, or NULL */
	struct err err;
};

static double precise_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void endpoint_trace(const struct endpoint *endpoint, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void endpoint_trace(const struct endpoint *endpoint, const char *format, ...)
{
	char line[512];
	va_list args;

	if (!endpoint->options.trace)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	endpoint->options.trace(endpoint->options.trace_data, line);
}

/* ---- waits ---- */

enum { IDLE_MS = 300000, PING_MS = 900000, REPLY_MS = 3600000, WAITING_MS = 15000 };

static unsigned limit_or(unsigned limit, unsigned otherwise)
{
	return limit ? limit : otherwise;
}

static void report_waiting(struct stream_transfer *transfer, uint64_t silent, uint64_t limit)
{
	_cleanup_free_ char *text = mem_printf(
		"%s has sent nothing for %.3g s; hasp gives up after %.3g s.",
		transfer->endpoint->id, (double)silent / 1000, (double)limit / 1000);

	endpoint_trace(transfer->endpoint, "%s", text);
	if (transfer->sink && transfer->sink->event)
		transfer->sink->event(transfer->sink->data, &(struct model_event){
			.kind = MODEL_WAITING, .text = span_str(text),
			.waited_ms = (unsigned)silent, .delay_ms = (unsigned)limit });
	transfer->next_ms *= 2;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* False: the reply has been waited for too long. *ret_left: until the next thing to be done. */
static bool may_wait(struct stream_transfer *transfer, uint64_t *ret_left, struct err *err)
{
	const struct model_options *options = &transfer->endpoint->options;
	const uint64_t ping = limit_or(options->ping_ms, PING_MS);
	const uint64_t reply = limit_or(options->reply_ms, REPLY_MS);
	const uint64_t idle = limit_or(options->idle_ms, IDLE_MS);
	const uint64_t now = clock_monotonic_ms(), silent = now - transfer->event_ms;

	if (now - transfer->started_ms >= reply) {
		transfer->over = true;
		return err_set(err, ERR_NETWORK_ERROR,
		               "The reply did not end within %g seconds.", (double)reply / 1000);
	}
	if (silent >= ping)
		return err_set(err, ERR_NETWORK_ERROR,
		               "Only keep-alives came for %g seconds.",
		               (double)ping / 1000);
	if (silent >= transfer->next_ms)
		report_waiting(transfer, silent, earlier(transfer->event_ms + ping,
		                                         transfer->byte_ms + idle) -
		                                       transfer->event_ms);
	*ret_left = earlier(transfer->started_ms + reply - now, transfer->event_ms + ping - now);
	*ret_left = earlier(*ret_left, transfer->event_ms + transfer->next_ms - now);
	return true;
}

static unsigned transfer_on_waiting(void *data, struct err *err)
{
	uint64_t left = 0;

	return !may_wait(data, &left, err) ? 0 : left ? (unsigned)earlier(left, 60000) : 1;
}

/* Anthropic sends events that say nothing, others comments. */
static bool is_ping(const struct sse_event *event)
{
	return span_eq(event->type, SPAN("ping")) || !span_trim(event->data).len;
}

/* ---- what comes ---- */

static bool transfer_on_event(void *data, const struct sse_event *event, struct err *err)
{
	struct stream_transfer *transfer = data;

	if (!is_ping(event)) {
		transfer->event_ms = clock_monotonic_ms();
		transfer->next_ms = limit_or(transfer->endpoint->options.waiting_ms, WAITING_MS);
	}
	transfer->trouble = WIRE_BROKEN;
	/* The rest of the packet is dropped. */
	if (cancelled(transfer->stop))
		return true;
	if (!transfer->endpoint->format->reader->event(transfer->reader, event, &transfer->trouble,
	                                              err))
		return false;
	if (!transfer->sink->too_large)
		return true;
	transfer->trouble = WIRE_FATAL;
	return err_set(err, ERR_MODEL_ERROR, TOO_LARGE);
}

/* Servers name the wrong type, or none: the first byte says whether events come, or one value or a
 * page.  False: only white space has come. */
static bool note_shape(struct stream_transfer *transfer, struct span bytes)
{
	const struct span rest = span_trim(bytes);

	if (transfer->shape == SHAPE_UNKNOWN && rest.len)
		transfer->shape = strchr("{[<", rest.data[0]) && rest.data[0] ? SHAPE_WHOLE :
		                                                                SHAPE_EVENTS;
	return transfer->shape != SHAPE_UNKNOWN;
}

/* The limits that providers name in the heads of their answers, each by two fields: requests and
 * tokens, per minute or per day.
 *
 * Sources: platform.openai.com/docs/guides/rate-limits (which Groq, xAI and others follow);
 * platform.claude.com/docs/en/api/rate-limits; openrouter.ai/docs/api-reference/limits. */
static const struct {
	const char *limit, *remaining;
	const char *reset; /* a duration, a moment (RFC 3339), seconds or milliseconds since 1970 */
} quota_fields[] = {
	{ "x-ratelimit-limit-requests", "x-ratelimit-remaining-requests",
	  "x-ratelimit-reset-requests" },
	{ "x-ratelimit-limit-tokens", "x-ratelimit-remaining-tokens",
	  "x-ratelimit-reset-tokens" },
	{ "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset" },
	{ "anthropic-ratelimit-requests-limit", "anthropic-ratelimit-requests-remaining",
	  "anthropic-ratelimit-requests-reset" },
	{ "anthropic-ratelimit-tokens-limit", "anthropic-ratelimit-tokens-remaining",
	  "anthropic-ratelimit-tokens-reset" },
	{ "anthropic-ratelimit-input-tokens-limit",
	  "anthropic-ratelimit-input-tokens-remaining",
	  "anthropic-ratelimit-input-tokens-reset" },
	{ "anthropic-ratelimit-output-tokens-limit",
	  "anthropic-ratelimit-output-tokens-remaining",
	  "anthropic-ratelimit-output-tokens-reset" },
};

/* A field that is one decimal number below 10^15; false: it is not there, or something else. */
static bool quota_number(struct span headers, const char *name, uint64_t *ret)
{
	const struct span text = span_trim(http_field(headers, name));

	*ret = 0;
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] < '0' || text.data[i] > '9')
			return false;
		*ret = *ret * 10 + (uint64_t)(text.data[i] - '0');
	}
	return text.len > 0 && text.len <= 15;
}

static void read_quota(struct span headers, struct model_quota *ret)
{
	uint64_t limit, remaining;

	for (size_t i = 0; i < ARRAY_LEN(quota_fields); i++) {
		unsigned left;

		if (!quota_number(headers, quota_fields[i].limit, &limit) || !limit ||
		    !quota_number(headers, quota_fields[i].remaining, &remaining))
			continue;
		left = remaining < limit ? (unsigned)(remaining * 100 / limit) : 100;
		if (!ret->known || left < ret->left)
			*ret = (struct model_quota){ .known = true, .left = left };
	}
}

/* A moment of RFC 3339, in seconds from now. False: it is not one. */
static bool moment_seconds(const char *text, double *ret)
{
	struct tm moment = { 0 }, zone = { 0 };
	const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &moment);

	if (!rest)
		return false;
	if (*rest == '.')
		rest += 1 + strspn(rest + 1, "0123456789");
	strptime(rest, "%z", &zone);
	*ret = (double)(timegm(&moment) - zone.tm_gmtoff - time(NULL));
	return true;
}

/* Seconds until the moment or for the time that a field names; below 0: it names none. */
static double reset_seconds(struct span headers, const char *name)
{
	enum { EPOCH_S = 1000000000 };
	const struct span text = span_trim(http_field(headers, name));
	_cleanup_free_ char *word = mem_dup(text.len ? text.data : "", text.len);
	uint64_t number;
	double seconds;

	if (quota_number(headers, name, &number)) {
		const double value = number / EPOCH_S >= 1000 ? (double)number / 1000 :
		                                                (double)number;

		return value < EPOCH_S ? value : value - (double)time(NULL);
	}
	return moment_seconds(word, &seconds) ? seconds : fault_duration(text);
}

/* The longest time until a limit that is used up is renewed; below 0: no field says so. */
static double quota_reset(struct span headers)
{
	double longest = -1;
	uint64_t remaining;

	for (size_t i = 0; i < ARRAY_LEN(quota_fields); i++) {
		double seconds;

		if (!quota_number(headers, quota_fields[i].remaining, &remaining) || remaining)
			continue;
		seconds = reset_seconds(headers, quota_fields[i].reset);
		longest = seconds > longest ? seconds : longest;
	}
	return longest;
}

/* Reports each tool once that is not sent: all that are new in one sentence, when the provider
 * has accepted a request without them. */
static void report_omitted_tools(struct endpoint *endpoint, const struct reply_sink *sink)
{
	const json_t *omitted = sink->fit ? sink->fit->omitted : NULL;
	_cleanup_buf_ struct buf names = BUF_INIT(LIMIT_RESULT_BYTES), text = BUF_INIT(2048);
	const char *name;
	size_t count = 0;
	json_t *key;

	if (!sink->event || !json_object_size(omitted))
		return;
	if (!endpoint->reported_tools)
		endpoint->reported_tools = json_object();
	json_object_foreach((json_t *)omitted, name, key) {
		if (json_object_get(endpoint->reported_tools, name))
			continue;
		json_object_set_new_nocheck(endpoint->reported_tools, name, json_true());
		buf_printf(&names, "%s%s", count++ ? ", " : "", name);
	}
	if (!count)
		return;
	fault_say_tools(&text, endpoint->id, buf_view(&names), count,
	                json_object_size(omitted) == json_array_size(sink->tools));
	sink->event(sink->data, &(struct model_event){ .kind = MODEL_LEFT_OUT,
	                                               .text = buf_view(&text),
	                                               .subject = buf_view(&names) });
}

static bool transfer_on_head(void *data, int status, struct span headers)
{
	struct stream_transfer *transfer = data;

	transfer->byte_ms = clock_monotonic_ms();
	transfer->status = status;
	if (status / 100 == 2 && transfer->sink)
		report_omitted_tools(transfer->endpoint, transfer->sink);
	transfer->shape = SHAPE_UNKNOWN;
	transfer->body.max = status / 100 == 2 ? LIMIT_MODEL_ANSWER_BYTES : LIMIT_MODEL_ERROR_BYTES;
	buf_clear(&transfer->headers);
	buf_span(&transfer->headers, headers);
	endpoint_trace(transfer->endpoint, "%s answers %d", transfer->endpoint->id, status);
	return true;
}

static bool transfer_on_body(void *data, struct span bytes)
{
	struct stream_transfer *transfer = data;
	uint64_t left;

	transfer->byte_ms = clock_monotonic_ms();
	if (transfer->status / 100 == 2 && transfer->reader && !note_shape(transfer, bytes))
		return true;
	if (transfer->status / 100 != 2 || !transfer->reader || transfer->shape == SHAPE_WHOLE) {
		buf_span(&transfer->body,
		         span_head(bytes, transfer->body.max - transfer->body.len));
		return true;
	}
	transfer->trouble = WIRE_BROKEN;
	transfer->failed = !sse_reader_feed(&transfer->sse, bytes, &transfer->err) ||
	                   !may_wait(transfer, &left, &transfer->err);
	transfer->stopped = !transfer->failed && cancelled(transfer->stop);
	return !transfer->failed && !transfer->stopped;
}

/* ---- errors ---- */

/* Servers repeat what they were sent; a key must not come back in an error. */
static void hide_secret(char *message, const char *secret)
{
	size_t len = secret ? strlen(secret) : 0;
	char *at = message;

	while (len >= 4 && (at = strstr(at, secret))) {
		memmove(at + 3, at + len, strlen(at + len) + 1);
		memcpy(at, "***", 3);
		at += 3;
	}
}

static void name_endpoint(const struct endpoint *endpoint, struct err *err)
{
	struct err named = *err;
	const char *const *header = endpoint->options.headers;

	hide_secret(err->message, endpoint->options.api_key);
	for (; header && *header; header++)
		if (strchr(*header, ':') && strlen(*header) > 12)
			hide_secret(err->message,
			            strchr(*header, ':') + 1 + strspn(strchr(*header, ':') + 1,
			                                              " "));
	err_set(&named, err->code, "%s: %s", endpoint->id, err->message);
	*err = named;
}

static bool attempt_fail(struct attempt *ret, enum wire_trouble trouble, struct err *err,
                         enum err_code code, const char *sentence)
{
	ret->trouble = trouble;
	return err_set(err, code, "%s", sentence);
}

/* The request did not come through: which errors are worth another try. */
static bool transfer_broke(const struct endpoint *endpoint, struct stream_transfer *transfer,
                           struct attempt *ret, struct err *err)
{
	enum http_stage stage = http_client_stage(endpoint->client);

	ret->connected = stage != HTTP_NOT_SENT;
	ret->network = err->code == ERR_NETWORK_ERROR ||
	               (transfer->failed && transfer->err.code == ERR_NETWORK_ERROR);
	ret->trouble = ret->network && !transfer->over ? WIRE_BROKEN : WIRE_FATAL;
	ret->silent = ret->connected && ret->network &&
	              clock_monotonic_ms() - transfer->event_ms >=
	                      limit_or(endpoint->options.idle_ms, IDLE_MS);
	if (err->code == ERR_TOO_LARGE)
		err->code = ERR_MODEL_ERROR;
	if (transfer->failed) {
		*err = transfer->err;
		ret->trouble = transfer->over ? WIRE_FATAL : transfer->trouble;
		if (transfer->sink)
			ret->delay_s = transfer->sink->delay_s;
		if (err->code == ERR_TOO_LARGE) {
			err->code = ERR_MODEL_ERROR;
			ret->trouble = WIRE_FATAL;
		}
		name_endpoint(endpoint, err);
	}
	return false;
}

/* What of the request it was: a parameter, a tool. */
static void find_cause(const struct stream_transfer *transfer, struct attempt *ret)
{
	_cleanup_free_ char *tool = NULL;

	ret->refused = refusable_refused(buf_view(&transfer->body), transfer->sent);
	if (ret->refused)
		return;
	ret->blame = tool_fit_blame(transfer->refused, buf_view(&transfer->body), &tool);
	snprintf(ret->tool, sizeof(ret->tool), "%s", tool ? tool : "");
}

/* The server said no, or something that is no answer. */
static bool read_refusal(const struct endpoint *endpoint, struct stream_transfer *transfer,
                         struct attempt *ret, struct err *err)
{
	if (transfer->status >= 400) {
		double after = http_retry_after(buf_view(&transfer->headers));
		json_auto_t *value = fault_body(buf_view(&transfer->body));

		ret->trouble = endpoint->format->error(transfer->status, value, &ret->delay_s, err);
		if (after > ret->delay_s)
			ret->delay_s = after;
		if (ret->delay_s < 0 && transfer->status == 429)
			ret->delay_s = quota_reset(buf_view(&transfer->headers));
		if (err->code == ERR_INVALID_ARGUMENT)
			find_cause(transfer, ret);
	} else {
		ret->trouble = fault_set_status(transfer->status, SPAN("It is a redirect; "
		                           "configure the final address of the model."), err);
	}
	name_endpoint(endpoint, err);
	return false;
}

/* ---- answers that are no stream ---- */

/* A web page, from a proxy, a login or a wrong address: retried once, then reported. */
static bool refuse_page(struct stream_transfer *transfer, struct err *err)
{
	static const char open[] = "<title>";
	struct span page = buf_view(&transfer->body);
	_cleanup_buf_ struct buf title = BUF_INIT(1024);

	for (size_t i = 0; i + sizeof(open) < page.len; i++) {
		struct span rest = span_skip(page, i + sizeof(open) - 1);
		const char *end;

		if (strncasecmp(page.data + i, open, sizeof(open) - 1) != 0)
			continue;
		end = memchr(rest.data, '<', rest.len);
		if (end)
			fault_clean(&title, utf8_head(span_of(rest.data, (size_t)(end - rest.data)),
			                              100));
		break;
	}
	transfer->trouble = WIRE_UNREADABLE;
	return err_set(err, ERR_MODEL_ERROR,
	               "The answer is a web page%s%s%s, not a reply. Check the model's address and "
	               "the proxy.", title.len ? " (\"" : "", title.len ? title.data : "",
	               title.len ? "\")" : "");
}

static bool feed_value(struct stream_transfer *transfer, const json_t *value, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MODEL_ANSWER_BYTES);
	struct sse_event event = { .type = SPAN("message") };

	json_print(&text, value, 0);
	event.data = buf_view(&text);
	return transfer_on_event(transfer, &event, err);
}

/* One value in the place of a stream is read as the events that it stands for, and is whole. */
static bool read_one_value(struct stream_transfer *transfer, struct err *err)
{
	const struct provider_reader *reader = transfer->endpoint->format->reader;
	static const struct sse_event done = { .type = SPAN("message"), .data = SPAN("[DONE]") };
	json_auto_t *answer = NULL, *events = NULL;
	bool lone = false;
	size_t i;
	json_t *value;

	if (transfer->body.data[strspn(transfer->body.data, " \t\r\n")] == '<')
		return refuse_page(transfer, err);
	transfer->trouble = WIRE_UNREADABLE;
	if (!json_parse_lenient(buf_view(&transfer->body), WIRE_EVENT_DEPTH, &answer, &lone, err)) {
		err->code = ERR_MODEL_ERROR;
		return false;
	}
	transfer->sink->lone |= lone;
	if (reader->events_of)
		events = reader->events_of(answer);
	else
		events = json_is_array(answer) ? json_incref(answer) : json_pack("[O]", answer);
	json_array_foreach(events, i, value)
		if (!feed_value(transfer, value, err))
			return false;
	return transfer_on_event(transfer, &done, err);
}

/* Whole answers in which there is nothing that can be used. */
static bool judge_reply(struct reply_sink *sink, struct attempt *ret, struct err *err)
{
	_cleanup_free_ char *sentence = NULL;
	bool thought;

	sink_close(sink);
	if (sink->too_large)
		return attempt_fail(ret, WIRE_FATAL, err, ERR_MODEL_ERROR, TOO_LARGE);
	/* A word for the end that hasp does not know says nothing of the calls. */
	if (sink->left_out && sink->finish == MODEL_FINISH_OTHER)
		return attempt_fail(ret, WIRE_BROKEN, err, ERR_MODEL_ERROR, sink->withheld);
	if (sink->finish == MODEL_FINISH_TOOLS && !sink->calls && !sink->left_out && sink->tools)
		return attempt_fail(ret, WIRE_BROKEN, err, ERR_MODEL_ERROR,
		                    "The reply says that it ends with a call, but contains none.");
	if (sink->said || sink->calls)
		return true;
	/* On a second request, a server that broke its own protocol may keep to it. */
	if (sink->withheld)
		return attempt_fail(ret, sink->late ? WIRE_BROKEN :
		                    WIRE_FATAL, err, ERR_MODEL_ERROR,
		                    sink->withheld);
	thought = json_array_size(json_object_get(sink->content, "parts")) > 0;
	if (sink->finish == MODEL_FINISH_PAUSE && thought)
		return true;
	if (sink->finish == MODEL_FINISH_SAFETY) {
		sentence = mem_printf("The provider blocked the answer (%s).",
		                      sink->finish_text ? sink->finish_text : "no reason given");
		return attempt_fail(ret, WIRE_FATAL, err, ERR_MODEL_ERROR, sentence);
	}
	if (sink->finish == MODEL_FINISH_LENGTH)
		return attempt_fail(ret, WIRE_FATAL, err, ERR_MODEL_ERROR,
		                    "The reply reached its longest length before anything was "
		                    "said.");
	ret->empty = true;
	return attempt_fail(ret, WIRE_BROKEN, err, ERR_MODEL_ERROR,
	                    thought ? "The reply has thoughts and nothing else." :
	                    "The reply is empty.");
}

/* ---- the request ---- */

static bool build_request(const struct endpoint *endpoint, const struct model_request *request,
                          struct wire_request *ret, struct err *err)
{
	const char *const *header = endpoint->options.headers;
	json_auto_t *before = model_tools_before(request->tools);
	struct model_request sent = *request;

	*ret = (struct wire_request){
		.format = endpoint->format->name,
		.without = endpoint->without,
		.url = BUF_INIT(LIMIT_URI_BYTES),
		.body = BUF_INIT(LIMIT_MODEL_REQUEST_BYTES),
	};
	wire_header(ret, "Content-Type: application/json");
	wire_header(ret, "Accept: text/event-stream");
	wire_header(ret, "User-Agent: hasp/%s", HASP_VERSION);
	if (endpoint_loading(endpoint) == MODEL_LOADS_NOTHING)
		sent.tools = before;
	if (!endpoint->format->build(&endpoint->options, &sent, ret, err))
		return false;
	if (ret->url.overflowed || ret->body.overflowed)
		return err_set(err, ERR_CONTEXT_TOO_LARGE, "The request is too large to be sent.");
	for (; header && *header; header++)
		wire_header(ret, "%s", *header);
	return true;
}

/* What the request had that may be refused. Only a refusal pays for looking. */
static void keep_sent(const struct wire_request *wire, struct stream_transfer *transfer)
{
	struct err ignored = ERR_INIT;

	if (!json_parse(buf_view(&wire->body), &transfer->refused, &ignored))
		return;
	transfer->sent = refusable_in(wire->format, transfer->refused) & ~wire->without;
}

static bool transfer_send(struct endpoint *endpoint, const struct model_request *request,
                          struct stream_transfer *transfer, struct err *err)
{
	static const struct http_events events = { .head = transfer_on_head,
	                                           .body = transfer_on_body,
		                                   .waiting = transfer_on_waiting };
	struct wire_request wire;
	bool ok = build_request(endpoint, request, &wire, err);

	if (ok) {
		struct http_client_request http = {
			.method = "POST",
			.url = wire.url.data,
			.headers = (const char *const *)wire.headers,
			.body = buf_view(&wire.body),
			.proxy = endpoint->options.proxy,
			.connect_ms = endpoint->options.connect_ms,
			.idle_ms = limit_or(endpoint->options.idle_ms, IDLE_MS),
			.max_bytes = LIMIT_MODEL_ANSWER_BYTES,
			.cancel = request->cancel,
		};

		endpoint_trace(endpoint, "%s is asked at %s (%zu bytes)", endpoint->id,
		               endpoint->host,
		               wire.body.len);
		if (!endpoint->client)
			endpoint->client = http_client_new();
		ok = http_client_send(endpoint->client, &http, &events, transfer, err);
		if (!ok)
			endpoint_trace(endpoint, "%s: %s", endpoint->id, err->message);
		if (transfer->status == 400 || transfer->status == 422)
			keep_sent(&wire, transfer);
	}
	wire_request_release(&wire);
	return ok;
}

static void transfer_init(struct stream_transfer *transfer, struct endpoint *endpoint)
{
	*transfer = (struct stream_transfer){
		.endpoint = endpoint,
		.headers = BUF_INIT(LIMIT_HTTP_HEAD_BYTES),
		.body = BUF_INIT(LIMIT_MODEL_ERROR_BYTES),
		.trouble = WIRE_BROKEN,
		.err = ERR_INIT,
		.started_ms = clock_monotonic_ms(),
		.next_ms = limit_or(endpoint->options.waiting_ms, WAITING_MS),
	};
	transfer->byte_ms = transfer->event_ms = transfer->started_ms;
	sse_reader_init(&transfer->sse, LIMIT_MESSAGE_BYTES, transfer_on_event, transfer);
}

static void transfer_release(struct stream_transfer *transfer)
{
	sse_reader_release(&transfer->sse);
	buf_release(&transfer->headers);
	buf_release(&transfer->body);
	json_decref(transfer->refused);
}

/* The reader's last word, and what the reply is worth. */
static bool transfer_end(struct stream_transfer *transfer, struct reply_sink *sink,
                         struct attempt *ret, struct err *err)
{
	const struct endpoint *endpoint = transfer->endpoint;

	transfer->trouble = WIRE_BROKEN;
	if (!(transfer->shape == SHAPE_WHOLE ? read_one_value(transfer, err) :
	                                       sse_reader_end(&transfer->sse, err)) ||
	    !endpoint->format->reader->end(transfer->reader, &transfer->trouble, err))
		ret->trouble = transfer->trouble;
	else if (judge_reply(sink, ret, err))
		return true;
	name_endpoint(endpoint, err);
	return false;
}

/* The caller needs no more of the reply. */
static bool end_early(struct reply_sink *sink)
{
	sink_finish(sink, MODEL_FINISH_OTHER, "enough");
	sink_close(sink);
	if (!json_array_size(json_object_get(sink->content, "parts")))
		content_add(sink->content, part_text(SPAN("")));
	return true;
}

/* Formats without HTTP. */
static bool answer_without_http(struct endpoint *endpoint, const struct model_request *request,
                                struct reply_sink *sink, struct attempt *ret, struct err *err)
{
	ret->connected = true;
	if (cancelled(request->cancel))
		return attempt_fail(ret, WIRE_FATAL, err, ERR_CANCELLED,
		                    "The request was cancelled.");
	ret->trouble = WIRE_BROKEN;
	if (endpoint->format->answer(endpoint->state, request, sink, &ret->trouble, err) &&
	    judge_reply(sink, ret, err))
		return true;
	name_endpoint(endpoint, err);
	return false;
}

bool stream_attempt(struct endpoint *endpoint, const struct model_request *request,
                    struct reply_sink *sink, struct attempt *ret, struct err *err)
{
	double started = precise_ms();
	struct stream_transfer transfer;
	struct tool_fit fit;
	bool ok;

	*ret = (struct attempt){ .trouble = WIRE_FATAL, .delay_s = -1 };
	if (endpoint->format->answer) {
		ok = answer_without_http(endpoint, request, sink, ret, err);
		ret->ms = precise_ms() - started;
		return ok;
	}
	tool_fit_make(endpoint->format->name, endpoint->refused_tools, request, &fit);
	transfer_init(&transfer, endpoint);
	sink->loader = wire_loader(request->tools);
	sink->tools = request->tools;
	sink->request = request;
	sink->fit = &fit;
	transfer.reader = endpoint->format->reader->make(sink);
	transfer.sink = sink;
	transfer.stop = request->stop;
	ok = transfer_send(endpoint, &fit.request, &transfer, err);
	if (!ok && endpoint->client && !transfer.stopped)
		transfer_broke(endpoint, &transfer, ret, err);
	ret->connected |= ok || transfer.stopped;
	if (transfer.stopped)
		ok = end_early(sink);
	else if (ok && transfer.status / 100 != 2)
		ok = read_refusal(endpoint, &transfer, ret, err);
	else if (ok)
		ok = transfer_end(&transfer, sink, ret, err);
	ret->status = transfer.status;
	read_quota(buf_view(&transfer.headers), &sink->quota);
	endpoint->format->reader->free(transfer.reader);
	transfer_release(&transfer);
	sink->fit = NULL;
	sink->request = NULL;
	tool_fit_release(&fit);
	ret->ms = precise_ms() - started;
	return ok;
}
