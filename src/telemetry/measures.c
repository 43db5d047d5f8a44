/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of a server's tasks: it has callers, and no bus that would know them all. */
#include "base/mem.h"
#include "telemetry/private.h"
#include "telemetry/telemetry.h"

static const struct {
	enum metric metric;
	const char *attribute; /* or NULL */
} measures[] = {
	[TELEMETRY_TASKS] = { METRIC_A2A_TASK_COUNT, "state" },
	[TELEMETRY_TASKS_WAITING] = { METRIC_A2A_TASK_WAITING, NULL },
	[TELEMETRY_TASK_WAIT] = { METRIC_A2A_TASK_WAIT, NULL },
	[TELEMETRY_PUSHES] = { METRIC_A2A_PUSH_COUNT, "outcome" },
};

void telemetry_add(struct telemetry *telemetry, enum telemetry_measure what, const char *caller,
                   const char *which, int64_t value)
{
	json_t *own;

	if (!telemetry)
		return;
	own = json_pack("{s:s}", "hasp.caller", caller);
	if (measures[what].attribute)
		json_object_set_new(own, measures[what].attribute, json_string(which));
	pthread_mutex_lock(&telemetry->lock);
	telemetry->measured = telemetry->measures_changed = true;
	telemetry_count(telemetry, measures[what].metric, own, value);
	pthread_mutex_unlock(&telemetry->lock);
}

void telemetry_write_changes(struct telemetry *telemetry)
{
	if (!telemetry)
		return;
	pthread_mutex_lock(&telemetry->lock);
	if (telemetry->measures_changed)
		telemetry_write_metrics(telemetry);
	telemetry->measures_changed = false;
	pthread_mutex_unlock(&telemetry->lock);
}
