/* SPDX-License-Identifier: Apache-2.0 */
/* Which watches have changed. */
#include <stdlib.h>

#include "base/mem.h"
#include "worker/front/client_private.h"

void client_expect_changes(struct client *client, uint64_t id)
{
	struct change_mark *mark = mem_alloc(1, sizeof(*mark));

	pthread_mutex_lock(&client->lock);
	*mark = (struct change_mark){ client->marks, id, false };
	client->marks = mark;
	pthread_mutex_unlock(&client->lock);
}

void client_forget_changes(struct client *client, uint64_t id)
{
	pthread_mutex_lock(&client->lock);
	for (struct change_mark **at = &client->marks; *at; at = &(*at)->next)
		if ((*at)->id == id) {
			struct change_mark *mark = *at;

			*at = mark->next;
			free(mark);
			break;
		}
	pthread_mutex_unlock(&client->lock);
}

static struct change_mark *find_changed(const struct client *client)
{
	struct change_mark *mark = client->marks;

	while (mark && !mark->changed)
		mark = mark->next;
	return mark;
}

static bool is_disturbed(struct client *client, void *data)
{
	(void)data;
	return client->disturbed || find_changed(client);
}

uint64_t client_wait_change(struct client *client, bool *ret_failed)
{
	struct change_mark *mark;
	uint64_t id = 0;

	pthread_mutex_lock(&client->lock);
	client_wait(client, &client->watcher, is_disturbed, NULL, -1);
	*ret_failed = client->failed;
	mark = find_changed(client);
	if (mark && !client->disturbed) {
		mark->changed = false;
		id = mark->id;
	}
	client->disturbed = false;
	pthread_mutex_unlock(&client->lock);
	return id;
}

void client_disturb(struct client *client)
{
	pthread_mutex_lock(&client->lock);
	client->disturbed = true;
	pthread_cond_signal(&client->watcher.wake);
	client_wake_reader(client);
	pthread_mutex_unlock(&client->lock);
}
