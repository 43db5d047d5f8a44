/* SPDX-License-Identifier: Apache-2.0 */
/* Push notifications: what happens to a task, sent to addresses that its caller named.
 *
 *     push = a2a_push_new(server, settings_get(settings, "hasp.a2a.push.allow"));
 *     ok = a2a_push_check(push, config, &fault);       // then the task keeps it (task->pushes)
 *     a2a_push_send(push, task, response);             // each event; never waits
 *
 * A caller is a stranger, so an address may be one that it cannot reach itself (SSRF): only https,
 * and no address that is private, of this machine or of a cloud's own services, by the table that
 * web_fetch has (http_client_request.public_only): checked on the address that is connected to, at
 * each delivery.  Redirects are not followed, answers not read.  What the setting names may be
 * private, and http.
 *
 * Of one configuration notifications go out one after the other, and are tried again with growing
 * pauses, LIMIT_A2A_PUSH_TRIES times; one target that hangs delays no other's.  What cannot be
 * delivered is given up with a warning that has the host, nothing else of the address.
 *
 * Source: A2A 1.0, 3.5.3, 4.3 and 13.2; 0.3.0, 9.5 (X-A2A-Notification-Token; the body is the
 * task).
 */
#ifndef HASP_A2A_SERVE_PUSH_H
#define HASP_A2A_SERVE_PUSH_H

#include "a2a/serve/private.h"

struct a2a_push; /* the queue of all notifications */

/* `allow` (or NULL): hosts that may be private, ["localhost", "10.0.0.7:8080"]; copied. */
struct a2a_push *a2a_push_new(struct a2a_server *server, const json_t *allow);
/* Sends what waits for at most `drain_ms`; the rest is lost.  Before the loop and the server's
 * pool are freed. NULL is fine. */
void a2a_push_free(struct a2a_push *push, unsigned drain_ms);
/* Whether a configuration (canonical TaskPushNotificationConfig) can be kept: its address, as far
 * as that can be said without resolving it, its sizes, an authentication scheme that can be used.
 * False: PARAMS. */
bool a2a_push_check(struct a2a_push *push, const json_t *config, struct a2a_fault *fault);
/* An event of a task, for each of its configurations (task->pushes); the body is as the member
 * "protocolVersion" of the configuration ("0.3", missing: 1.0) has it. */
void a2a_push_send(struct a2a_push *push, struct a2a_task *task, const json_t *response);

/* ---- addresses (target.c) ---- */

/* Whether the address may be one at all: *ret_named, that `allow` has its host, which may then be
 * private. INVALID_ARGUMENT: what is wrong with it. */
bool a2a_target_check(const char *url, const json_t *allow, bool *ret_named, struct err *err);
/* Its host, for sentences. The caller frees. */
char *a2a_target_host(const char *url);

#endif
