/* SPDX-License-Identifier: Apache-2.0 */
/* The subscriber: what of the bus's messages is recorded; the table is at the end. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "audit/audit.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "base/text.h"
#include "data/json.h"

struct audit {
	struct audit_options options; /* its texts are owned */
	char *folder, *session_id, *project, *caller;
	pthread_mutex_t lock;         /* of session_id */
	unsigned listener;
	bool failed;                  /* reported */
};

/* ---- members ------------------------------------------------------------------------- */

/* A text that is short; of a longer one its beginning, and its hash. */
static void record_text(json_t *record, const char *name, const json_t *value)
{
	const struct span text = json_span(value);
	_cleanup_free_ char *hash_name = mem_printf("%sSha256", name);
	struct sha256 sum;

	if (!json_is_string(value))
		return;
	if (text.len <= LIMIT_AUDIT_TEXT_BYTES) {
		json_object_set(record, name, (json_t *)value);
		return;
	}
	sum = sha256_of(text);
	json_object_set_new(record, name, json_text(utf8_head(text, LIMIT_AUDIT_TEXT_BYTES)));
	json_object_set_new(record, hash_name, json_sha256(&sum));
}

static void record_members(json_t *record, const json_t *message, const char *const *names)
{
	for (; *names; names++) {
		json_t *value = json_object_get(message, *names);

		if (json_is_string(value))
			record_text(record, *names, value);
		else if (value)
			json_object_set(record, *names, value);
	}
}

/* [{path, before, after}] of a question about an edit. */
static json_t *record_files(const json_t *details)
{
	const json_t *listed = json_object_get(details, "files");
	const size_t count = listed ? json_array_size(listed) :
	                     json_object_get(details, "newSha256") ? 1 : 0;
	json_t *files = json_array();

	for (size_t i = 0; i < count && i < LIMIT_AUDIT_FILES; i++) {
		const json_t *of = listed ? json_array_get(listed, i) : details;

		json_array_append_new(files, json_pack(
			"{s:O?, s:O?, s:O?}", "path", json_object_get(of, "filePath"), "before",
			json_object_get(of, "originalSha256"), "after",
			json_object_get(of, "newSha256")));
	}
	return files;
}

/* ---- events -------------------------------------------------------------------------- */

static void record_confirmation(json_t *record, const json_t *message)
{
	static const char *const members[] = { "toolName", "serverName", "agentName", "callId",
		                               "rule",     "shown",      "round",     NULL };
	const json_t *details = json_object_get(message, "details");
	const json_t *approvals = json_object_get(message, "approvals");
	json_auto_t *files = record_files(details);

	record_members(record, message, members);
	if (json_object_get(details, "type"))
		json_object_set(record, "kind", json_object_get(details, "type"));
	record_text(record, "command", json_object_get(details, "command"));
	if (json_array_size(files))
		json_object_set(record, "files", files);
	if (!approvals)
		return;
	json_object_set(record, "approvals", json_object_get(approvals, "rules"));
	json_object_set(record, "statement", json_object_get(approvals, "statement"));
}

static void record_vote(json_t *record, const json_t *message)
{
	static const char *const members[] = { "by", "from", "vote", "approvals", "needed", "owner",
		                               "shown", NULL };

	record_members(record, message, members);
	if (json_object_get(message, "signature"))
		json_object_set(record, "signature", json_object_get(message, "signature"));
}

static void record_response(json_t *record, const json_t *message)
{
	static const char *const members[] = { "outcome", "message", "byPolicy", "approvedBy",
		                               "shown", "action", "cancelled", NULL };
	const json_t *content = json_object_get(message, "newContent");
	const size_t comments = json_array_size(json_object_get(message, "comments"));

	record_members(record, message, members);
	if (json_is_string(content)) {
		const struct sha256 sum = sha256_of(json_span(content));

		json_object_set_new(record, "newContentSha256", json_sha256(&sum));
	}
	if (comments)
		json_object_set_new(record, "comments", json_size(comments));
}

static void record_answered(json_t *record, const json_t *message)
{
	static const char *const members[] = { "outcome", "by", "from", "approvedBy", NULL };

	record_members(record, message, members);
}

static void record_rejection(json_t *record, const json_t *message)
{
	static const char *const members[] = { "callId", "toolName", "message", "rule", NULL };

	record_members(record, message, members);
}

static void record_rule(json_t *record, const json_t *message)
{
	static const char *const members[] = { "toolName", "serverName", "commandPrefix", "saved",
		                               NULL };

	record_members(record, message, members);
}

static void record_mode(json_t *record, const json_t *message)
{
	static const char *const members[] = { "mode", NULL };

	record_members(record, message, members);
}

/* What was asked and answered is the model's and the user's talk: that there was a question is
 * enough. */
static void record_nothing(json_t *record, const json_t *message)
{
	(void)record;
	(void)message;
}

static const struct {
	enum bus_topic topic;
	const char *event;
	void (*add)(json_t *record, const json_t *message);
	enum audit_sync sync;
} rows[] = {
	/* Nothing is done before the answer's record, which brings these to the disk. */
	{ BUS_TOOL_CONFIRMATION_REQUEST, "question", record_confirmation, AUDIT_LATER },
	{ BUS_ASK_USER_REQUEST, "question", record_nothing, AUDIT_LATER },
	{ BUS_ELICITATION_REQUEST, "question", record_nothing, AUDIT_LATER },
	{ BUS_QUESTION_VOTE, "vote", record_vote, AUDIT_LATER },
	{ BUS_TOOL_CONFIRMATION_RESPONSE, "answer", record_response, AUDIT_NOW },
	{ BUS_ASK_USER_RESPONSE, "answer", record_response, AUDIT_NOW },
	{ BUS_ELICITATION_RESPONSE, "answer", record_response, AUDIT_NOW },
	{ BUS_QUESTION_ANSWERED, "answered", record_answered, AUDIT_NOW },
	{ BUS_TOOL_POLICY_REJECTION, "refused", record_rejection, AUDIT_NOW },
	{ BUS_UPDATE_POLICY, "rule", record_rule, AUDIT_NOW },
	{ BUS_APPROVAL_MODE, "mode", record_mode, AUDIT_NOW },
};

static void write_record(struct audit *audit, json_t *record, enum audit_sync sync)
{
	struct err err = ERR_INIT;
	_cleanup_free_ char *words = NULL;

	if (audit_append(audit->folder, record, sync, &err) || audit->failed)
		return;
	audit->failed = true;
	words = mem_printf("The audit is not written: %s", err.message);
	notices_say(&audit->options.notices, SEVERITY_WARNING, words);
}

static void audit_hear(void *data, enum bus_topic topic, const json_t *message)
{
	struct audit *audit = data;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		json_t *record, *id = json_object_get(message, "correlationId");

		if (rows[i].topic != topic)
			continue;
		pthread_mutex_lock(&audit->lock);
		record = json_pack("{s:s*, s:s*, s:s*, s:s, s:O*}", "session", audit->session_id,
		                   "project", audit->project, "caller", audit->caller, "event",
		                   rows[i].event, "question", id);
		pthread_mutex_unlock(&audit->lock);
		if (strcmp(rows[i].event, "question") == 0 ||
		    strcmp(rows[i].event, "answer") == 0)
			json_object_set_new(record, "topic",
			                    json_string(bus_topic_name(topic)));
		rows[i].add(record, message);
		write_record(audit, record, rows[i].sync);
	}
}

/* ---- opened -------------------------------------------------------------------------- */

struct audit *audit_open(const struct audit_options *options)
{
	struct audit *audit = mem_alloc(1, sizeof(*audit));

	audit->options = *options;
	audit->folder = mem_strdup(options->folder);
	audit->session_id = mem_strdup(options->session_id);
	audit->project = mem_strdup(options->project);
	audit->caller = mem_strdup(options->caller);
	pthread_mutex_init(&audit->lock, NULL);
	audit->listener = bus_subscribe(options->bus, BUS_NONE, audit_hear, audit);
	return audit;
}

void audit_set_session(struct audit *audit, const char *session_id)
{
	if (!audit)
		return;
	pthread_mutex_lock(&audit->lock);
	free(audit->session_id);
	audit->session_id = mem_strdup(session_id);
	pthread_mutex_unlock(&audit->lock);
}

void audit_close(struct audit *audit)
{
	if (!audit)
		return;
	bus_unsubscribe(audit->options.bus, audit->listener);
	pthread_mutex_destroy(&audit->lock);
	free(audit->folder);
	free(audit->session_id);
	free(audit->project);
	free(audit->caller);
	free(audit);
}
