/* SPDX-License-Identifier: Apache-2.0 */
/* All hard limits, each with its reason.
 *
 * No setting raises them.  Defaults that can be changed are next to the option that sets them
 * (worker/provider.h).
 */
#ifndef HASP_BASE_LIMITS_H
#define HASP_BASE_LIMITS_H

#include <stddef.h>
#include <stdint.h>

/* The largest file that is read into memory; an edit holds the result as well. */
#define LIMIT_FILE_BYTES ((size_t)4 << 30)
/* The default of max_file_size: far above any source file, below a runaway log. */
#define LIMIT_FILE_BYTES_DEFAULT ((size_t)1 << 30)
/* People review diffs; 64 MiB is far more than anyone reads. */
#define LIMIT_DIFF_BYTES ((size_t)64 << 20)
/* Hunks are compared with each other when they are placed together. */
#define LIMIT_DIFF_HUNKS 10000
/* Context-only sections of a patch, and headings after @@: each is compared with every hunk. */
#define LIMIT_DIFF_ANCHORS 4096
/* A MIME type with its NUL: RFC 6838 allows 127 bytes on each side of the slash. */
#define LIMIT_MIME_TYPE 256
/* Candidate positions listed for one ambiguous hunk; more would waste the model's context. */
#define LIMIT_CANDIDATES 8
/* Failed hunks explained in one answer; the rest are explained on the next attempt. */
#define LIMIT_FAILED_HUNKS 8
/* Lines of the file that a refusal quotes because they differ from a hunk or an old text, in bytes:
 * a change is seldom larger.  All hunks together may quote twice as much. */
#define LIMIT_DIFFERING_LINES ((size_t)4 << 10)
/* File contents shown by a session's answers, kept to rebase an edit of an outdated version
 * (tool/rebase.h): all of them, the largest one, and the largest edit that is rebased. */
#define LIMIT_KEPT_BYTES ((size_t)8 << 20)
#define LIMIT_KEPT_CONTENT ((size_t)2 << 20)
#define LIMIT_KEPT_OFFER ((size_t)256 << 10)
/* Lines that either side of such a rebase may add and remove.  After a rewrite it is uncertain
 * which lines correspond; up to this size git's comparison is exact too. */
#define LIMIT_KEPT_CHANGE ((size_t)256)
/* The largest budget of an answer: --answer-tokens. */
#define LIMIT_ANSWER_TOKENS ((size_t)1 << 30)
/* Parts of files that a session has read, kept to detect changes (tool/answer.h). */
#define LIMIT_SEEN_PARTS ((size_t)4 << 20)
/* The text of a call that is shown when the user is asked to approve it; a longer call is refused.
 * For an edit the diff is shown instead. */
#define LIMIT_QUESTION_BYTES ((size_t)1 << 20)
#define LIMIT_QUESTION_LINES ((size_t)100000)
/* Arguments of one call (a write_file carries a whole file). */
#define LIMIT_ARGUMENT_BYTES ((size_t)1 << 30)
#define LIMIT_RESULT_BYTES ((size_t)4 << 30)
/* Changes in one apply_changes; each holds two open descriptors at most while planned. */
#define LIMIT_CHANGES 4096
/* The list of readable paths outside the workspace that the model is shown. */
#define LIMIT_READ_PATHS_SHOWN ((size_t)4 << 10)
/* The kernel's PATH_MAX: a longer path is rejected before any system call. */
#define LIMIT_PATH_BYTES 4096
#define LIMIT_SYMLINKS 40
/* Media are sent inline to the model; providers reject larger requests. */
#define LIMIT_MEDIA_BYTES ((size_t)20 << 20)

/* A search pattern.  PCRE2 limits the compiled form of a regular expression. */
#define LIMIT_PATTERN_BYTES ((size_t)64 << 10)
/* One JSON-RPC message: large enough for a write_file of a generated file. */
#define LIMIT_MESSAGE_BYTES ((size_t)64 << 20)
/* A request's id, which is stored and sent back; clients use counters or UUIDs. */
#define LIMIT_RPC_ID_BYTES 1024
/* Messages in one JSON-RPC batch. */
#define LIMIT_RPC_BATCH 1000
/* Pending requests of one client: each holds its arguments and a few hundred bytes. */
#define LIMIT_PEER_CALLS 10000
/* Total size of those requests on transports that deliver text: two maximal messages. */
#define LIMIT_PEER_BYTES (2 * LIMIT_MESSAGE_BYTES)
/* A URI to watch: the longest path with every byte escaped. */
#define LIMIT_URI_BYTES (4 * LIMIT_PATH_BYTES)
/* Resources watched by one client or one subscription, and subscriptions of one client. */
#define LIMIT_PEER_WATCHES 4096
#define LIMIT_PEER_LISTENS 64
/* State that a stateless client carries while it answers questions (requestState). */
#define LIMIT_REQUEST_STATE_BYTES ((size_t)1 << 20)
/* Entries of one folder: its names are held in memory while it is read (about 1 GiB). */
#define LIMIT_FOLDER_ENTRIES ((size_t)10000000)
/* Folders queued during a walk; each is a path in memory. */
#define LIMIT_SCAN_PENDING ((size_t)4000000)
/* Output queued for a reader that does not read: several maximal results.  Beyond this the stream
 * is closed. */
#define LIMIT_BACKLOG_BYTES ((size_t)1 << 30)
/* Files watched in one workspace: every change is checked against all of them. */
#define LIMIT_WATCHES 4096

/* MCP servers (mcp/client/).  One message: a result with an image of LIMIT_MEDIA_BYTES. */
#define LIMIT_MCP_MESSAGE_BYTES ((size_t)32 << 20)
/* Servers in use: each may be a running program. */
#define LIMIT_MCP_SERVERS 64
/* Unsolicited messages since the last response: more than the logs of a long call. */
#define LIMIT_MCP_UNASKED 10000
/* Tools of one server: all are sent with every request to the model. */
#define LIMIT_MCP_TOOLS 256
/* A call that reports progress may take this many times its timeout. */
#define LIMIT_MCP_PROLONGED 6
/* Concurrent requests of one server; most wait for the user. */
#define LIMIT_MCP_ANSWERING 8
/* Sampling requests of a server: during one call of its tools, and per minute; bytes of one
 * request, its messages (and the blocks of one), and tokens of the answer. */
#define LIMIT_MCP_SAMPLINGS_CALL 10
#define LIMIT_MCP_SAMPLINGS_MINUTE 30
#define LIMIT_MCP_SAMPLING_BYTES ((size_t)256 << 10)
#define LIMIT_MCP_SAMPLING_PARTS 100
#define LIMIT_MCP_SAMPLING_TOKENS 8192
/* Prompts of one server, and arguments of one prompt. */
#define LIMIT_MCP_PROMPTS 256
#define LIMIT_MCP_PROMPT_ARGUMENTS 32
/* Resources of one server that are listed, its resource templates, and resources it is asked to
 * report changes of. */
#define LIMIT_MCP_RESOURCES 1000
#define LIMIT_MCP_RESOURCE_TEMPLATES 100
#define LIMIT_MCP_WATCHED 256
/* The text of one result, and its parts. */
#define LIMIT_MCP_RESULT_BYTES ((size_t)10 << 20)
#define LIMIT_MCP_RESULT_PARTS 1000
/* A line of a server's log. */
#define LIMIT_MCP_LOG_LINE ((size_t)4096)
/* The cached declarations of all servers of a project. */
#define LIMIT_MCP_CACHE_BYTES ((size_t)16 << 20)

/* Connections to a loopback server: some hundred clients with a stream and a few calls each.  A
 * connection holds a descriptor and up to 64 KiB. */
#define LIMIT_HTTP_CONNECTIONS 1024
/* Connections that have not sent a valid request yet: some hundred clients may connect at the same
 * time.  Beyond this the oldest are closed. */
#define LIMIT_HTTP_STRANGERS 512
/* Request bodies being received on all connections: many calls, or a few maximal ones. */
#define LIMIT_HTTP_BODIES ((size_t)256 << 20)
/* Output queued for one reader of an event stream before it is disconnected.  Everything kept for a
 * session (LIMIT_REPLAY_BYTES) is queued when its client reconnects. */
#define LIMIT_STREAM_BACKLOG ((size_t)32 << 20)

/* Messages kept for HTTP clients that reconnect: of one session (at least one message, whatever its
 * size), and of all sessions. */
#define LIMIT_REPLAY_BYTES ((size_t)16 << 20)
#define LIMIT_REPLAY_ALL ((size_t)256 << 20)
/* Wildcard patterns of one ignore file: each is tried on most paths.  Further ones are ignored;
 * lines that name a single path are not limited. */
#define LIMIT_IGNORE_WILDCARDS ((size_t)5000)

/* Analysis of shell commands (shell/analysis.h).  It precedes a question to the user, who cannot
 * read more.  A command with a file in a here-document fits. */
#define LIMIT_SHELL_BYTES ((size_t)256 << 10)
/* A command with all scripts in it (sh -c, backticks): each level can be as long as its parent. */
#define LIMIT_SHELL_ALL_BYTES ((size_t)1 << 20)
/* Nested substitutions, groups and quotes: the parser recurses for each. */
#define LIMIT_SHELL_NESTING 60
/* Nested wrappers (env sudo nice ...) and scripts within scripts. */
#define LIMIT_SHELL_WRAPPERS 24
#define LIMIT_SHELL_COMMANDS 4096
#define LIMIT_SHELL_WORDS 65536
/* The texts of all commands, which rules are matched against; a nested command counts again as part
 * of the one around it.  find -exec can repeat the same text thousands of times. */
#define LIMIT_SHELL_WORK ((size_t)2 << 20)
/* Words that one brace expansion produces. */
#define LIMIT_SHELL_BRACES 256
/* Problems reported for one command; more add nothing to "cannot be analysed". */
#define LIMIT_SHELL_PROBLEMS 256
/* Variables in arithmetic expressions: each is looked up among the assignments. */
#define LIMIT_SHELL_NAMES 1024
/* Parsing time of one analysis (of the processor, by its thread), including nested scripts; usual
 * commands take less than 1 ms. */
#define LIMIT_SHELL_PARSE_US 1000000

/* Input queued for a command. */
#define LIMIT_RUN_INPUT_BYTES ((size_t)8 << 20)
/* Distinct denials recorded for one command. */
#define LIMIT_DENIALS ((size_t)256)
/* Hidden paths reported to a command; a home folder has some dozens. */
#define LIMIT_HIDDEN_REPORTED ((size_t)64)
/* Files that the user has allowed one by one after a session's denials; and denials of a command
 * that are listed in one question, as many as people read. */
#define LIMIT_GRANTED_FILES ((size_t)64)
#define LIMIT_DENIALS_OFFERED ((size_t)8)
/* Commands of one session that run at the same time, and ended ones that it remembers. */
#define LIMIT_JOBS_RUNNING ((size_t)64)
#define LIMIT_JOBS_KEPT ((size_t)256)
/* Code of one run_python call, and the answer to it: eight pictures in base64. */
#define LIMIT_INTERPRETER_CODE ((size_t)1 << 20)
#define LIMIT_INTERPRETER_ANSWER ((size_t)12 << 20)
/* The output of one command in its file: a day of a chatty server. */
#define LIMIT_JOB_LOG_BYTES ((uint64_t)1 << 30)

/* Calls of connect(2) of one command that are waiting: each holds two descriptors. */
#define LIMIT_WAITING_CONNECTS 128
/* Calls of open(2) of one command that are waiting for the other end of a FIFO or for a lease: each
 * may hold a descriptor. */
#define LIMIT_WAITING_OPENS 128
/* Addresses that a command has bound, where it may connect to nothing else. */
#define LIMIT_BOUND_ADDRESSES 4096
/* System V shared memory segments of a command at level landlock: a database uses one. */
#define LIMIT_SHARED_SEGMENTS 256

/* Rules of a sandbox plan (sandbox/plan/plan.h), and names that must not be created: each is a
 * mount, or is checked on every supervised system call. */
#define LIMIT_SANDBOX_RULES 4096
/* The kernel's list of mounts (100,000 of them), or of a process's groups. */
#define LIMIT_MOUNTS_BYTES ((size_t)16 << 20)
/* Git folders (submodules, repositories beneath a root) that a plan reads. */
#define LIMIT_SANDBOX_GIT_FOLDERS 128
/* Entries read of one folder to make a plan, or Landlock rules around a hidden path. */
#define LIMIT_SANDBOX_SIBLINGS 20000
/* A Seatbelt profile for macOS: a few lines for each rule and absent name. */
#define LIMIT_SEATBELT_BYTES ((size_t)64 << 20)

/* The worker's protocol (worker/wire/message.h).  Fields of one frame: the names of a walk over a
 * million files, the lines of a large search. */
#define LIMIT_WIRE_FIELDS ((size_t)256 << 20)
/* Paths in frames.  Higher than LIMIT_PATH_BYTES, so that a model's overlong path gets a better
 * error than a broken frame. */
#define LIMIT_WIRE_PATH ((size_t)64 << 10)
/* Names of codes and encodings; the reason why the level is weaker. */
#define LIMIT_WIRE_WORD 256
#define LIMIT_WIRE_SENTENCE 4096
/* Globs, arguments, variables, rules of a plan. */
#define LIMIT_WIRE_TEXTS ((size_t)1 << 20)
/* Running and queued requests of one connection: each is a few hundred bytes. */
#define LIMIT_WIRE_CALLS 10000
/* Reads that one thread starts before it takes their answers. */
#define LIMIT_READS_STARTED 32
/* Output of ssh or a container before the worker's first byte. */
#define LIMIT_WIRE_BANNER ((size_t)64 << 10)
/* Output of a command that has not been processed yet. */
#define LIMIT_RUN_WINDOW ((size_t)512 << 10)

/* Space and inodes that a command must leave free on the file systems of its temporary files and of
 * the workspace, or a sixteenth of them if that is less: it is stopped before it fills the disk. */
#define LIMIT_DISK_RESERVE_BYTES ((uint64_t)512 << 20)
#define LIMIT_DISK_RESERVE_FILES ((uint64_t)10000)

/* The guard (sandbox/guard/guard.h) checks git folders before and after every command.
 * Git folders whose state before a command is recorded; changes in others are detected by their
 * time stamps. */
#define LIMIT_GUARD_PLACES 4096
/* A git configuration or the to-do list of a rebase: larger ones are not read, and not trusted. */
#define LIMIT_GUARD_FILE_BYTES ((size_t)256 << 10)
/* Copies of protected files that no mount protects; changes of further ones are detected by their
 * time stamps. */
#define LIMIT_GUARD_KEPT_FILES 4096
#define LIMIT_GUARD_KEPT_BYTES ((size_t)16 << 20)
/* Folders remembered between walks (about 100 bytes each); others are read again by every walk. */
#define LIMIT_GUARD_FOLDERS 1000000
/* Changes of configuration by a session's commands that were reported; further ones are reported
 * repeatedly. */
#define LIMIT_GUARD_KEYS 100000
/* Folders that a command removed or moved, and the length of their paths in a session: beyond
 * these, no folder counts as created by the command. */
#define LIMIT_GUARD_VACATED 4096
#define LIMIT_GUARD_VACATED_BYTES ((size_t)1 << 20)
/* Folders searched beneath the target of a symbolic link for configuration of other programs;
 * beyond these the link counts as leading to some. */
#define LIMIT_GUARD_LINKED 4096
/* Seconds without a command after which the next one starts a new session. */
#define LIMIT_GUARD_SESSION_S (12 * 3600)
/* Seconds without a command in a workspace after which its records are removed. */
#define LIMIT_GUARD_FILE_S (30 * 24 * 3600)
/* Seconds from one search for such records to the next: the end of a session pays for it. */
#define LIMIT_GUARD_LOOK_S 3600
/* Commands of a session that run at the same time. */
#define LIMIT_GUARD_COMMANDS 1024
/* The description of one for the others: the start of the command and its writable paths. */
#define LIMIT_GUARD_COMMAND_TEXT 4000
/* Findings that one check reports one by one; a last line gives the number of the others. */
#define LIMIT_GUARD_REPORTED 64

/* The search for hard links to files outside the workspace (`hasp sandbox --status`): entries
 * examined, names of files with several links, milliseconds; and links that are listed. */
#define LIMIT_TWINS_FILES ((size_t)1000000)
#define LIMIT_TWINS_NAMES ((size_t)200000)
#define TWINS_MS 2000
#define LIMIT_TWINS_LISTED 64

/* Answers of models (model/).  One answer on the wire: the largest are some 64,000 tokens, in as
 * many events of a few hundred bytes. */
#define LIMIT_MODEL_ANSWER_BYTES ((size_t)128 << 20)
/* The text, thoughts and arguments of one answer, and its parts. */
#define LIMIT_MODEL_REPLY_BYTES ((size_t)32 << 20)
#define LIMIT_MODEL_REPLY_PARTS ((size_t)10000)
/* An error response: a proxy's page, or JSON with a message. */
#define LIMIT_MODEL_ERROR_BYTES ((size_t)1 << 20)
/* A request: a conversation of a million tokens, with media. */
#define LIMIT_MODEL_REQUEST_BYTES ((size_t)512 << 20)
/* The schema of one tool as it is sent: levels, nested schemas (fewer where copies of their targets
 * replace references), and values of one enum.  OpenAI documents limits of 5,000 properties and
 * 1,000 values. */
#define LIMIT_MODEL_SCHEMA_DEPTH 32
#define LIMIT_MODEL_SCHEMA_NODES 5000
#define LIMIT_MODEL_SCHEMA_INLINED 1500
#define LIMIT_MODEL_SCHEMA_CHOICES 1000
/* When a provider rejects tools: requests that search for the culprit, tools left out in one
 * prompt, and rejected tools remembered for one endpoint. */
#define LIMIT_MODEL_TOOL_PROBES 24
#define LIMIT_MODEL_TOOLS_REFUSED 16
#define LIMIT_LEARNT_TOOLS 100
/* A recording of answers: a day's work with images. */
#define LIMIT_RECORDING_BYTES ((size_t)256 << 20)
/* All header fields of one response. */
#define LIMIT_HTTP_HEAD_BYTES ((size_t)256 << 10)

/* A settings file (config/settings.h): written by hand, usually a few kilobytes.  A .env file.
 * trustedFolders.json and projects.json. */
#define LIMIT_SETTINGS_BYTES ((size_t)4 << 20)
#define LIMIT_ENV_FILE_BYTES ((size_t)1 << 20)
#define LIMIT_REGISTRY_BYTES ((size_t)16 << 20)
/* A marketplace's list of plugins (install/market.h): Gemini CLI's gallery is about 1 MiB. */
#define LIMIT_MARKET_BYTES ((size_t)8 << 20)
/* What hasp has learnt about models: 200 entries of a few hundred bytes. */
#define LIMIT_LEARNT_BYTES ((size_t)1 << 20)
/* A provider's list of models: OpenRouter has some hundred, of a few kilobytes each. */
#define LIMIT_MODEL_LIST_BYTES ((size_t)8 << 20)
/* Variables in a .env file: each is looked up among the others. */
#define LIMIT_ENV_FILE_VARIABLES ((size_t)4096)
/* Strings of one settings file after expansion of variables. */
#define LIMIT_EXPANDED_BYTES ((size_t)4 << 20)
/* Warnings about a user's files (data/warnings.h): a page of them. */
#define LIMIT_WARNINGS 64
/* A policy file, written by hand or a rule at a time.  Every call is matched against each rule. */
#define LIMIT_POLICY_BYTES ((size_t)1 << 20)

/* Structured text (data/structured/): one file, its values, the changes of one call, and bytes
 * that all of them together read: each change parses the file again. */
#define LIMIT_STRUCTURED_BYTES ((size_t)64 << 20)
#define LIMIT_STRUCTURED_NODES ((size_t)4000000)
#define LIMIT_STRUCTURED_CHANGES ((size_t)1000)
#define LIMIT_STRUCTURED_WORK ((size_t)1 << 30)

/* YAML: the front matter of a skill, a command or an agent; and its scalars, sequences and
 * mappings. */
#define LIMIT_YAML_BYTES ((size_t)256 << 10)
#define LIMIT_YAML_NODES 10000

/* Skills (catalog/skills.h).  A SKILL.md, which is sent whole to the model; the specification
 * advises 500 lines.  One description, sent with every request; the specification allows 1,024
 * characters.  The number of skills.  Files of one skill that are listed. */
#define LIMIT_SKILL_BYTES ((size_t)256 << 10)
#define LIMIT_SKILL_DESCRIPTION ((size_t)4096)
#define LIMIT_SKILLS ((size_t)200)
#define LIMIT_SKILL_RESOURCES ((size_t)200)

/* Installed extensions (config/extensions.h): each costs a few reads at every start. */
#define LIMIT_EXTENSIONS ((size_t)100)
/* A folder that is copied (base/door.h): an extension with its npm packages. */
#define LIMIT_TREE_FILES ((size_t)20000)
#define LIMIT_TREE_BYTES ((size_t)512 << 20)
/* The archive of an extension (install/) as downloaded; by how much it may grow when unpacked (text
 * is packed to a tenth, a bomb to a thousandth); and a size that is always allowed. */
#define LIMIT_ARCHIVE_BYTES ((size_t)256 << 20)
#define LIMIT_UNPACK_RATIO 100
#define LIMIT_UNPACK_FREE ((size_t)8 << 20)

/* Agents (catalog/agents.h).  A file is a system prompt; each description is sent with every
 * request.  An agent's answer is a tool result like any other. */
#define LIMIT_AGENT_BYTES ((size_t)256 << 10)
#define LIMIT_AGENT_DESCRIPTION ((size_t)2048)
#define LIMIT_AGENTS ((size_t)100)
#define LIMIT_AGENT_TOOLS ((size_t)200)
#define LIMIT_AGENT_ANSWER ((size_t)256 << 10)

/* Paths named with @ in one prompt: each is read. */
#define LIMIT_MENTIONS 1000
/* One file of instructions (GEMINI.md), and all of them: they are sent with every request. */
#define LIMIT_MEMORY_FILE_BYTES ((size_t)256 << 10)
#define LIMIT_MEMORY_BYTES ((size_t)1 << 20)

/* Checkpoints (agent/checkpoint/checkpoint.h).  A file that is saved before an edit: it is
 * compressed first, and a larger one would delay the edit. */
#define LIMIT_CHECKPOINT_FILE_BYTES ((size_t)64 << 20)
/* Files of one checkpoint: as many as one call can change, each under two names. */
#define LIMIT_CHECKPOINT_FILES (2 * LIMIT_CHANGES)
/* The call's arguments in a note, and a whole note with the paths of that many files. */
#define LIMIT_CHECKPOINT_ARGUMENTS ((size_t)1 << 20)
#define LIMIT_CHECKPOINT_NOTE_BYTES ((size_t)64 << 20)
/* Notes of one project; and its ledger of edits, of which only the end is read. */
#define LIMIT_CHECKPOINTS 100000
#define LIMIT_CHECKPOINT_LEDGER_BYTES ((size_t)256 << 20)

/* Files of the workspace named in a hook's command, and words examined to find them (hooks/held.c):
 * more than any real command line has. */
#define LIMIT_HELD_FILES 256
#define LIMIT_HELD_WORDS 16384
/* A hook's command with placeholders for its variables. */
#define LIMIT_HELD_COMMAND_BYTES ((size_t)1 << 20)
/* A file that a hook runs: it is hashed before each run. */
#define LIMIT_HELD_BYTES ((size_t)64 << 20)
/* Trusted files whose text is kept to show what has changed: scripts, not bundles. */
#define LIMIT_HELD_TEXT_BYTES ((size_t)64 << 10)
#define LIMIT_HELD_RECORD_BYTES ((size_t)16 << 20)

/* A line of a session's file, which holds one message with its images (LIMIT_MEDIA_BYTES).  A
 * longer line is skipped on reading. */
#define LIMIT_SESSION_LINE_BYTES ((size_t)64 << 20)

/* Events of a session kept for fronts that attach late (front/front.h): a few screens of text.  A
 * front that needs more reads the record. */
#define LIMIT_FRONT_LOG_BYTES ((size_t)256 << 10)
/* Pieces of text in one such event. */
#define LIMIT_FRONT_JOINED_BYTES ((size_t)16 << 10)
/* Events queued for one front, and fronts on one session. */
#define LIMIT_FRONT_WAITING 4096
/* Prompts and other orders of fronts that wait for a session's thread. */
#define LIMIT_FRONT_ORDERS 256
#define LIMIT_FRONTS 256
/* People whose approval a rule may ask for. */
#define LIMIT_APPROVALS 64
/* Comments on one question, bytes of each, and lines that the model gets with it. */
#define LIMIT_COMMENTS 100
#define LIMIT_COMMENT_BYTES ((size_t)16 << 10)
#define LIMIT_COMMENT_LINES 20
/* Files whose last proposal is remembered because it was commented on, and the bytes of each text
 * that is. */
#define LIMIT_PROPOSALS 64
#define LIMIT_PROPOSAL_BYTES ((size_t)256 << 10)

/* A record of the audit, its longest text and list of files; and a file of records, after which
 * another follows. */
#define LIMIT_AUDIT_LINE_BYTES ((size_t)1 << 20)
#define LIMIT_AUDIT_TEXT_BYTES ((size_t)4 << 10)
#define LIMIT_AUDIT_FILES 1000
#define LIMIT_AUDIT_FILE_BYTES ((size_t)16 << 20)

/* The web front (web/).  Bytes of one request's body: a prompt, or files as reviewed. */
#define LIMIT_WEB_BODY_BYTES ((size_t)8 << 20)
/* People with a link, browsers of one person, links that were made and not used yet. */
#define LIMIT_WEB_PEOPLE 128
#define LIMIT_WEB_LOGINS 8
#define LIMIT_WEB_LINKS 32
/* Pages that follow a session, of one person and of all. */
#define LIMIT_WEB_STREAMS_EACH 8
#define LIMIT_WEB_STREAMS 192
/* Requests of one person: so many a second for long, and so many together. */
#define LIMIT_WEB_RATE 50
#define LIMIT_WEB_BURST 200
/* Sessions that are open in one server, and recorded ones that it lists. */
#define LIMIT_WEB_SESSIONS 64
/* Addresses of one machine that a page is asked for by. */
#define LIMIT_WEB_NAMES 64
#define LIMIT_WEB_RECORDED 1000
/* Bytes of events that may wait for a page before no more are taken for it. */
#define LIMIT_WEB_WAITING ((size_t)256 << 10)

/* The A2A server (a2a/serve/): tasks that run together, unless it is set; that wait to begin, of
 * one caller and of all, and bytes of their messages; that wait for an answer, and for how long. */
#define LIMIT_A2A_RUNNING 4
#define LIMIT_A2A_WAITING 1000
#define LIMIT_A2A_WAITING_BYTES ((size_t)64 << 20)
#define LIMIT_A2A_QUESTIONS 64
#define LIMIT_A2A_QUESTION_MS (60u * 60 * 1000)
/* Bytes of a request: a message with files in base64; parts of a message, as elements of any other
 * list in a request; streams that are open, and what of each may wait for its client. */
#define LIMIT_A2A_BODY_BYTES ((size_t)16 << 20)
#define LIMIT_A2A_PARTS 256
#define LIMIT_A2A_STREAMS 256
#define LIMIT_A2A_STREAM_WAITING ((size_t)256 << 10)
/* Nesting of a request: data parts and metadata are the deepest; wrong fields that a refusal names;
 * ids that clients choose; extensions that one request asks for. */
#define LIMIT_A2A_DEPTH 64
#define LIMIT_A2A_VIOLATIONS 16
#define LIMIT_A2A_ID_BYTES 256
#define LIMIT_A2A_EXTENSIONS 32
/* Of one task: messages that join it; bytes of its artifacts, and of one difference or answer;
 * bytes of events for streams that come again. */
#define LIMIT_A2A_HISTORY 200
#define LIMIT_A2A_ARTIFACTS 256
#define LIMIT_A2A_ARTIFACT_BYTES ((size_t)4 << 20)
#define LIMIT_A2A_RECENT_BYTES ((size_t)64 << 10)
/* Tasks that are over and kept in memory (others are read from their records), and tasks that are
 * known at all; a session without a task stays open for a while, if there are not too many. */
#define LIMIT_A2A_KEPT 256
#define LIMIT_A2A_TASKS 100000
#define LIMIT_A2A_IDLE 8
#define LIMIT_A2A_IDLE_MS 2000
/* Lines about tasks that wait until the record of their session can be written. */
#define LIMIT_A2A_UNRECORDED 256
/* Files of sessions, of each workspace, in which tasks of earlier runs are looked for. */
#define LIMIT_A2A_RECORDS 10000
/* Push configurations of one task; attempts to deliver one notification. */
#define LIMIT_A2A_PUSH_CONFIGS 16
#define LIMIT_A2A_PUSH_TRIES 5
/* How long tasks that run may go on at the server's end. */
#define LIMIT_A2A_DRAIN_MS 30000
/* The agent card, with the extensions that it names. */
#define LIMIT_A2A_CARD_BYTES ((size_t)1 << 20)

/* An editor's requests (acp/) without an answer, and its sessions: each session has a thread, and
 * a worker. */
#define LIMIT_ACP_REQUESTS 256
#define LIMIT_ACP_SESSIONS 64

/* Names in a folder where editors say where they listen, and bytes of each such file (ide/). */
#define LIMIT_IDE_FILES 64
#define LIMIT_IDE_FILE_BYTES ((size_t)64 << 10)
/* What an editor shows: files, and bytes of what is selected there, as Gemini CLI has them. Places
 * that the user pointed at and has not sent yet. */
#define LIMIT_IDE_OPEN_FILES 10
#define LIMIT_IDE_SELECTION_BYTES ((size_t)16 << 10)
#define LIMIT_IDE_MENTIONS 20
/* Problems of one answer that the model gets. */
#define LIMIT_IDE_PROBLEMS ((size_t)2000)

/* A file that is not plain text, when it is read (read/): the time and memory of its reader, bytes
 * of its beginning that say what it is, of the text that is made of it unless less is asked for;
 * of what a model gets without asking for a part, and of its beginning where an outline has more;
 * of one fact or name, of all; entries of an outline; bytes of all pictures. */
#define LIMIT_DERIVE_MS 10000
#define LIMIT_DERIVE_MB 512
#define LIMIT_DERIVE_MEMORY ((size_t)LIMIT_DERIVE_MB << 20)
#define LIMIT_DERIVE_HEAD ((size_t)40 << 10)
#define LIMIT_DERIVE_TEXT ((size_t)1 << 20)
#define LIMIT_DERIVE_FIRST ((size_t)24 << 10)
#define LIMIT_DERIVE_BEGINNING ((size_t)4 << 10)
#define LIMIT_DERIVE_FACT ((size_t)300)
#define LIMIT_DERIVE_FACTS ((size_t)1 << 20)
#define LIMIT_DERIVE_OUTLINE 500
#define LIMIT_DERIVE_PICTURES ((size_t)12 << 20)

/* A query of data (read/query.h).  Results of one answer unless others are asked for, and the
 * largest number that may be; of larger JSON files the elements of an array are read one at a time,
 * if the expression allows it; bytes of a file whose structure is looked at; paths of a
 * structure. */
#define LIMIT_QUERY_RESULTS 100
#define LIMIT_QUERY_RESULTS_MAX 10000
#define LIMIT_QUERY_WHOLE_BYTES ((size_t)4 << 20)
#define LIMIT_QUERY_SHAPE_BYTES ((size_t)64 << 20)
#define LIMIT_QUERY_SHAPE_NODES ((size_t)20000)
/* Bytes of a file for each of which a query gets a thousandth of a second more: a third of what jq
 * reads in that time. */
#define LIMIT_QUERY_BYTES_MS 10000

#endif
