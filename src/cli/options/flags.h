/* SPDX-License-Identifier: Apache-2.0 */
/* Flags that the tables of several commands have in common; for the files of this folder that have
 * such tables.  See command.h for the steps to add a flag. */
#ifndef HASP_CLI_OPTIONS_FLAGS_H
#define HASP_CLI_OPTIONS_FLAGS_H

#include "cli/options/command.h"

static const char *const durability_choices[] __attribute__((unused)) = { "full", "rename", NULL };
static const char *const mode_choices[] __attribute__((unused)) = {
	"default", "auto_edit", "autoEdit", "yolo", "plan", NULL,
};
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
	  .help = "use the project's own " WHAT " this once" }

#define DURABILITY_FLAG                                                                          \
	{ .id = FLAG_DURABILITY, .name = "durability",                                           \
	  .value = { "HOW", COMPLETE_CHOICE, durability_choices },                               \
	  .help = "full (synced to the disk, the default) or rename",                            \
	  .man = "How durable a written file is when the call returns: full (the default; the "    \
		 "file and its folder are synced to the disk) or rename (atomic; the kernel "   \
		 "writes it to the disk later)." }

/* Paths that a sandbox opens or closes in addition to its level's. */
#define REACH_FLAGS                                                                              \
	{ .id = FLAG_WRITE, .name = "write", .repeatable = true,                                 \
	  .value = { "PATH", COMPLETE_FILE, NULL },                                              \
	  .help = "also let commands write this file or folder" },                           \
	{ .id = FLAG_READ, .name = "read", .repeatable = true,                                   \
	  .value = { "PATH", COMPLETE_FILE, NULL },                                              \
	  .help = "allow reading this folder or hidden path",                                    \
	  .man = "Allows reading PATH: commands can read it even if it is hidden by default, "   \
		 "and file tools can read what is in it, if it is a folder outside the "         \
		 "workspace. Nothing in it can be written." },                                    \
	{ .id = FLAG_DENY, .name = "deny", .repeatable = true,                                   \
	  .value = { "PATH", COMPLETE_FILE, NULL }, .help = "forbid reading this path" }

/* Flags shared by commands that reach a workspace. `WHO` is what is confined. */
#define SANDBOX_FLAGS(WHO)                                                                       \
	{ .id = FLAG_SANDBOX, .name = "sandbox",                                                 \
	  .value = { "LEVEL", COMPLETE_CHOICE, level_choices },                                  \
	  .help = "how " WHO " is confined: auto (default), full, landlock or paths",            \
	  .man = "How " WHO " is confined: auto (the default) is the strongest level that this " \
		 "machine supports; full, landlock or paths (also called none) is exactly that " \
		 "level, or an error where it is not supported. \"hasp sandbox --status\" "        \
		 "explains them. HASP_SANDBOX is the default; it cannot be weaker than the "      \
		 "setting hasp.sandbox.level." },                                                \
	{ .id = FLAG_NET, .name = "net", .help = "allow the network" },                          \
	REACH_FLAGS

#define WORKER_FLAG                                                                              \
	{ .id = FLAG_WORKER, .name = "worker", .value = { "COMMAND", COMPLETE_NOTHING, NULL },   \
	  .help = "work elsewhere: \"ssh HOST hasp worker\"",                                    \
	  .man = "Starts COMMAND and works at the other end of its standard input and output: " \
		 "\"ssh HOST hasp worker\", \"docker exec -i NAME hasp worker\". COMMAND is " \
		 "split at white space; quotes and backslashes protect white space. It is not " \
		 "passed to a shell. A JSON array of words works, too. Roots and the paths of " \
		 "other options are then paths over there. The setting hasp.worker is the " \
		 "default." },                                                                \
	{ .id = FLAG_WORKER_ROOT, .name = "worker-root",                                         \
	  .value = { "PATH", COMPLETE_NOTHING, NULL },                                           \
	  .help = "the folder to work in there",                                                 \
	  .man = "The folder to work in at the other end of --worker or of a place in "            \
		 "hasp.worker, an absolute path over there. The default is the folder that hasp "  \
		 "was started in." }

#define POLICY_FLAGS                                                                             \
	{ .id = FLAG_POLICY, .name = "policy", .repeatable = true,                               \
	  .value = { "PATH", COMPLETE_FILE, NULL },                                              \
	  .help = "policy file or folder in place of the user's own" },                          \
	{ .id = FLAG_ADMIN_POLICY, .name = "admin-policy", .repeatable = true,                   \
	  .value = { "PATH", COMPLETE_FILE, NULL },                                              \
	  .help = "policy file or folder of an administrator" }

#endif
