/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: the Messages API.
 *
 * To add a model: a row in anthropic.c.
 */
#ifndef HASP_MODEL_ANTHROPIC_ANTHROPIC_H
#define HASP_MODEL_ANTHROPIC_ANTHROPIC_H

#include "model/provider.h"
#include "model/wire.h"

/* The longest metadata.user_id ("Create a Message"). */
enum { CLAUDE_USER_CHARACTERS = 256 };

/* How a model thinks. */
enum claude_thinking {
	CLAUDE_PLAIN,    /* not at all */
	CLAUDE_BUDGET,   /* "enabled" with budget_tokens */
	CLAUDE_ADAPTIVE, /* "adaptive", off unless asked for */
	CLAUDE_ON,       /* "adaptive", on unless "disabled" */
	CLAUDE_BETWEEN,  /* "adaptive", on; the least is "between_tools" */
	CLAUDE_ALWAYS,   /* "adaptive", cannot be turned off */
};

struct claude_model {
	const char *part;     /* of the name; "" is the last row: any other model */
	enum claude_thinking thinking;
	unsigned max_output;  /* tokens, thoughts included */
	uint64_t context;     /* tokens; 0: not known */
	bool effort;          /* takes output_config.effort */
	bool sampling;        /* takes temperature, top_p, top_k */
	bool schema;          /* takes output_config.format */
	bool interleaved;     /* thinks between calls when a beta header asks for it */
	bool forced;          /* takes a tool_choice that forces a call */
};

/* What one request does, decided before it is written. */
struct claude_plan {
	const struct claude_model *model;
	unsigned max_tokens;
	const char *thinking;  /* the type; NULL: the member is left out */
	unsigned budget;       /* with "enabled" */
	const char *effort;    /* NULL: the default */
	bool show;             /* thinking.display "summarized" */
	bool force;            /* a call is to be forced */
};
struct claude_plan claude_plan(const struct model_options *options,
                               const struct model_request *request, const json_t *messages);

void *anthropic_reader_new(struct reply_sink *sink);
bool anthropic_reader_event(void *reader, const struct sse_event *event, enum wire_trouble *trouble,
                            struct err *err);
bool anthropic_reader_end(void *reader, enum wire_trouble *trouble, struct err *err);
void anthropic_reader_free(void *reader);

enum wire_trouble anthropic_error(int status, struct span headers, struct span body, double *delay_s,
                                  struct err *err);

#endif
