/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a command line: the analysis is well-formed, its summary shows a terminal nothing
 * but text, and every command and problem is in it. */
#include <stdint.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/text.h"
#include "shell/analysis.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool holds)
{
	if (!holds)
		abort();
}

static void check_word(const struct shell_word *word)
{
	need(word->raw.data != NULL && word->value.data != NULL);
	need(!word->splits || word->dynamic);
}

static void check_command(const struct shell_analysis *analysis, size_t i)
{
	const struct shell_command *command = &analysis->commands[i];
	const struct shell_script *script = &analysis->scripts[command->script];

	need(command->script < analysis->script_count);
	need(command->parent == SHELL_NONE || command->parent < i);
	need(command->offset + command->length <= script->text.len);
	for (size_t k = 0; k < command->word_count; k++)
		check_word(&command->words[k]);
	for (size_t k = 0; k < command->assignment_count; k++)
		check_word(&command->assignments[k].value);
	for (size_t k = 0; k < command->redirect_count; k++)
		check_word(&command->redirects[k].target);
	(void)shell_command_has_option(command, "--output", 'o');
}

static void check_summary(const struct shell_analysis *analysis)
{
	_cleanup_buf_ struct buf text = BUF_INIT((size_t)64 << 20);
	struct span rest;
	struct utf8_char c;

	shell_summary(analysis, &text);
	if (text.overflowed)
		return;
	need(lines_count(buf_from(&text, 0)) >= analysis->command_count);
	rest = buf_from(&text, 0);
	while (utf8_next(&rest, &c)) {
		need(!c.bad && (c.code == '\n' || c.code >= 0x20));
		need(c.code != 0x7f && (c.code < 0x80 || c.code > 0x9f));
		need((c.code < 0x200b || c.code > 0x200f) && (c.code < 0x2028 || c.code > 0x202e));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = span_of((const char *)data, size);
	_cleanup_shell_analysis_ struct shell_analysis analysis;
	struct span roots[8];

	shell_analyse(text, &analysis);
	need(analysis.script_count > 0 && analysis.command_count <= LIMIT_SHELL_COMMANDS);
	for (size_t i = 0; i < analysis.command_count; i++)
		check_command(&analysis, i);
	for (size_t i = 0; i < analysis.problem_count; i++) {
		const struct shell_problem *problem = &analysis.problems[i];

		need(problem->script < analysis.script_count);
		need(problem->offset <= analysis.scripts[problem->script].text.len);
	}
	need(utf8_valid(text) || analysis.problem_count > 0);
	if (analysis.command_count > 0)
		(void)shell_command_matches_prefix(&analysis.commands[0], text);
	(void)shell_roots(&analysis, roots, 8);
	check_summary(&analysis);
	return 0;
}
