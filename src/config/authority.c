/* SPDX-License-Identifier: Apache-2.0 */
/* Who may set what: the table, what the user allowed, and what of a project's settings counts. */
#include "config/authority.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/sha256.h"
#include "config/private.h"
#include "config/schema.h"
#include "data/json.h"

/* ---- the table --------------------------------------------------------------- */

#define ROW(NAME, PROJECT, HELP) FLAGGED(NAME, PROJECT, NULL, HELP)
#define FLAGGED(NAME, PROJECT, FLAG, HELP) \
	{ AUTHORITY_VARIABLE, NAME, AUTHORITY_##PROJECT, HELP, FLAG, false, HELD_OUTSIDE }
#define OTHERS(NAME, HELP) \
	{ AUTHORITY_VARIABLE, NAME, AUTHORITY_NEVER, HELP, NULL, true, HELD_OUTSIDE }
#define FILE_ROW(NAME, PROJECT, HELP) HELD_ROW(NAME, PROJECT, OUTSIDE, HELP)
#define HELD_ROW(NAME, PROJECT, HELD, HELP) \
	{ AUTHORITY_FILE, NAME, AUTHORITY_##PROJECT, HELP, NULL, false, HELD_##HELD }

#define KEY "A key of a model's provider."
#define ADDRESS "Where a model's provider is: keys and contents go there."
#define PROXY "The proxy that requests go through."
#define AUTHORITIES "Which certificates are trusted."
#define GIT_FILES "Where git's configuration is, which names its ignore files."

/* The first row that fits decides. */
static const struct authority_row variables[] = {
	/* Keys; a project may bring its own, but contents go out under the account of a key. */
	ROW("GEMINI_API_KEY", LACKING, KEY),
	ROW("GOOGLE_API_KEY", LACKING, KEY),
	ROW("GOOGLE_CLOUD_PROJECT", TRUSTED, "The project at Google Cloud."),
	ROW("GOOGLE_CLOUD_LOCATION", TRUSTED, "The place at Google Cloud."),
	ROW("GOOGLE_CLOUD_PROJECT_ID", TRUSTED, "The project at Google Cloud."),
	ROW("GOOGLE_CLOUD_ACCESS_TOKEN", LACKING, KEY),
	ROW("OPENAI_API_KEY", LACKING, KEY),
	ROW("ANTHROPIC_API_KEY", LACKING, KEY),
	ROW("ANTHROPIC_AUTH_TOKEN", LACKING, KEY),
	ROW("OPENROUTER_API_KEY", LACKING, KEY),
	ROW("OLLAMA_API_KEY", LACKING, KEY),
	ROW("LLAMA_API_KEY", LACKING, KEY),
	ROW("VLLM_API_KEY", LACKING, KEY),
	ROW("LMSTUDIO_API_KEY", LACKING, KEY),
	ROW("GROQ_API_KEY", LACKING, KEY),
	ROW("DEEPSEEK_API_KEY", LACKING, KEY),
	ROW("MISTRAL_API_KEY", LACKING, KEY),
	ROW("XAI_API_KEY", LACKING, KEY),
	ROW("TOGETHER_API_KEY", LACKING, KEY),
	ROW("FIREWORKS_API_KEY", LACKING, KEY),
	ROW("CEREBRAS_API_KEY", LACKING, KEY),
	ROW("MOONSHOT_API_KEY", LACKING, KEY),
	ROW("HF_TOKEN", LACKING, KEY),
	ROW("HUGGING_FACE_HUB_TOKEN", LACKING, KEY),

	/* Where keys and contents go. */
	FLAGGED("GEMINI_MODEL", PLAIN, "--model", "The model."),
	ROW("GOOGLE_GEMINI_BASE_URL", ASK, ADDRESS),
	ROW("GOOGLE_VERTEX_BASE_URL", ASK, ADDRESS),
	ROW("OPENAI_BASE_URL", ASK, ADDRESS),
	ROW("OPENAI_API_BASE", ASK, ADDRESS),
	ROW("ANTHROPIC_BASE_URL", ASK, ADDRESS),
	ROW("OLLAMA_HOST", ASK, ADDRESS),
	ROW("LLAMA_BASE_URL", ASK, ADDRESS),
	ROW("VLLM_BASE_URL", ASK, ADDRESS),
	ROW("LMSTUDIO_BASE_URL", ASK, ADDRESS),
	ROW("GOOGLE_GENAI_API_VERSION", ASK, "The version in Google's address."),
	ROW("GOOGLE_GENAI_USE_VERTEXAI", ASK, "Which of Google's services is asked."),
	ROW("GOOGLE_GENAI_USE_GCA", ASK, "Which of Google's services is asked."),
	ROW("GEMINI_DEFAULT_AUTH_TYPE", ASK, "Which of Google's services is asked."),
	ROW("GEMINI_API_KEY_AUTH_MECHANISM", ASK, "How the key is sent."),
	ROW("GEMINI_CLI_CUSTOM_HEADERS", ASK, "Headers of each request to Google."),
	ROW("HTTPS_PROXY", ASK, PROXY),
	ROW("https_proxy", ASK, PROXY),
	ROW("HTTP_PROXY", ASK, PROXY),
	ROW("http_proxy", ASK, PROXY),
	ROW("GITHUB_TOKEN", PROCESS, "A token for GitHub's API, when an extension is installed."),
	ROW("GITHUB_API_URL", PROCESS, "Where GitHub's API is, which gets that token."),
	ROW("ALL_PROXY", PROCESS, PROXY),
	ROW("all_proxy", PROCESS, PROXY),
	ROW("NO_PROXY", PROCESS, "Hosts that are reached without the proxy."),
	ROW("no_proxy", PROCESS, "Hosts that are reached without the proxy."),
	ROW("SSL_CERT_FILE", PROCESS, AUTHORITIES),
	ROW("SSL_CERT_DIR", PROCESS, AUTHORITIES),

	/* The system prompt. */
	ROW("GEMINI_SYSTEM_MD", ASK, "The file that replaces the system prompt."),
	ROW("GEMINI_WRITE_SYSTEM_MD", ASK, "The file that the system prompt is written to."),
	ROW("GEMINI_PROMPT_*", ASK, "Which parts of the system prompt are left out."),

	/* Where settings are, what is trusted, how all is confined. */
	FLAGGED("HASP_SANDBOX", PROCESS, "--sandbox",
	        "The sandbox's level; never weaker than hasp.sandbox.level requires."),
	ROW("HASP_A2A_TOKEN", PROCESS,
	    "The token that callers of \"hasp serve a2a\" have to send."),
	ROW("HASP_MCP_TOKEN", PROCESS,
	    "The token that clients of \"hasp serve mcp\" have to send."),
	ROW("HASP_*", PROCESS, "Reserved for hasp."),
	FLAGGED("GEMINI_CLI_TRUST_WORKSPACE", PROCESS, "--skip-trust",
	        "Whether the folder is trusted."),
	ROW("GEMINI_CLI_TRUSTED_FOLDERS_PATH", PROCESS, "The file of trusted folders."),
	ROW("GEMINI_CLI_SYSTEM_SETTINGS_PATH", PROCESS, 
	    "The administrator's settings, where /etc/gemini-cli/settings.json is missing."),
	ROW("GEMINI_CLI_SYSTEM_DEFAULTS_PATH", PROCESS, "The administrator's defaults."),
	ROW("GEMINI_CLI_HOME", PROCESS, "The folder to use as the home folder."),
	ROW("GEMINI_FORCE_FILE_STORAGE", PROCESS, "Ask no key store."),
	ROW("GEMINI_CLI_IDE_SERVER_PORT", PROCESS,
	    "Which editor's companion is this terminal's, where several have the folder open."),
	ROW("GEMINI_CLI_IDE_AUTH_TOKEN", PROCESS,
	    "The token of that companion, where it could write no file."),
	ROW("GEMINI_CLI_IDE_WORKSPACE_PATH", PROCESS,
	    "The folders that are open there, where it could write no file."),
	ROW("GEMINI_CLI_IDE_PID", PROCESS,
	    "The editor's process, where it is not an ancestor of hasp's."),
	ROW("CLAUDE_CODE_SSE_PORT", PROCESS,
	    "The same for editors that speak Claude Code's protocol."),
	ROW("TERM_PROGRAM", PROCESS, "Whether the terminal is an editor's."),
	ROW("TERMINAL_EMULATOR", PROCESS, "Whether the terminal is a JetBrains IDE's."),
	ROW("NVIM", PROCESS, "Whether the terminal is Neovim's."),
	ROW("INSIDE_EMACS", PROCESS, "Whether the terminal is Emacs's."),
	ROW("GEMINI_CLI_IDE_SERVER_STDIO_COMMAND", PROCESS,
	    "Gemini CLI's: a program that it starts."),
	ROW("GEMINI_CLI_IDE_SERVER_STDIO_ARGS", PROCESS, "Gemini CLI's: that program's arguments."),
	ROW("GEMINI_SANDBOX*", PROCESS, "Gemini CLI's sandbox; hasp has no use for it."),
	ROW("GEMINI_TELEMETRY_*", PROCESS, "Whether and where telemetry is written."),
	ROW("OTEL_*", PROCESS,
	    "Where telemetry is sent, and with which headers (OTEL_EXPORTER_OTLP_*)."),
	ROW("GEMINI_CLI_*", PROCESS, "Reserved for Gemini CLI."),

	/* The process's own. */
	ROW("HOME", PROCESS, "The home folder."),
	ROW("PATH", PROCESS, "Where programs are: the worker, ssh, bash."),
	ROW("CI", PROCESS,
	    "Whether a build server runs hasp: a prompt in words then ends with its answer."),
	ROW("GITHUB_ACTIONS", PROCESS, "The same."),
	ROW("TMPDIR", PROCESS, "Where temporary folders of commands are made."),
	ROW("XDG_CONFIG_HOME", PROCESS, GIT_FILES),
	ROW("XDG_RUNTIME_DIR", PROCESS, "Where the session bus of the key store is."),
	ROW("XDG_*", PROCESS, "Where settings, data and caches of programs are."),
	ROW("DBUS_*", PROCESS, "The session bus, where the key store is."),
	ROW("DISPLAY", PROCESS,
	    "Whether the key store may ask for its password, and where the clipboard is."),
	ROW("WAYLAND_DISPLAY", PROCESS,
	    "Whether the key store may ask for its password, and where the clipboard is."),
	ROW("SSH_CONNECTION", PROCESS, "Whether the clipboard of this machine is the user's."),
	ROW("GIT_DIR", PROCESS, "Where the repository is."),
	ROW("GIT_WORK_TREE", PROCESS, "Which files the repository describes."),
	ROW("GIT_CONFIG_NOSYSTEM", PROCESS, GIT_FILES),
	ROW("GIT_CONFIG_SYSTEM", PROCESS, GIT_FILES),
	ROW("GIT_CONFIG_GLOBAL", PROCESS, GIT_FILES),
	ROW("NO_COLOR", PROCESS, "Print without colours."),
	ROW("TERM", PROCESS, "What the terminal can do."),
	ROW("COLORTERM", PROCESS, "How many colours the terminal has."),
	ROW("COLORFGBG", PROCESS, "Whether the terminal's background is a light one."),
	ROW("TMUX", PROCESS, "Whether the terminal is one of tmux."),
	ROW("TMUX_PANE", PROCESS, "Which pane of tmux the terminal is."),
	ROW("STY", PROCESS, "Whether the terminal is one of GNU screen."),
	ROW("VISUAL", PROCESS, "The editor in which to open files."),
	ROW("EDITOR", PROCESS, "The editor in which to open files, without VISUAL."),
	ROW("CLAUDE_CONFIG_DIR", PROCESS,
	    "Where Claude Code's files are, whose MCP servers are used."),
	ROW("CODEX_HOME", PROCESS, "Where Codex's files are, whose MCP servers are used."),
	ROW("BROWSER", PROCESS, "The program that opens the page of a login at an MCP server."),
	ROW("OAUTH_CALLBACK_PORT", PROCESS, "The port to which that page leads back."),
	ROW("GOOGLE_APPLICATION_CREDENTIALS", PROCESS,
	    "The file with Google's credentials, for MCP servers that want a token of Google's."),
	ROW("CLOUDSDK_CONFIG", PROCESS, "Where gcloud's files are, without that."),
	ROW("GCE_METADATA_HOST", PROCESS,
	    "The metadata server, which gives such a token without either."),
	ROW("KUBERNETES_SERVICE_HOST", PROCESS,
	    "Which remedy is suggested where namespaces are missing."),

	/* What libraries obey: libc, OpenSSL, libcurl, libuv, GLib, libmagic. */
	OTHERS("LD_*", "Code in every program."),
	OTHERS("GCONV_PATH", "Code in libc."),
	OTHERS("GLIBC_TUNABLES", "libc."),
	OTHERS("MALLOC_*", "libc."),
	OTHERS("LOCPATH", "libc's data."),
	OTHERS("NLSPATH", "libc's data."),
	OTHERS("RES_OPTIONS", "How hosts are looked up."),
	OTHERS("LOCALDOMAIN", "How hosts are looked up."),
	OTHERS("HOSTALIASES", "How hosts are looked up."),
	OTHERS("RESOLV_*", "How hosts are looked up."),
	OTHERS("OPENSSL_*", "Code and settings of OpenSSL."),
	OTHERS("SSL*", "Certificates, and where OpenSSL and libcurl write keys."),
	OTHERS("CURL_*", "libcurl, curl."),
	OTHERS("UV_*", "libuv, uv."),
	OTHERS("G_*", "GLib."),
	OTHERS("GIO_*", "GLib."),
	OTHERS("MAGIC", "libmagic's data."),
	OTHERS("REQUESTS_CA_BUNDLE", "Certificates."),
	OTHERS("*_proxy", "Proxies."),
	OTHERS("*_PROXY", "Proxies."),

	/* What shells and programs that hasp starts obey. */
	OTHERS("BASH*", "bash runs what is there."),
	OTHERS("ENV", "sh runs it."),
	OTHERS("IFS", "The shell."),
	OTHERS("PS4", "The shell evaluates it."),
	OTHERS("PROMPT_COMMAND", "The shell runs it."),
	OTHERS("SHELL*", "The shell."),
	OTHERS("CDPATH", "The shell."),
	OTHERS("ZDOTDIR", "zsh runs what is there."),
	OTHERS("GIT_*", "git: its folders, its settings, programs that it runs."),
	OTHERS("SSH_*", "ssh: agents, programs that it runs."),
	OTHERS("*PAGER", "A program that is run."),
	OTHERS("LESS*", "less runs it."),
	OTHERS("*EDITOR", "A program that is run."),
	OTHERS("NODE_*", "Node.js: code, certificates."),
	OTHERS("npm_config_*", "npm: programs, registries."),
	OTHERS("NPM_CONFIG_*", "npm: programs, registries."),
	OTHERS("PYTHON*", "Python: code."),
	OTHERS("PIP_*", "pip: registries."),
	OTHERS("PERL*", "Perl: code."),
	OTHERS("RUBY*", "Ruby: code."),
	OTHERS("GEM_*", "Ruby: code."),
	OTHERS("BUNDLE_*", "Ruby: code."),
	OTHERS("LUA_*", "Lua: code."),
	OTHERS("JAVA_*", "Java: code."),
	OTHERS("_JAVA_*", "Java: code."),
	OTHERS("JDK_*", "Java: code."),
	OTHERS("CLASSPATH", "Java: code."),
	OTHERS("CARGO_*", "cargo: programs."),
	OTHERS("RUSTC*", "cargo: programs."),
	OTHERS("GOFLAGS", "Go: programs."),
	OTHERS("GOPROXY", "Go: registries."),
	OTHERS("DOCKER_*", "docker: where it is."),
	OTHERS("SHLVL", "The shell."),
	ROW("PWD", PROCESS, "How the shell spells the working folder."),
	ROW("USER", PROCESS, "Who it is: the signer of an audit, unless --name says it."),
	OTHERS("LOGNAME", "Who it is."),
};

/* Files that are read because of their place. */
static const struct authority_row files[] = {
	FILE_ROW("/etc/gemini-cli/settings.json", NEVER, "The administrator's settings."),
	FILE_ROW("/etc/gemini-cli/system-defaults.json", NEVER, "The administrator's defaults."),
	FILE_ROW("/etc/gemini-cli/policies/*.toml", NEVER, "The administrator's policies."),
	FILE_ROW("~/.gemini/settings.json", NEVER, "The user's settings."),
	FILE_ROW("~/.gemini/mcp-settings.json", NEVER, "More MCP servers of the user."),
	FILE_ROW("~/.gemini/.env, ~/.env", NEVER, "The user's variables."),
	FILE_ROW("~/.gemini/hooks.toml", NEVER, "The user's hooks."),
	FILE_ROW("~/.gemini/trustedFolders.json", NEVER, "Which folders are trusted."),
	FILE_ROW("~/.gemini/trusted_hooks.json", NEVER, "Which hooks of projects are trusted."),
	FILE_ROW("~/.gemini/hasp-trusted-files.json", NEVER,
	         "Which files that hooks and other commands name are trusted."),
	FILE_ROW("~/.gemini/keybindings.json", NEVER, "The user's keys."),
	FILE_ROW("~/.gemini/hasp-allowed.json", NEVER, "What projects may set."),
	FILE_ROW("~/.gemini/mcp-server-enablement.json", NEVER,
	         "Which MCP servers are disabled."),
	FILE_ROW("/etc/claude-code/managed-settings.json, "
	         "/etc/claude-code/managed-settings.d/*.json", NEVER,
	         "The administrator's permissions for Claude Code."),
	FILE_ROW("~/.claude.json, ~/.claude/settings.json", NEVER,
	         "Claude Code's MCP servers, and which of a project's it disables; its hooks and "
	         "permissions."),
	FILE_ROW("~/.codex/config.toml, ~/.codex/rules/*.rules", NEVER,
	         "Codex's MCP servers and marketplaces, its sandbox_mode; its rules."),
	FILE_ROW("~/.cursor/cli-config.json", NEVER, "The permissions of Cursor's CLI."),
	FILE_ROW("~/.gemini/hasp-mcp-tokens.json", NEVER,
	         "Logins at MCP servers, where no key store answers."),
	FILE_ROW("~/.gemini/hasp-mcp-tokens.key", NEVER, "The key that encrypts them."),
	FILE_ROW("~/.config/gcloud/application_default_credentials.json", NEVER,
	         "The user's credentials at Google, for MCP servers that want a token of Google's; "
	         "only read."),
	FILE_ROW("~/.gemini/mcp-oauth-tokens.json, ~/.gemini/gemini-credentials.json", NEVER,
	         "Gemini CLI's logins at MCP servers; only read."),
	FILE_ROW("~/.gemini/hasp-models.json", NEVER,
	         "What models' providers refused, and their limits."),
	FILE_ROW("~/.gemini/hasp-model-lists.json", NEVER, "The models that providers list."),
	FILE_ROW("~/.gemini/policies/*.toml, ~/.gemini/policies.toml", NEVER,
	         "The user's policies."),
	FILE_ROW("~/.gemini/commands/**/*.toml, ~/.claude/commands/**/*.md", NEVER,
	         "The user's own commands."),
	FILE_ROW("~/.gemini/GEMINI.md", NEVER, "The user's instructions."),
	FILE_ROW("~/.claude/skills/*/SKILL.md, ~/.gemini/skills, ~/.agents/skills", NEVER,
	         "The user's skills."),
	FILE_ROW("~/.gemini/extensions/*/gemini-extension.json, "
	         "~/.gemini/extensions/*/hooks/hooks.json, "
	         "~/.gemini/extensions/*/.claude-plugin/plugin.json, "
	         "~/.gemini/extensions/*/.codex-plugin/plugin.json, "
	         "~/.gemini/extensions/*/manifest.json, "
	         "~/.gemini/extensions/*/mcp.json", NEVER,
	         "Extensions, and all that they bring."),
	FILE_ROW("~/.gemini/hasp-extensions.json", NEVER,
	         "Which files of extensions you have said yes to."),
	FILE_ROW("~/.gemini/hasp-marketplaces.json, ~/.claude/plugins/known_marketplaces.json, "
	         "~/.agents/plugins/marketplace.json",
	         NEVER, "Which lists of plugins you keep, and which Claude Code keeps; the latter "
	                "is only read."),
	FILE_ROW("~/.gemini/extensions/.staging", NEVER,
	         "What is being installed, until the user has said yes."),
	FILE_ROW("~/.gemini/extensions/extension-enablement.json", NEVER,
	         "Where extensions are enabled."),
	FILE_ROW("~/.claude/agents/*.md, ~/.gemini/agents/*.md", NEVER, "The user's agents."),
	FILE_ROW("~/.gemini/tmp/*/memory/MEMORY.md", NEVER, "What is remembered of the project."),
	FILE_ROW("~/.gemini/tmp/*/hasp-notices.json", NEVER,
	         "Which warnings about skills and agents were printed last."),
	FILE_ROW("~/.gemini/tmp/*/mcp-tools.json", NEVER,
	         "What MCP servers declared last time; checked like what they declare."),
	FILE_ROW("~/.gemini/tmp/*/mcp-allowed.json", NEVER,
	         "The declarations of their tools when they were last allowed."),
	FILE_ROW("~/.gemini/projects.json", NEVER,
	         "Which folder of ~/.gemini/tmp is which project's."),
	FILE_ROW("/etc/gitconfig, ~/.gitconfig, ~/.config/git/config", NEVER,
	         "Which ignore files count (core.excludesFile); which files git obeys, and "
	         "commands so may not write."),
	FILE_ROW("~/.config/git/ignore", NEVER, "What searches leave out."),
	HELD_ROW(".gemini/settings.json", TRUSTED, PROTECTED,
	         "The project's settings, each as its row says."),
	HELD_ROW(".gemini/hooks.toml", CONTENT, PROTECTED, "The project's hooks."),
	HELD_ROW(".claude/settings.json, .claude/settings.local.json", CONTENT, PROTECTED,
	         "The project's hooks for Claude Code; of its permissions, what denies and asks "
	         "counts in any project, what allows after \"hasp config allow\" FILE."),
	HELD_ROW(".cursor/cli.json, .codex/rules/*.rules", ASK, PROTECTED,
	         "The project's permissions for Cursor's CLI, its rules for Codex: likewise."),
	HELD_ROW(".gemini/.env", TRUSTED, PROTECTED,
	         "The project's variables, each as its row says."),
	HELD_ROW(".env", TRUSTED, VALUES,
	         "The project's variables, each as its row says; also in folders above that are "
	         "trusted. No file of another user."),
	HELD_ROW(".claude/skills/*/SKILL.md, .gemini/skills, .agents/skills", TRUSTED, PROTECTED,
	         "The project's skills; each is asked about before the model uses it; the tools "
	         "that it allows then need no question."),
	HELD_ROW(".claude/agents/*.md, .gemini/agents/*.md", TRUSTED, PROTECTED,
	         "The project's agents; what they do, policies decide. Remote ones count after "
	         "hasp agents allow."),
	HELD_ROW("GEMINI.md, AGENTS.md, AGENTS.override.md, CLAUDE.md, CLAUDE.local.md, "
	         ".cursorrules, .github/copilot-instructions.md, "
	         ".github/instructions/**/*.instructions.md", TRUSTED, TEXT,
	         "Instructions for the model (context.fileName, hasp.instructions); also in the "
	         "folders above."),
	HELD_ROW(".claude/CLAUDE.md, .claude/rules/**/*.md, .cursor/rules/**/*.mdc", TRUSTED,
	         PROTECTED, "The same, in folders that no command may write."),
	HELD_ROW(".gemini/system.md", TRUSTED, PROTECTED,
	         "The system prompt, where GEMINI_SYSTEM_MD says so."),
	HELD_ROW(".gemini/policies/*.toml, .gemini/policies.toml", ASK, PROTECTED,
	         "The project's policies: rules that deny or ask count in a trusted project, rules "
	         "that allow after \"hasp config allow .gemini/policies\"."),
	HELD_ROW(".gemini/commands/**/*.toml, .claude/commands/**/*.md", TRUSTED, PROTECTED,
	         "The project's own commands; what they run, policies decide, or their "
	         "allowed-tools where only hasp's defaults would ask."),
	HELD_ROW(".mcp.json, .codex/config.toml", ASK, PROTECTED,
	         "The project's MCP servers; \"hasp mcp allow NAME\" allows one of them."),
	HELD_ROW(".gitignore, .geminiignore, .git/info/exclude", ANY_FILE, TEXT,
	         "What searches leave out."),
	HELD_ROW("files that commands of hooks, of statusLine and of agents' logins name", CONTENT,
	         HASH, "What these commands run and read, outside of the sandbox; not while "
	         "something runs that could change them."),
	HELD_ROW("programs of MCP servers, headersHelper, tools.discoveryCommand, "
	         "tools.callCommand, scripts of skills, shell parts of commands", ASK, SANDBOX,
	         "What they run."),
	HELD_ROW(".git/config", ANY_FILE, PROTECTED,
	         "Which files git obeys, and commands so may not write."),
};

#define EDITOR_ROW(NAME, HELP) \
	{ AUTHORITY_EDITOR, NAME, AUTHORITY_NEVER, HELP, NULL, false, HELD_OUTSIDE }

/* What an editor sets by what it sends: it acts for the user, a project's settings in it do not. */
static const struct authority_row editors[] = {
	EDITOR_ROW("cwd", "The session's folder, whose settings count as far as it is trusted."),
	EDITOR_ROW("additionalDirectories", "Further folders of the workspace."),
	EDITOR_ROW("mcpServers", "MCP servers, confined as the user's and never trusted; those of "
	           "mcp.allowed and mcp.excluded alone."),
	EDITOR_ROW("prompt", "What the user says; a command in it runs by the policies."),
	EDITOR_ROW("modeId", "The approval mode, of those that settings and trust permit here."),
	EDITOR_ROW("configId", "The mode, the model and its thinking, of the values that are "
	           "offered."),
	EDITOR_ROW("methodId", "How hasp gets a key; with _meta.api-key the key itself, which is "
	           "kept as by /auth."),
};

#define PAGE_ROW(NAME, HELP) \
	{ AUTHORITY_PAGE, NAME, AUTHORITY_NEVER, HELP, NULL, false, HELD_OUTSIDE }

/* What a page in the browser sets: nothing that the user of a terminal could not. */
static const struct authority_row pages[] = {
	PAGE_ROW("folder", "The folder of a session that the owner opens (hasp serve web), whose "
	         "settings count as far as it is trusted."),
	PAGE_ROW("resume", "The recorded session that goes on, likewise."),
	PAGE_ROW("text", "What a person with the role drive says, to the model, or with the role "
	         "comment to people; a command in it runs by the policies."),
	PAGE_ROW("mode", "The approval mode, with the role drive, of those that settings and trust "
	         "permit here."),
	PAGE_ROW("topic", "Which question is answered, with the role approve."),
	PAGE_ROW("answer", "What is answered, likewise; \"always\" needs the role drive."),
	PAGE_ROW("path", "The file in which the session's edits are undone, with the role drive."),
	PAGE_ROW("after_sha256", "The state in which that file must be."),
	PAGE_ROW("hunks", "Which parts of its edits."),
	PAGE_ROW("name", "Who is invited, by the owner alone."),
	PAGE_ROW("role", "What they may do."),
	PAGE_ROW("groups", "Groups that they belong to, unless the setting "
	         "hasp.reviewers.groups says who does."),
	PAGE_ROW("minutes", "How long their link is good for, 30 days at most."),
};

#define CALLER_ROW(NAME, HELP) \
	{ AUTHORITY_CALLER, NAME, AUTHORITY_NEVER, HELP, NULL, false, HELD_OUTSIDE }

/* What a caller's requests (A2A) set.  No mode, no "always", no setting, no variable is among them:
 * what its tasks may do is up to policy rules with its name. */
static const struct authority_row callers[] = {
	CALLER_ROW("message.parts", "What it says, to the model: text, data, and files of the "
	           "media types that a prompt may have; a file's address is refused."),
	CALLER_ROW("message.contextId", "Which of its contexts goes on; another caller's does not "
	           "exist for it."),
	CALLER_ROW("message.taskId", "Which of its tasks gets the message, or an answer to what "
	           "the task asked: that counts only where hasp.a2a.callers says \"confirms\", and "
	           "for one call."),
	CALLER_ROW("message.metadata.hasp.workspace", "The folder that the context works in, of "
	           "those named at the start and in the caller's \"workspaces\"."),
	CALLER_ROW("configuration.acceptedOutputModes", "Which media types of artifacts it takes."),
	CALLER_ROW("configuration.historyLength", "How many messages come with a task."),
	CALLER_ROW("configuration.taskPushNotificationConfig", "An address that gets what happens "
	           "to a task: https, and of the public internet, unless hasp.a2a.push.allow names "
	           "its host."),
	CALLER_ROW("id", "Which of its tasks is read, followed or cancelled."),
};

#define ALLOW "\"hasp config allow\""

static const struct {
	const char *word, *sentence;
} words[AUTHORITY_COUNT] = {
	[AUTHORITY_TRUSTED] = { "trusted", "a trusted project" },
	[AUTHORITY_ANY_FILE] = { "any file", "any project" },
	[AUTHORITY_LACKING] = { "lacking", "a trusted project, where you have none; else after "
	                                   ALLOW },
	[AUTHORITY_ONLY_TRUE] = { "only true", "a trusted project, true alone" },
	[AUTHORITY_ONLY_FALSE] = { "only false", "a trusted project, false alone" },
	[AUTHORITY_PLAIN] = { "plain", "a trusted project, a plain name; else after " ALLOW },
	[AUTHORITY_TEXT_NAMES] = { "text names", "a trusted project, names of Markdown and text "
	                                         "files; others after " ALLOW },
	[AUTHORITY_INSIDE] =
		{ "inside", "a trusted project, paths inside it; others after " ALLOW },
	[AUTHORITY_CONTENT] = { "content", "a trusted project, after \"hasp hooks trust\"" },
	[AUTHORITY_ASK] = { "ask", "a trusted project, after " ALLOW },
	[AUTHORITY_NEVER] = { "never", "no project" },
	[AUTHORITY_PROCESS] = { "process", "no project; the process's environment alone" },
	[AUTHORITY_REMOTE] = { "remote", "not used: remote administration" },
};

/* Flags that set what a setting sets. */
static const struct {
	const char *setting, *flag;
} flags[] = {
	{ "adminPolicyPaths", "--admin-policy" },
	{ "context.includeDirectories", "--include-directories" },
	{ "general.defaultApprovalMode", "--approval-mode" },
	{ "hasp.durability", "--durability" },
	{ "hasp.ignoreUnknownRules", "--ignore-unknown-rules" },
	{ "hasp.sandbox.level", "--sandbox" },
	{ "hasp.sandbox.readPaths", "--read" },
	{ "model.name", "--model" },
	{ "output.format", "--output-format" },
	{ "policyPaths", "--policy" },
	{ "tools.allowed", "--allowed-tools" },
	{ "tools.sandboxAllowedPaths", "--write" },
	{ "tools.sandboxNetworkAccess", "--net" },
};

static struct authority_row of_setting(const struct setting *setting)
{
	struct authority_row row = { .kind = AUTHORITY_SETTING, .name = setting->path,
		                     .project = setting->project };

	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		if (strcmp(flags[i].setting, setting->path) == 0)
			row.flag = flags[i].flag;
	return row;
}

bool authority_at(size_t i, struct authority_row *ret)
{
	static const struct {
		const struct authority_row *rows;
		size_t count;
	} tables[] = {
		{ variables, ARRAY_LEN(variables) }, { files, ARRAY_LEN(files) },
		{ editors, ARRAY_LEN(editors) },     { pages, ARRAY_LEN(pages) },
		{ callers, ARRAY_LEN(callers) },
	};

	if (i < schema_count()) {
		*ret = of_setting(schema_at(i));
		return true;
	}
	i -= schema_count();
	for (size_t t = 0; t < ARRAY_LEN(tables); t++) {
		if (i < tables[t].count) {
			*ret = tables[t].rows[i];
			return true;
		}
		i -= tables[t].count;
	}
	return false;
}

static bool name_fits(const char *pattern, struct span name)
{
	struct span row = span_str(pattern);

	if (span_ends(row, SPAN("*")))
		return span_starts(name, span_head(row, row.len - 1));
	return row.data[0] == '*' ? span_ends(name, span_skip(row, 1)) : span_eq(name, row);
}

const struct authority_row *authority_variable(struct span name)
{
	for (size_t i = 0; i < ARRAY_LEN(variables); i++)
		if (name_fits(variables[i].name, name))
			return &variables[i];
	return NULL;
}

/* "/" TEXT "/" in lower case, `before` and `after` around it. */
static char *as_folders(const char *before, struct span text, const char *after)
{
	char *folders = mem_printf("%s/%.*s/%s", before, (int)text.len, text.data, after);

	for (char *c = folders; *c; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c + 32);
	return folders;
}

/* `names`: as a row has them, "GEMINI.md, .gemini/skills". */
static bool file_is_among(const char *names, const char *path)
{
	_cleanup_free_ char *folders = as_folders("", span_str(path), "");

	while (*names) {
		size_t len = strcspn(names, ",");
		_cleanup_free_ char *pattern = as_folders("*", span_of(names, len), "*");

		if (names[0] != '~' && names[0] != '/' &&
		    span_fits(span_str(folders), span_str(pattern)))
			return true;
		names += len + strspn(names + len, ", ");
	}
	return false;
}

const struct authority_row *authority_file(const char *path)
{
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		if (files[i].project != AUTHORITY_ANY_FILE && file_is_among(files[i].name, path))
			return &files[i];
	return NULL;
}

bool authority_can_be_allowed(enum authority authority)
{
	return authority == AUTHORITY_ASK || authority == AUTHORITY_PLAIN ||
	       authority == AUTHORITY_LACKING ||
	       authority == AUTHORITY_TEXT_NAMES || authority == AUTHORITY_INSIDE;
}

const char *authority_word(enum authority authority)
{
	return (unsigned)authority < AUTHORITY_COUNT ? words[authority].word : "";
}

const char *authority_sentence(enum authority authority)
{
	return (unsigned)authority < AUTHORITY_COUNT ? words[authority].sentence : "";
}

const char *authority_held_word(enum authority_held held)
{
	static const char *const held_words[HELD_COUNT] = {
		[HELD_OUTSIDE] = "outside", [HELD_PROTECTED] = "protected", [HELD_HASH] = "hash",
		[HELD_SANDBOX] = "sandbox", [HELD_VALUES] = "values",       [HELD_TEXT] = "text",
	};

	return (unsigned)held < HELD_COUNT ? held_words[held] : "";
}

const char *authority_kind_name(enum authority_kind kind)
{
	static const char *const names[] = { "setting", "variable", "file", "editor",
		                             "page", "caller" };

	return (unsigned)kind < ARRAY_LEN(names) ? names[kind] : "";
}

/* ---- what the user allowed --------------------------------------------------- */

enum { ALLOW_DEPTH = 4 };

static char *allowances_path(const struct home *home)
{
	return mem_printf("%s/hasp-allowed.json", home_gemini(home));
}

json_t *authority_allowances(const struct home *home, struct err *err)
{
	_cleanup_free_ char *path = allowances_path(home);
	struct err why = ERR_INIT;
	json_t *all = home_object_read(path, ALLOW_DEPTH, &why), *mine;

	if (!all) {
		err_set(err, why.code, "%s Nothing in it is allowed until that is corrected.",
		        why.message);
		return NULL;
	}
	mine = json_object_get(all, home_project(home));
	mine = json_is_object(mine) ? json_incref(mine) : json_object();
	json_decref(all);
	return mine;
}

/* Of the value as JSON with sorted members, so that their order and blanks do not count. */
static bool value_hash(const json_t *value, char hex[static SHA256_HEX_SIZE])
{
	char *text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
	struct sha256 sum;

	if (!text)
		return false;
	sum = sha256_of(span_str(text));
	sha256_hex(&sum, hex);
	free(text);
	return true;
}

bool authority_allows(const json_t *allowed, const char *name, const json_t *value)
{
	const char *known = json_string_value(json_object_get(allowed, name));
	char hex[SHA256_HEX_SIZE];

	return known && value_hash(value, hex) && strcmp(known, hex) == 0;
}

static bool change_allowance(json_t *all, const char *project, const char *name,
                             const json_t *value)
{
	json_t *mine = json_object_get(all, project);
	char hex[SHA256_HEX_SIZE];

	if (!json_is_object(mine)) {
		mine = json_object();
		if (json_object_set_new(all, project, mine) != 0)
			return false;
	}
	if (value)
		return value_hash(value, hex) &&
		       json_object_set_new(mine, name, json_string(hex)) == 0;
	json_object_del(mine, name);
	if (json_object_size(mine) == 0)
		json_object_del(all, project);
	return true;
}

bool authority_allow(const struct home *home, const char *name, const json_t *value,
                     struct err *err)
{
	_cleanup_free_ char *path = allowances_path(home);
	_cleanup_lock_ char *lock = home_lock_file(path, err);
	json_auto_t *all = lock ? home_object_read(path, ALLOW_DEPTH, err) : NULL;

	if (!all)
		return false;
	if (!change_allowance(all, home_project(home), name, value))
		return err_set(err, ERR_INVALID_ARGUMENT, 
		               "\"%s\" cannot be allowed: the project's path or the value is not "
		               "UTF-8.", name);
	return home_object_write(path, all, err);
}

/* ---- how much of what a project says counts by itself ---- */

/* A model of the provider that is in use: "openai/x", "replay:FILE" would be of another. */
static bool is_plain_model(const char *text)
{
	return !text[strcspn(text, "/:\\")];
}

/* A name of a file that people write: context files are read in ~/.gemini too, where keys are. */
static bool is_text_name(const char *text)
{
	static const char *const ends[] = { ".md", ".markdown", ".mdc", ".txt" };

	if (strchr(text, '/'))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (strlen(text) > strlen(ends[i]) &&
		    strcmp(text + strlen(text) - strlen(ends[i]), ends[i]) == 0)
			return true;
	return false;
}

/* Where the path leads, also if its end is not there yet; NULL: a link leads nowhere. */
static char *resolved(const char *path)
{
	_cleanup_free_ char *left = mem_strdup(path);
	struct stat status;

	for (;;) {
		char *real = realpath(left, NULL), *slash = strrchr(left, '/');

		if (real)
			return real;
		if (lstat(left, &status) == 0 || errno != ENOENT || !slash)
			return NULL;
		*slash = '\0';
		if (!left[0])
			return mem_strdup("/");
	}
}

/* The project's own text is not taken at its word: a link of the project may lead anywhere. */
static bool is_inside_project(const char *project, const char *text)
{
	_cleanup_free_ char *path = NULL, *real = NULL;

	if (text[0] == '~')
		return false;
	path = path_join(project, text);
	if (!path_is_under(path, project))
		return false;
	real = resolved(path);
	return real && path_is_under(real, project);
}

static bool text_is_fine(enum authority authority, const char *project, const json_t *value)
{
	const char *text = json_string_value(value);

	if (!text || strlen(text) != json_string_length(value))
		return false;
	if (authority == AUTHORITY_PLAIN)
		return is_plain_model(text);
	if (authority == AUTHORITY_TEXT_NAMES)
		return is_text_name(text);
	return is_inside_project(project, text);
}

static enum permission texts_permit(enum authority authority, const char *project,
                                    const json_t *value, json_t **ret_part, json_t **ret_rest)
{
	json_auto_t *part = json_array(), *rest = json_array();
	json_t *item;
	size_t i;

	if (!json_is_array(value))
		return text_is_fine(authority, project, value) ? PERMITTED_ALL : PERMITTED_NOT;
	json_array_foreach(value, i, item)
		json_array_append(text_is_fine(authority, project, item) ? part : rest, item);
	if (!json_array_size(rest))
		return PERMITTED_ALL;
	*ret_part = json_incref(part);
	*ret_rest = json_incref(rest);
	return PERMITTED_SOME;
}

enum permission authority_permits(enum authority authority, const char *project,
                                  const json_t *value, json_t **ret_part, json_t **ret_rest)
{
	switch (authority) {
	case AUTHORITY_TRUSTED:
	case AUTHORITY_LACKING:
	case AUTHORITY_CONTENT:
		return PERMITTED_ALL;
	case AUTHORITY_ONLY_TRUE:
		return json_is_true(value) ? PERMITTED_ALL : PERMITTED_NOT;
	case AUTHORITY_ONLY_FALSE:
		return json_is_false(value) ? PERMITTED_ALL : PERMITTED_NOT;
	case AUTHORITY_PLAIN:
	case AUTHORITY_TEXT_NAMES:
	case AUTHORITY_INSIDE:
		return texts_permit(authority, project, value, ret_part, ret_rest);
	default:
		return PERMITTED_NOT;
	}
}
