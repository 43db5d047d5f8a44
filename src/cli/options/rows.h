/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that several commands' tables have in common. Private to the tables (options*.c). */
#ifndef HASP_CLI_OPTIONS_ROWS_H
#define HASP_CLI_OPTIONS_ROWS_H

#include "cli/options/options.h"

static const char *const durability_choices[] __attribute__((unused)) = { "full", "rename", NULL };
static const char *const level_choices[] __attribute__((unused)) = {
	"auto", "full", "landlock", "paths", "none", NULL,
};

#define HELP_FLAG \
	{ .id = FLAG_HELP, .name = "help", .letter = 'h', .help = "show this help" }

#define JSON_FLAG \
	{ .id = FLAG_JSON, .name = "json", .letter = 'j', .help = "print JSON, also on a terminal" }

/* Of the commands about a project's own files; `WHAT` of it an untrusted folder keeps to itself. */
#define PROJECT_FLAGS(WHAT)                                                                      \
	{ .id = FLAG_ROOT, .name = "root", .letter = 'r',                                        \
	  .value = { "DIR", COMPLETE_FOLDER, NULL },                                             \
	  .help = "the project's folder (default: the current one)" },                           \
	{ .id = FLAG_SKIP_TRUST, .name = "skip-trust",                                           \
	  .help = "let the project's own " WHAT " count this time" }

#define DURABILITY_FLAG                                                                          \
	{ .id = FLAG_DURABILITY, .name = "durability",                                           \
	  .value = { "HOW", COMPLETE_CHOICE, durability_choices },                               \
	  .help = "full (synced to the disk, the default) or rename",                            \
	  .man = "How safe a written file is when the call returns: full (the file and its folder " \
		 "are synced to the disk, the default) or rename (atomic, and left to the kernel " \
		 "to write out)." }

/* Paths that a sandbox opens or closes beside its level's own. */
#define REACH_FLAGS                                                                              \
	{ .id = FLAG_WRITE, .name = "write", .repeatable = true,                                 \
	  .value = { "PATH", COMPLETE_FILE, NULL },                                              \
	  .help = "commands may write this file or folder too" },                                \
	{ .id = FLAG_READ, .name = "read", .repeatable = true,                                   \
	  .value = { "PATH", COMPLETE_FILE, NULL },                                              \
	  .help = "may be read although it is hidden by default" },                              \
	{ .id = FLAG_DENY, .name = "deny", .repeatable = true,                                   \
	  .value = { "PATH", COMPLETE_FILE, NULL }, .help = "may not be read at all" }

/* What the commands that reach a workspace have in common. `WHO` is what is confined. */
#define SANDBOX_FLAGS(WHO)                                                                       \
	{ .id = FLAG_SANDBOX, .name = "sandbox",                                                 \
	  .value = { "LEVEL", COMPLETE_CHOICE, level_choices },                                  \
	  .help = "how " WHO " is confined: auto (default), full, landlock or paths",            \
	  .man = "How " WHO " is confined: auto (the default) is the strongest level that this " \
		 "machine allows; full, landlock or paths (also called none) is exactly that "   \
		 "level, and an error where it cannot be had. \"hasp sandbox --status\" "        \
		 "explains them. HASP_SANDBOX is the default; it cannot be weaker than the "      \
		 "setting hasp.sandbox.level." },                                                \
	{ .id = FLAG_NET, .name = "net", .help = "leave the network on" },                       \
	REACH_FLAGS

#define WORKER_FLAG                                                                              \
	{ .id = FLAG_WORKER, .name = "worker", .value = { "COMMAND", COMPLETE_NOTHING, NULL },   \
	  .help = "work elsewhere: \"ssh HOST hasp worker\"",                                    \
	  .man = "Starts COMMAND and works where its standard input and output lead: "           \
		 "\"ssh HOST hasp worker\", \"docker exec -i NAME hasp worker\". COMMAND is cut "  \
		 "into words at blanks; quotes and backslashes keep blanks, nothing else has a " \
		 "meaning and no shell is run. Or it is a JSON array of words. Roots and the "   \
		 "paths of other options are then paths over there." }

#define POLICY_FLAGS                                                                             \
	{ .id = FLAG_POLICY, .name = "policy", .repeatable = true,                               \
	  .value = { "PATH", COMPLETE_FILE, NULL },                                              \
	  .help = "policy file or folder in place of the user's own" },                          \
	{ .id = FLAG_ADMIN_POLICY, .name = "admin-policy", .repeatable = true,                   \
	  .value = { "PATH", COMPLETE_FILE, NULL },                                              \
	  .help = "policy file or folder of an administrator" }

/* The program itself, which is the agent (agent.c). */
extern const struct command agent_command;

#endif
