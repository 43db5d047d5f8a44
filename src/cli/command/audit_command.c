/* SPDX-License-Identifier: Apache-2.0 */
/* `hasp audit`: the record of questions, votes and answers; shown, checked, signed. */
#include <stdlib.h>
#include <string.h>

#include "audit/audit.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "cli/command/commands.h"
#include "cli/command/private.h"
#include "cli/options/command.h"
#include "cli/options/invocation.h"
#include "cli/view/output.h"
#include "cli/view/view.h"
#include "config/home.h"
#include "config/settings.h"
#include "data/json.h"

struct audit_command {
	const struct invocation *invocation;
	struct settings *settings; /* NULL: the user has none */
	char *folder;          /* owned; of the records */
};

static bool audit_has_session(const struct audit_command *command, const json_t *record)
{
	const char *session = invocation_value(command->invocation, FLAG_SESSION);

	return !session || span_eq(json_span(json_object_get(record, "session")),
	                           span_str(session));
}

/* ---- show ---------------------------------------------------------------------------- */

struct audit_showing {
	const struct audit_command *command;
	json_t *records;  /* owned; of --json */
	struct buf text;
};

static void audit_put(struct buf *out, const json_t *record, const char *name, const char *before)
{
	const json_t *value = json_object_get(record, name);

	if (!json_is_string(value) || !json_string_length(value))
		return;
	buf_str(out, before);
	render_safe(out, json_span(value));
}

static void audit_put_names(struct buf *out, const json_t *names)
{
	size_t i;
	json_t *name;

	json_array_foreach((json_t *)names, i, name) {
		buf_str(out, i ? ", " : "\n      approved by ");
		render_safe(out, json_span(name));
	}
}

static void audit_put_files(struct buf *out, const json_t *files)
{
	size_t i;
	json_t *file;

	json_array_foreach((json_t *)files, i, file) {
		const struct span after = json_span(json_object_get(file, "after"));

		audit_put(out, file, "path", "\n      ");
		if (after.len)
			buf_printf(out, " (%.12s)", after.data);
	}
}

/* "12  2026-11-30T03:00:00.000Z  vote approve by anna: write_file ...". */
static void put_record(struct buf *out, const json_t *record)
{
	buf_printf(out, "%lld", (long long)json_integer_value(json_object_get(record, "n")));
	audit_put(out, record, "time", "  ");
	audit_put(out, record, "event", "  ");
	audit_put(out, record, "vote", " ");
	audit_put(out, record, "outcome", " ");
	audit_put(out, record, "mode", " ");
	audit_put(out, record, "toolName", " ");
	audit_put(out, record, "by", ", by ");
	audit_put(out, record, "from", " from ");
	audit_put(out, record, "command", "\n      ");
	audit_put(out, record, "message", "\n      ");
	audit_put_files(out, json_object_get(record, "files"));
	audit_put_names(out, json_object_get(record, "approvedBy"));
	buf_char(out, '\n');
}

static bool show_line(void *data, const struct audit_line *line)
{
	struct audit_showing *showing = data;

	if (!line->record) {
		buf_printf(&showing->text, "%s:%llu: no whole record; see hasp audit verify\n",
		           line->file, line->line);
		return true;
	}
	if (!audit_has_session(showing->command, line->record))
		return true;
	json_array_append(showing->records, (json_t *)line->record);
	put_record(&showing->text, line->record);
	return true;
}

static bool audit_show(const struct audit_command *command, struct err *err)
{
	struct audit_showing showing = { .command = command, .records = json_array(),
		                         .text = BUF_INIT(LIMIT_RESULT_BYTES) };
	bool ok = audit_read(command->folder, show_line, &showing, err);

	if (ok && invocation_has(command->invocation, FLAG_JSON))
		ok = output_json(showing.records, false, err);
	else if (ok)
		ok = output_text(showing.text.len ? buf_view(&showing.text) :
		                                    SPAN("Nothing is recorded.\n"), err);
	json_decref(showing.records);
	buf_release(&showing.text);
	return ok;
}

/* ---- export -------------------------------------------------------------------------- */

static bool export_line(void *data, const struct audit_line *line)
{
	struct audit_showing *showing = data;

	if (!line->record || audit_has_session(showing->command, line->record)) {
		buf_span(&showing->text, line->text);
		buf_char(&showing->text, '\n');
	}
	return true;
}

/* The lines as they are, whole or not: their hashes are over their bytes. */
static bool audit_export(const struct audit_command *command, struct err *err)
{
	struct audit_showing showing = { .command = command,
		                         .text = BUF_INIT(LIMIT_RESULT_BYTES) };
	const bool ok = audit_read(command->folder, export_line, &showing, err) &&
	                output_text(buf_view(&showing.text), err);

	buf_release(&showing.text);
	return ok;
}

/* ---- verify -------------------------------------------------------------------------- */

static void put_findings(struct buf *out, const struct audit_findings *findings)
{
	size_t i;
	json_t *problem;

	json_array_foreach(findings->problems, i, problem) {
		audit_put(out, problem, "file", "");
		if (json_object_get(problem, "line"))
			buf_printf(out, ":%lld: ", (long long)json_integer_value(
				json_object_get(problem, "line")));
		audit_put(out, problem, "message", "");
		buf_char(out, '\n');
	}
	buf_printf(out, "%llu record%s, %llu signature%s: %s",
	           (unsigned long long)findings->records, findings->records == 1 ? "" : "s",
	           (unsigned long long)findings->signatures, findings->signatures == 1 ? "" : "s",
	           findings->bad ? "" : "whole.\n");
	if (findings->bad)
		buf_printf(out, "%llu problem%s.\n", (unsigned long long)findings->bad,
		           findings->bad == 1 ? "" : "s");
	if (*findings->last)
		buf_printf(out, "The last record is %s\n", findings->last);
}

static bool print_findings(const struct audit_command *command,
                           const struct audit_findings *findings, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	json_auto_t *all = NULL;

	if (!invocation_has(command->invocation, FLAG_JSON)) {
		put_findings(&text, findings);
		return output_text(buf_view(&text), err);
	}
	all = json_pack("{s:b, s:o, s:o, s:s, s:O}", "whole", !findings->bad, "records",
	                json_size(findings->records), "signatures", json_size(findings->signatures),
	                "last", findings->last, "problems", findings->problems);
	return output_json(all, false, err);
}

/* The flag, or else the setting. */
static const char *signers_file(const struct audit_command *command)
{
	const char *file = invocation_value(command->invocation, FLAG_SIGNERS);

	return file || !command->settings ?
	               file : settings_string(command->settings, "hasp.audit.allowedSigners", NULL);
}

static bool audit_run_verify(const struct audit_command *command, struct err *err)
{
	const struct audit_checks checks = {
		.expect = invocation_value(command->invocation, FLAG_EXPECT),
		.signers = signers_file(command),
	};
	struct audit_findings findings;
	bool ok;

	if (!audit_verify(command->folder, &checks, &findings, err))
		return false;
	ok = print_findings(command, &findings, err);
	if (ok && findings.bad)
		ok = err_set(err, ERR_INVALID_ARGUMENT, "The audit is not whole.");
	audit_findings_release(&findings);
	return ok;
}

/* ---- sign ---------------------------------------------------------------------------- */

struct audit_wanted {
	uint64_t number;   /* 0: the last */
	uint64_t found;
	char hash[65];
};

static bool find_record(void *data, const struct audit_line *line)
{
	struct audit_wanted *wanted = data;
	const uint64_t number =
		(uint64_t)json_integer_value(json_object_get(line->record, "n"));
	const char *hash = json_string_value(json_object_get(line->record, "sha256"));

	if (!hash || strlen(hash) >= sizeof(wanted->hash) ||
	    (wanted->number && wanted->number != number))
		return true;
	wanted->found = number;
	memcpy(wanted->hash, hash, strlen(hash) + 1);
	return true;
}

static bool audit_run_sign(const struct audit_command *command, struct err *err)
{
	const char *key = invocation_value(command->invocation, FLAG_KEY);
	const char *who = invocation_value(command->invocation, FLAG_NAME);
	const char *word = invocation_positional(command->invocation, 1);
	struct audit_wanted wanted = { .number = word ? strtoull(word, NULL, 10) : 0 };
	_cleanup_free_ char *statement = NULL, *signature = NULL;

	if (!audit_read(command->folder, find_record, &wanted, err))
		return false;
	if (!wanted.found)
		return err_set(err, ERR_FILE_NOT_FOUND, "There is no such record.");
	statement = audit_statement(wanted.found, wanted.hash);
	signature = audit_sign(key, AUDIT_RECORD, span_str(statement), err);
	return signature &&
	       audit_append(command->folder,
	                    json_pack("{s:s, s:I, s:s*, s:s}", "event", "signature", "of",
	                              (json_int_t)wanted.found, "by", who ? who : getenv("USER"),
	                              "signature", signature), AUDIT_NOW, err);
}

/* ---- the command --------------------------------------------------------------------- */

static const struct {
	const char *name;
	size_t most; /* words, the action being the first */
	bool (*run)(const struct audit_command *command, struct err *err);
} actions[] = {
	{ "show", 1, audit_show },
	{ "verify", 1, audit_run_verify },
	{ "export", 1, audit_export },
	{ "sign", 2, audit_run_sign },
};

static bool audit_begin(struct audit_command *command, struct err *err)
{
	struct home *home = NULL;

	if (!settings_load_own(&command->settings, err) || !home_open("/", &home, err))
		return false;
	command->folder = mem_printf("%s/" AUDIT_FOLDER, home_gemini(home));
	home_free(home);
	return true;
}

/* Whether the words after the action are what it takes. */
static bool audit_words_fit(const struct invocation *invocation, const char *action)
{
	const char *word = invocation_positional(invocation, 1);

	return strcmp(action, "sign") != 0 ||
	       (invocation_has(invocation, FLAG_KEY) && (!word || strtoull(word, NULL, 10)));
}

int command_run_audit(const struct invocation *invocation)
{
	struct audit_command command = { .invocation = invocation };
	const char *name = invocation->positional_count ? invocation_positional(invocation, 0) :
	                                                  "show";
	struct err err = ERR_INIT;
	bool ok;

	for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
		if (strcmp(actions[i].name, name) != 0 ||
		    invocation->positional_count > actions[i].most ||
		    !audit_words_fit(invocation, name))
			continue;
		ok = audit_begin(&command, &err) && actions[i].run(&command, &err);
		if (!ok)
			output_complain(err.message);
		settings_free(command.settings);
		free(command.folder);
		return ok ? CLI_OK : CLI_FAILED;
	}
	output_complain("hasp audit [show], verify, export or sign [NUMBER] --key FILE");
	return CLI_USAGE;
}
