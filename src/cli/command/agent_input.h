/* SPDX-License-Identifier: Apache-2.0 */
/* The prompt of a headless run: flag, words, standard input. */
#ifndef HASP_CLI_COMMAND_AGENT_INPUT_H
#define HASP_CLI_COMMAND_AGENT_INPUT_H

#include "base/buf.h"
#include "cli/options/parse.h"

/* Longest text taken from standard input; as Gemini CLI's. */
#define AGENT_INPUT_BYTES_MAX ((size_t)8 << 20)

struct agent_input {
	struct buf text;  /* all of it; the caller releases */
	size_t piped_len; /* the bytes at its beginning that were piped in beside what the user says */
};

#define AGENT_INPUT_INIT { .text = BUF_INIT(AGENT_INPUT_BYTES_MAX + (1 << 20)) }

/* Reads the prompt into an empty *ret: what is on standard input, if that is no terminal (waited for half a
 * second), an empty line, and --prompt or the words. Empty when there is nothing; what is on standard input
 * alone is what the user says.  INVALID_ARGUMENT: --prompt and words. TOO_LARGE. IO_ERROR. */
bool agent_input_read(const struct invocation *invocation, struct agent_input *ret, struct err *err);

static inline struct span agent_input_piped(const struct agent_input *input)
{
	return span_head(buf_view(&input->text), input->piped_len);
}

static inline struct span agent_input_said(const struct agent_input *input)
{
	return span_skip(buf_view(&input->text), input->piped_len);
}

#endif
