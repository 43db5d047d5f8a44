/* SPDX-License-Identifier: Apache-2.0 */
/* What a host says to people; and of its hooks, on the bus. */
#include "agent/host/private.h"

#include "agent/setup/prepare.h"
#include "bus/bus.h"
#include "data/json.h"
#include "telemetry/telemetry.h"

void host_notice(struct host *host, enum severity severity, const char *message)
{
	notices_say(&host->options.notices, severity, message);
}

void host_warn(struct host *host, const char *text)
{
	host_notice(host, SEVERITY_WARNING, text);
}

void host_warn_all(struct host *host, const json_t *sentences)
{
	size_t i;
	json_t *sentence;

	json_array_foreach(sentences, i, sentence) {
		const char *text = json_is_object(sentence) ?
		                           json_string_value(json_object_get(sentence, "message")) :
		                           json_string_value(sentence);

		if (text)
			host_warn(host, text);
	}
}

void host_trouble(void *data, const struct err *err)
{
	host_notice(data, SEVERITY_ERROR, err->message);
}

/* ---- hooks ---------------------------------------------------------------------- */

extern char **environ;

/* Of what a hook says; telemetry cuts it before that. */
enum { HOOK_DETAIL_BYTES_MAX = 16 << 10 };

json_t *host_mask_keys(struct span text)
{
	return setup_mask_text(text, environ);
}

void host_hook_ran(void *data, const struct hook_run *run)
{
	const struct host *host = data;
	json_auto_t *message = json_object();

	json_object_set_new(message, "event", json_string(hook_event_name(run->event)));
	json_object_set_new(message, "name", json_text(span_str(run->name)));
	json_object_set_new(message, "durationMs", json_integer(run->ms));
	json_object_set_new(message, "exitCode", json_integer(run->exit_code));
	json_object_set_new(message, "success", json_boolean(run->exit_code == 0));
	if (telemetry_has_details(host->telemetry)) {
		json_object_set(message, "input", (json_t *)run->input);
		json_object_set_new(message, "stdout",
		                    host_mask_keys(span_head(run->out, HOOK_DETAIL_BYTES_MAX)));
		json_object_set_new(message, "stderr",
		                    host_mask_keys(span_head(run->err, HOOK_DETAIL_BYTES_MAX)));
	}
	bus_publish(host->bus, BUS_HOOK_CALL, message);
}
