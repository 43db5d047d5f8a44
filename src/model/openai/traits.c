/* SPDX-License-Identifier: Apache-2.0 */
/* Who speaks chat completions, and how.
 *
 * Sources: the API references of OpenAI, OpenRouter, DeepSeek, Groq, Mistral and xAI; the
 * documentation of vLLM ("Reasoning Outputs"), llama.cpp (tools/server/README.md), Ollama
 * ("OpenAI compatibility"). */
#include <string.h>

#include "model/openai/openai.h"

static const struct chat_traits table[] = {
	{ .host = "api.openai.com", .developer = true, .new_limit = true, .allowed_choice = true,
	  .cache_key = true, .files = true, .audio = true, .own_models = true, .schema = true,
	  .effort = "plain" },
	{ .host = ".openai.azure.com", .developer = true, .new_limit = true, .allowed_choice = true,
	  .own_models = true, .schema = true, .effort = "plain" },
	{ .host = "openrouter.ai", .top_k = true, .files = true, .audio = true, .schema = true,
	  .details = true, .effort = "nested" },
	/* 400 when the thoughts of a turn with calls are missing. */
	{ .host = "api.deepseek.com", .thought = "reasoning_content", .effort = "plain" },
	/* 400 for members it does not know, the thoughts it sent among them. */
	{ .host = "api.groq.com", .new_limit = true, .schema = true },
	{ .host = "api.mistral.ai", .schema = true, .counts_anyway = true, .ids = WIRE_ID_NINE },
	{ .host = "api.x.ai", .schema = true },
	/* Ollama: an effort is an error for models that do not think. */
	{ .host = ":11434", .schema = true, .thought = "" },
	/* llama.cpp, vLLM and the rest. */
	{ .host = NULL, .top_k = true, .schema = true, .thought = "" },
};

const struct chat_traits *chat_traits_of(const struct model_options *options)
{
	const char *url = options->base_url ? options->base_url : table[0].host;
	const struct chat_traits *row = table;

	while (row->host && !strstr(url, row->host))
		row++;
	return row;
}
