/* SPDX-License-Identifier: Apache-2.0 */
/* Until callers and pushes are merged: one caller by its token, and no pushes. */
#include <stdlib.h>
#include <string.h>

#include "a2a/serve/push.h"
#include "a2a/serve/tasks.h"
#include "a2a/serve/wire.h"
#include "base/mem.h"
#include "net/http/headers.h"

struct a2a_callers {
	struct http_guard guard;
	struct a2a_caller *only;
};

struct a2a_caller *a2a_caller_ref(struct a2a_caller *caller)
{
	caller->references++;
	return caller;
}

void a2a_caller_unref(struct a2a_caller *caller)
{
	if (!caller || --caller->references)
		return;
	free(caller->name);
	free(caller);
}

bool a2a_callers_open(struct a2a_server *server, const json_t *setting, const char *token,
                      struct a2a_callers **ret, struct err *err)
{
	struct a2a_callers *callers = mem_alloc(1, sizeof(*callers));

	(void)server;
	(void)setting;
	(void)err;
	callers->guard.token = token;
	callers->only = mem_alloc(1, sizeof(*callers->only));
	callers->only->references = 1;
	callers->only->name = mem_strdup("token");
	*ret = callers;
	return true;
}

void a2a_callers_free(struct a2a_callers *callers)
{
	if (!callers)
		return;
	a2a_caller_unref(callers->only);
	free(callers);
}

void a2a_callers_identify(struct a2a_callers *callers, struct http_request *request,
                          void (*found)(void *data, struct a2a_caller *caller,
                                        struct a2a_fault *fault, const char *challenge),
                          void *data)
{
	struct a2a_fault fault = { 0 };

	if (http_guard_token(&callers->guard, http_request_header(request, "Authorization"))) {
		found(data, a2a_caller_ref(callers->only), NULL, NULL);
		return;
	}
	a2a_fault_set(&fault, A2A_FAULT_UNAUTHENTICATED, "This agent asks for a bearer token.");
	found(data, NULL, &fault, "Bearer");
}

struct a2a_caller *a2a_callers_find(const struct a2a_callers *callers, const char *name)
{
	return name && strcmp(name, "token") ? NULL : a2a_caller_ref(callers->only);
}

void a2a_callers_describe(const struct a2a_callers *callers, json_t *card)
{
	if (!callers->guard.token)
		return;
	json_object_set_new(card, "securitySchemes",
	                    json_pack("{s:{s:{s:s}}}", "token", "httpAuthSecurityScheme", "scheme",
	                              "Bearer"));
	json_object_set_new(card, "securityRequirements",
	                    json_pack("[{s:{s:{s:[]}}}]", "schemes", "token", "list"));
}

struct a2a_push *a2a_push_new(struct a2a_server *server)
{
	(void)server;
	return NULL;
}

void a2a_push_free(struct a2a_push *push, unsigned drain_ms)
{
	(void)push;
	(void)drain_ms;
}
