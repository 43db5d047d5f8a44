/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of a server's tasks. */
#include "a2a/serve/callers.h"
#include "agent/session/record.h"
#include "base/clock.h"
#include "base/mem.h"
#include "config/settings.h"
#include "telemetry/telemetry.h"

/* As notices.notice. */
static void meter_notice(void *data, enum severity severity, const char *message)
{
	struct a2a_server *server = data;

	(void)severity;
	if (server->warn)
		server->warn(server, message);
}

struct telemetry *a2a_meter_open(struct a2a_server *server, const struct settings *settings)
{
	_cleanup_free_ char *id = record_new_id();

	return telemetry_open(&(struct telemetry_options){
		.settings = settings, .roots = server->options->folders, .session_id = id,
		.notices = { meter_notice, server } });
}

void a2a_meter_state(const struct a2a_task *task, enum a2a_task_state before)
{
	if (task->state != before)
		telemetry_add(task->server->telemetry, TELEMETRY_TASKS, task->caller->name,
		              a2a_task_state_name(task->state), 1);
}

void a2a_meter_wait(struct a2a_task *task)
{
	task->waits_since = clock_monotonic_ms();
	telemetry_add(task->server->telemetry, TELEMETRY_TASKS_WAITING, task->caller->name, NULL,
	              1);
}

void a2a_meter_wait_over(const struct a2a_task *task)
{
	telemetry_add(task->server->telemetry, TELEMETRY_TASKS_WAITING, task->caller->name, NULL,
	              -1);
}

void a2a_meter_begin(const struct a2a_task *task)
{
	telemetry_add(task->server->telemetry, TELEMETRY_TASK_WAIT, task->caller->name, NULL,
	              (int64_t)(clock_monotonic_ms() - task->waits_since));
}
