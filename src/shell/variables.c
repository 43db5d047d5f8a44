/* SPDX-License-Identifier: Apache-2.0 */
/* Sources: bash manual 5.1 and 5.2 ("Shell Variables"); which of them evaluate what they are
 * given, and which can hold text, was tried with bash 5.2, and test/shell/test_recorder.py tries
 * it again.  The programs' variables are from their own manuals. */
#include "shell/variables.h"

#include "base/mem.h"
#include "shell/names.h"

/* Lists of names as in names.h; the first list that has a name decides. */
static const struct {
	unsigned traits;
	const char *names;
} rows[] = {
	/* They have the integer attribute, or an assignment to them is evaluated.  Read again
	 * they are numbers, also when they come from the environment. */
	{ VARIABLE_EVALUATES | VARIABLE_NUMBER,
	  "RANDOM SRANDOM SECONDS OPTIND HISTCMD BASHPID LINENO EPOCHSECONDS BASH_SUBSHELL "
	  "BASH_MONOSECONDS" },
	/* Read-only, or what is assigned to them is ignored. */
	{ VARIABLE_NUMBER, "PPID UID EUID EPOCHREALTIME" },
	/* cd and bash's start set them to absolute paths. */
	{ VARIABLE_RUNS | VARIABLE_PATH, "HOME" },
	{ VARIABLE_RUNS | VARIABLE_SHELL | VARIABLE_PATH, "PWD OLDPWD" },
	/* bash runs, reads or expands what they hold, or finds and parses commands by them. */
	{ VARIABLE_RUNS | VARIABLE_SHELL,
	  "PATH SHELLOPTS BASHOPTS BASH_CMDS BASH_ALIASES BASH_COMPAT POSIXLY_CORRECT" },
	{ VARIABLE_RUNS,
	  "BASH_ENV ENV PS0 PS1 PS4 PROMPT_COMMAND BASH_FUNC_* BASH_LOADABLES_PATH FCEDIT CDPATH "
	  "EXECIGNORE SHELL TEXTDOMAIN TEXTDOMAINDIR MAILPATH INPUTRC histchars LOCPATH NLSPATH "
	  "LANG LANGUAGE LC_*" },
	/* bash gives them what it is given, names of files, or what a command said. */
	{ VARIABLE_SHELL,
	  "_ BASH BASH_ARGC BASH_ARGV BASH_ARGV0 BASH_COMMAND BASH_EXECUTION_STRING BASH_LINENO "
	  "BASH_REMATCH BASH_SOURCE BASH_TRAPSIG BASH_VERSINFO BASH_VERSION BASH_XTRACEFD COLUMNS "
	  "COMPREPLY COMP_* COPROC COPROC_PID DIRSTACK FUNCNAME GROUPS HOSTNAME HOSTTYPE LINES "
	  "MACHTYPE MAPFILE OPTARG OPTERR OSTYPE PIPESTATUS READLINE_* REPLY SHLVL" },
	/* Programs run or load what they name. */
	{ VARIABLE_RUNS,
	  "ZDOTDIR XDG_CONFIG_HOME LD_* DYLD_* GCONV_PATH GIT_* SSH_ASKPASS SUDO_ASKPASS PAGER "
	  "MANPAGER MANOPT LESS LESSOPEN LESSCLOSE LESSEDIT EDITOR VISUAL BROWSER PYTHONPATH "
	  "PYTHONHOME PYTHONSTARTUP PYTHONBREAKPOINT PERL5OPT PERL5LIB PERL5DB PERLLIB RUBYOPT "
	  "RUBYLIB NODE_OPTIONS NODE_PATH JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS "
	  "MAKEFLAGS GNUMAKEFLAGS RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTC RSYNC_RSH "
	  "CVS_RSH TAR_OPTIONS RIPGREP_CONFIG_PATH npm_config_* OPENSSL_CONF" },
};

/* Set in good faith all the time: names with any value, values of programs'
 * variables. */
static const char harmless_names[] =
	"GIT_AUTHOR_* GIT_COMMITTER_* GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS "
	"GIT_LFS_SKIP_SMUDGE GIT_MERGE_AUTOEDIT";
static const char harmless_values[] = "cat true false : 0 1";
/* Locales in whose encodings ASCII is what it is in UTF-8; of others a byte of \ or ` may be part
 * of a character. */
static const char harmless_locales[] = "C POSIX C.UTF-8 C.utf8 en_US.UTF-8 en_US.utf8";

unsigned variable_traits(struct span name)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (name_in(name, rows[i].names))
			return rows[i].traits;
	return 0;
}

static bool is_locale(struct span name)
{
	return name_in(name, "LANG LANGUAGE LC_*");
}

bool variable_decides(struct span name, const struct shell_word *value)
{
	if (!(variable_traits(name) & VARIABLE_RUNS) || name_in(name, harmless_names))
		return false;
	/* No value of the shell's own is harmless. */
	if (!value || value->dynamic || variable_traits(name) & VARIABLE_SHELL)
		return true;
	if (is_locale(name))
		return value->value.len > 0 && !name_in(value->value, harmless_locales);
	return value->value.len > 0 && !name_in(value->value, harmless_values);
}
