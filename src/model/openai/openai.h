/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: what OpenAI's two formats share, and the differences between those who
 * speak chat completions, as data.
 *
 * To add a server: a row in openai.c.  To add a model of OpenAI: a row in openai.c.
 */
#ifndef HASP_MODEL_OPENAI_OPENAI_H
#define HASP_MODEL_OPENAI_OPENAI_H

#include "model/provider.h"
#include "model/wire.h"

/* ---- openai ------------------------------------------------------------------ */

/* The longest prompt_cache_key (API reference, "Create a model response"). */
enum { OPENAI_KEY_CHARACTERS = 64 };

/* How a server of chat completions differs. */
struct chat_traits {
	const char *host;          /* what its URL contains; NULL: all others */
	bool developer;            /* reasoning models take the role developer instead of system */
	bool new_limit;            /* max_completion_tokens instead of max_tokens */
	bool allowed_choice;       /* tool_choice can name several tools */
	bool cache_key;            /* prompt_cache_key */
	bool top_k;                /* takes top_k */
	bool files;                /* takes PDF as a part "file" */
	bool audio;                /* takes a part "input_audio" */
	bool own_models;           /* openai.c's rows are about its models */
	bool schema;               /* response_format json_schema; otherwise json_object */
	bool counts_anyway;        /* usage comes unasked, and stream_options are not taken */
	bool details;              /* reasoning_details are sent back */
	const char *thought;       /* the member in which thoughts go back with calls; NULL: they
	                            * are left out; "": where they came */
	const char *effort;        /* reasoning_effort: "plain", or "nested" as reasoning.effort;
	                            * NULL: not sent */
	enum wire_id_rule ids;
};
/* The row of the server that the options name, by its address; the last row is that of all
 * others. */
const struct chat_traits *openai_chat_traits(const struct model_options *options);

/* A model of OpenAI, by the beginning of its name. */
struct openai_model {
	const char *prefix;
	bool reasons;          /* no temperature; reasoning items; effort */
	bool responses_tools;  /* chat completions take tools only with the effort "none" */
	const char *off;       /* the effort that comes nearest to no reasoning */
	uint64_t context;      /* tokens; 0: not known */
	bool loads;            /* Responses: takes tool_search */
	bool custom;           /* Responses: takes tools of free text with a grammar */
};
/* Never NULL: the last row is that of unknown models. */
const struct openai_model *openai_model_of(const char *name);
/* The effort for what was asked; NULL: the model's default. */
const char *openai_effort(const struct openai_model *model, const struct model_request *request);
uint64_t openai_context_tokens(const char *name);

/* {"name", "schema", "strict"?} for an answer that is JSON. */
json_t *openai_answer_schema(const struct model_request *request);

/* Authorization. */
void openai_headers(const struct model_options *options, struct wire_request *ret);

/* How long a conversation may be with a model of a list; 0: the list does not say. */
uint64_t openai_listed_context(const json_t *model);
/* provider_format.list_build and .list_read of both formats. */
bool openai_list_build(const struct model_options *options, struct wire_request *ret);
void openai_list_read(const json_t *answer, json_t *list);

/* ---- Responses (responses_input.c) -------------------------------------------- */

/* The items of "input". `reasons`: the model takes reasoning items. `loader`: whose calls are
 * searches of tools, or NULL. */
json_t *openai_input_items(const struct model_request *request, bool reasons, const char *loader);
/* A tool as {"type": "function", ...}. */
json_t *openai_function_tool(const json_t *tool);

/* ---- both --------------------------------------------------------------------- */

/* usage of chat completions (prompt_tokens ...) and of Responses (input_tokens ...). */
struct model_usage openai_usage(const json_t *usage);

/* {"error": {...}}, {"error": "..."}, {"detail": ...}, {"message": ...}: what servers that speak
 * these formats send, of any media type; with the status 0, in a stream. */
enum wire_trouble openai_error(int status, const json_t *value, double *delay_s, struct err *err);

/* ---- chat -------------------------------------------------------------------- */

extern const struct provider_reader openai_chat_reader;

#endif
