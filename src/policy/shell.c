/* SPDX-License-Identifier: Apache-2.0 */
/* The decision on a command line: each command in it by itself, the strictest counts. */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "policy/decide.h"
#include "shell/programs.h"

/* ---- commands that are asked about although they are allowed ------------------ */

/* Commands that are asked about although they are allowed (Gemini CLI's list, on words instead of
 * text), and commands that run without the question (those that only read, shell/programs.h).
 * They decide about asking where a rule says nothing about the command itself; what a command can
 * do is the sandbox's matter. */

/* One option: its long name (with its dashes), its letter; either may be missing. */
struct option {
	const char *name;
	char letter;
};

#define OPTIONS(...) ((const struct option[]){ __VA_ARGS__, { NULL, 0 } })

struct risky_command {
	const char *program;
	const char *verb;             /* the next word; NULL: any */
	const struct option *options; /* with one of them */
};

#define FIND_OPTIONS                                                                       \
	OPTIONS({ "-exec", 0 }, { "-execdir", 0 }, { "-ok", 0 }, { "-okdir", 0 },          \
	        { "-delete", 0 }, { "-fls", 0 }, { "-fprint", 0 }, { "-fprint0", 0 },      \
	        { "-fprintf", 0 })
#define RG_OPTIONS OPTIONS({ "--pre", 0 }, { "--hostname-bin", 0 }, { "--search-zip", 'z' })
#define GIT_OPTIONS                                                                        \
	OPTIONS({ "--output", 0 }, { "--ext-diff", 0 }, { "--textconv", 0 }, { "--exec", 0 }, \
	        { "--paginate", 0 })

static const struct risky_command dangerous[] = {
	{ "rm", NULL, OPTIONS({ "--force", 'f' }) },
	{ "find", NULL, FIND_OPTIONS },
	{ "rg", NULL, RG_OPTIONS },
	{ "base64", NULL, OPTIONS({ "--output", 'o' }) },
	{ "ln", NULL, OPTIONS({ "--symbolic", 's' }) },
	{ "git", "diff", GIT_OPTIONS },
	{ "git", "log", GIT_OPTIONS },
	{ "git", "show", GIT_OPTIONS },
	{ "git", "branch", OPTIONS({ "--delete", 'd' }, { NULL, 'D' }, { "--move", 'm' },
	                           { NULL, 'M' }, { "--force", 'f' }) },
};

/* Programs that change nothing but what runs their command, and say so in their name. */
static const char *const wrappers[] = { "bash", "sh", "time", "timeout", "nice", "nohup", "xargs" };

static bool has_any(const struct shell_command *command, const struct option *options)
{
	for (; options->name || options->letter; options++) {
		/* A letter without a name needs some name that nothing abbreviates. */
		const char *name = options->name ? options->name : "--\x01";

		if (shell_command_has_option(command, name, options->letter))
			return true;
	}
	return false;
}

static bool has_verb(const struct shell_command *command, const char *verb)
{
	return !verb || (command->word_count > 1 && !command->words[1].dynamic &&
	                 span_eq(command->words[1].value, span_str(verb)));
}

static bool is_git_command(const struct shell_command *command)
{
	return span_eq(shell_command_base(command), SPAN("git"));
}

/* git -c NAME=VALUE and the like: the configuration can name programs. */
static bool configures_git(const struct shell_command *command)
{
	for (size_t i = 1; i < command->word_count; i++) {
		const struct shell_word *word = &command->words[i];

		if (!word->dynamic && (word->value.len == 0 || word->value.data[0] != '-'))
			return false;
		if (span_starts(word->value, SPAN("-c")) ||
		    span_starts(word->value, SPAN("--config-env")) ||
		    span_starts(word->value, SPAN("--exec-path")))
			return true;
	}
	return false;
}

/* Of the words that are known alone: what may be there is no reason. */
static bool has_known(const struct shell_command *command, const struct option *options)
{
	_cleanup_free_ struct shell_word *words = mem_alloc(command->word_count, sizeof(*words));
	struct shell_command known = { .words = words };

	for (size_t i = 0; i < command->word_count; i++)
		if (!command->words[i].dynamic)
			words[known.word_count++] = command->words[i];
	return has_any(&known, options);
}

/* Whether a table has it among the commands that are asked about. */
static bool is_dangerous_command(const struct shell_command *command)
{
	struct span base = shell_command_base(command);

	if (!base.len)
		return false;
	if (is_git_command(command) && configures_git(command))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(dangerous); i++)
		if (span_eq(base, span_str(dangerous[i].program)) &&
		    has_verb(command, dangerous[i].verb) &&
		    has_known(command, dangerous[i].options))
			return true;
	return false;
}

/* Variables that change how something is shown, and nothing else; with values that are names. */
static bool is_harmless_assignment(const struct shell_command *command,
                                   const struct shell_assignment *assignment)
{
	static const char *const names[] = {
		"LC_ALL", "LANG", "LC_COLLATE", "LC_CTYPE", "LC_NUMERIC", "LC_TIME", "LC_MESSAGES",
		"TZ", "NO_COLOR", "COLUMNS", "GIT_OPTIONAL_LOCKS",
	};
	static const char *const pagers[] = { "PAGER", "GIT_PAGER", "MANPAGER" };
	struct span value = assignment->value.value;

	if (assignment->value.dynamic)
		return false;
	if (span_eq(assignment->name, SPAN("IFS")))
		return span_eq(shell_command_base(command), SPAN("read"));
	if (decide_is_listed(assignment->name, pagers, ARRAY_LEN(pagers)))
		return span_eq(value, SPAN("cat"));
	for (size_t i = 0; i < value.len; i++)
		if (!ascii_is_alnum(value.data[i]) &&
		    !(value.data[i] && strchr("_-.@+", value.data[i])))
			return false;
	return decide_is_listed(assignment->name, names, ARRAY_LEN(names));
}

/* It only reads, and is known by its plain name.  Whose files git obeys is another question. */
static bool is_safe_command(const struct shell_command *command)
{
	/* By its name alone: ./cat can be any program. */
	if (command->word_count == 0 || command->words[0].dynamic ||
	    command->words[0].value.len == 0 || (command->flags & SHELL_FLAG_REMOTE) ||
	    memchr(command->words[0].value.data, '/', command->words[0].value.len))
		return false;
	for (size_t i = 0; i < command->assignment_count; i++)
		if (!is_harmless_assignment(command, &command->assignments[i]))
			return false;
	return program_reads(command);
}

/* A command that does nothing but run others, which are in the list: sh -c, time, xargs. */
static bool is_mere_wrapper(const struct shell_command *command)
{
	if (!(command->flags & SHELL_FLAG_WRAPPER) || command->word_count == 0 ||
	    command->words[0].dynamic || command->assignment_count > 0)
		return false;
	return decide_is_listed(command->words[0].value, wrappers, ARRAY_LEN(wrappers));
}

/* ---- the decision on a command line: each command in it by itself, the strictest counts ---- */

/* One command that is decided on. */
struct unit {
	const struct shell_command *command; /* NULL: the line has none (a comment, x=1) */
	struct outcome outcome;
	bool by_table;   /* allowed by is_safe_command, not by a rule */
	bool final;      /* a prefix would not allow it */
};

struct policy_line {
	const struct policy *policy;
	const struct policy_call *call;
	struct act *act;
	struct act_whole *whole;
	struct shell_analysis analysis;
	struct unit *units;
	size_t count;
	bool leaves;     /* a cd goes where the trust in the folder does not reach, or may */
};

/* ---- views ------------------------------------------------------------------------------- */

/* The call's arguments with another command, and without what the model says about it. */
static json_t *with_command(const struct policy_call *call, struct span command)
{
	json_t *arguments = json_copy((json_t *)call->arguments);

	if (!arguments)
		arguments = json_object();
	json_object_set_new(arguments, "command", json_text(command));
	json_object_del(arguments, "description");
	return arguments;
}

static void view_act(const struct policy_call *call, struct span command, struct act *ret)
{
	json_auto_t *arguments = with_command(call, command);

	act_init(call, arguments, ret);
}

/* The words with single blanks between them; of those that are not known, what is written. */
static void append_words(struct buf *out, const struct shell_command *command, struct span name)
{
	for (size_t i = 0; i < command->word_count; i++) {
		const struct shell_word *word = &command->words[i];

		if (i)
			buf_char(out, ' ');
		buf_span(out, i == 0 && name.len ? name : word->dynamic ? word->raw : word->value);
	}
}

static struct span raw_text(const struct policy_line *line, const struct shell_command *command)
{
	const struct shell_script *script = &line->analysis.scripts[command->script];

	return span_head(span_skip(script->text, command->offset), command->length);
}

static struct outcome decide_view(const struct policy_line *line,
                                  const struct shell_command *command)
{
	_cleanup_buf_ struct buf plain = BUF_INIT(2 * LIMIT_SHELL_ALL_BYTES);
	_cleanup_buf_ struct buf base = BUF_INIT(2 * LIMIT_SHELL_ALL_BYTES);
	struct act acts[3];
	const struct shell_view view = {
		.analysis = &line->analysis, .command = command,
		.raw = &acts[0], .plain = &acts[1], .base = &acts[2], .whole = line->whole,
	};
	struct outcome outcome;

	append_words(&plain, command, span_of("", 0));
	append_words(&base, command, shell_command_base(command));
	view_act(line->call, raw_text(line, command), &acts[0]);
	view_act(line->call, buf_from(&plain, 0), &acts[1]);
	view_act(line->call, buf_from(&base, 0), &acts[2]);
	outcome = decide_act(line->policy, line->call, &acts[0], &view);
	for (size_t i = 0; i < ARRAY_LEN(acts); i++)
		act_release(&acts[i]);
	return outcome;
}

/* ---- units ---------------------------------------------------------------------------------- */

/* Whether the rule says nothing about which command it is. */
static bool is_general(const struct outcome *outcome)
{
	return !outcome->rule || outcome->rule->selector.narrow == NARROW_NONE;
}

/* ---- where git looks --------------------------------------------------------------------- */

/* Whether the path leads to a folder of the project, as far as its text says. */
static bool folder_is_inside(void *data, const struct shell_word *folder)
{
	const struct policy_call *call = data;
	struct span path = folder->value;

	if (folder->dynamic || path.len == 0 || path.data[0] == '-')
		return false;
	for (size_t i = 0; i + 1 < path.len; i++)
		if (path.data[i] == '.' && path.data[i + 1] == '.' &&
		    (i == 0 || path.data[i - 1] == '/') &&
		    (i + 2 == path.len || path.data[i + 2] == '/'))
			return false;
	if (path.data[0] != '/')
		return true;
	if (!call->project || !span_starts(path, span_str(call->project)))
		return false;
	path = span_skip(path, strlen(call->project));
	return path.len == 0 || path.data[0] == '/';
}

/* Whether the call begins in a folder of the project. */
static bool starts_inside(const struct policy_call *call)
{
	const json_t *folder = tool_command_folder(tool_info_of(call->tool), call->arguments);
	struct shell_word word = { .value = span_of(json_string_value(folder),
	                                            json_string_length(folder)) };

	return !folder || (json_is_string(folder) && folder_is_inside((void *)call, &word));
}

/* A cd after which git may find an untrusted repository. */
static bool may_leave(const struct policy_line *line, const struct shell_command *command)
{
	struct span base = shell_command_base(command);
	const struct shell_word *words = command->words;

	if (span_eq(base, SPAN("pushd")) || span_eq(base, SPAN("popd")))
		return true;
	return span_eq(base, SPAN("cd")) &&
	       (command->word_count != 2 || command->flags & SHELL_FLAG_APPENDED ||
	        !folder_is_inside((void *)line->call, &words[1]));
}

/* Git runs programs that the repository's configuration names, so the repository must belong to the
 * trusted folder.  Bare repositories among its files are disabled by git's own configuration
 * (worker/environment.h). */
static bool is_trusted_git(const struct policy_line *line, const struct shell_command *command)
{
	return line->call->trusted && !line->leaves && command->via != SHELL_VIA_FIND &&
	       program_git_folders(command, folder_is_inside, (void *)line->call);
}

/* Whether only hasp's defaults ask: a user's rule that asks about every command overrides the table
 * of harmless ones. */
static bool is_question_by_default(const struct outcome *outcome)
{
	return outcome->decision == POLICY_ASK && !outcome->why &&
	       (!outcome->rule || outcome->rule->priority < POLICY_EXTENSION);
}

/* ---- decisions ------------------------------------------------------------------------------ */

/* The tables count where no rule is about this very command. */
static void apply_tables(const struct policy_line *line, struct unit *unit)
{
	const struct policy_call *call = line->call;
	struct outcome *outcome = &unit->outcome;

	if (!is_general(outcome))
		return;
	if (outcome->decision == POLICY_ALLOW && call->mode != MODE_YOLO) {
		if (is_dangerous_command(unit->command))
			outcome->why = "No rule covers this command, and it can change things.";
		else if (is_git_command(unit->command) && !call->trusted)
			outcome->why =
				"Git runs what a folder's files say, and this one is not trusted.";
		if (outcome->why) {
			outcome->decision = POLICY_ASK;
			unit->final = !call->trusted;
		}
	} else if (is_question_by_default(outcome) && is_safe_command(unit->command)) {
		if (is_git_command(unit->command) && !is_trusted_git(line, unit->command)) {
			outcome->why =
				"Git runs programs that a repository's configuration names, and "
			               "this repository may be outside of the trusted folder.";
			return;
		}
		outcome->decision = POLICY_ALLOW;
		unit->by_table = true;
	}
}

/* Redirections into files are something else than the command that a rule allows. */
static bool minds_redirection(const struct policy_line *line, const struct unit *unit)
{
	return line->call->mode < MODE_AUTO_EDIT && unit->outcome.decision == POLICY_ALLOW &&
	       !(unit->outcome.rule && unit->outcome.rule->allow_redirection && !unit->by_table);
}

static void ask_about_redirection(struct unit *unit)
{
	unit->outcome.decision = POLICY_ASK;
	unit->outcome.why = "Its output is written to a file.";
	unit->final = true;
}

static bool writes(const struct shell_redirect *redirects, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (redirects[i].writes_file)
			return true;
	return false;
}

static void decide_unit(const struct policy_line *line, struct unit *unit)
{
	const struct shell_command *command = unit->command;
	struct program_excess excess;

	unit->outcome = decide_view(line, command);
	if (unit->outcome.why)
		unit->final = true;
	apply_tables(line, unit);
	/* What in the call does more than its program is there for. */
	if (unit->outcome.decision == POLICY_ASK && !unit->outcome.why &&
	    program_exceeds(unit->command, 1, &excess))
		unit->outcome.said = mem_strdup(excess.sentence);
	if (!writes(command->redirects, command->redirect_count) ||
	    line->call->mode >= MODE_AUTO_EDIT)
		return;
	unit->final = true;
	if (minds_redirection(line, unit))
		ask_about_redirection(unit);
}

/* Whether only the defaults object to it. */
static bool is_by_default(const struct outcome *outcome)
{
	return is_general(outcome) && !outcome->why &&
	       (!outcome->rule || outcome->rule->priority < POLICY_EXTENSION);
}

/* sh -c 'ls; pwd' is as harmless as what it runs. */
static void settle_wrappers(struct policy_line *line)
{
	for (size_t i = line->count; i-- > 0;) {
		struct unit *unit = &line->units[i];
		size_t index = (size_t)(unit->command - line->analysis.commands), children = 0;
		bool allowed = true;

		/* What it writes is its own doing: sh -c 'ls' > file. */
		if (unit->outcome.decision == POLICY_ALLOW || unit->final ||
		    !is_by_default(&unit->outcome) ||
		    !is_mere_wrapper(unit->command))
			continue;
		for (size_t k = i + 1; k < line->count; k++) {
			if (line->units[k].command->parent != index)
				continue;
			children++;
			allowed = allowed && line->units[k].outcome.decision == POLICY_ALLOW;
		}
		if (children && allowed) {
			unit->outcome.decision = POLICY_ALLOW;
			unit->by_table = true;
			free(unit->outcome.said);
			unit->outcome.said = NULL;
		}
	}
}

/* Not: [[ ]], of which nothing runs, and assignments alone, unless there is nothing else. */
static bool is_unit(const struct shell_command *command)
{
	return command->word_count > 0 && !(command->flags & SHELL_FLAG_TEST);
}

static void decide_units(struct policy_line *line)
{
	const struct shell_analysis *analysis = &line->analysis;

	line->units = mem_alloc(analysis->command_count + 1, sizeof(*line->units));
	line->leaves = !starts_inside(line->call);
	for (size_t i = 0; i < analysis->command_count; i++)
		line->leaves |= may_leave(line, &analysis->commands[i]);
	for (size_t i = 0; i < analysis->command_count; i++) {
		if (!is_unit(&analysis->commands[i]))
			continue;
		line->units[line->count].command = &analysis->commands[i];
		decide_unit(line, &line->units[line->count++]);
	}
	settle_wrappers(line);
}

/* ---- the line ---- */

/* { ...; } > file, and > file alone. */
static bool group_writes(const struct policy_line *line)
{
	const struct shell_analysis *analysis = &line->analysis;

	if (writes(analysis->redirects, analysis->redirect_count))
		return true;
	for (size_t i = 0; i < analysis->command_count; i++) {
		const struct shell_command *command = &analysis->commands[i];

		if (!is_unit(command) && writes(command->redirects, command->redirect_count))
			return true;
	}
	return false;
}

/* Whether some rule denies, or asks about, particular commands. */
static bool picks_commands(const struct policy_line *line)
{
	for (size_t i = 0; i < line->policy->rule_count; i++) {
		const struct policy_rule *rule = line->policy->rules[i];

		if (rule->decision != POLICY_ALLOW && rule->selector.narrow != NARROW_NONE &&
		    decide_counts(line->policy, rule, line->call) &&
		    act_fit(line->act, line->call, &rule->selector, true) != FIT_NONE)
			return true;
	}
	return false;
}

/* Whether it does not matter which commands there are: each of them would be allowed. */
static bool allows_any(const struct policy_line *line)
{
	if (line->call->mode == MODE_YOLO)
		return true;
	for (size_t i = 0; i < line->count; i++)
		if (line->units[i].by_table || !line->units[i].outcome.rule ||
		    !is_general(&line->units[i].outcome))
			return false;
	return line->count > 0 && !picks_commands(line);
}

static struct outcome combine(struct policy_line *line)
{
	struct outcome strictest = { .decision = POLICY_ALLOW };
	struct unit whole = { 0 };

	for (size_t i = 0; i < line->count; i++)
		if (i == 0 || is_stricter(&line->units[i].outcome, &strictest))
			strictest = line->units[i].outcome;
	if (line->count == 0)
		strictest = decide_act(line->policy, line->call, line->act, NULL);
	whole.outcome = strictest;
	if (group_writes(line) && minds_redirection(line, &whole)) {
		ask_about_redirection(&whole);
		strictest = whole.outcome;
	}
	if (strictest.decision == POLICY_ALLOW && line->analysis.problem_count > 0 &&
	    !allows_any(line)) {
		strictest.decision = POLICY_ASK;
		strictest.why = shell_problem_sentence(line->analysis.problems[0].kind);
	}
	return strictest;
}

/* ---- what the verdict carries ---- */

static json_t *commands_json(const struct policy_line *line)
{
	json_t *commands = json_array();

	for (size_t i = 0; i < line->count; i++) {
		const struct unit *unit = &line->units[i];
		const struct policy_rule *rule = unit->outcome.rule;
		json_t *row = json_pack(
			"{s:o, s:s, s:s}", "command", json_text(raw_text(line, unit->command)),
			"decision", policy_decision_name(unit->outcome.decision), "rule",
			unit->by_table && unit->outcome.decision != POLICY_ALLOW ?
				"harmless, but its output is written to a file" :
			unit->by_table ? "known to be harmless" :
			rule           ? rule->origin : "default decision");

		if (unit->outcome.said || unit->outcome.why)
			json_object_set_new(row, "reason", json_string(unit->outcome.said ?
				unit->outcome.said : unit->outcome.why));
		json_array_append_new(commands, row);
	}
	return commands;
}

static bool array_contains(const json_t *array, const char *text)
{
	for (size_t i = 0; i < json_array_size(array); i++)
		if (strcmp(json_string_value(json_array_get(array, i)), text) == 0)
			return true;
	return false;
}

/* NULL: a prefix for each command that is asked about would not do. */
static json_t *prefixes_json(const struct policy_line *line, const struct outcome *strictest)
{
	json_t *prefixes = json_array();
	bool possible = strictest->decision == POLICY_ASK && line->analysis.problem_count == 0 &&
	                !group_writes(line);

	for (size_t i = 0; i < line->count && possible; i++) {
		const struct unit *unit = &line->units[i];
		_cleanup_free_ char *prefix = NULL;

		if (unit->outcome.decision == POLICY_ALLOW)
			continue;
		/* It goes with what it runs. */
		if (!unit->final && is_general(&unit->outcome) && is_mere_wrapper(unit->command))
			continue;
		prefix = unit->final ? NULL : decide_offer_prefix(unit->command);
		possible = prefix != NULL;
		if (possible && !array_contains(prefixes, prefix))
			json_array_append_new(prefixes, json_string(prefix));
	}
	if (possible && json_array_size(prefixes) > 0)
		return prefixes;
	json_decref(prefixes);
	return NULL;
}

static json_t *harmless_json(const struct policy_line *line)
{
	json_t *prefixes = json_array();

	for (size_t i = 0; i < line->count; i++) {
		const struct unit *unit = &line->units[i];
		_cleanup_free_ char *prefix = NULL;

		if (!unit->by_table)
			continue;
		prefix = decide_offer_prefix(unit->command);
		if (prefix && !array_contains(prefixes, prefix))
			json_array_append_new(prefixes, json_string(prefix));
	}
	return prefixes;
}

struct outcome decide_typed(const struct policy *policy, const struct policy_call *typed)
{
	json_t *input = tool_typed_input(tool_info_of(typed->tool), typed->arguments);
	json_auto_t *arguments = json_pack("{s:O?}", "command", input);
	struct outcome strictest = { .decision = POLICY_ALLOW };
	struct policy_call call = *typed;
	struct act_whole whole;
	struct policy_line line = { .policy = policy, .call = &call, .whole = &whole };

	if (!json_is_string(input))
		return strictest;
	call.tool = tool_name(TOOL_RUN_SHELL_COMMAND);
	call.arguments = arguments;
	call.other_arguments = NULL;
	act_whole_init(&whole, arguments);
	shell_analyse(json_span(input), &line.analysis);
	for (size_t i = 0; i < line.analysis.command_count; i++) {
		struct outcome outcome;

		if (!is_unit(&line.analysis.commands[i]))
			continue;
		outcome = decide_view(&line, &line.analysis.commands[i]);
		if (!is_general(&outcome) && is_stricter(&outcome, &strictest))
			strictest = outcome;
	}
	act_whole_release(&whole);
	shell_analysis_release(&line.analysis);
	return strictest;
}

/* ---- a call that was allowed as it is ---- */

char *policy_exact_call(const json_t *arguments)
{
	json_auto_t *call = json_copy((json_t *)arguments);

	json_object_del(call, "description");
	return json_dumps(call, JSON_SORT_KEYS | JSON_COMPACT);
}

static const struct policy_rule *exact_rule(const struct policy_line *line)
{
	const struct policy *policy = line->policy;
	_cleanup_free_ char *text = NULL;

	for (size_t i = 0; i < policy->rule_count; i++) {
		const struct policy_rule *rule = policy->rules[i];

		if (rule->selector.narrow != NARROW_EXACT ||
		    !decide_counts(policy, rule, line->call))
			continue;
		if (!text)
			text = policy_exact_call(line->call->arguments);
		if (text && strcmp(text, rule->selector.exact) == 0)
			return rule;
	}
	return NULL;
}

/* A question that the user has answered for the session, about this very line, or by a file that
 * lends it, also where no one could be asked. Not one that a rule above asks. */
static void settle_exact(const struct policy_line *line, struct outcome *outcome)
{
	const struct policy_rule *rule =
		outcome->decision != POLICY_ALLOW ? exact_rule(line) : NULL;

	if (rule && outcome->decision == POLICY_DENY && strcmp(rule->origin, RULE_LENT) != 0)
		rule = NULL;
	for (size_t i = 0; i < line->count && rule; i++) {
		const struct outcome *of = &line->units[i].outcome;

		if (of->decision != POLICY_ALLOW && of->rule && of->rule->priority > rule->priority)
			rule = NULL;
	}
	if (rule && !(outcome->rule && outcome->rule->priority > rule->priority))
		*outcome = (struct outcome){ .decision = POLICY_ALLOW, .rule = rule };
}

/* Of a line that cannot be read whole: it may run what rules on commands ask several people
 * about. */
static void note_possible(const struct policy_line *line, struct outcome *outcome,
                          struct policy_verdict *verdict)
{
	for (size_t i = 0; line->analysis.problem_count && i < line->policy->rule_count; i++) {
		const struct policy_rule *rule = line->policy->rules[i];
		const struct outcome possible = { .decision = POLICY_ASK, .rule = rule };

		if (!rule->approvals || rule->selector.narrow == NARROW_NONE ||
		    outcome->decision == POLICY_DENY ||
		    !decide_counts(line->policy, rule, line->call) ||
		    act_fit(line->act, line->call, &rule->selector, true) == FIT_NONE)
			continue;
		decide_note_approvals(&possible, verdict);
		if (outcome->decision == POLICY_ALLOW) {
			outcome->decision = POLICY_ASK;
			outcome->rule = rule;
			outcome->why = shell_problem_sentence(line->analysis.problems[0].kind);
		}
	}
}

/* What all commands of the line need, and the line itself. */
static void note_approvals(const struct policy_line *line, struct outcome *outcome,
                           struct policy_verdict *verdict)
{
	for (size_t i = 0; i < line->count; i++)
		decide_note_approvals(&line->units[i].outcome, verdict);
	decide_note_approvals(outcome, verdict);
	note_possible(line, outcome, verdict);
}

struct outcome decide_shell(const struct policy *policy, const struct policy_call *call,
                            struct act *act, struct policy_verdict *verdict)
{
	json_t *command = tool_command_line(act->info, call->arguments);
	struct act_whole whole;
	struct policy_line line = { .policy = policy, .call = call, .act = act, .whole = &whole };
	struct outcome outcome;

	if (!json_is_string(command))
		return decide_act(policy, call, act, NULL);
	act_whole_init(&whole, call->arguments);
	shell_analyse(json_span(command), &line.analysis);
	decide_units(&line);
	outcome = combine(&line);
	verdict->commands = commands_json(&line);
	verdict->prefixes = prefixes_json(&line, &outcome);
	verdict->harmless = verdict->prefixes ? harmless_json(&line) : NULL;
	note_approvals(&line, &outcome, verdict);
	if (!verdict->approvals)
		settle_exact(&line, &outcome);
	outcome.said = mem_strdup(outcome.said);
	for (size_t i = 0; i < line.count; i++)
		free(line.units[i].outcome.said);
	free(line.units);
	act_whole_release(&whole);
	shell_analysis_release(&line.analysis);
	return outcome;
}
