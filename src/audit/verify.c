/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the chain is whole: each record by its own hash, its number and the one before. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "audit/private.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"

struct audit_check {
	const struct audit_checks *checks;
	struct audit_findings *findings;
	uint64_t number;              /* of the record before; 0: none */
	char hash[SHA256_HEX_SIZE];   /* its own, as it states it */
	bool expected;                /* the hash that must be there was */
	json_t *statements;           /* owned: of questions, by id, what their reviewers sign */
	json_t *hashes;               /* owned: of records, by number, for signatures of them */
};

__attribute__((format(printf, 4, 5)))
static void add_problem(struct audit_check *check, const struct audit_line *line, uint64_t number,
                        const char *format, ...)
{
	json_t *problems = check->findings->problems;
	char message[512];
	json_t *row;
	va_list args;

	check->findings->bad++;
	if (json_array_size(problems) >= LIMIT_WARNINGS)
		return;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	row = json_pack("{s:o}", "message", json_text(span_str(message)));
	if (line) {
		json_object_set_new(row, "file", json_text(span_str(line->file)));
		json_object_set_new(row, "line", json_size(line->line));
	}
	if (number)
		json_object_set_new(row, "n", json_size(number));
	json_array_append_new(problems, row);
}

/* ---- the chain --------------------------------------------------------------------- */

static void check_place(struct audit_check *check, const struct audit_line *line, uint64_t number)
{
	const char *prev = json_string_value(json_object_get(line->record, "prev"));
	const uint64_t before = check->number;

	if (number == before + 2)
		add_problem(check, line, number, "Record %llu is missing.",
		            (unsigned long long)before + 1);
	else if (number > before + 1)
		add_problem(check, line, number, "Records %llu to %llu are missing.",
		            (unsigned long long)before + 1, (unsigned long long)number - 1);
	else if (number <= before)
		add_problem(check, line, number, "Record %llu is out of order: it follows %llu.",
		            (unsigned long long)number, (unsigned long long)before);
	else if (!prev || strcmp(prev, check->hash) != 0)
		add_problem(check, line, number,
		            "Record %llu does not follow the one before: that was replaced.",
		            (unsigned long long)number);
}

/* What a writer found missing before it went on. */
static void check_recovery(struct audit_check *check, const struct audit_line *line,
                           uint64_t number)
{
	const json_t *missing = json_object_get(line->record, "missing");

	if (missing)
		add_problem(check, line, number,
		            "Records up to %lld were there before this one, and were cut off.",
		            (long long)json_integer_value(json_object_get(missing, "n")));
}

/* ---- signatures -------------------------------------------------------------------- */

static void check_signature(struct audit_check *check, const struct audit_line *line,
                            uint64_t number, const char *name_space, const char *text)
{
	const json_t *signature = json_object_get(line->record, "signature");
	const char *by = json_string_value(json_object_get(line->record, "by"));
	struct err err = ERR_INIT;

	if (!json_is_string(signature))
		return;
	check->findings->signatures++;
	if (!text)
		add_problem(check, line, number,
		            "Record %llu has a signature of something that is not recorded.",
		            (unsigned long long)number);
	else if (!audit_check_signature(check->checks->signers, check->checks->signers ? by : NULL,
	                                name_space, span_str(text), json_span(signature), &err))
		add_problem(check, line, number, "The signature of %s in record %llu: %s",
		            by ? by : "someone", (unsigned long long)number, err.message);
}

static void follow_question(struct audit_check *check, const struct audit_line *line)
{
	const char *id = json_string_value(json_object_get(line->record, "question"));
	json_t *statement = json_object_get(line->record, "statement");

	if (id && json_is_string(statement))
		json_object_set(check->statements, id, statement);
}

static void check_vote(struct audit_check *check, const struct audit_line *line, uint64_t number)
{
	const char *id = json_string_value(json_object_get(line->record, "question"));

	check_signature(check, line, number, AUDIT_APPROVAL,
	                id ? json_string_value(json_object_get(check->statements, id)) : NULL);
}

static void follow_signature(struct audit_check *check, const struct audit_line *line,
                             uint64_t number)
{
	const json_int_t of = json_integer_value(json_object_get(line->record, "of"));
	_cleanup_free_ char *key = mem_printf("%lld", (long long)of);
	const char *hash = json_string_value(json_object_get(check->hashes, key));
	_cleanup_free_ char *statement = hash ? audit_statement((uint64_t)of, hash) : NULL;

	check_signature(check, line, number, AUDIT_RECORD, statement);
}

static bool is_event(const struct audit_line *line, const char *event)
{
	return span_eq(json_span(json_object_get(line->record, "event")), span_str(event));
}

/* ---- all ----------------------------------------------------------------------------- */

struct audit_check *audit_check_begin(const struct audit_checks *checks,
                                      struct audit_findings *findings)
{
	struct audit_check *check = mem_alloc(1, sizeof(*check));

	*findings = (struct audit_findings){ .problems = json_array() };
	check->checks = checks;
	check->findings = findings;
	check->expected = !checks->expect;
	check->statements = json_object();
	check->hashes = json_object();
	memset(check->hash, '0', SHA256_HEX_SIZE - 1);
	return check;
}

static void follow_record(struct audit_check *check, const struct audit_line *line)
{
	const uint64_t number = (uint64_t)json_integer_value(json_object_get(line->record, "n"));
	_cleanup_free_ char *key = mem_printf("%llu", (unsigned long long)number);

	check_place(check, line, number);
	check->number = number;
	audit_line_hash(line->text, check->hash);
	check->expected |= check->checks->expect && !strcmp(check->checks->expect, check->hash);
	json_object_set_new(check->hashes, key, json_string(check->hash));
	if (is_event(line, "recovered"))
		check_recovery(check, line, number);
	else if (is_event(line, "question"))
		follow_question(check, line);
	else if (is_event(line, "vote"))
		check_vote(check, line, number);
	else if (is_event(line, "signature"))
		follow_signature(check, line, number);
}

bool audit_check_line(void *data, const struct audit_line *line)
{
	struct audit_check *check = data;
	char hash[SHA256_HEX_SIZE];

	check->findings->records++;
	if (line->record) {
		follow_record(check, line);
		return true;
	}
	if (!audit_line_hash(line->text, hash)) {
		add_problem(check, line, 0, "This is no whole record.");
		return true;
	}
	add_problem(check, line, check->number + 1,
	            "Record %llu was changed: its hash is not that of its bytes.",
	            (unsigned long long)check->number + 1);
	/* The next follows what it was. */
	check->number++;
	memcpy(check->hash, hash, sizeof(hash));
	return true;
}

void audit_check_end(struct audit_check *check, const json_t *head)
{
	const json_int_t last = json_integer_value(json_object_get(head, "n"));
	const char *hash = json_string_value(json_object_get(head, "sha256"));
	_cleanup_free_ char *key = mem_printf("%lld", (long long)last);
	const char *named = json_string_value(json_object_get(check->hashes, key));

	if (last > (json_int_t)check->number)
		add_problem(check, NULL, (uint64_t)last,
		            "The last record is missing: \"head\" names %lld, and the chain ends "
		            "with %llu.", (long long)last, (unsigned long long)check->number);
	else if (hash && named && strcmp(hash, named) != 0)
		add_problem(check, NULL, (uint64_t)last,
		            "Record %lld was replaced: \"head\" has another hash.",
		            (long long)last);
	if (!head && check->number)
		add_problem(check, NULL, 0,
		            "The file \"head\" is missing: records may have been cut off at the "
		            "end.");
	if (!check->expected)
		add_problem(check, NULL, 0, "No record has the hash %s.", check->checks->expect);
	if (check->number)
		memcpy(check->findings->last, check->hash, sizeof(check->hash));
	json_decref(check->statements);
	json_decref(check->hashes);
	free(check);
}

bool audit_verify(const char *folder, const struct audit_checks *checks,
                  struct audit_findings *ret, struct err *err)
{
	struct audit_check *check = audit_check_begin(checks, ret);
	json_auto_t *head = audit_head(folder);
	const bool ok = audit_read(folder, audit_check_line, check, err);

	audit_check_end(check, head);
	if (!ok)
		audit_findings_release(ret);
	return ok;
}

void audit_findings_release(struct audit_findings *findings)
{
	json_decref(findings->problems);
	findings->problems = NULL;
}
