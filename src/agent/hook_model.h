/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to models and their replies as hooks see them (Gemini CLI's llm_request and llm_response), and
 * what hooks made of them.  Private to this folder.
 *
 * Messages are shown as text: calls and results in them as JSON.  A hook that gives other messages
 * replaces the conversation of this one request by theirs; a name of another model is not heeded.
 */
#ifndef HASP_AGENT_HOOK_MODEL_H
#define HASP_AGENT_HOOK_MODEL_H

#include "model/model.h"

/* {"model", "messages": [{role, content}], "config", "toolConfig"}; a new reference. */
json_t *hook_request(const char *model, const struct model_request *request);
/* Lays `override` (what hooks returned, compared with what they were `shown`) over the request. What the
 * request then points to is kept in *ret_owned, for the caller to release after the request. */
void hook_override(struct model_request *request, const json_t *shown, const json_t *override,
                   json_t **ret_owned);
/* BeforeToolSelection's {mode, allowedFunctionNames}; *ret_owned as above. */
void hook_select_tools(struct model_request *request, const json_t *config, json_t **ret_owned);

/* {"text", "candidates", "usageMetadata"}; a new reference. */
json_t *hook_response(const struct model_reply *reply);
/* The text of a response that a hook gave, as a message of the model; a new reference. NULL: there is
 * none in it. */
json_t *hook_response_content(const json_t *response);

#endif
