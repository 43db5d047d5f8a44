/* SPDX-License-Identifier: Apache-2.0 */
/* Every maximum in one place, each with its reason.
 *
 * These are hard ends that no setting passes; settable defaults live with the
 * option that sets them (worker/provider.h).
 */
#ifndef HASP_BASE_LIMITS_H
#define HASP_BASE_LIMITS_H

#include <stddef.h>
#include <stdint.h>

/* The largest file hasp reads whole: it is held in memory, with its result. */
#define LIMIT_FILE_BYTES ((size_t)4 << 30)
/* The default of max_file_size: far above any source file, below a runaway log. */
#define LIMIT_FILE_BYTES_DEFAULT ((size_t)1 << 30)
/* A diff is read by a model's user: 64 MiB is already absurd. */
#define LIMIT_DIFF_BYTES ((size_t)64 << 20)
/* Hunks are compared with each other when they are placed together. */
#define LIMIT_DIFF_HUNKS 10000
/* Sections of context alone in a patch, and texts after an @@: they are compared with each hunk. */
#define LIMIT_DIFF_ANCHORS 4096
/* A MIME type with its NUL: RFC 6838 allows 127 bytes on each side of the slash. */
#define LIMIT_MIME_TYPE 256
/* Candidate places named for one ambiguous hunk: more would only fill a context. */
#define LIMIT_CANDIDATES 8
/* Failed hunks that one answer explains: more are for the next try. */
#define LIMIT_FAILED_HUNKS 8
/* Of the lines of a file that differ from those of a hunk or an old text, what its refusal shows:
 * the change itself is seldom larger; of all hunks together twice as much. */
#define LIMIT_DIFFERING_LINES ((size_t)4 << 10)
/* Texts that a session's answers showed, kept to merge a late edit with what changed since
 * (tool/rebase.h): in all; the largest one; and the largest edit that is offered so. */
#define LIMIT_KEPT_BYTES ((size_t)8 << 20)
/* The largest budget of an answer: --answer-tokens. */
#define LIMIT_ANSWER_TOKENS ((size_t)1 << 30)
/* Texts of parts of files that a session's reads gave, kept to say whether they are as they were
 * (tool/answer.h): in all. */
#define LIMIT_SEEN_PARTS ((size_t)4 << 20)
#define LIMIT_KEPT_CONTENT ((size_t)2 << 20)
#define LIMIT_KEPT_OFFER ((size_t)256 << 10)
/* And lines that either side may add and remove: in a rewrite it is not certain which lines of the
 * two texts are the same ones. Up to here git's comparison, too, is exact. */
#define LIMIT_KEPT_CHANGE ((size_t)256)
/* What a question to a person shows of a call, all of which can be opened and read; a longer call
 * is refused. An edit shows its diff instead. */
#define LIMIT_QUESTION_BYTES ((size_t)1 << 20)
#define LIMIT_QUESTION_LINES ((size_t)100000)
/* Arguments of one call (a write_file carries a whole file). */
#define LIMIT_ARGUMENT_BYTES ((size_t)1 << 30)
#define LIMIT_RESULT_BYTES ((size_t)4 << 30)
/* Changes in one apply_changes; each holds two open descriptors at most while planned. */
#define LIMIT_CHANGES 4096
/* What a model is shown of the folders that it may read besides its workspace. */
#define LIMIT_READ_PATHS_SHOWN ((size_t)4 << 10)
/* A path longer than the kernel takes is an error before it is a system call. */
#define LIMIT_PATH_BYTES 4096
#define LIMIT_SYMLINKS 40
/* Media parts are sent inline to a model; providers refuse more. */
#define LIMIT_MEDIA_BYTES ((size_t)20 << 20)

/* A pattern to search for; the compiled form of a regular expression is bounded by PCRE2. */
#define LIMIT_PATTERN_BYTES ((size_t)64 << 10)
/* One JSON-RPC message: a write_file of a generated file fits, a stream without an end does
 * not. */
#define LIMIT_MESSAGE_BYTES ((size_t)64 << 20)
/* The id of a request is kept and sent back; a client's ids are counters or UUIDs. */
#define LIMIT_RPC_ID_BYTES 1024
/* Messages in one JSON-RPC batch. */
#define LIMIT_RPC_BATCH 1000
/* Requests of one client under way: each holds its arguments and a few hundred bytes. */
#define LIMIT_PEER_CALLS 10000
/* And their text in all, where the transport hands over text: two of the longest messages. */
#define LIMIT_PEER_BYTES (2 * LIMIT_MESSAGE_BYTES)
/* A URI to watch: the longest path, every byte of it escaped. */
#define LIMIT_URI_BYTES (4 * LIMIT_PATH_BYTES)
/* Resources that one client, or one subscription, watches, and subscriptions of one client. */
#define LIMIT_PEER_WATCHES 4096
#define LIMIT_PEER_LISTENS 64
/* What travels through a stateless client while it answers questions (requestState). */
#define LIMIT_REQUEST_STATE_BYTES ((size_t)1 << 20)
/* Entries of one folder: its names are held in memory while it is read (about 1 GiB). */
#define LIMIT_FOLDER_ENTRIES ((size_t)10000000)
/* Folders that wait to be read in a walk; each is a path in memory. */
#define LIMIT_SCAN_PENDING ((size_t)4000000)
/* What is kept for a reader that does not read: several of the largest results, after which
 * the stream is given up. */
#define LIMIT_BACKLOG_BYTES ((size_t)1 << 30)
/* Files watched at once in one workspace: each change looks at all of them. */
#define LIMIT_WATCHES 4096

/* MCP servers that hasp uses (mcp/client/).  One message: a result with an image of
 * LIMIT_MEDIA_BYTES in it. */
#define LIMIT_MCP_MESSAGE_BYTES ((size_t)32 << 20)
/* Servers that are used: each may be a program that runs. */
#define LIMIT_MCP_SERVERS 64
/* Unrequested messages since the last answer: logs of a long call are fewer. */
#define LIMIT_MCP_UNASKED 10000
/* Tools of one server: each is sent with every request. */
#define LIMIT_MCP_TOOLS 256
/* A call that reports progress may take this many time-outs altogether. */
#define LIMIT_MCP_PROLONGED 6
/* Requests of one server that are being answered at the same time, by people mostly. */
#define LIMIT_MCP_ANSWERING 8
/* What a server asks a model (sampling): during one call of its tools and in a minute;
 * the texts of one request, its messages and the blocks of one, the tokens of the answer. */
#define LIMIT_MCP_SAMPLINGS_CALL 10
#define LIMIT_MCP_SAMPLINGS_MINUTE 30
#define LIMIT_MCP_SAMPLING_BYTES ((size_t)256 << 10)
#define LIMIT_MCP_SAMPLING_PARTS 100
#define LIMIT_MCP_SAMPLING_TOKENS 8192
/* Prompts of one server, and arguments of one prompt. */
#define LIMIT_MCP_PROMPTS 256
#define LIMIT_MCP_PROMPT_ARGUMENTS 32
/* Resources of one server that are listed, templates of them, and those that it is asked to report
 * changes of. */
#define LIMIT_MCP_RESOURCES 1000
#define LIMIT_MCP_RESOURCE_TEMPLATES 100
#define LIMIT_MCP_WATCHED 256
/* Texts of one result, all together, and its parts. */
#define LIMIT_MCP_RESULT_BYTES ((size_t)10 << 20)
#define LIMIT_MCP_RESULT_PARTS 1000
/* A line of a server's log. */
#define LIMIT_MCP_LOG_LINE ((size_t)4096)
/* What is kept of the declarations of all servers of a project. */
#define LIMIT_MCP_CACHE_BYTES ((size_t)16 << 20)

/* Connections to a loopback server: a stream for each of some hundred clients, and their
 * calls; each holds a descriptor and up to 64 KiB. */
#define LIMIT_HTTP_CONNECTIONS 1024
/* Of these, those that have sent no request yet that may be answered: some hundred clients may
 * connect at the same time; the oldest go first. */
#define LIMIT_HTTP_STRANGERS 512
/* Bodies that are arriving, of all connections together: many calls, a few of the largest. */
#define LIMIT_HTTP_BODIES ((size_t)256 << 20)
/* What waits for one reader of an event stream before it is cut off: all that may be kept for
 * a session (LIMIT_REPLAY_BYTES) goes out at once when its client comes back. */
#define LIMIT_STREAM_BACKLOG ((size_t)32 << 20)

/* Messages kept for clients of HTTP that come back for them: of one session (one message of
 * any size is kept), and of all together. */
#define LIMIT_REPLAY_BYTES ((size_t)16 << 20)
#define LIMIT_REPLAY_ALL ((size_t)256 << 20)
/* Patterns with wildcards of one ignore file: each is tried on most paths.  Those beyond do not
 * count; lines that name one path are not limited. */
#define LIMIT_IGNORE_WILDCARDS ((size_t)5000)

/* Analysis of shell commands (shell/analysis.h): it stands before a question to a person, who
 * cannot read more.  A command that carries a file in a heredoc fits. */
#define LIMIT_SHELL_BYTES ((size_t)256 << 10)
/* A command and all scripts in it (sh -c, backticks): each level can be as long as its parent. */
#define LIMIT_SHELL_ALL_BYTES ((size_t)1 << 20)
/* Substitutions, groups and quotes inside each other: the reader recurses for each. */
#define LIMIT_SHELL_NESTING 60
/* Commands that run commands (env sudo nice ...), scripts in scripts. */
#define LIMIT_SHELL_WRAPPERS 24
#define LIMIT_SHELL_COMMANDS 4096
#define LIMIT_SHELL_WORDS 65536
/* The texts of all commands together, those inside others again with what is around them: what a
 * rule's expression is matched against. find -exec can name the same text thousands of times. */
#define LIMIT_SHELL_WORK ((size_t)2 << 20)
/* Words that one {a,b} makes. */
#define LIMIT_SHELL_BRACES 256
/* Further problems add nothing to "cannot be analysed". */
#define LIMIT_SHELL_PROBLEMS 256
/* Variables in arithmetic: each is looked up among the assignments. */
#define LIMIT_SHELL_NAMES 1024
/* The parser's time for one analysis, its scripts together; usual commands need less than 1 ms. */
#define LIMIT_SHELL_PARSE_US 1000000

/* Input for a command that has not been read by it yet. */
#define LIMIT_RUN_INPUT_BYTES ((size_t)8 << 20)
/* Different denials that are kept of one command; a battery of attacks has some hundred. */
#define LIMIT_DENIALS ((size_t)256)
/* Reported paths that are hidden from a command; a home folder has some dozens. */
#define LIMIT_HIDDEN_TOLD ((size_t)64)
/* Files that a session's commands were allowed after denials, one by one; and how many different
 * denials of a command are looked at for a question, and listed in it: what people read. */
#define LIMIT_GRANTED_FILES ((size_t)64)
#define LIMIT_DENIALS_OFFERED ((size_t)8)
/* Commands of one session under way at once, and what the session remembers of ended ones. */
#define LIMIT_JOBS_RUNNING ((size_t)64)
#define LIMIT_JOBS_KEPT ((size_t)256)
/* The whole output of one command, in a file: a day of a chatty server. */
#define LIMIT_JOB_LOG_BYTES ((uint64_t)1 << 30)

/* Calls of connect of one command that wait for the other side: each holds two descriptors. */
#define LIMIT_WAITING_CONNECTS 128
/* Opens of one command that wait (for a FIFO's other side, a lease): each may hold a descriptor. */
#define LIMIT_WAITING_OPENS 128
/* Addresses that servers of a command have bound, where its connects are held to them. */
#define LIMIT_BOUND_ADDRESSES 4096
/* Segments of shared memory that a command has at once, at level landlock: a database has one. */
#define LIMIT_SHARED_SEGMENTS 256

/* Rules of a sandbox plan (sandbox/plan/plan.h), and names that must not come into being: each is a
 * mount, or looked at by each system call that is judged. */
#define LIMIT_SANDBOX_RULES 4096
/* What the kernel says of all mounts (100,000 of them), or of a process's groups. */
#define LIMIT_MOUNTS_BYTES ((size_t)16 << 20)
/* Git folders (submodules, repositories beneath a root) that a plan looks into. */
#define LIMIT_SANDBOX_GIT_FOLDERS 128
/* Entries of one folder among which a plan, or Landlock's rules around a hidden path, look. */
#define LIMIT_SANDBOX_SIBLINGS 20000
/* A profile for macOS: some lines for each rule and absent name, most of them short. */
#define LIMIT_SEATBELT_BYTES ((size_t)64 << 20)

/* The worker's protocol (worker/wire/message.h).  Fields of one frame: the names of a walk over a
 * million files, the lines of a large search. */
#define LIMIT_WIRE_FIELDS ((size_t)256 << 20)
/* Paths in frames: those that come from a model may be too long, and get a better error than
 * this one. */
#define LIMIT_WIRE_PATH ((size_t)64 << 10)
/* Names of codes and encodings; the sentence that says why the level is weaker. */
#define LIMIT_WIRE_WORD 256
#define LIMIT_WIRE_SENTENCE 4096
/* Globs, arguments, variables, rules of a plan. */
#define LIMIT_WIRE_TEXTS ((size_t)1 << 20)
/* Requests of one connection that are under way or queued: each is a few hundred bytes. */
#define LIMIT_WIRE_CALLS 10000
/* Reads that one thread begins before it looks at their answers. */
#define LIMIT_READS_BEGUN 32
/* What an ssh or a container may print before the worker's first byte. */
#define LIMIT_WIRE_BANNER ((size_t)64 << 10)
/* A command's output that has not been handled yet. */
#define LIMIT_RUN_WINDOW ((size_t)512 << 10)

/* What a command leaves free on the file systems of its temporary files and of the workspace, or a
 * sixteenth of them if that is less: it is stopped before it fills the machine's disk. */
#define LIMIT_DISK_RESERVE_BYTES ((uint64_t)512 << 20)
#define LIMIT_DISK_RESERVE_FILES ((uint64_t)10000)

/* The guard (sandbox/guard/guard.h) looks at git folders before and after every command.
 * Git folders that are remembered as they were before a command touched them; what the command did
 * in others is judged by times. */
#define LIMIT_GUARD_PLACES 4096
/* A configuration, or a list of steps of a rebase: far above any; larger ones are not read, and so
 * not believed. */
#define LIMIT_GUARD_FILE_BYTES ((size_t)256 << 10)
/* What is remembered of protected files where no mount keeps them, in all; of names beyond that
 * only times say what was changed. */
#define LIMIT_GUARD_KEPT_FILES 4096
#define LIMIT_GUARD_KEPT_BYTES ((size_t)16 << 20)
/* Folders that are remembered from one walk to the next (about 100 bytes each); others are listed
 * by each. */
#define LIMIT_GUARD_FOLDERS 1000000
/* Names that others obey, and that a session's commands have changed; others are reported again. */
#define LIMIT_GUARD_KEYS 100000
/* Folders that a command removed or moved away, and that are remembered: beyond these, no folder
 * counts as the command's own. */
#define LIMIT_GUARD_VACATED 4096
/* And their paths, of a session's commands. */
#define LIMIT_GUARD_VACATED_BYTES ((size_t)1 << 20)
/* Folders beneath what a symbolic link leads to that are looked through for names that others obey;
 * beyond these it counts as having one. */
#define LIMIT_GUARD_LINKED 4096
/* Seconds without a command, after which the next one starts another session. */
#define LIMIT_GUARD_SESSION_S (12 * 3600)
/* Seconds without a command in a workspace, after which what is known of it is removed. */
#define LIMIT_GUARD_FILE_S (30 * 24 * 3600)
/* Commands of a session that run at the same time. */
#define LIMIT_GUARD_COMMANDS 1024
/* What is reported to others about one of them: its beginning, and the paths that it may write. */
#define LIMIT_GUARD_COMMAND_TEXT 4000
/* Findings that one check reports one by one; a last line gives the number of the others. */
#define LIMIT_GUARD_TOLD 64

/* The search for hard links that lead outside of a workspace (`hasp sandbox --status`): entries
 * that are looked at, names of files with several, milliseconds; and how many are named. */
#define LIMIT_TWINS_FILES ((size_t)1000000)
#define LIMIT_TWINS_NAMES ((size_t)200000)
#define TWINS_MS 2000
#define LIMIT_TWINS_TOLD 64

/* Answers of models (model/).  What one answer may be on the wire; the largest ones are
 * some 64,000 tokens, in as many events of some hundred bytes. */
#define LIMIT_MODEL_ANSWER_BYTES ((size_t)128 << 20)
/* Of that: text, thoughts and arguments, and parts. */
#define LIMIT_MODEL_REPLY_BYTES ((size_t)32 << 20)
#define LIMIT_MODEL_REPLY_PARTS ((size_t)10000)
/* An answer that is an error: a page of a proxy, or JSON with a sentence. */
#define LIMIT_MODEL_ERROR_BYTES ((size_t)1 << 20)
/* A request: a conversation of a million tokens, with media. */
#define LIMIT_MODEL_REQUEST_BYTES ((size_t)512 << 20)
/* The schema of one tool as it is sent: levels, schemas within it (and where targets stand in the
 * place of references, which multiplies them), and values of one enum. OpenAI's documents allow
 * 5,000 members and 1,000 values. */
#define LIMIT_MODEL_SCHEMA_DEPTH 32
#define LIMIT_MODEL_SCHEMA_NODES 5000
#define LIMIT_MODEL_SCHEMA_INLINED 1500
#define LIMIT_MODEL_SCHEMA_CHOICES 1000
/* A provider refuses tools: requests that look for the one, tools that are left out one by one in
 * one prompt, and tools that are remembered for one endpoint. */
#define LIMIT_MODEL_TOOL_PROBES 24
#define LIMIT_MODEL_TOOLS_REFUSED 16
#define LIMIT_LEARNT_TOOLS 100
/* A recording of answers that is replayed: a day of work with images in it. */
#define LIMIT_RECORDING_BYTES ((size_t)256 << 20)
/* All header fields of one answer, as they are handed on. */
#define LIMIT_HTTP_HEAD_BYTES ((size_t)256 << 10)

/* Files of settings (config/settings.h): written by hand; those with a server for everything have
 * some kilobytes. And variables in a .env file, folders in trustedFolders.json and
 * projects.json. */
#define LIMIT_SETTINGS_BYTES ((size_t)4 << 20)
#define LIMIT_ENV_FILE_BYTES ((size_t)1 << 20)
#define LIMIT_REGISTRY_BYTES ((size_t)16 << 20)
/* A third party's list of plugins (install/market.h): Gemini CLI's gallery has about one MiB. */
#define LIMIT_MARKET_BYTES ((size_t)8 << 20)
/* What is remembered of models: 200 entries of some hundred bytes. */
#define LIMIT_LEARNT_BYTES ((size_t)1 << 20)
/* A provider's list of its models: OpenRouter's has some hundred, of a few kilobytes each. */
#define LIMIT_MODEL_LIST_BYTES ((size_t)8 << 20)
/* Each variable is looked for among the others. */
#define LIMIT_ENV_FILE_VARIABLES ((size_t)4096)
/* Strings of one file of settings after variables were put into them. */
#define LIMIT_EXPANDED_BYTES ((size_t)4 << 20)
/* Warnings about a user's files (data/warnings.h): a page is enough. */
#define LIMIT_WARNINGS 64
/* A policy file is written by hand, or a rule at a time; each rule is looked at for every call. */
#define LIMIT_POLICY_BYTES ((size_t)1 << 20)

/* YAML is read where people write some lines of it: in front of a skill, a command or an agent.
 * And its scalars, sequences and mappings. */
#define LIMIT_YAML_BYTES ((size_t)256 << 10)
#define LIMIT_YAML_NODES 10000

/* Skills (catalog/skills.h). A SKILL.md is sent whole to the model; the specification advises
 * 500 lines. Each description is sent with every request: of the 1,024 characters that the
 * specification allows; and all of them together. Files of one that are listed. */
#define LIMIT_SKILL_BYTES ((size_t)256 << 10)
#define LIMIT_SKILL_DESCRIPTION ((size_t)4096)
#define LIMIT_SKILLS ((size_t)200)
#define LIMIT_SKILL_RESOURCES ((size_t)200)

/* Installed extensions (config/extensions.h), more than are in use; each costs some reads at every
 * start. */
#define LIMIT_EXTENSIONS ((size_t)100)
/* A folder that is copied whole (base/door.h): an extension with all that npm installed for it. */
#define LIMIT_TREE_FILES ((size_t)20000)
#define LIMIT_TREE_BYTES ((size_t)512 << 20)
/* An archive of one (install/), as it is downloaded; how much more than that its content may have:
 * text is packed to a tenth, a bomb to a thousandth; and what it may have however small it is. */
#define LIMIT_ARCHIVE_BYTES ((size_t)256 << 20)
#define LIMIT_UNPACK_RATIO 100
#define LIMIT_UNPACK_FREE ((size_t)8 << 20)

/* Agents (catalog/agents.h). A file is the system prompt of a conversation; each description is
 * sent with every request. What one hands back is a result among others. */
#define LIMIT_AGENT_BYTES ((size_t)256 << 10)
#define LIMIT_AGENT_DESCRIPTION ((size_t)2048)
#define LIMIT_AGENTS ((size_t)100)
#define LIMIT_AGENT_TOOLS ((size_t)200)
#define LIMIT_AGENT_ANSWER ((size_t)256 << 10)

/* Paths named with @ in one prompt: each is read. */
#define LIMIT_MENTIONS 1000
/* A file of instructions (GEMINI.md), and all of them together: they are sent with every
 * request. */
#define LIMIT_MEMORY_FILE_BYTES ((size_t)256 << 10)
#define LIMIT_MEMORY_BYTES ((size_t)1 << 20)

/* Checkpoints (agent/checkpoint/checkpoint.h).  A file that is kept before an edit: it is
 * compressed first, so larger ones would hold the edit up. */
#define LIMIT_CHECKPOINT_FILE_BYTES ((size_t)64 << 20)
/* Files of one: as many as one call can change, each under two names. */
#define LIMIT_CHECKPOINT_FILES (2 * LIMIT_CHANGES)
/* The arguments of the call in a note, and all of a note: paths of that many files. */
#define LIMIT_CHECKPOINT_ARGUMENTS ((size_t)1 << 20)
#define LIMIT_CHECKPOINT_NOTE_BYTES ((size_t)64 << 20)
/* Notes of one project; and its ledger of what edits wrote, of which only the end counts. */
#define LIMIT_CHECKPOINTS 100000
#define LIMIT_CHECKPOINT_LEDGER_BYTES ((size_t)256 << 20)

/* What one command of a hook may name of the workspace, and words that are looked at for it
 * (hooks/held.c): a command line that has more is no command line. */
#define LIMIT_HELD_FILES 256
#define LIMIT_HELD_WORDS 16384
/* A command with placeholders for its variables. */
#define LIMIT_HELD_COMMAND_BYTES ((size_t)1 << 20)
/* A file that a hook runs is hashed before each run. */
#define LIMIT_HELD_BYTES ((size_t)64 << 20)
/* The texts of trusted files are kept to show what has changed: scripts, not bundles. */
#define LIMIT_HELD_TEXT_BYTES ((size_t)64 << 10)
#define LIMIT_HELD_RECORD_BYTES ((size_t)16 << 20)

/* A line of a session's file, which holds one message: its images are sent inline, and so are
 * bounded by LIMIT_MEDIA_BYTES.  A longer one is skipped while the file is read. */
#define LIMIT_SESSION_LINE_BYTES ((size_t)64 << 20)

/* Events of a session that are kept for fronts that attach late (front/front.h): some screens of
 * text.  A front that needs more reads the record. */
#define LIMIT_FRONT_LOG_BYTES ((size_t)256 << 10)
/* Pieces of text in one such event. */
#define LIMIT_FRONT_JOINED_BYTES ((size_t)16 << 10)
/* Events that wait for one front to take them, and fronts on one session. */
#define LIMIT_FRONT_WAITING 4096
/* Prompts and other orders of fronts that wait for a session's thread. */
#define LIMIT_FRONT_ORDERS 256
#define LIMIT_FRONTS 64

#endif
