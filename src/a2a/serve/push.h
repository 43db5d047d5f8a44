/* SPDX-License-Identifier: Apache-2.0 */
/* Push notifications: what happens to a task, sent to addresses that its caller named.
 *
 * Source: A2A 1.0, 3.5.3, 4.3 and 13.2. */
#ifndef HASP_A2A_SERVE_PUSH_H
#define HASP_A2A_SERVE_PUSH_H

#include "a2a/serve/private.h"

struct a2a_push; /* the queue of all notifications, its connections */

struct a2a_push *a2a_push_new(struct a2a_server *server);
/* Sends what waits for at most `drain_ms`. NULL is fine. */
void a2a_push_free(struct a2a_push *push, unsigned drain_ms);
/* Whether a configuration (canonical TaskPushNotificationConfig) can be kept: an address that
 * net rules permit (https, or http where allowed; no private or loopback address unless the setting
 * hasp.a2a.push.allow names it; resolved again at each delivery, redirects not followed), sizes,
 * an authentication scheme that is known. */
bool a2a_push_check(struct a2a_push *push, const json_t *config, struct a2a_fault *fault);
/* An event of a task, for each of its configurations (task->pushes); `body`: as the version of the
 * configuration has it.  Never waits; each address's are delivered in order, tried again with
 * growing pauses (base's back-off), at most LIMIT_A2A_PUSH_TRIES times; what is given up is
 * reported by a notice and metric. */
void a2a_push_send(struct a2a_push *push, struct a2a_task *task, const json_t *response);

#endif
