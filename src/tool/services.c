/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/services.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bus/bus.h"
#include "data/json.h"

enum { HOSTS_MAX = 256, MINUTE_MS = 60000 };

/* When the last requests to a host were made; 0: not yet. */
struct web_host {
	char *name; /* owned */
	uint64_t at[SERVICES_REQUESTS_PER_MINUTE];
	size_t next; /* the oldest of them */
};

struct services_state {
	pthread_mutex_t lock;
	json_t *todos;
	struct web_host hosts[HOSTS_MAX];
};

void services_grounded_release(struct grounded *grounded)
{
	free(grounded->text);
	json_decref(grounded->sources);
	*grounded = (struct grounded){ 0 };
}

void services_init(struct tool_services *services)
{
	services->state = mem_alloc(1, sizeof(*services->state));
	pthread_mutex_init(&services->state->lock, NULL);
	services->state->todos = json_array();
}

void services_release(struct tool_services *services)
{
	struct services_state *state = services->state;

	if (!state)
		return;
	json_decref(state->todos);
	for (size_t i = 0; i < HOSTS_MAX; i++)
		free(state->hosts[i].name);
	pthread_mutex_destroy(&state->lock);
	free(state);
	services->state = NULL;
}

json_t *services_todos(struct tool_services *services)
{
	json_t *todos;

	pthread_mutex_lock(&services->state->lock);
	todos = json_incref(services->state->todos);
	pthread_mutex_unlock(&services->state->lock);
	return todos;
}

void services_set_todos(struct tool_services *services, json_t *todos)
{
	json_auto_t *message = json_object();

	pthread_mutex_lock(&services->state->lock);
	json_decref(services->state->todos);
	services->state->todos = json_incref(todos);
	pthread_mutex_unlock(&services->state->lock);
	json_object_set(message, "todos", todos);
	bus_publish(services->bus, BUS_TODOS, message);
}

void services_update_topic(struct tool_services *services, const json_t *arguments)
{
	static const struct {
		const char *argument, *member;
	} rows[] = {
		{ "title", "title" },
		{ "summary", "summary" },
		{ "strategic_intent", "strategicIntent" },
	};
	json_auto_t *message = json_object();

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (json_object_get(arguments, rows[i].argument))
			json_object_set(message, rows[i].member,
			                json_object_get(arguments, rows[i].argument));
	bus_publish(services->bus, BUS_TOPIC_UPDATE, message);
}

static uint64_t last_request(const struct web_host *host)
{
	size_t last =
		(host->next + SERVICES_REQUESTS_PER_MINUTE - 1) % SERVICES_REQUESTS_PER_MINUTE;

	return host->at[last];
}

/* The host's row; when all are taken, that of the host that was asked longest ago. */
static struct web_host *host_row(struct services_state *state, const char *name)
{
	struct web_host *oldest = &state->hosts[0];

	for (size_t i = 0; i < HOSTS_MAX; i++) {
		struct web_host *host = &state->hosts[i];

		if (host->name && strcasecmp(host->name, name) == 0)
			return host;
		if (oldest->name && (!host->name || last_request(host) < last_request(oldest)))
			oldest = host;
	}
	free(oldest->name);
	*oldest = (struct web_host){ .name = mem_strdup(name) };
	return oldest;
}

bool services_count_request(struct tool_services *services, const char *host,
                            unsigned *ret_seconds)
{
	struct services_state *state = services->state;
	uint64_t now = clock_monotonic_ms(), oldest;
	struct web_host *row;
	bool may;

	pthread_mutex_lock(&state->lock);
	row = host_row(state, host);
	oldest = row->at[row->next];
	may = !oldest || now - oldest >= MINUTE_MS;
	if (may) {
		row->at[row->next] = now;
		row->next = (row->next + 1) % SERVICES_REQUESTS_PER_MINUTE;
	} else {
		*ret_seconds = (unsigned)((MINUTE_MS - (now - oldest) + 999) / 1000);
	}
	pthread_mutex_unlock(&state->lock);
	return may;
}
