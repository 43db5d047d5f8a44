/* SPDX-License-Identifier: Apache-2.0 */
/* Values of metrics, cumulative over the session, and their JSON. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/span.h"
#include "telemetry/private.h"

/* OpenTelemetry's default boundaries of histograms (SDK specification, "Explicit bucket histogram
 * aggregation"). */
static const json_int_t boundaries[] = { 0, 5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 2500,
	                                 5000, 7500, 10000 };

struct metric_point {
	json_t *attributes; /* owned */
	struct timespec first;
	json_int_t sum, least, most;
	json_int_t count;
	json_int_t buckets[ARRAY_LEN(boundaries) + 1];
};

struct series {
	struct metric_point *points;
	size_t count, cap;
};

struct metrics {
	struct series series[METRIC_COUNT];
};

static const struct {
	const char *name, *unit, *description;
	enum metric_kind kind;
} rows[METRIC_COUNT] = {
#define METRIC_ROW(symbol, name, kind, unit, description) \
	[METRIC_##symbol] = { name, unit, description, METRIC_KIND_##kind },
	METRIC_TABLE(METRIC_ROW)
#undef METRIC_ROW
};

struct metrics *metrics_new(void)
{
	return mem_alloc(1, sizeof(struct metrics));
}

void metrics_free(struct metrics *metrics)
{
	if (!metrics)
		return;
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		for (size_t j = 0; j < metrics->series[i].count; j++)
			json_decref(metrics->series[i].points[j].attributes);
		free(metrics->series[i].points);
	}
	free(metrics);
}

/* NULL: there are too many. */
static struct metric_point *point_of(struct series *series, const json_t *attributes)
{
	struct metric_point *point;

	for (size_t i = 0; i < series->count; i++)
		if (json_equal(series->points[i].attributes, attributes))
			return &series->points[i];
	if (series->count >= METRIC_POINTS_MAX)
		return NULL;
	series->points = mem_grow(series->points, &series->cap, series->count + 1,
	                          sizeof(*series->points));
	point = &series->points[series->count++];
	*point = (struct metric_point){ .attributes = json_deep_copy(attributes) };
	clock_gettime(CLOCK_REALTIME, &point->first);
	return point;
}

/* Those in seconds come in milliseconds. */
static json_int_t row_scale(enum metric metric)
{
	return strcmp(rows[metric].unit, "s") ? 1 : 1000;
}

void metrics_add(struct metrics *metrics, enum metric metric, const json_t *attributes,
                 json_int_t value)
{
	struct metric_point *point = point_of(&metrics->series[metric], attributes);
	const json_int_t scale = row_scale(metric);
	size_t bucket = 0;

	if (!point)
		return;
	point->least = !point->count || value < point->least ? value : point->least;
	point->most = !point->count || value > point->most ? value : point->most;
	point->count++;
	if (__builtin_add_overflow(point->sum, value, &point->sum))
		point->sum = INT64_MAX;
	while (bucket < ARRAY_LEN(boundaries) && value > boundaries[bucket] * scale)
		bucket++;
	point->buckets[bucket]++;
}

/* A new reference. */
static json_t *scaled_value(json_int_t value, json_int_t scale)
{
	return scale == 1 ? json_integer(value) : json_real((double)value / (double)scale);
}

static json_t *histogram_value(const struct metric_point *point, json_int_t scale)
{
	json_t *bounds = json_array(), *counts = json_array();

	for (size_t i = 0; i < ARRAY_LEN(boundaries); i++)
		json_array_append_new(bounds, json_integer(boundaries[i]));
	for (size_t i = 0; i < ARRAY_LEN(point->buckets); i++)
		json_array_append_new(counts, json_integer(point->buckets[i]));
	return json_pack("{s:o, s:o, s:o, s:{s:o, s:o}, s:I}", "min",
	                 scaled_value(point->least, scale), "max", scaled_value(point->most, scale),
	                 "sum", scaled_value(point->sum, scale), "buckets", "boundaries", bounds,
	                 "counts", counts, "count", point->count);
}

json_t *telemetry_moment(const struct timespec *moment)
{
	return json_pack("[I, I]", (json_int_t)moment->tv_sec, (json_int_t)moment->tv_nsec);
}

static json_t *series_json(const struct series *series, enum metric metric)
{
	static const char *const types[] = {
		[METRIC_KIND_COUNTER] = "COUNTER", [METRIC_KIND_LEVEL] = "UP_DOWN_COUNTER",
		[METRIC_KIND_HISTOGRAM] = "HISTOGRAM",
	};
	const enum metric_kind kind = rows[metric].kind;
	const bool histogram = kind == METRIC_KIND_HISTOGRAM;
	const json_int_t scale = row_scale(metric);
	json_t *points = json_array(), *shown;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	for (size_t i = 0; i < series->count; i++) {
		const struct metric_point *point = &series->points[i];

		json_array_append_new(points, json_pack(
			"{s:O, s:o, s:o, s:o}", "attributes", point->attributes, "startTime",
			telemetry_moment(&point->first), "endTime", telemetry_moment(&now), "value",
			histogram ? histogram_value(point, scale) : json_integer(point->sum)));
	}
	/* aggregationTemporality 1: cumulative; dataPointType 0: histogram, 3: sum. */
	shown = json_pack("{s:{s:s, s:s, s:s, s:s, s:i, s:{}}, s:i, s:i, s:o}", "descriptor",
	                  "name", rows[metric].name, "type", types[kind],
	                  "description", rows[metric].description, "unit", rows[metric].unit,
	                  "valueType", scale == 1 ? 0 : 1, "advice", "aggregationTemporality", 1,
	                  "dataPointType", histogram ? 0 : 3, "dataPoints", points);
	if (!histogram)
		json_object_set_new(shown, "isMonotonic",
		                    json_boolean(kind == METRIC_KIND_COUNTER));
	return shown;
}

json_t *metrics_json(const struct metrics *metrics)
{
	json_t *all = json_array();

	for (size_t i = 0; i < METRIC_COUNT; i++)
		if (metrics->series[i].count)
			json_array_append_new(all,
			                      series_json(&metrics->series[i], (enum metric)i));
	return all;
}
