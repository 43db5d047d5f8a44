/* SPDX-License-Identifier: Apache-2.0 */
/* Gemini's row, its families, its counter. */
#include "model/gemini.h"

#include <stdlib.h>

#include "base/mem.h"
#include "data/json.h"

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
};
