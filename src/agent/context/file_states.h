/* SPDX-License-Identifier: Apache-2.0 */
/* The states of files that results of tools carry: where they stand in a conversation.  Private to
 * agent/.
 *
 *     if (file_states_in(name)) {
 *             count = file_states_of(response, states, FILE_STATES_MAX);
 *             for (i...) states[i].object: file_path, version, sha256, content
 *     }
 *
 * Results of hasp's own tools alone have them: what a server's tool answers is not believed.
 */
#ifndef HASP_AGENT_CONTEXT_FILE_STATES_H
#define HASP_AGENT_CONTEXT_FILE_STATES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/span.h"
#include "tool/tool.h"

enum { FILE_STATES_MAX = 5000 }; /* of one result: apply_changes has 4,096 at most */

struct file_state_place {
	json_t *object; /* borrowed, from the response */
	json_t *result; /* what it is a member of, with `diff` and `success`; or the object itself */
};

/* Whether results of the tool carry such states; by its name, or an alias. NULL: there is none. */
bool file_states_have(const struct tool *tool);
bool file_states_in(const char *tool_name);
/* All of them, in a fixed order: those whose content was taken out keep their place. */
size_t file_states_of(json_t *response, struct file_state_place *found, size_t max);

/* The arguments of the call with this id in the model's message before its answer; borrowed, or NULL. */
const json_t *file_states_call(const json_t *message, struct span id);
/* The text that a call sends and that is `content`, word for word. */
bool file_states_sent(const json_t *args, const json_t *content);

/* Whether a conversation holds all that it takes to know a large file's content in the state `sha256`: a
 * whole content, and the diff of each edit made since, if these are few and small beside it. Then the
 * next edit need not bring the content again. */
bool file_states_known(const json_t *history, const char *path, struct span sha256);

#endif
