/* SPDX-License-Identifier: Apache-2.0 */
/* What all of this folder writes with: objects with their resource, events and values of metrics
 * with the common attributes; and how members of messages are read. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "data/json.h"
#include "telemetry/private.h"

/* ---- writing ------------------------------------------------------------------ */

/* One write: other processes may append to the same file. */
static void telemetry_write_file(struct telemetry *telemetry, const json_t *object)
{
	char *text = json_dumps(object, JSON_INDENT(2));
	_cleanup_free_ char *line = text ? mem_printf("%s\n", text) : NULL;
	size_t len = line ? strlen(line) : 0;

	free(text);
	for (size_t done = 0; done < len;) {
		ssize_t n = write(telemetry->fd, line + done, len - done);

		if (n <= 0)
			return; /* a full disk ends no session */
		done += (size_t)n;
	}
}

/* What the session is; a new reference. */
static json_t *telemetry_resource(const struct telemetry *telemetry)
{
	return json_pack("{s:{s:s, s:s}}", "attributes", "service.name", "gemini-cli",
	                 "session.id", telemetry->session_id);
}

void telemetry_write(struct telemetry *telemetry, json_t *object)
{
	json_object_set_new(object, "resource", telemetry_resource(telemetry));
	json_object_set_new(object, "instrumentationScope", json_pack("{s:s}", "name",
	                                                              "gemini-cli"));
	if (telemetry->otlp)
		otlp_send(telemetry->otlp, object);
	else
		telemetry_write_file(telemetry, object);
}

static json_t *event_common_attributes(const struct telemetry *telemetry)
{
	return json_pack("{s:s, s:b, s:s*}", "session.id", telemetry->session_id, "interactive",
	                 telemetry->interactive, "hasp.caller", telemetry->caller);
}

void event_write(struct telemetry *telemetry, const char *name, json_t *own, const char *body)
{
	json_auto_t *record = json_object();
	json_t *attributes = event_common_attributes(telemetry);
	char now[CLOCK_TIMESTAMP_SIZE];
	struct timespec moment;

	clock_gettime(CLOCK_REALTIME, &moment);
	clock_timestamp(now);
	json_object_set_new(attributes, "event.name", json_string(name));
	json_object_set_new(attributes, "event.timestamp", json_string(now));
	json_object_update(attributes, own);
	json_decref(own);
	telemetry_limit_texts(attributes);
	json_object_set_new(record, "hrTime", telemetry_moment(&moment));
	json_object_set_new(record, "hrTimeObserved", telemetry_moment(&moment));
	json_object_set_new(record, "attributes", attributes);
	json_object_set_new(record, "_body", telemetry_limited_text(span_str(body)));
	telemetry_write(telemetry, record);
}

void telemetry_count(struct telemetry *telemetry, enum metric metric, json_t *own,
                     json_int_t value)
{
	json_auto_t *attributes = event_common_attributes(telemetry);

	json_object_update(attributes, own);
	json_decref(own);
	telemetry_limit_texts(attributes);
	metrics_add(telemetry->metrics, metric, attributes, value);
}

void telemetry_write_metrics(struct telemetry *telemetry)
{
	json_auto_t *all = json_pack("{s:o, s:[{s:{s:s, s:s}, s:o}]}", "resource",
	                             telemetry_resource(telemetry), "scopeMetrics", "scope", "name",
	                             "gemini-cli", "version", "", "metrics",
	                             metrics_json(telemetry->metrics));

	telemetry->metrics_ms = clock_monotonic_ms();
	if (telemetry->otlp)
		otlp_send_metrics(telemetry->otlp, all);
	else
		telemetry_write_file(telemetry, all);
}

/* ---- members ------------------------------------------------------------------ */

const char *telemetry_said(const json_t *message, const char *name)
{
	const char *text = json_string_value(json_object_get(message, name));

	return text ? text : "";
}

json_int_t telemetry_number(const json_t *message, const char *name)
{
	return json_integer_value(json_object_get(message, name));
}

const char *telemetry_model_name(const json_t *message)
{
	const char *model = telemetry_said(message, "model"), *slash = strchr(model, '/');

	return slash ? slash + 1 : model;
}

json_t *telemetry_prompt_id(const struct telemetry *telemetry)
{
	_cleanup_free_ char *id = mem_printf("%s########%u", telemetry->session_id,
	                                     telemetry->prompts);

	return json_text(span_str(id));
}
