/* SPDX-License-Identifier: Apache-2.0 */
/* The prompt of a headless run: flag, words, standard input. */
#ifndef HASP_CLI_AGENT_INPUT_H
#define HASP_CLI_AGENT_INPUT_H

#include "base/buf.h"
#include "cli/parse.h"

/* Longest text taken from standard input; as Gemini CLI's. */
#define AGENT_INPUT_BYTES_MAX ((size_t)8 << 20)

/* Appends the prompt: what is on standard input, if that is no terminal (waited for half a second), an empty
 * line, and --prompt or the words. Empty when there is nothing.
 * INVALID_ARGUMENT: --prompt and words. TOO_LARGE. IO_ERROR. */
bool agent_input_read(const struct invocation *invocation, struct buf *out, struct err *err);

#endif
