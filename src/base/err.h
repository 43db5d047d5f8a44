/* SPDX-License-Identifier: Apache-2.0 */
/* The one error object, and the one table of error codes.
 *
 * Every function that can fail takes a `struct err *` as its last parameter
 * and returns false (or NULL) after filling it; on success it leaves it
 * untouched.  The message is a finished sentence for a reader: what happened,
 * to what.  What to do next is the code's advice (err_advice) plus whatever
 * the caller adds as data (the new state of a file, candidate places).
 *
 *     struct err err = ERR_INIT;
 *     if (!snapshot_read(ws, path, &opts, &snap, &err))
 *             fprintf(stderr, "%s\n", err.message);
 *
 * `err` must not be NULL.  The object holds no resources and can be copied.
 *
 * To add a code: one row in ERR_TABLE; schemas, docs and exit codes follow.
 * Not here: printing (cli/), turning errors into tool results (tool/).
 */
#ifndef HASP_BASE_ERR_H
#define HASP_BASE_ERR_H

#include <stdbool.h>

/* What kind of trouble a code is: decides who has to act. */
enum err_class {
	ERR_CLASS_NONE,
	ERR_CLASS_INPUT,    /* the caller's arguments are wrong: change them */
	ERR_CLASS_CONFLICT, /* the world is not as the caller believed: look, then retry */
	ERR_CLASS_DENIED,   /* a rule or a person said no: retrying the same is useless */
	ERR_CLASS_LIMIT,    /* a named limit was reached: ask for less */
	ERR_CLASS_SYSTEM,   /* the operating system failed */
	ERR_CLASS_BUG,      /* hasp is wrong */
};

/* X(symbol, name in results, class, what to do next) */
#define ERR_TABLE(X)                                                                          \
	X(NONE, "none", NONE, "")                                                             \
	X(INVALID_ARGUMENT, "invalid_argument", INPUT,                                        \
	  "Correct the named argument and call again.")                                       \
	X(UNKNOWN_TOOL, "unknown_tool", INPUT, "Use one of the listed tools.")                \
	X(STATE_MISMATCH, "state_mismatch", CONFLICT,                                         \
	  "The file is not in the state the hash names. Make the change again against "       \
	  "latest_file_state and pass its sha256.")                                           \
	X(BASE_REQUIRED, "base_required", INPUT,                                              \
	  "The file exists. Pass the sha256 of the state you mean to change; "                \
	  "latest_file_state has it.")                                                        \
	X(INVALID_DIFF, "invalid_diff", INPUT,                                                \
	  "Send one unified diff for this one file, with at least one @@ hunk.")              \
	X(AMBIGUOUS_DIFF, "ambiguous_diff", INPUT,                                            \
	  "The hunk does not fit exactly one place. Add unchanged lines of the file before "  \
	  "and after each change until it does.")                                             \
	X(NO_MATCH, "no_match", CONFLICT,                                                     \
	  "The context or removed lines are not in the file. Copy them from "                 \
	  "latest_file_state and send the diff again.")                                       \
	X(WRONG_MATCH_COUNT, "wrong_match_count", INPUT,                                      \
	  "If the text occurs too often, add surrounding lines or pass the right count; "     \
	  "if it does not occur, copy it from latest_file_state, including white space.")   \
	X(NO_CHANGE, "no_change", INPUT, "The file is already as asked; nothing was written.") \
	X(FILE_NOT_FOUND, "file_not_found", INPUT,                                            \
	  "Check the path; list_directory shows what is there.")                              \
	X(FILE_EXISTS, "file_exists", CONFLICT,                                               \
	  "The name is already taken. Choose another, or change the existing file with its "  \
	  "sha256.")                                                            \
	X(NOT_A_FILE, "not_a_file", INPUT,                                                    \
	  "The path names a folder or a special file; name a regular file.")                  \
	X(NOT_A_DIRECTORY, "not_a_directory", INPUT, "Name a folder.")                        \
	X(NOT_TEXT, "not_text", INPUT,                                                        \
	  "This content cannot be shown or edited as text; use a program that knows the type.") \
	X(TOO_LARGE, "too_large", LIMIT,                                                      \
	  "Do it in parts: read a range of lines, name fewer files, or send a smaller edit.")  \
	X(OUTSIDE_WORKSPACE, "outside_workspace", DENIED,                                     \
	  "Only paths beneath the workspace roots can be reached.")                           \
	X(PERMISSION_DENIED, "permission_denied", DENIED,                                     \
	  "The system or the user's editor forbids it; only the user can change that.")       \
	X(IGNORED, "ignored", DENIED,                                                         \
	  "The user's ignore files exclude it: work without it, or ask the user.")      \
	X(DENIED_BY_POLICY, "denied_by_policy", DENIED, "A policy forbids it; do not retry.") \
	X(DENIED_BY_USER, "denied_by_user", DENIED, "The user said no; do not retry.")        \
	X(DENIED_BY_HOOK, "denied_by_hook", DENIED,                                           \
	  "A hook of the user refused this call; the message has its reason.")                \
	X(DENIED_BY_SANDBOX, "denied_by_sandbox", DENIED,                                     \
	  "The sandbox forbids it; ask the user for the permission it names.")                \
	X(DISK_FULL, "disk_full", SYSTEM,                                                     \
	  "Nothing was changed. Free some space (or quota), then call again.")                \
	X(NO_RESOURCES, "no_resources", SYSTEM,                                               \
	  "Nothing was changed. No more files can be opened, or memory ran out: end what is not "  \
	  "needed, then call again.")                                                           \
	X(BUSY, "busy", CONFLICT,                                                             \
	  "Another program has the file open for writing. Try again when it is done.")        \
	X(CANNOT_PRESERVE, "cannot_preserve", SYSTEM,                                         \
	  "This user cannot keep the file's owner or attributes; nothing was written.") \
	X(IO_ERROR, "io_error", SYSTEM,                                                       \
	  "Nothing was changed. Tell the user, who has to fix what the message names.") \
	X(WORKER_LOST, "worker_lost", SYSTEM,                                                 \
	  "The next call gets a new worker. If this was an edit, read the file first: it may "  \
	  "or may not have been changed.")                                                      \
	X(CANCELLED, "cancelled", CONFLICT, "The call was cancelled; nothing was written.")   \
	X(COMMAND_STOPPED, "command_stopped", LIMIT,                                          \
	  "The command was ended before it finished; the answer has its output so far. Give it " \
	  "more time, do less per call, or run it in the background.")                   \
	X(LIMIT_REACHED, "limit_reached", LIMIT,                                              \
	  "The work ended at a limit before it was done; the answer has what came of it. Go on "  \
	  "from there, or give a smaller task.")                                                  \
	X(NETWORK_ERROR, "network_error", SYSTEM,                                             \
	  "Check the connection, the address and the proxy; then try again.")                 \
	X(AUTHENTICATION_FAILED, "authentication_failed", INPUT,                              \
	  "The user has to provide a valid key for this provider.")                           \
	X(QUOTA_EXCEEDED, "quota_exceeded", LIMIT,                                            \
	  "A quota is used up: wait as the message says, or use another model or source.")    \
	X(OVERLOADED, "overloaded", SYSTEM, "The provider is overloaded; try again later.")   \
	X(CONTEXT_TOO_LARGE, "context_too_large", LIMIT,                                      \
	  "The conversation is longer than the model takes: compress it or start a new one.") \
	X(MODEL_ERROR, "model_error", SYSTEM,                                                 \
	  "The model's answer could not be used; try again, or use another model.")           \
	X(TOOL_FAILED, "tool_failed", SYSTEM,                                                 \
	  "The tool itself failed; its output says why.")                       \
	X(ROLLED_BACK, "rolled_back", CONFLICT,                                               \
	  "Another change of the same call failed, so this one was not made.")                \
	X(INTERNAL, "internal", BUG,                                                          \
	  "This is a bug in hasp; nothing was written. Try a smaller change.")

enum err_code {
#define ERR_ENUM(symbol, name, class, advice) ERR_##symbol,
	/* One for each row. */
	ERR_TABLE(ERR_ENUM)
#undef ERR_ENUM
	ERR_CODE_COUNT
};

/* Longest message, with its NUL; longer ones are cut at a character boundary. */
enum { ERR_MESSAGE_MAX = 1024 };

/* What a rule of the sandbox refused, for programs.  The numbers are the sandbox's,
 * which makes and reads such records: denial_refuse, denial_of (sandbox/plan/denial.h). */
struct err_denial {
	bool there;      /* the rest means something */
	unsigned kind, reason, level;
	char what[1024]; /* a path, mostly */
	char rule[512];  /* the path of the rule; "" when there is none */
};

struct err {
	enum err_code code;
	int sys_errno; /* the errno behind it, or 0 */
	char message[ERR_MESSAGE_MAX];
	struct err_denial denial; /* DENIED_BY_SANDBOX, if it was a rule that refused */
};

#define ERR_INIT { .code = ERR_NONE }

/* Fills `err` and returns false, so that callers can `return err_set(...)`. */
bool err_set(struct err *err, enum err_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Like err_set; chooses the code from `sys_errno` (ENOENT: FILE_NOT_FOUND,
 * EACCES, EPERM, EROFS: PERMISSION_DENIED, ENOSPC, EDQUOT: DISK_FULL, EXDEV:
 * OUTSIDE_WORKSPACE, EEXIST: FILE_EXISTS, ENOTDIR: NOT_A_DIRECTORY, EISDIR:
 * NOT_A_FILE, ELOOP: OUTSIDE_WORKSPACE, EFBIG: TOO_LARGE, ENAMETOOLONG: INVALID_ARGUMENT, EMFILE,
 * ENFILE, ENOMEM, EAGAIN: NO_RESOURCES, ETXTBSY, EBUSY: BUSY, ENXIO, ENODEV: NOT_A_FILE, others:
 * IO_ERROR) and appends ": " and the errno's text to the message. */
bool err_set_errno(struct err *err, int sys_errno, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The name in results ("state_mismatch"), the class, the advice. Never NULL. */
const char *err_name(enum err_code code);
enum err_class err_class_of(enum err_code code);
const char *err_advice(enum err_code code);

#endif
