/* SPDX-License-Identifier: Apache-2.0 */
#include "model/catalogue.h"

#include <string.h>

#include "base/mem.h"

static const struct catalogue_row rows[] = {
	{ "gemini", "gemini", NULL, { "GOOGLE_GEMINI_BASE_URL" },
	  { "GEMINI_API_KEY", "GOOGLE_API_KEY" }, false },
	{ "vertex", "gemini", NULL, { "GOOGLE_VERTEX_BASE_URL" },
	  { "GOOGLE_CLOUD_ACCESS_TOKEN", "GOOGLE_API_KEY" }, false },
	{ "openai", "openai", NULL, { "OPENAI_BASE_URL", "OPENAI_API_BASE" },
	  { "OPENAI_API_KEY" }, false },
	{ "openai-responses", "openai-responses", NULL, { "OPENAI_BASE_URL", "OPENAI_API_BASE" },
	  { "OPENAI_API_KEY" }, false },
	{ "anthropic", "anthropic", NULL, { "ANTHROPIC_BASE_URL" },
	  { "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN" }, false },
	{ "openrouter", "openai", "https://openrouter.ai/api/v1", { NULL },
	  { "OPENROUTER_API_KEY" }, false },
	{ "ollama", "openai", "http://127.0.0.1:11434/v1", { "OLLAMA_HOST" },
	  { "OLLAMA_API_KEY" }, true },
	{ "llama.cpp", "openai", "http://127.0.0.1:8080/v1", { "LLAMA_BASE_URL" },
	  { "LLAMA_API_KEY" }, true },
	{ "vllm", "openai", "http://127.0.0.1:8000/v1", { "VLLM_BASE_URL" },
	  { "VLLM_API_KEY" }, true },
	{ "lmstudio", "openai", "http://127.0.0.1:1234/v1", { "LMSTUDIO_BASE_URL" },
	  { "LMSTUDIO_API_KEY" }, true },
	{ "groq", "openai", "https://api.groq.com/openai/v1", { NULL }, { "GROQ_API_KEY" }, false },
	{ "deepseek", "openai", "https://api.deepseek.com/v1", { NULL },
	  { "DEEPSEEK_API_KEY" }, false },
	{ "mistral", "openai", "https://api.mistral.ai/v1", { NULL },
	  { "MISTRAL_API_KEY" }, false },
	{ "xai", "openai", "https://api.x.ai/v1", { NULL }, { "XAI_API_KEY" }, false },
	{ "together", "openai", "https://api.together.xyz/v1", { NULL },
	  { "TOGETHER_API_KEY" }, false },
	{ "fireworks", "openai", "https://api.fireworks.ai/inference/v1", { NULL },
	  { "FIREWORKS_API_KEY" }, false },
	{ "cerebras", "openai", "https://api.cerebras.ai/v1", { NULL },
	  { "CEREBRAS_API_KEY" }, false },
	{ "moonshot", "openai", "https://api.moonshot.ai/v1", { NULL },
	  { "MOONSHOT_API_KEY" }, false },
	{ "huggingface", "openai", "https://router.huggingface.co/v1", { NULL },
	  { "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN" }, false },
};

const char catalogue_date[] = "2026-11-23";

/* Sources: ai.google.dev/gemini-api/docs/deprecations; platform.claude.com/docs, "Model deprecations". Vertex
 * AI has days of its own. */
static const struct catalogue_end ends[] = {
	{ "gemini", "gemini-2.0-", "2026-06-01", "gemini-3.5-flash-lite" },
	{ "gemini", "gemini-2.5-pro", "2026-12-01", "gemini-3.8-flash" },
	{ "gemini", "gemini-2.5-flash-lite", "", NULL },
	{ "gemini", "gemini-2.5-flash", "2026-12-01", "gemini-3.5-flash-lite" },
	{ "gemini", "gemini-3-pro-preview", "2026-03-09", "gemini-3.1-pro-preview" },
	{ "anthropic", "claude-3-", "2026-02-19", "claude-sonnet-4-6" },
	{ "anthropic", "claude-sonnet-4-20250514", "2026-06-15", "claude-sonnet-4-6" },
	{ "anthropic", "claude-sonnet-4-0", "2026-06-15", "claude-sonnet-4-6" },
	{ "anthropic", "claude-opus-4-20250514", "2026-06-15", "claude-opus-4-8" },
	{ "anthropic", "claude-opus-4-0", "2026-06-15", "claude-opus-4-8" },
	{ "anthropic", "claude-opus-4-1", "2026-08-05", "claude-opus-4-8" },
	{ "anthropic", "claude-sonnet-4-5", NULL, "claude-sonnet-4-6" },
};

const struct catalogue_end *catalogue_end_of(const char *provider, const char *model)
{
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (strcmp(ends[i].provider, provider) == 0 &&
		    strncmp(model, ends[i].prefix, strlen(ends[i].prefix)) == 0)
			return ends[i].instead ? &ends[i] : NULL;
	return NULL;
}

const struct catalogue_row *catalogue_at(size_t i)
{
	return i < ARRAY_LEN(rows) ? &rows[i] : NULL;
}

const struct catalogue_row *catalogue_find(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strlen(rows[i].name) == len && memcmp(rows[i].name, name, len) == 0)
			return &rows[i];
	return NULL;
}
