/* SPDX-License-Identifier: Apache-2.0 */
/* Another session in the place of the one that is: a new one, or a recorded one. */
#include "agent/host/host.h"

#include "agent/host/private.h"
#include "agent/host/services.h"
#include "audit/audit.h"
#include "base/mem.h"
#include "data/json.h"
#include "model/model.h"
#include "telemetry/telemetry.h"
#include "worker/job/interpreter.h"

/* Opens what `chat` asks for in the place of the session that is. False: that stays. */
static bool host_switch(struct host *host, const struct chat *chat, const char *reason,
                        struct err *err)
{
	struct chat before = host->chat;
	json_auto_t *nothing = json_array();
	struct chat next;
	bool ok;

	host->chat = *chat;
	host->chat.mode = agent_mode(before.agent);
	ok = host_read_history(host, err) && host_open_record(host, err);
	if (ok) {
		host_open_tools(host);
		session_raise_version(&host->chat.session, session_version(&before.session));
		memory_forget(host->memory, nothing);
		ok = host_open_chat_agent(host, err);
	}
	next = host->chat;
	host->chat = before;
	if (!ok) {
		host_chat_release(&next);
		return false;
	}
	host_leave_a2a_record(host);
	host_end_session(host, reason);
	jobs_end_interpreter(host->jobs);
	policy_session_end(host->options.policy);
	host->chat = next;
	telemetry_set_session(host->telemetry, record_session_id(next.record));
	audit_set_session(host->audit, record_session_id(next.record));
	hooks_set_session(host->hooks, record_session_id(next.record), record_path(next.record),
	                  services_plans_folder(next.services));
	/* Its services stay as long as the host: commands in the background stand on them. */
	host->earlier = mem_grow(host->earlier, &host->earlier_cap, host->earlier_count + 1,
	                         sizeof(*host->earlier));
	host->earlier[host->earlier_count++] = mem_steal(&before.services);
	host_chat_release(&before);
	return true;
}

/* ---- what is allowed ------------------------------------------------------------- */

json_t *host_allowed(const struct host *host)
{
	const struct policy *policy = host->options.policy;
	json_auto_t *rules = policy ? policy_session_list(policy) : json_array();
	json_auto_t *permissions = session_permissions(&host->chat.session);
	json_t *list = json_array(), *one;
	size_t i;

	json_array_foreach(rules, i, one)
		json_array_append_new(list, json_pack("{s:O, s:O?}", "text",
		                                      json_object_get(one, "scope") ?:
		                                      json_object_get(one, "rule"), "since",
		                                      json_object_get(one, "since")));
	json_array_foreach(permissions, i, one)
		json_array_append_new(list, json_pack("{s:O}", "text", one));
	return list;
}

bool host_revoke(struct host *host, size_t number)
{
	json_auto_t *list = host_allowed(host);
	struct policy *policy = host->options.policy;

	if (number > json_array_size(list))
		return false;
	if (!number && policy)
		policy_session_end(policy);
	if (!number || !policy || !policy_session_drop(policy, number - 1))
		session_revoke(&host->chat.session);
	return true;
}

bool host_clear(struct host *host, struct err *err)
{
	const struct chat chat = { .source = "clear" };

	return host_switch(host, &chat, "clear", err);
}

bool host_resume(struct host *host, const char *file, bool copy, struct err *err)
{
	const struct chat chat = { .source = "resume", .resume_file = copy ? NULL : file,
		                   .import_file = copy ? file : NULL };

	return host_switch(host, &chat, "other", err);
}
