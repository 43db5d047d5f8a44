/* SPDX-License-Identifier: Apache-2.0 */
/* What the remote*.c share. */
#ifndef HASP_WORKER_FRONT_REMOTE_PRIVATE_H
#define HASP_WORKER_FRONT_REMOTE_PRIVATE_H

#include "worker/front/remote.h"

struct remote {
	struct provider provider; /* first: the two are cast into each other */
	const struct remote_kind *kind;
	void *data;               /* owned, by kind->release */
	struct provider_info info;
	char *weaker_because;     /* owned; info's */
	char **roots;             /* owned */
	size_t root_count;

	pthread_mutex_t open_lock; /* one starts a worker, the others wait for it */
	pthread_mutex_t lock;      /* of `client` */
	struct client *client;     /* owned reference; NULL: none yet */
	int bell;                  /* owned epoll descriptor; -1: none yet. Its caller's thread's */

	struct watchman *watchman; /* owned; remote_watch.c; NULL before the first watch */
};

/* The client to use, with a reference of the caller's; starts a worker if need be. */
struct client *remote_client(struct remote *remote, struct err *err);

/* remote_watch.c */
bool remote_watch(struct provider *provider, const struct watch_request *request,
                  struct watch **ret, struct err *err);
void remote_unwatch(struct provider *provider, struct watch *watch);
void remote_watchman_free(struct watchman *watchman);

#endif
