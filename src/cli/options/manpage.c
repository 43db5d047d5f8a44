/* SPDX-License-Identifier: Apache-2.0 */
/* hasp(1) from the tables: mdoc(7), clean under mandoc -T lint and groff. */
#include "cli/options/manpage.h"

#include "cli/options/help.h"
#include "tool/tool.h"

/* The day of the last change that a reader of the manual would notice. */
#define MANPAGE_DATE "November 22, 2026"

enum { MAN_LINE_MAX = 76 };

/* One word of running text, with what roff would act on escaped. */
static size_t man_word(struct buf *out, struct span word, bool line_start)
{
	size_t before = out->len;

	if (line_start && (word.data[0] == '.' || word.data[0] == '\''))
		buf_str(out, "\\&");
	for (size_t i = 0; i < word.len; i++) {
		if (word.data[i] == '\\')
			buf_str(out, "\\e");
		else if (word.data[i] == '-' && (i == 0 || word.data[i - 1] == '-'))
			buf_str(out, "\\-"); /* of a flag: must not become a hyphen */
		else
			buf_char(out, word.data[i]);
	}
	return out->len - before;
}

/* Running text: each sentence on a line of its own, as mdoc wants it. */
static void man_text(struct buf *out, struct span text)
{
	size_t column = 0;

	while (text.len) {
		size_t len = 0;
		struct span word;

		if (span_starts(text, SPAN("\n\n"))) {
			buf_str(out, "\n.Pp\n");
			column = 0;
		}
		if (text.data[0] == ' ' || text.data[0] == '\n') {
			text = span_skip(text, 1);
			continue;
		}
		while (len < text.len && text.data[len] != ' ' && text.data[len] != '\n')
			len++;
		word = span_head(text, len);
		if (column && column + 1 + len > MAN_LINE_MAX) {
			buf_char(out, '\n');
			column = 0;
		}
		if (column)
			buf_char(out, ' ');
		column += 1 + man_word(out, word, column == 0);
		text = span_skip(text, len);
		if (span_ends(word, SPAN(".")) && text.len && !span_starts(text, SPAN("\n\n"))) {
			buf_char(out, '\n');
			column = 0;
		}
	}
	buf_char(out, '\n');
}

static void man_flag(struct buf *out, const struct flag *flag)
{
	const char *value = flag->value.name;

	buf_str(out, ".It ");
	if (flag->letter)
		buf_printf(out, "Fl %c , ", flag->letter);
	buf_printf(out, "Fl \\-%s", flag->name);
	if (value)
		buf_printf(out, " Ar %s", value);
	buf_char(out, '\n');
	if (flag->man) {
		man_text(out, span_str(flag->man));
		return;
	}
	/* The one-line help begins small and has no full stop. */
	buf_char(out, (char)(flag->help[0] >= 'a' && flag->help[0] <= 'z' ? flag->help[0] - 32
	                                                                   : flag->help[0]));
	buf_printf(out, "%s.\n", flag->help + 1);
}

static void man_flags(struct buf *out, const struct command *command)
{
	buf_str(out, ".Bl -tag -width Ds\n");
	for (size_t i = 0; i < command->flag_count; i++) {
		if (!command->flags[i].hidden)
			man_flag(out, &command->flags[i]);
	}
	buf_str(out, ".El\n");
}

static void man_synopsis(struct buf *out)
{
	buf_str(out, ".Sh SYNOPSIS\n"
	             ".Nm\n.Fl p Ar PROMPT\n.Op Ar OPTION ...\n"
	             ".Nm\n.Op Ar OPTION ...\n.Ar PROMPT ...\n");
	for (size_t i = 0; i < command_count(); i++) {
		const struct command *command = command_at(i);

		for (size_t line = 0; command->synopsis[line]; line++) {
			buf_printf(out, ".Nm\n.Cm %s\n", command->name);
			man_text(out, span_str(command->synopsis[line]));
		}
	}
	buf_str(out, ".Nm\n.Fl \\-version | Fl \\-help\n");
}

static void man_commands(struct buf *out)
{
	buf_str(out, ".Sh COMMANDS\n");
	for (size_t i = 0; i < command_count(); i++) {
		buf_printf(out, ".Ss hasp %s\n", command_at(i)->name);
		man_text(out, span_str(command_at(i)->text));
		buf_str(out, ".Pp\nOptions:\n");
		man_flags(out, command_at(i));
	}
}

static void man_tools(struct buf *out)
{
	buf_str(out, ".Sh TOOLS\n"
	             ".Ic hasp tool Ar NAME Fl \\-help\n"
	             "describes a tool and its arguments.\n"
	             ".Bl -tag -width update_file\n");
	for (size_t i = 0; i < tool_count(); i++) {
		buf_printf(out, ".It Cm %s\n", tool_at(i)->name);
		man_text(out, help_first_sentence(tool_at(i)->description));
	}
	buf_str(out, ".El\n");
}

static const char ending[] =
	".Sh ENVIRONMENT\n"
	".Bl -tag -width GEMINI_CLI_HOME\n"
	".It Ev GEMINI_API_KEY , GOOGLE_API_KEY , OPENAI_API_KEY , ANTHROPIC_API_KEY , ...\n"
	"The key of a model's provider; it goes into requests to that provider and nowhere else.\n"
	".It Ev GEMINI_MODEL\n"
	"The model, if\n"
	".Fl \\-model\n"
	"is not given.\n"
	".It Ev GEMINI_CLI_TRUST_WORKSPACE\n"
	".Dq true\n"
	"or\n"
	".Dq false :\n"
	"the folder is trusted or not, whatever files say.\n"
	".It Ev GEMINI_CLI_HOME\n"
	"The folder that holds\n"
	".Pa .gemini ;\n"
	".Ev HOME\n"
	"if it is not set.\n"
	".It Ev HASP_SANDBOX\n"
	"The default of\n"
	".Fl \\-sandbox .\n"
	"It cannot be weaker than the setting hasp.sandbox.level.\n"
	".It Ev NO_COLOR\n"
	"If it is set and not empty, nothing is coloured unless\n"
	".Fl \\-color Cm always\n"
	"is given.\n"
	".It Ev TERM\n"
	"Nothing is coloured on a terminal that is called\n"
	".Dq dumb\n"
	"or has no name.\n"
	".El\n"
	".Sh FILES\n"
	".Bl -tag -width Ds\n"
	".It Pa ~/.gemini/settings.json , .gemini/settings.json\n"
	"Settings, and hooks; those of a project count if its folder is trusted.\n"
	".It Pa ~/.gemini/hooks.toml , .gemini/hooks.toml\n"
	"Hooks.\n"
	".It Pa ~/.gemini/policies , .gemini/policies , /etc/gemini-cli/policies\n"
	"Policies.\n"
	".It Pa GEMINI.md , ~/.gemini/GEMINI.md\n"
	"Instructions for the model.\n"
	".It Pa ~/.gemini/tmp/PROJECT/chats\n"
	"Recorded sessions.\n"
	".It Pa ~/.gemini/tmp/hasp/journal\n"
	"The journals of changes to several files, kept until the change is complete.\n"
	"Nothing is ever kept in the workspace.\n"
	".El\n"
	".Sh EXIT STATUS\n"
	"Of the agent:\n"
	".Bl -tag -width Ds\n"
	".It 0\n"
	"There is an answer; or nobody reads standard output any more.\n"
	".It 1\n"
	"The model cannot be reached or used, or goes in circles; or flags exclude each other.\n"
	".It 2\n"
	"A flag, a value or a command does not exist.\n"
	".It 41\n"
	"There is no key, or it is not accepted.\n"
	".It 42\n"
	"There is no prompt, or it is too long; or a model, session or file is not there.\n"
	".It 44\n"
	"The level of the sandbox that was asked for cannot be had.\n"
	".It 52\n"
	"A settings or policy file is wrong, or forbids the mode.\n"
	".It 53\n"
	"The limit of turns was reached.\n"
	".It 54\n"
	"The disk is full.\n"
	".It 55\n"
	"The mode is for trusted folders.\n"
	".It 56\n"
	"There is an answer, but what was asked needed a permission that nobody was there to give.\n"
	".It 57\n"
	"There is an answer, but the session could not be recorded whole.\n"
	".It 130 , 143 , 129\n"
	"It was ended by SIGINT, SIGTERM or SIGHUP.\n"
	".El\n"
	".Pp\n"
	"Of the commands:\n"
	".Bl -tag -width Ds\n"
	".It 0\n"
	"The tool did what was asked.\n"
	".It 1\n"
	"The tool failed, and the result on standard output says why;\n"
	"or the result could not be written, and standard error says so.\n"
	".It 2\n"
	"The command line is wrong: standard error has the reason,\n"
	"standard output is empty.\n"
	".El\n"
	".Pp\n"
	".Nm\n"
	".Cm sandbox\n"
	"exits as its command does.\n"
	".Sh EXAMPLES\n"
	"A job for the agent, whose edits are not asked about, and what it cost:\n"
	".Pp\n"
	".Dl $ hasp --approval-mode auto_edit -o json -p 'fix the build' | jq .stats\n"
	".Pp\n"
	"Read a file, with its hash:\n"
	".Pp\n"
	".Dl $ hasp tool read_file --arg file_path=src/main.c\n"
	".Pp\n"
	"Apply a diff to the state that has this hash:\n"
	".Bd -literal -offset indent\n"
	"$ hasp tool safe_patch -a file_path=a.c \\e\n"
	"    -a base_content_sha256=$sum -a unified_diff=@fix.diff\n"
	".Ed\n"
	".Pp\n"
	"The same, from a program that writes JSON:\n"
	".Pp\n"
	".Dl $ make-call | hasp tool safe_patch - | jq .success\n"
	".Sh SEE ALSO\n"
	".Xr diff 1 ,\n"
	".Xr patch 1 ,\n"
	".Xr sha256sum 1\n";

void manpage_print(struct buf *out)
{
	buf_str(out, ".Dd " MANPAGE_DATE "\n.Dt HASP 1\n.Os\n"
	             ".Sh NAME\n.Nm hasp\n");
	buf_printf(out, ".Nd %s\n", command_root()->summary);
	man_synopsis(out);
	buf_str(out, ".Sh DESCRIPTION\n");
	man_text(out, span_str(command_root()->text));
	buf_str(out, ".Pp\nThe options of the program itself:\n");
	man_flags(out, command_root());
	man_commands(out);
	man_tools(out);
	buf_str(out, ending);
}
