/* SPDX-License-Identifier: Apache-2.0 */
/* What a host says to people; and of its hooks, on the bus. */
#include "agent/host/private.h"

#include "agent/setup/prepare.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/sha256.h"
#include "bus/bus.h"
#include "data/json.h"
#include "telemetry/telemetry.h"

enum { NOTICES_SAID = 10 }; /* of those about files; more are listed elsewhere */

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

static void notices_keep(const char *path, const char *about, json_t *hash)
{
	struct err ignored = ERR_INIT;
	_cleanup_lock_ char *lock = home_lock_file(path, &ignored);
	json_auto_t *said = lock ? home_object_read(path, 2, &ignored) : NULL;

	if (said && json_object_set(said, about, hash) == 0)
		home_object_write(path, said, &ignored);
}

/* Whether these were not said last; from now on they were. */
static bool notices_changed(const struct host *host, const char *about, const json_t *sentences)
{
	const char *folder = home_temp(host->home);
	_cleanup_free_ char *path = folder ? path_join(folder, "hasp-notices.json") : NULL;
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MESSAGE_BYTES);
	struct err ignored = ERR_INIT;
	json_auto_t *said = NULL, *hash = NULL;
	struct sha256 sum;

	if (!path)
		return true;
	json_print(&text, sentences, 0);
	sum = sha256_of(buf_view(&text));
	hash = json_sha256(&sum);
	said = home_object_read(path, 2, &ignored);
	if (json_equal(json_object_get(said, about), hash))
		return false;
	notices_keep(path, about, hash);
	return true;
}

void host_warn_changed(struct host *host, const char *about, const char *listed,
                       const json_t *sentences)
{
	const size_t count = json_array_size(sentences);
	_cleanup_free_ char *more = NULL;

	if (!count || !notices_changed(host, about, sentences))
		return;
	for (size_t i = 0; i < count && i < NOTICES_SAID; i++)
		host_warn(host, json_string_value(json_array_get(sentences, i)));
	if (count <= NOTICES_SAID)
		return;
	more = mem_printf("%zu more warnings about %s: \"%s\" has all of them.",
	                  count - NOTICES_SAID, about, listed);
	host_warn(host, more);
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
