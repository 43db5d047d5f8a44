/* SPDX-License-Identifier: Apache-2.0 */
/* OTLP over HTTP as JSON (OpenTelemetry Protocol 1.x, "OTLP/HTTP", "JSON Protobuf Encoding"): a
 * separate thread sends what waits in a bounded queue. 64-bit integers are strings there. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cancel.h"
#include "base/mem.h"
#include "base/span.h"
#include "data/json.h"
#include "net/http/client.h"
#include "telemetry/private.h"

enum {
	OTLP_QUEUE_BYTES_MAX = 4 << 20, /* what would be more is dropped */
	OTLP_BATCH_MS = 1000,           /* how long a record waits for others */
	OTLP_CONNECT_MS = 5000,
	OTLP_REQUEST_MS = 10000,
	OTLP_CLOSE_MS = 1700, /* for what is left, once the session ends */
	OTLP_CANCEL_MS = 200, /* for the thread to see that it shall stop */
	OTLP_ANSWER_BYTES_MAX = 64 << 10,
	OTLP_TRIES_MAX = 4,       /* of one request */
	OTLP_RETRY_MS = 1000,     /* before the second try, then twice as long each time */
	OTLP_RETRY_MS_MAX = 30000, /* also of what a collector asks for */
	OTLP_HEADERS_MAX = 32,
	OTLP_HEADERS_BYTES_MAX = 8 << 10,
};

/* Shared by the session and the thread: the last of them frees it. */
struct otlp {
	pthread_mutex_t lock; /* for all below but what says otherwise */
	pthread_cond_t changed, finished_cond; /* CLOCK_MONOTONIC */
	struct buf records;   /* waiting: elements of resourceLogs, with commas between */
	struct buf spans;     /* likewise of resourceSpans */
	char *metrics;        /* the body of a request that waits; or NULL */
	bool closing, finished;
	unsigned references;
	char *endpoint;       /* unchanging; without a slash at its end */
	char **headers;       /* unchanging; "NAME: VALUE", NULL-terminated */
	struct cancel cancel; /* not the session's */
};

/* ---- the form ----------------------------------------------------------------- */

static json_t *otlp_integer(json_int_t value)
{
	return json_sprintf("%lld", (long long)value);
}

/* An AnyValue. A new reference. */
static json_t *otlp_value(const json_t *value)
{
	json_t *values, *element;
	size_t i;

	if (json_is_string(value))
		return json_pack("{s:O}", "stringValue", value);
	if (json_is_boolean(value))
		return json_pack("{s:O}", "boolValue", value);
	if (json_is_integer(value))
		return json_pack("{s:o}", "intValue", otlp_integer(json_integer_value(value)));
	if (json_is_real(value))
		return json_pack("{s:O}", "doubleValue", value);
	if (!json_is_array(value))
		return json_object();
	values = json_array();
	json_array_foreach(value, i, element)
		json_array_append_new(values, json_is_array(element) ? json_object() :
		                                                       otlp_value(element));
	return json_pack("{s:{s:o}}", "arrayValue", "values", values);
}

static json_t *otlp_attributes(const json_t *attributes)
{
	json_t *list = json_array(), *value;
	const char *key;

	json_object_foreach((json_t *)attributes, key, value)
		json_array_append_new(list, json_pack("{s:s, s:o}", "key", key, "value",
		                                      otlp_value(value)));
	return list;
}

static json_t *otlp_resource(const json_t *object)
{
	const json_t *resource = json_object_get(object, "resource");

	return json_pack("{s:o}", "attributes",
	                 otlp_attributes(json_object_get(resource, "attributes")));
}

/* Nanoseconds since 1970 of a moment as telemetry_moment has it. */
static json_t *otlp_nanoseconds(const json_t *moment)
{
	return json_sprintf("%lld%09lld",
	                    (long long)json_integer_value(json_array_get(moment, 0)),
	                    (long long)json_integer_value(json_array_get(moment, 1)));
}

/* An element of resourceLogs from an event as the file has it. */
static json_t *otlp_resource_logs(const json_t *event)
{
	const json_t *attributes = json_object_get(event, "attributes");
	const json_t *moment = json_object_get(event, "hrTime");
	json_t *record = json_pack("{s:o, s:o, s:o, s:o}", "timeUnixNano", otlp_nanoseconds(moment),
	                           "observedTimeUnixNano", otlp_nanoseconds(moment), "body",
	                           otlp_value(json_object_get(event, "_body")), "attributes",
	                           otlp_attributes(attributes));

	json_object_set(record, "eventName", json_object_get(attributes, "event.name"));
	return json_pack("{s:o, s:[{s:O, s:[o]}]}", "resource", otlp_resource(event), "scopeLogs",
	                 "scope", json_object_get(event, "instrumentationScope"), "logRecords",
	                 record);
}

static json_t *otlp_id(const json_t *span, const char *context, const char *id)
{
	return json_incref(json_object_get(json_object_get(span, context), id));
}

/* An element of resourceSpans from a span as the file has it. */
static json_t *otlp_resource_spans(const json_t *span)
{
	const json_t *parent = json_object_get(span, "parentSpanContext");
	json_t *sent = json_pack(
		"{s:o, s:o, s:O, s:i, s:o, s:o, s:o, s:O}", "traceId",
		otlp_id(span, "_spanContext", "traceId"), "spanId",
		otlp_id(span, "_spanContext", "spanId"), "name", json_object_get(span, "name"),
		"kind", 1 /* internal */, "startTimeUnixNano",
		otlp_nanoseconds(json_object_get(span, "startTime")), "endTimeUnixNano",
		otlp_nanoseconds(json_object_get(span, "endTime")), "attributes",
		otlp_attributes(json_object_get(span, "attributes")), "status",
		json_object_get(span, "status"));

	if (parent)
		json_object_set(sent, "parentSpanId", json_object_get(parent, "spanId"));
	return json_pack("{s:o, s:[{s:O, s:[o]}]}", "resource", otlp_resource(span), "scopeSpans",
	                 "scope", json_object_get(span, "instrumentationScope"), "spans", sent);
}

static json_t *otlp_strings(const json_t *integers)
{
	json_t *list = json_array(), *value;
	size_t i;

	json_array_foreach(integers, i, value)
		json_array_append_new(list, otlp_integer(json_integer_value(value)));
	return list;
}

/* A NumberDataPoint or a HistogramDataPoint. */
static json_t *otlp_point(const json_t *point)
{
	const json_t *value = json_object_get(point, "value");
	const json_t *buckets = json_object_get(value, "buckets");
	json_t *shown = json_pack(
		"{s:o, s:o, s:o}", "attributes",
		otlp_attributes(json_object_get(point, "attributes")), "startTimeUnixNano",
		otlp_nanoseconds(json_object_get(point, "startTime")), "timeUnixNano",
		otlp_nanoseconds(json_object_get(point, "endTime")));

	if (!json_is_object(value)) {
		json_object_set_new(shown, "asInt", otlp_integer(json_integer_value(value)));
		return shown;
	}
	json_object_set_new(shown, "count",
	                    otlp_integer(json_integer_value(json_object_get(value, "count"))));
	json_object_set(shown, "sum", json_object_get(value, "sum"));
	json_object_set(shown, "min", json_object_get(value, "min"));
	json_object_set(shown, "max", json_object_get(value, "max"));
	json_object_set(shown, "explicitBounds", json_object_get(buckets, "boundaries"));
	json_object_set_new(shown, "bucketCounts",
	                    otlp_strings(json_object_get(buckets, "counts")));
	return shown;
}

static json_t *otlp_metric(const json_t *metric)
{
	const json_t *descriptor = json_object_get(metric, "descriptor"), *point;
	const json_t *monotonic = json_object_get(metric, "isMonotonic");
	json_t *points = json_array(), *data, *shown = json_object();
	size_t i;

	json_array_foreach(json_object_get(metric, "dataPoints"), i, point)
		json_array_append_new(points, otlp_point(point));
	data = json_pack("{s:o, s:i}", "dataPoints", points, "aggregationTemporality",
	                 2 /* cumulative */);
	json_object_set(data, "isMonotonic", (json_t *)monotonic);
	json_object_set(shown, "name", json_object_get(descriptor, "name"));
	json_object_set(shown, "unit", json_object_get(descriptor, "unit"));
	json_object_set(shown, "description", json_object_get(descriptor, "description"));
	json_object_set_new(shown, monotonic ? "sum" : "histogram", data);
	return shown;
}

/* The body of the request, from the metrics as the file has them; to free. */
static char *otlp_metrics_body(const json_t *all)
{
	const json_t *scope = json_array_get(json_object_get(all, "scopeMetrics"), 0), *metric;
	json_t *metrics = json_array();
	json_auto_t *body = NULL;
	size_t i;

	json_array_foreach(json_object_get(scope, "metrics"), i, metric)
		json_array_append_new(metrics, otlp_metric(metric));
	body = json_pack("{s:[{s:o, s:[{s:O, s:o}]}]}", "resourceMetrics", "resource",
	                 otlp_resource(all), "scopeMetrics", "scope",
	                 json_object_get(scope, "scope"), "metrics", metrics);
	return json_dumps(body, JSON_COMPACT);
}

/* ---- sending ------------------------------------------------------------------ */

static bool otlp_on_body(void *data, struct span bytes)
{
	(void)data;
	(void)bytes;
	return true;
}

/* How a collector answered: 0, not at all; and the delay that it asks for, -1 without. */
struct otlp_answer {
	int status;
	double after_seconds;
};

static bool otlp_on_head(void *data, int status, struct span headers)
{
	struct otlp_answer *answer = data;

	answer->status = status;
	answer->after_seconds = http_retry_after(headers);
	return true;
}

/* Those of the specification ("Retryable Response Codes"), and no answer at all. */
static bool otlp_may_try_again(const struct otlp_answer *answer)
{
	static const int retryable[] = { 0, 429, 502, 503, 504 };

	for (size_t i = 0; i < ARRAY_LEN(retryable); i++)
		if (answer->status == retryable[i])
			return true;
	return false;
}

static struct timespec otlp_moment_in(unsigned ms)
{
	struct timespec moment;

	clock_gettime(CLOCK_MONOTONIC, &moment);
	moment.tv_sec += ms / 1000;
	moment.tv_nsec += (long)(ms % 1000) * 1000000;
	if (moment.tv_nsec >= 1000000000) {
		moment.tv_sec++;
		moment.tv_nsec -= 1000000000;
	}
	return moment;
}

/* False: the session ends, and nothing is tried again. */
static bool otlp_wait_before_try(struct otlp *otlp, unsigned tries,
                                 const struct otlp_answer *answer)
{
	unsigned ms = OTLP_RETRY_MS << (tries - 1);
	struct timespec until;
	int late = 0;
	bool closing;

	if (answer->after_seconds >= 0)
		ms = answer->after_seconds * 1000 < OTLP_RETRY_MS_MAX ?
		             (unsigned)(answer->after_seconds * 1000) : OTLP_RETRY_MS_MAX;
	until = otlp_moment_in(ms);
	pthread_mutex_lock(&otlp->lock);
	while (!otlp->closing && !late)
		late = pthread_cond_timedwait(&otlp->changed, &otlp->lock, &until);
	closing = otlp->closing;
	pthread_mutex_unlock(&otlp->lock);
	return !closing;
}

/* What cannot be sent is lost in the end: a collector that is down ends no session. */
static void otlp_post(struct otlp *otlp, struct http_client *client, const char *path,
                      struct span body)
{
	static const struct http_events events = { .head = otlp_on_head, .body = otlp_on_body };
	_cleanup_free_ char *url = mem_printf("%s%s", otlp->endpoint, path);
	const struct http_client_request request = {
		.method = "POST",
		.url = url,
		.headers = (const char *const *)otlp->headers,
		.body = body,
		.connect_ms = OTLP_CONNECT_MS,
		.total_ms = OTLP_REQUEST_MS,
		.max_bytes = OTLP_ANSWER_BYTES_MAX,
		.cancel = &otlp->cancel,
	};

	for (unsigned tries = 1; tries <= OTLP_TRIES_MAX; tries++) {
		struct otlp_answer answer = { .after_seconds = -1 };
		struct err ignored = ERR_INIT;

		http_client_send(client, &request, &events, &answer, &ignored);
		if (!otlp_may_try_again(&answer) || tries == OTLP_TRIES_MAX ||
		    !otlp_wait_before_try(otlp, tries, &answer))
			return;
	}
}

/* `elements`: of the array `member`, with commas between; NULL: there are none. */
static void otlp_post_elements(struct otlp *otlp, struct http_client *client, const char *path,
                               const char *member, const char *elements)
{
	_cleanup_free_ char *body = NULL;

	if (!elements)
		return;
	body = mem_printf("{\"%s\":[%s]}", member, elements);
	otlp_post(otlp, client, path, span_str(body));
}

static void otlp_free_settings(struct otlp *otlp)
{
	for (size_t i = 0; otlp->headers && otlp->headers[i]; i++)
		free(otlp->headers[i]);
	free(otlp->headers);
	free(otlp->endpoint);
	free(otlp);
}

/* Under the lock, which it releases. */
static void otlp_unref_unlock(struct otlp *otlp)
{
	const bool last = --otlp->references == 0;

	pthread_mutex_unlock(&otlp->lock);
	if (!last)
		return;
	pthread_mutex_destroy(&otlp->lock);
	pthread_cond_destroy(&otlp->changed);
	pthread_cond_destroy(&otlp->finished_cond);
	buf_release(&otlp->records);
	buf_release(&otlp->spans);
	cancel_release(&otlp->cancel);
	free(otlp->metrics);
	otlp_free_settings(otlp);
}

/* Under the lock: until there is something that has waited long enough, or the session ends. All
 * are to free; NULL: there are none. False: it ends, and nothing is left. */
static bool otlp_next(struct otlp *otlp, char **ret_records, char **ret_spans, char **ret_metrics)
{
	struct timespec until;
	int late = 0;

	while (!otlp->records.len && !otlp->spans.len && !otlp->metrics && !otlp->closing)
		pthread_cond_wait(&otlp->changed, &otlp->lock);
	until = otlp_moment_in(OTLP_BATCH_MS);
	while (!otlp->closing && !late)
		late = pthread_cond_timedwait(&otlp->changed, &otlp->lock, &until);
	*ret_records = otlp->records.len ? buf_steal(&otlp->records) : NULL;
	*ret_spans = otlp->spans.len ? buf_steal(&otlp->spans) : NULL;
	*ret_metrics = mem_steal(&otlp->metrics);
	return *ret_records || *ret_spans || *ret_metrics;
}

static void *otlp_thread(void *data)
{
	struct otlp *otlp = data;
	struct http_client *client = http_client_new();
	char *records, *spans, *metrics;

	pthread_mutex_lock(&otlp->lock);
	while (otlp_next(otlp, &records, &spans, &metrics)) {
		pthread_mutex_unlock(&otlp->lock);
		otlp_post_elements(otlp, client, "/v1/logs", "resourceLogs", records);
		otlp_post_elements(otlp, client, "/v1/traces", "resourceSpans", spans);
		if (metrics)
			otlp_post(otlp, client, "/v1/metrics", span_str(metrics));
		free(records);
		free(spans);
		free(metrics);
		pthread_mutex_lock(&otlp->lock);
	}
	pthread_mutex_unlock(&otlp->lock);
	http_client_free(client);
	pthread_mutex_lock(&otlp->lock);
	otlp->finished = true;
	pthread_cond_signal(&otlp->finished_cond);
	otlp_unref_unlock(otlp);
	return NULL;
}

/* ---- headers ------------------------------------------------------------------ */

static int hex_digit_value(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 :
	       c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Appends a value with its %XX resolved. False: a control character, or no such escape. */
static bool header_value_append(struct buf *out, struct span value)
{
	for (size_t i = 0; i < value.len; i++) {
		char c = value.data[i];

		if (c == '%') {
			const bool whole = i + 2 < value.len;
			const int high = whole ? hex_digit_value(value.data[i + 1]) : -1;
			const int low = whole ? hex_digit_value(value.data[i + 2]) : -1;

			if (high < 0 || low < 0)
				return false;
			c = (char)(high * 16 + low);
			i += 2;
		}
		if ((unsigned char)c < 0x20 || c == 0x7f)
			return false;
		buf_char(out, c);
	}
	return true;
}

/* "NAME=VALUE" as "NAME: VALUE", the caller's. NULL: it is none. */
static char *header_of_pair(struct span pair)
{
	_cleanup_buf_ struct buf out = BUF_INIT(OTLP_HEADERS_BYTES_MAX);
	const char *sign = pair.len ? memchr(pair.data, '=', pair.len) : NULL;
	struct span name, value;

	if (!sign)
		return NULL;
	name = span_trim(span_head(pair, (size_t)(sign - pair.data)));
	value = span_trim(span_skip(pair, (size_t)(sign - pair.data) + 1));
	for (size_t i = 0; i < name.len; i++)
		if (!ascii_is_alnum(name.data[i]) && !strchr("!#$&'*+-.^_`|~", name.data[i]))
			return NULL;
	buf_append(&out, name.data, name.len);
	buf_str(&out, ": ");
	if (!name.len || !header_value_append(&out, value))
		return NULL;
	return buf_steal(&out);
}

/* The specification's OTEL_EXPORTER_OTLP_HEADERS: "NAME=VALUE,NAME=VALUE", values %-escaped. */
static bool otlp_read_headers(struct otlp *otlp, const char *text, struct err *err)
{
	struct span rest = span_str(text ? text : "");
	size_t count = 2;

	otlp->headers = mem_alloc(OTLP_HEADERS_MAX + 3, sizeof(*otlp->headers));
	otlp->headers[0] = mem_strdup("Content-Type: application/json");
	otlp->headers[1] = mem_strdup("User-Agent: hasp/" HASP_VERSION);
	while (rest.len) {
		const char *comma = memchr(rest.data, ',', rest.len);
		struct span pair = span_head(rest, comma ? (size_t)(comma - rest.data) : rest.len);

		rest = span_skip(rest, pair.len + (comma != NULL));
		if (!span_trim(pair).len)
			continue;
		/* Its text may have a key in it. */
		if (count == OTLP_HEADERS_MAX + 2 || pair.len > OTLP_HEADERS_BYTES_MAX / 2 ||
		    !(otlp->headers[count] = header_of_pair(pair)))
			return err_set(err, ERR_INVALID_ARGUMENT, "Telemetry is off: "
			               "OTEL_EXPORTER_OTLP_HEADERS is no list of at most %d "
			               "NAME=VALUE with commas between (header %zu).",
			               OTLP_HEADERS_MAX, count - 1);
		count++;
	}
	return true;
}

struct otlp *otlp_new(const char *endpoint, const char *headers, struct err *err)
{
	struct otlp *otlp = mem_alloc(1, sizeof(*otlp));
	size_t len = strlen(endpoint);
	pthread_condattr_t monotonic;
	sigset_t all, before;
	pthread_t thread;
	int error;

	while (len > 0 && endpoint[len - 1] == '/')
		len--;
	*otlp = (struct otlp){ .records = BUF_INIT(OTLP_QUEUE_BYTES_MAX),
		               .spans = BUF_INIT(OTLP_QUEUE_BYTES_MAX), .references = 2,
		               .endpoint = mem_printf("%.*s", (int)len, endpoint) };
	if (!otlp_read_headers(otlp, headers, err) || !cancel_init(&otlp->cancel, err)) {
		otlp_free_settings(otlp);
		return NULL;
	}
	pthread_mutex_init(&otlp->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&otlp->changed, &monotonic);
	pthread_cond_init(&otlp->finished_cond, &monotonic);
	pthread_condattr_destroy(&monotonic);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&thread, NULL, otlp_thread, otlp);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!error) {
		pthread_detach(thread);
		return otlp;
	}
	err_set(err, ERR_IO_ERROR, "Telemetry is off: no thread can be started (%s).",
	        strerror(error));
	pthread_mutex_lock(&otlp->lock);
	otlp->references = 1;
	otlp_unref_unlock(otlp);
	return NULL;
}

void otlp_send(struct otlp *otlp, const json_t *object)
{
	const bool is_span = json_object_get(object, "_spanContext");
	struct buf *queue = is_span ? &otlp->spans : &otlp->records;
	json_auto_t *sent = is_span ? otlp_resource_spans(object) : otlp_resource_logs(object);
	char *text = json_dumps(sent, JSON_COMPACT);

	pthread_mutex_lock(&otlp->lock);
	if (text && queue->len + strlen(text) + 1 < OTLP_QUEUE_BYTES_MAX) {
		if (queue->len)
			buf_char(queue, ',');
		buf_str(queue, text);
		pthread_cond_signal(&otlp->changed);
	}
	pthread_mutex_unlock(&otlp->lock);
	free(text);
}

/* Under the lock. */
static void otlp_wait_finished(struct otlp *otlp, unsigned ms)
{
	const struct timespec until = otlp_moment_in(ms);
	int late = 0;

	while (!otlp->finished && !late)
		late = pthread_cond_timedwait(&otlp->finished_cond, &otlp->lock, &until);
}

void otlp_send_metrics(struct otlp *otlp, const json_t *metrics)
{
	char *body = otlp_metrics_body(metrics);

	pthread_mutex_lock(&otlp->lock);
	free(otlp->metrics);
	otlp->metrics = body;
	pthread_cond_signal(&otlp->changed);
	pthread_mutex_unlock(&otlp->lock);
}

void otlp_close(struct otlp *otlp)
{
	pthread_mutex_lock(&otlp->lock);
	otlp->closing = true;
	pthread_cond_signal(&otlp->changed);
	otlp_wait_finished(otlp, OTLP_CLOSE_MS);
	if (!otlp->finished) {
		cancel_set(&otlp->cancel);
		otlp_wait_finished(otlp, OTLP_CANCEL_MS);
	}
	otlp_unref_unlock(otlp);
}
