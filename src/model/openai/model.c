/* SPDX-License-Identifier: Apache-2.0 */
/* OpenAI's models, as of 2026-11-23 (developers.openai.com/api/docs/models).  The first row whose prefix fits
 * counts. */
#include <string.h>

#include "data/json.h"
#include "model/openai/openai.h"

static const struct openai_model table[] = {
	{ "gpt-3.5", false, false, NULL, 16385 },
	{ "gpt-4.1", false, false, NULL, 1047576 },
	{ "gpt-4o", false, false, NULL, 128000 },
	{ "gpt-4-turbo", false, false, NULL, 128000 },
	{ "gpt-4", false, false, NULL, 8192 },
	{ "chatgpt-4o", false, false, NULL, 128000 },
	{ "gpt-5-chat", false, false, NULL, 128000 },
	{ "gpt-5-codex", true, false, "low", 400000 },
	{ "gpt-5-pro", true, false, NULL, 400000 },
	{ "gpt-5.1", true, false, "none", 400000 },
	{ "gpt-5.2", true, false, "none", 400000 },
	{ "gpt-5.3", true, false, "none", 400000 },
	{ "gpt-5.4-mini", true, true, "none", 400000 },
	{ "gpt-5.4-nano", true, true, "none", 400000 },
	{ "gpt-5.", true, true, "none", 1050000 },
	{ "gpt-5", true, false, "minimal", 400000 },
	{ "gpt-6", true, true, "none", 1050000 },
	{ "gpt-oss", true, false, "low", 131072 },
	{ "o1", true, false, "low", 200000 },
	{ "o3", true, false, "low", 200000 },
	{ "o4", true, false, "low", 200000 },
	{ "codex", true, false, "low", 200000 },
	{ "", true, false, "low", 0 },
};

const struct openai_model *openai_model_of(const char *name)
{
	const struct openai_model *row = table;

	while (strncmp(name ? name : "", row->prefix, strlen(row->prefix)) != 0)
		row++;
	return row;
}

uint64_t openai_context_tokens(const char *name)
{
	return openai_model_of(name)->context;
}

const char *openai_effort(const struct openai_model *model, const struct model_request *request)
{
	switch (request->thinking) {
	case MODEL_THINK_OFF:
		return model->off;
	case MODEL_THINK_LOW:
		return "low";
	case MODEL_THINK_MEDIUM:
		return "medium";
	case MODEL_THINK_HIGH:
		return "high";
	default:
		return NULL;
	}
}

json_t *openai_answer_schema(const struct model_request *request)
{
	json_t *format = json_pack("{s:s, s:O}", "name", "answer", "schema",
	                           request->answer_schema);

	if (wire_is_strict(request->answer_schema))
		json_object_set_new(format, "strict", json_true());
	return format;
}

void openai_headers(const struct model_options *options, struct wire_request *ret)
{
	if (options->api_key)
		wire_header(ret, "Authorization: Bearer %s", options->api_key);
}

struct model_usage openai_usage(const json_t *usage)
{
	bool chat = json_object_get(usage, "prompt_tokens") != NULL;
	const json_t *in = json_object_get(usage, chat ? "prompt_tokens_details" :
	                                                 "input_tokens_details");
	const json_t *out = json_object_get(usage, chat ? "completion_tokens_details" :
	                                                  "output_tokens_details");
	struct model_usage ret = {
		.input = wire_count(usage, chat ? "prompt_tokens" : "input_tokens"),
		.cached = wire_count(in, "cached_tokens"),
		.cache_written = wire_count(in, "cache_write_tokens"),
		.output = wire_count(usage, chat ? "completion_tokens" : "output_tokens"),
		.thoughts = wire_count(out, "reasoning_tokens"),
		.total = wire_count(usage, "total_tokens"),
	};

	if (!ret.cached) /* DeepSeek */
		ret.cached = wire_count(usage, "prompt_cache_hit_tokens");
	/* Thoughts are among the output, but for xAI, where only the total has them. Some count more
	 * thoughts than output: it was no more than that. */
	if (ret.total == ret.input + ret.output || (!ret.total && ret.thoughts <= ret.output)) {
		ret.thoughts = ret.thoughts < ret.output ? ret.thoughts : ret.output;
		ret.output -= ret.thoughts;
	}
	if (!ret.total)
		ret.total = ret.input + ret.output + ret.thoughts;
	return ret;
}
