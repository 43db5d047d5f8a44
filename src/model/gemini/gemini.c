/* SPDX-License-Identifier: Apache-2.0 */
/* Gemini's row, its families, its counter. */
#include "model/gemini/gemini.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "model/wire.h"

enum gemini_family gemini_family_of(const char *model_name)
{
	const char *name = strstr(model_name, "gemini-");
	char *rest;
	double version;
	bool flash, lite;

	if (!name)
		return GEMINI_OTHER;
	flash = strstr(name, "flash") != NULL;
	lite = strstr(name, "flash-lite") != NULL;
	version = strtod(name + 7, &rest);
	if (rest == name + 7 || version >= 3)
		return flash ? GEMINI_3_FLASH : GEMINI_3_PRO;
	if (version < 2.5)
		return GEMINI_OTHER;
	return lite ? GEMINI_25_FLASH_LITE : flash ? GEMINI_25_FLASH : GEMINI_25_PRO;
}

/* The levels that a model takes; the first row whose parts are both in the name counts.
 * Source: ai.google.dev/gemini-api/docs/thinking and each model's page: 3.7 and 3.8 Flash answer MINIMAL
 * with an error. */
enum { LEVEL_MINIMAL = 1, LEVEL_MEDIUM = 2 };
static const struct {
	const char *version, *kind;
	unsigned levels; /* beside LOW and HIGH, which all have */
} levels[] = {
	{ "gemini-3-", "flash", LEVEL_MINIMAL | LEVEL_MEDIUM },
	{ "gemini-3.1-", "flash", LEVEL_MINIMAL | LEVEL_MEDIUM },
	{ "gemini-3.5-", "flash", LEVEL_MINIMAL | LEVEL_MEDIUM },
	{ "gemini-3.6-", "flash", LEVEL_MINIMAL | LEVEL_MEDIUM },
	{ "gemini-3-", "pro", 0 },
	/* 3.1 Pro, 3.7 and 3.8 Flash, and models that are newer than this table. */
	{ "", "", LEVEL_MEDIUM },
};

const char *gemini_level(const char *model_name, enum model_thinking thinking)
{
	size_t i = 0;

	while (!strstr(model_name, levels[i].version) || !strstr(model_name, levels[i].kind))
		i++;
	if (thinking == MODEL_THINK_OFF && (levels[i].levels & LEVEL_MINIMAL))
		return "MINIMAL";
	if (thinking == MODEL_THINK_MEDIUM && (levels[i].levels & LEVEL_MEDIUM))
		return "MEDIUM";
	return thinking == MODEL_THINK_OFF || thinking == MODEL_THINK_LOW ? "LOW" : "HIGH";
}

static bool gemini_count(struct span body, uint64_t *ret, struct err *err)
{
	json_t *value;
	const json_t *total;
	bool ok;

	if (!json_parse(body, &value, err))
		return false;
	total = json_object_get(value, "totalTokens");
	ok = json_is_integer(total) && json_integer_value(total) >= 0;
	if (ok)
		*ret = (uint64_t)json_integer_value(total);
	json_decref(value);
	return ok || err_set(err, ERR_MODEL_ERROR, "The counter's answer has no totalTokens.");
}

static uint64_t gemini_context_tokens(const char *name)
{
	if (strstr(name, "gemma"))
		return strstr(name, "gemma-4") ? 262144 : 131072;
	return strstr(name, "gemini-") ? 1048576 : 0;
}

/* models.get: https://ai.google.dev/api/models. Vertex AI has nothing of the kind. */
static bool gemini_limits_build(const struct model_options *options, struct wire_request *ret)
{
	if (options->vertex)
		return false;
	gemini_model_url(options, &ret->url);
	gemini_key(options, ret);
	return true;
}

static uint64_t gemini_limits_read(const struct model_options *options, const json_t *answer)
{
	(void)options;
	return wire_count(answer, "inputTokenLimit");
}

const struct provider_format format_gemini = {
	.name = "gemini",
	.default_base = "https://generativelanguage.googleapis.com/v1beta",
	.build = gemini_build,
	.reader_new = gemini_reader_new,
	.reader_event = gemini_reader_event,
	.reader_end = gemini_reader_end,
	.reader_free = gemini_reader_free,
	.error = gemini_error,
	.count = gemini_count,
	.context_tokens = gemini_context_tokens,
	.limits_build = gemini_limits_build,
	.limits_read = gemini_limits_read,
};
