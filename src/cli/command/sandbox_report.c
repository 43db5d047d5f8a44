/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command/sandbox_report.h"

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "tool/denial.h"

/* Why a command that did not end by itself was ended; NULL: it did. */
static const char *end_sentence(enum run_why why)
{
	static const char *const sentences[] = {
		[RUN_TIMED_OUT] = "the command took too long and was ended",
		[RUN_INACTIVE] = "the command was silent for too long and was ended",
		[RUN_CANCELLED] = "the command was ended",
		[RUN_LIMIT] = "the command reached a limit and was ended",
		[RUN_LOST] = "the worker that ran the command is gone; how the command ended is "
			     "not known",
	};

	return (unsigned)why < ARRAY_LEN(sentences) ? sentences[why] : NULL;
}

void sandbox_report_lines(const struct attended *attended, struct buf *out)
{
	const char *ended = end_sentence(attended->end.why);
	bool succeeded = attended->end.why == RUN_EXITED && attended->end.exit_code == 0;

	for (size_t i = 0; i < attended->denial_count; i++) {
		if (succeeded && denial_is_routine(&attended->denials[i]))
			continue;
		buf_str(out, attended->denials[i].kind == DENIAL_CHANGED ? "hasp: " :
		                                                           "hasp: denied: ");
		denial_sentence(&attended->denials[i], out);
		buf_char(out, '\n');
	}
	if (attended->denial_count >= LIMIT_DENIALS)
		buf_str(out, "hasp: there may have been more denials than are told\n");
	if (ended && !attended->output_lost)
		buf_printf(out, "hasp: %s\n", ended);
}

static json_t *report_denial(const struct denial *denial)
{
	json_t *object = denial_json(denial);

	if (denial->pid)
		json_object_set_new(object, "pid", json_integer(denial->pid));
	if (denial_is_routine(denial))
		json_object_set_new(object, "routine", json_true());
	return object;
}

json_t *sandbox_report_json(const struct provider_info *info, const struct attended *attended)
{
	json_t *denials = json_array();
	const struct run_end *end = &attended->end;

	for (size_t i = 0; i < attended->denial_count; i++)
		json_array_append_new(denials, report_denial(&attended->denials[i]));
	return json_pack("{s:s, s:o, s:s, s:i, s:i, s:o, s:o, s:o, s:o}",
	                 "sandbox", sandbox_level_name(info->level),
	                 "weaker_because", json_cstr(info->weaker_because),
	                 "ended", run_why_name(end->why),
	                 "exit_code", end->exit_code,
	                 "signal", end->signal,
	                 "wall_ms", json_size(end->wall_ms),
	                 "cpu_ms", json_size(end->cpu_ms),
	                 "peak_memory_bytes", json_size(end->peak_memory_bytes),
	                 "denials", denials);
}
