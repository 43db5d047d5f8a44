/* SPDX-License-Identifier: Apache-2.0 */
/* `hasp completion SHELL`: scripts computed from the tables.
 *
 * Each shell's frame is fixed text; the words in it come from options.c and
 * from the tool registry.  Those words are names of hasp's own (letters,
 * digits, - and _), and help texts are quoted for the shell.
 */

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "cli/options/command.h"
#include "config/settings.h"
#include "tool/tool.h"

/* The names of the tool's parameters, each followed by "=". */
static void parameter_words(struct buf *out, const struct tool *tool)
{
	json_t *schema = json_loads(tool->arguments_schema, 0, NULL);
	const char *name;
	json_t *ignored;

	json_object_foreach(json_object_get(schema, "properties"), name, ignored)
		buf_printf(out, " %s=", name);
	json_decref(schema);
}

/* The words a value can be, each after a space. */
static void value_words(struct buf *out, const struct value *value)
{
	for (size_t i = 0; value->complete == COMPLETE_TOOL && i < tool_count(); i++)
		buf_printf(out, " %s", tool_at(i)->name);
	for (size_t i = 0; value->complete == COMPLETE_COMMAND && i < command_count(); i++)
		buf_printf(out, " %s", command_listed(i)->name);
	for (size_t i = 0; value->complete == COMPLETE_SETTING && settings_name(i); i++)
		if (!strpbrk(settings_name(i), "$*"))
			buf_printf(out, " %s", settings_name(i));
	for (size_t i = 0; value->choices && value->choices[i]; i++)
		buf_printf(out, " %s", value->choices[i]);
}

/* For each tool, its name and its parameters' names between the shell's words for a case. */
static void parameter_cases(struct buf *out, const char *before, const char *between,
                            const char *after)
{
	for (size_t i = 0; i < tool_count(); i++) {
		buf_str(out, before);
		buf_str(out, tool_at(i)->name);
		buf_str(out, between);
		parameter_words(out, tool_at(i));
		buf_str(out, after);
	}
}

/* Text inside single quotes; what is special to the reader even there gets a backslash. */
static void put_shell_quoted(struct buf *out, const char *text, const char *special)
{
	for (const char *c = text; *c; c++) {
		if (*c == '\'') {
			buf_str(out, "'\\''");
			continue;
		}
		if (strchr(special, *c))
			buf_char(out, '\\');
		buf_char(out, *c);
	}
}

/* bash */

static const char bash_head[] =
	"# bash completion for hasp\n"
	"\n";

static const char bash_tail[] =
	"\n"
	"# Fills COMPREPLY with what fits $cur: of kind $1, or of the words after it.\n"
	"# bash replaces what follows the last \"=\", if it breaks words there; if not,\n"
	"# the part before it has to be given back.\n"
	"_hasp_offer() {\n"
	"	local kind=$1 before=''\n"
	"	if [[ $kind == parameter && $cur == *=* ]]; then\n"
	"		kind=file\n"
	"		before=${cur%%=*}=\n"
	"		cur=${cur#*=}\n"
	"		[[ $cur == @* ]] && before+=@ cur=${cur#@}\n"
	"		if [[ $COMP_WORDBREAKS == *=* ]]; then\n"
	"			before=${before#*=}\n"
	"		fi\n"
	"	elif [[ $kind == parameter ]]; then\n"
	"		compopt -o nospace 2>/dev/null\n"
	"	fi\n"
	"	case $kind in\n"
	"	file | folder)\n"
	"		compopt -o filenames 2>/dev/null\n"
	"		[[ $kind == file ]] && kind=-f || kind=-d\n"
	"		mapfile -t COMPREPLY < <(compgen $kind -P \"$before\" -- \"$cur\") ;;\n"
	"	program) mapfile -t COMPREPLY < <(compgen -c -- \"$cur\") ;;\n"
	"	*) mapfile -t COMPREPLY < <(compgen -W \"${*:2}\" -- \"$cur\") ;;\n"
	"	esac\n"
	"}\n"
	"\n"
	"_hasp() {\n"
	"	local line cur word flag='' command='' tool='' prompt='' count=0 i\n"
	"	local -a words\n"
	"	COMPREPLY=()\n"
	"	# COMP_WORDS is cut at \"=\"; the line is not.\n"
	"	line=${COMP_LINE:0:COMP_POINT}\n"
	"	read -ra words <<<\"$line\"\n"
	"	[[ $line == *[[:space:]] ]] && words+=('')\n"
	"	for ((i = 1; i < ${#words[@]} - 1; i++)); do\n"
	"		word=${words[i]}\n"
	"		if [[ $flag && $word != -?* ]]; then\n"
	"			flag=''\n"
	"			continue\n"
	"		fi\n"
	"		flag='' # that can do without a value\n"
	"		if ((count)) && _hasp_passes_on \"$command\"; then\n"
	"			((count++))\n"
	"		elif [[ $word == -?* ]]; then\n"
	"			[[ $word != *=* && $(_hasp_value \"$command $word\") ]] &&\n"
	"				flag=$word\n"
	"			# Behind the agent's own flags there are words of a prompt, "
	"and no commands.\n"
	"			[[ $command || $word == -h || $word == --help ]] || prompt=1\n"
	"		elif [[ $prompt ]]; then\n"
	"			:\n"
	"		elif [[ ! $command ]]; then\n"
	"			command=$word\n"
	"		else\n"
	"			((count++ == 0)) && tool=$word\n"
	"		fi\n"
	"	done\n"
	"	cur=${words[i]}\n"
	"	if ((count)) && _hasp_passes_on \"$command\"; then\n"
	"		_hasp_offer file\n"
	"		return\n"
	"	fi\n"
	"	if [[ ! $flag && $cur == --*=* ]]; then\n"
	"		flag=${cur%%=*}\n"
	"		cur=${cur#*=}\n"
	"	fi\n"
	"	if [[ $flag ]]; then\n"
	"		_hasp_offer $(_hasp_value \"$command $flag\" \"$tool\")\n"
	"	elif [[ $cur == -?* || $cur == - ]]; then\n"
	"		_hasp_offer words $(_hasp_flags \"$command\")\n"
	"	elif [[ ! $prompt ]]; then\n"
	"		_hasp_offer $(_hasp_positional \"$command $count\")\n"
	"	fi\n"
	"}\n"
	"complete -F _hasp hasp\n";

static const char *const bash_kinds[] = {
	[COMPLETE_NOTHING] = "words",
	[COMPLETE_FILE] = "file",
	[COMPLETE_FOLDER] = "folder",
	[COMPLETE_CHOICE] = "words",
	[COMPLETE_TOOL] = "words",
	[COMPLETE_COMMAND] = "words",
	[COMPLETE_SETTING] = "words",
	[COMPLETE_PROGRAM] = "program",
	[COMPLETE_PARAMETER] = "parameter $(_hasp_parameters \"$2\")",
};

static void bash_flags(struct buf *out, const char *name, const struct command *command)
{
	buf_printf(out, "	'%s') echo", name);
	for (size_t i = 0; i < command->flag_count; i++) {
		if (!command->flags[i].hidden)
			buf_printf(out, " --%s", command->flags[i].name);
	}
	buf_str(out, " ;;\n");
}

static void bash_value(struct buf *out, const struct value *value)
{
	buf_printf(out, "echo \"%s", bash_kinds[value->complete]);
	value_words(out, value);
	buf_str(out, "\" ;;\n");
}

static void bash_values(struct buf *out, const char *name, const struct command *command)
{
	for (size_t i = 0; i < command->flag_count; i++) {
		const struct flag *flag = &command->flags[i];

		if (!flag->value.name || flag->hidden)
			continue;
		buf_printf(out, "	'%s --%s'", name, flag->name);
		if (flag->letter)
			buf_printf(out, " | '%s -%c'", name, flag->letter);
		buf_str(out, ") ");
		bash_value(out, &flag->value);
	}
}

static void bash_script(struct buf *out)
{
	buf_str(out, bash_head);
	buf_str(out, "_hasp_flags() {\n	case $1 in\n");
	bash_flags(out, "", command_root());
	for (size_t i = 0; i < command_count(); i++)
		bash_flags(out, command_listed(i)->name, command_listed(i));
	buf_str(out, "	esac\n}\n\n_hasp_value() {\n	case $1 in\n");
	bash_values(out, "", command_root());
	for (size_t i = 0; i < command_count(); i++)
		bash_values(out, command_listed(i)->name, command_listed(i));
	buf_str(out, "	esac\n}\n\n_hasp_positional() {\n	case $1 in\n	' 0') ");
	bash_value(out, &(struct value){ NULL, COMPLETE_COMMAND, NULL });
	for (size_t i = 0; i < command_count(); i++) {
		for (size_t p = 0; p < command_listed(i)->positional_count; p++) {
			buf_printf(out, "	'%s %zu') ", command_listed(i)->name, p);
			bash_value(out, &command_listed(i)->positionals[p].value);
		}
	}
	buf_str(out, "	esac\n}\n\n# After the first word, all are another program's.\n"
	             "_hasp_passes_on() {\n	case $1 in\n");
	for (size_t i = 0; i < command_count(); i++)
		if (command_listed(i)->passes_on)
			buf_printf(out, "	%s) return 0 ;;\n", command_listed(i)->name);
	buf_str(out, "	esac\n	return 1\n}\n\n_hasp_parameters() {\n	case $1 in\n");
	parameter_cases(out, "	", ") echo", " ;;\n");
	buf_str(out, "	esac\n}\n");
	buf_str(out, bash_tail);
}

/* zsh */

static const char zsh_head[] =
	"#compdef hasp\n"
	"\n"
	"# KEY=VALUE of the tool named on the line.\n"
	"_hasp_parameter() {\n"
	"	local tool=${line[1]}\n"
	"	local -a keys\n"
	"	if compset -P '*='; then\n"
	"		compset -P '@'\n"
	"		_files\n"
	"		return\n"
	"	fi\n"
	"	case $tool in\n";

static const char zsh_dispatch[] =
	"	esac\n"
	"	compadd -S '' -a keys\n"
	"}\n"
	"\n"
	"_hasp() {\n"
	"	local curcontext=$curcontext state\n"
	"	local -a line\n"
	"	typeset -A opt_args\n"
	"	_arguments -C \\\n";

/* What _arguments runs to complete a value. */
static void zsh_action(struct buf *out, const struct value *value)
{
	if (value->complete == COMPLETE_FILE)
		buf_str(out, "_files");
	else if (value->complete == COMPLETE_FOLDER)
		buf_str(out, "_directories");
	else if (value->complete == COMPLETE_PROGRAM)
		buf_str(out, "_command_names -e");
	else if (value->complete == COMPLETE_PARAMETER)
		buf_str(out, "_hasp_parameter");
	else if (value->complete != COMPLETE_NOTHING) {
		buf_char(out, '(');
		value_words(out, value);
		buf_char(out, ')');
	}
}

static void zsh_flags(struct buf *out, const struct command *command, const char *indent)
{
	for (size_t i = 0; i < command->flag_count; i++) {
		const struct flag *flag = &command->flags[i];

		if (flag->hidden)
			continue;
		buf_str(out, indent);
		if (flag->repeatable)
			buf_str(out, "'*'");
		if (flag->letter && !flag->repeatable)
			buf_printf(out, "'(-%c --%s)'", flag->letter, flag->name);
		if (flag->letter)
			buf_printf(out, "{-%c,--%s}'[", flag->letter, flag->name);
		else
			buf_printf(out, "'--%s[", flag->name);
		put_shell_quoted(out, flag->help, "[]:\\");
		buf_char(out, ']');
		if (flag->value.name) {
			buf_printf(out, "%s:%s:", flag->optional ? ":" : "", flag->value.name);
			zsh_action(out, &flag->value);
		}
		buf_str(out, "' \\\n");
	}
}

static void zsh_command(struct buf *out, const struct command *command)
{
	buf_printf(out, "	%s)\n		_arguments -C \\\n", command->name);
	zsh_flags(out, command, "			");
	for (size_t i = 0; i < command->positional_count; i++) {
		const struct value *value = &command->positionals[i].value;

		if (command->passes_on && i > 0) {
			buf_printf(out, "			'*::%s:_normal", value->name);
		} else {
			buf_printf(out, "			'%s%zu::%s:",
			           command->passes_on ? "(-)" : "", i + 1, value->name);
			zsh_action(out, value);
		}
		buf_str(out, i + 1 < command->positional_count ? "' \\\n" : "' ;;\n");
	}
	if (!command->positional_count)
		buf_str(out, "			;;\n");
}

static void zsh_script(struct buf *out)
{
	buf_str(out, zsh_head);
	parameter_cases(out, "	", ") keys=(", ") ;;\n");
	buf_str(out, zsh_dispatch);
	zsh_flags(out, command_root(), "		");
	buf_str(out, "		'1:command:((");
	for (size_t i = 0; i < command_count(); i++) {
		buf_printf(out, "%s%s\\:\"", i ? " " : "", command_listed(i)->name);
		put_shell_quoted(out, command_listed(i)->summary, ":\\\"");
		buf_char(out, '"');
	}
	buf_str(out, "))' \\\n		'*::argument:->rest'\n"
	             "	[[ $state == rest ]] || return\n"
	             "	case $line[1] in\n");
	for (size_t i = 0; i < command_count(); i++)
		zsh_command(out, command_listed(i));
	buf_str(out, "	esac\n}\n\n"
	             "if [[ $funcstack[1] == _hasp ]]; then\n	_hasp \"$@\"\n"
	             "else\n	compdef _hasp hasp\nfi\n");
}

/* fish */

static const char fish_head[] =
	"# fish completion for hasp\n"
	"\n"
	"# Whether the line has COMMAND and COUNT words after it that are no flags.\n"
	"function __hasp_at\n"
	"	set -l words (commandline -opc)\n"
	"	set -e words[1]\n"
	"	set -l plain\n"
	"	set -l skip 0\n"
	"	for word in $words\n"
	"		if test $skip = 1\n"
	"			set skip 0\n"
	"		else if contains -- $word $__hasp_takes_value\n"
	"			set skip 1\n"
	"		else if not string match -q -- '-?*' $word\n"
	"			set -a plain $word\n"
	"		end\n"
	"	end\n"
	"	test (count $plain) = (math $argv[2] + 1); and test \"$plain[1]\" = $argv[1]\n"
	"end\n"
	"\n"
	"function __hasp_parameters\n"
	"	set -l cur (commandline -ct)\n"
	"	if string match -q '*=*' -- $cur\n"
	"		set -l parts (string match -r '^([^=]*=@?)(.*)$' -- $cur)\n"
	"		for path in (__fish_complete_path $parts[3])\n"
	"			echo $parts[2]$path\n"
	"		end\n"
	"		return\n"
	"	end\n"
	"	for word in (commandline -opc)\n"
	"		switch $word\n";

static const char fish_middle[] =
	"		end\n"
	"	end\n"
	"end\n"
	"\n"
	"complete -c hasp -f\n";

static void fish_value(struct buf *out, const struct value *value)
{
	if (value->complete == COMPLETE_FILE) {
		buf_str(out, " -F");
	} else if (value->complete == COMPLETE_FOLDER) {
		buf_str(out, " -a '(__fish_complete_directories)'");
	} else if (value->complete == COMPLETE_PROGRAM) {
		buf_str(out, " -a '(__fish_complete_command)'");
	} else if (value->complete == COMPLETE_PARAMETER) {
		buf_str(out, " -a '(__hasp_parameters)'");
	} else if (value->complete != COMPLETE_NOTHING) {
		buf_str(out, " -a '");
		value_words(out, value);
		buf_char(out, '\'');
	}
}

static void fish_flags(struct buf *out, const struct command *command, const char *condition)
{
	for (size_t i = 0; i < command->flag_count; i++) {
		const struct flag *flag = &command->flags[i];

		if (flag->hidden)
			continue;
		buf_printf(out, "complete -c hasp -n '%s' -l %s", condition, flag->name);
		if (flag->letter)
			buf_printf(out, " -s %c", flag->letter);
		if (flag->value.name)
			buf_str(out, flag->value.complete == COMPLETE_FILE ? " -r" : " -x");
		fish_value(out, &flag->value);
		buf_str(out, " -d '");
		put_shell_quoted(out, flag->help, "\\");
		buf_str(out, "'\n");
	}
}

static void fish_command(struct buf *out, const struct command *command)
{
	char condition[128];

	buf_printf(out, "complete -c hasp -n __fish_use_subcommand -a %s -d '", command->name);
	put_shell_quoted(out, command->summary, "\\");
	buf_str(out, "'\n");
	snprintf(condition, sizeof(condition), "__fish_seen_subcommand_from %s", command->name);
	fish_flags(out, command, condition);
	for (size_t i = 0; i < command->positional_count; i++) {
		buf_printf(out, "complete -c hasp -n '__hasp_at %s %zu'", command->name, i);
		fish_value(out, &command->positionals[i].value);
		buf_char(out, '\n');
	}
}

static void fish_script(struct buf *out)
{
	buf_str(out, "set -g __hasp_takes_value");
	for (size_t i = 0; i < command_count(); i++) {
		const struct command *command = command_listed(i);

		for (size_t f = 0; f < command->flag_count; f++) {
			if (!command->flags[f].value.name)
				continue;
			buf_printf(out, " --%s", command->flags[f].name);
			if (command->flags[f].letter)
				buf_printf(out, " -%c", command->flags[f].letter);
		}
	}
	buf_str(out, "\n\n");
	buf_str(out, fish_head);
	parameter_cases(out, "			case ",
	                "\n				printf '%s\\n'",
	                "\n				return\n");
	buf_str(out, fish_middle);
	fish_flags(out, command_root(), "__fish_use_subcommand");
	for (size_t i = 0; i < command_count(); i++)
		fish_command(out, command_listed(i));
}

static const struct {
	const char *name;
	void (*print)(struct buf *out);
} shells[] = {
	{ "bash", bash_script },
	{ "zsh", zsh_script },
	{ "fish", fish_script },
};

void completion_print(const char *shell, struct buf *out)
{
	for (size_t i = 0; i < ARRAY_LEN(shells); i++)
		if (strcmp(shells[i].name, shell) == 0)
			shells[i].print(out);
}
