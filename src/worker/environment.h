/* SPDX-License-Identifier: Apache-2.0 */
/* Which variables of the environment a command gets.
 *
 *     char **env = environment_for_command((const char *const *)environ, &(struct
 *                          environment_options){ .pty = true, .level = plan->level });
 *     ... execve(path, argv, env) ...
 *     environment_free(env);
 *
 * An allow-list: what is not in the table is left out.  A variable that matches a row with a `*` is
 * still left out when its name looks like that of a secret (ENVIRONMENT_SECRETS and what follows
 * it); any is, when its value looks like one: a URL with a password, a private key, a token that
 * begins as those of a known service do.
 *
 * To add a variable: a row in ENVIRONMENT_TABLE, with the reason; docs/shell.md names the groups.
 */
#ifndef HASP_WORKER_ENVIRONMENT_H
#define HASP_WORKER_ENVIRONMENT_H

#include <stdbool.h>

#include "sandbox/plan/plan.h"

/* X(name, or its beginning and "*"; reason). The first row that fits decides. */
#define ENVIRONMENT_NEVER(X)                                                               \
	X("LD_PRELOAD", "code in every program")                                           \
	X("LD_AUDIT", "code in every program")                                             \
	X("BASH_ENV", "bash runs it")                                                      \
	X("ENV", "sh runs it")                                                             \
	X("ZDOTDIR", "zsh runs what is there")                                             \
	X("BASH_FUNC_*", "functions instead of programs")                                  \
	X("PYTHONSTARTUP", "python runs it")                                               \
	X("GIT_SSH_COMMAND", "git runs it")                                                \
	X("SSH_AUTH_SOCK", "signs with the user's keys")                                   \
	X("SSH_ASKPASS", "asks the user in hasp's name")                                   \
	X("DBUS_SESSION_BUS_ADDRESS", "other programs of the user")                        \
	X("DISPLAY", "the user's screen and keyboard")                                     \
	X("WAYLAND_DISPLAY", "the user's screen")                                          \
	X("XAUTHORITY", "the user's screen")                                               \
	X("XDG_RUNTIME_DIR", "sockets of the user's daemons")                              \
	X("XDG_SESSION_*", "the user's login session")                                     \
	X("GEMINI_CLI_CUSTOM_HEADERS", "fields of requests, with keys in them")            \
	X("GEMINI_CLI_IDE_*", "the user's editor")                                         \
	X("GEMINI_CLI_TRUST*", "trust is for the user to give")

#define ENVIRONMENT_TABLE(X)                                                               \
	X("PATH", "programs")                                                              \
	X("HOME", "settings of programs")                                                  \
	X("USER", "who it is")                                                             \
	X("LOGNAME", "who it is")                                                          \
	X("SHELL", "who it is")                                                            \
	X("LANG", "language")                                                              \
	X("LANGUAGE", "language")                                                          \
	X("LC_*", "language")                                                              \
	X("TZ", "time zone")                                                               \
	X("COLORTERM", "colours of a terminal")                                            \
	X("NO_COLOR", "colours of a terminal")                                             \
	X("LS_COLORS", "colours of a terminal")                                            \
	X("EDITOR", "the user's choice")                                                   \
	X("VISUAL", "the user's choice")                                                   \
	X("GIT_EDITOR", "the user's choice")                                               \
	X("GIT_AUTHOR_NAME", "the user's git identity")                                    \
	X("GIT_AUTHOR_EMAIL", "the user's git identity")                                   \
	X("GIT_COMMITTER_NAME", "the user's git identity")                                 \
	X("GIT_COMMITTER_EMAIL", "the user's git identity")                                \
	X("GIT_CONFIG_GLOBAL", "the user's git identity")                                  \
	X("GIT_CONFIG_SYSTEM", "settings of git")                                          \
	X("GIT_CONFIG_NOSYSTEM", "settings of git")                                        \
	X("EMAIL", "the user's git identity")                                              \
	X("XDG_*", "where settings, data and caches are")                                  \
	X("CC", "compilers")                                                               \
	X("CXX", "compilers")                                                              \
	X("CPP", "compilers")                                                              \
	X("LD", "compilers")                                                               \
	X("AR", "compilers")                                                               \
	X("CFLAGS", "compilers")                                                           \
	X("CXXFLAGS", "compilers")                                                         \
	X("CPPFLAGS", "compilers")                                                         \
	X("LDFLAGS", "compilers")                                                          \
	X("LIBRARY_PATH", "compilers")                                                     \
	X("CPATH", "compilers")                                                            \
	X("C_INCLUDE_PATH", "compilers")                                                   \
	X("CPLUS_INCLUDE_PATH", "compilers")                                               \
	X("LD_LIBRARY_PATH", "libraries outside the system's folders")                     \
	X("PKG_CONFIG_*", "libraries outside the system's folders")                        \
	X("MANPATH", "manuals")                                                            \
	X("MAKEFLAGS", "builds")                                                           \
	X("CMAKE_*", "builds")                                                             \
	X("NINJA_STATUS", "builds")                                                        \
	X("CCACHE_*", "builds")                                                            \
	X("SOURCE_DATE_EPOCH", "builds")                                                   \
	X("DEB_*", "builds")                                                               \
	X("GOPATH", "Go")                                                                  \
	X("GOROOT", "Go")                                                                  \
	X("GOFLAGS", "Go")                                                                 \
	X("GOBIN", "Go")                                                                   \
	X("GOCACHE", "Go")                                                                 \
	X("GOMODCACHE", "Go")                                                              \
	X("GOPROXY", "Go")                                                                 \
	X("GOPRIVATE", "Go")                                                               \
	X("GOTOOLCHAIN", "Go")                                                             \
	X("CGO_ENABLED", "Go")                                                             \
	X("JAVA_HOME", "Java")                                                             \
	X("JDK_HOME", "Java")                                                              \
	X("GRADLE_USER_HOME", "Java")                                                      \
	X("MAVEN_OPTS", "Java")                                                            \
	X("M2_HOME", "Java")                                                               \
	X("ANDROID_HOME", "Android")                                                       \
	X("ANDROID_SDK_ROOT", "Android")                                                   \
	X("NODE_*", "Node.js")                                                             \
	X("npm_config_*", "Node.js")                                                       \
	X("NPM_CONFIG_*", "Node.js")                                                       \
	X("NVM_DIR", "Node.js")                                                            \
	X("NVM_BIN", "Node.js")                                                            \
	X("PNPM_HOME", "Node.js")                                                          \
	X("COREPACK_HOME", "Node.js")                                                      \
	X("PYTHON*", "Python")                                                             \
	X("VIRTUAL_ENV", "Python")                                                         \
	X("PYENV_*", "Python")                                                             \
	X("PIP_*", "Python")                                                               \
	X("UV_*", "Python")                                                                \
	X("CONDA_*", "Python")                                                             \
	X("CARGO_*", "Rust")                                                               \
	X("RUSTUP_*", "Rust")                                                              \
	X("RUSTFLAGS", "Rust")                                                             \
	X("RUST_BACKTRACE", "Rust")                                                        \
	X("RUST_LOG", "Rust")                                                              \
	X("GEM_HOME", "Ruby")                                                              \
	X("GEM_PATH", "Ruby")                                                              \
	X("BUNDLE_PATH", "Ruby")                                                           \
	X("RBENV_*", "Ruby")                                                               \
	X("PERL5LIB", "Perl")                                                              \
	X("NIX_*", "Nix")                                                                  \
	X("LOCALE_ARCHIVE", "Nix")                                                         \
	X("HTTP_PROXY", "the way to the network, where it is allowed")                     \
	X("HTTPS_PROXY", "the way to the network, where it is allowed")                    \
	X("ALL_PROXY", "the way to the network, where it is allowed")                      \
	X("NO_PROXY", "the way to the network, where it is allowed")                       \
	X("http_proxy", "the way to the network, where it is allowed")                     \
	X("https_proxy", "the way to the network, where it is allowed")                    \
	X("all_proxy", "the way to the network, where it is allowed")                      \
	X("no_proxy", "the way to the network, where it is allowed")                       \
	X("SSL_CERT_FILE", "certificates")                                                 \
	X("SSL_CERT_DIR", "certificates")                                                  \
	X("CURL_CA_BUNDLE", "certificates")                                                \
	X("REQUESTS_CA_BUNDLE", "certificates")                                            \
	X("CI", "that a build server runs it, and which build")                            \
	X("CONTINUOUS_INTEGRATION", "that a build server runs it, and which build")        \
	X("BUILD_ID", "that a build server runs it, and which build")                      \
	X("BUILD_NUMBER", "that a build server runs it, and which build")                  \
	X("BUILD_URL", "that a build server runs it, and which build")                     \
	X("JOB_NAME", "that a build server runs it, and which build")                      \
	X("GITHUB_ACTIONS", "GitHub's build")                                              \
	X("GITHUB_WORKFLOW", "GitHub's build")                                             \
	X("GITHUB_JOB", "GitHub's build")                                                  \
	X("GITHUB_RUN_ID", "GitHub's build")                                               \
	X("GITHUB_RUN_NUMBER", "GitHub's build")                                           \
	X("GITHUB_RUN_ATTEMPT", "GitHub's build")                                          \
	X("GITHUB_REF", "GitHub's build")                                                  \
	X("GITHUB_REF_NAME", "GitHub's build")                                             \
	X("GITHUB_REF_TYPE", "GitHub's build")                                             \
	X("GITHUB_BASE_REF", "GitHub's build")                                             \
	X("GITHUB_HEAD_REF", "GitHub's build")                                             \
	X("GITHUB_SHA", "GitHub's build")                                                  \
	X("GITHUB_REPOSITORY", "GitHub's build")                                           \
	X("GITHUB_REPOSITORY_OWNER", "GitHub's build")                                     \
	X("GITHUB_EVENT_NAME", "GitHub's build")                                           \
	X("GITHUB_ACTOR", "GitHub's build")                                                \
	X("GITHUB_WORKSPACE", "GitHub's build")                                            \
	X("GITHUB_SERVER_URL", "GitHub's build")                                           \
	X("GITHUB_API_URL", "GitHub's build")                                              \
	X("RUNNER_OS", "GitHub's build")                                                   \
	X("RUNNER_ARCH", "GitHub's build")                                                 \
	X("RUNNER_NAME", "GitHub's build")                                                 \
	X("GITLAB_CI", "GitLab's build")                                                   \
	X("CI_COMMIT_*", "GitLab's build")                                                 \
	X("CI_PIPELINE_ID", "GitLab's build")                                              \
	X("CI_PIPELINE_SOURCE", "GitLab's build")                                          \
	X("CI_PROJECT_DIR", "GitLab's build")                                              \
	X("CI_PROJECT_NAME", "GitLab's build")                                             \
	X("CI_PROJECT_PATH", "GitLab's build")                                             \
	X("CI_JOB_ID", "GitLab's build")                                                   \
	X("CI_JOB_NAME", "GitLab's build")                                                 \
	X("CI_JOB_STAGE", "GitLab's build")                                                \
	X("CI_MERGE_REQUEST_IID", "GitLab's build")                                        \
	X("APPVEYOR", "another build server's name")                                       \
	X("BITBUCKET_BUILD_NUMBER", "another build server's name")                         \
	X("BUILDKITE", "another build server's name")                                      \
	X("CIRCLECI", "another build server's name")                                       \
	X("DRONE", "another build server's name")                                          \
	X("JENKINS_URL", "another build server's name")                                    \
	X("TEAMCITY_VERSION", "another build server's name")                               \
	X("TF_BUILD", "another build server's name")                                       \
	X("TRAVIS", "another build server's name")                                         \
	X("TERM_PROGRAM", "the terminal and its colours")                                  \
	X("TERM_PROGRAM_VERSION", "the terminal and its colours")                          \
	X("COLUMNS", "the terminal and its colours")                                       \
	X("LINES", "the terminal and its colours")                                         \
	X("FORCE_COLOR", "the terminal and its colours")                                   \
	X("CLICOLOR", "the terminal and its colours")                                      \
	X("CLICOLOR_FORCE", "the terminal and its colours")                                \
	X("HOSTNAME", "which machine it is")                                               \
	X("HOSTTYPE", "which machine it is")                                               \
	X("MACHTYPE", "which machine it is")                                               \
	X("OSTYPE", "which machine it is")                                                 \
	X("DEBIAN_FRONTEND", "a package's questions have no one to answer them")              \
	X("DO_NOT_TRACK", "what programs must not send")                                   \
	X("DOTNET_CLI_TELEMETRY_OPTOUT", "what programs must not send")                    \
	X("GEMINI_CLI_*", "what users give to commands: Gemini CLI lets these through")    \
	X("VERBOSE", "how much programs print")                                            \
	X("DEBUG", "how much programs print")

/* X(name, value, reason): as if the environment had them so. TERM depends on the terminal. */
#define ENVIRONMENT_SET(X)                                                                 \
	X("HASP", "1", "shows scripts which program runs them")                            \
	X("GEMINI_CLI", "1", "as Gemini CLI does, for scripts that ask")                   \
	X("PAGER", "cat", "no one turns the pages")                                        \
	X("GIT_PAGER", "cat", "no one turns the pages")                                    \
	X("MANPAGER", "cat", "no one turns the pages")                                     \
	X("GIT_TERMINAL_PROMPT", "0", "no one answers: fail instead of waiting")           \
	X("GH_PROMPT_DISABLED", "1", "no one answers: fail instead of waiting")

/* X(key, value, reason): git's settings for the command, above those of files (GIT_CONFIG_COUNT
 * and its kin, git-config(1)).  Those of ENVIRONMENT_GIT only where commands are confined.
 *
 * A bare repository can be a folder among a project's files: then git status in that folder obeys
 * its configuration, which names programs.  Explicit: git uses one only where it is named
 * (--git-dir, GIT_DIR). */
#define ENVIRONMENT_GIT_ALWAYS(X)                                                          \
	X("safe.bareRepository", "explicit", "a project's files are no repository")        \
	X("core.fsmonitor", "false", "no program is run, or left running, to list files")
#define ENVIRONMENT_GIT(X)                                                                 \
	X("branch.autoSetupMerge", "false", "would write .git/config, which is protected") \
	X("gc.autoDetach", "false", "nothing is left running behind a commit")             \
	X("maintenance.autoDetach", "false", "nothing is left running behind a commit")

/* What the name of a secret has in it, in any case.  Words are what is between characters that are
 * neither letters nor digits, without digits at their end: API_KEY2 has API and KEY.
 * ENVIRONMENT_SECRETS: anywhere in a word (APIKEY, authToken); ENVIRONMENT_SECRET_EDGES: where a
 * word begins or ends (DB_PASS, SSHPASS, PASSFILE); ENVIRONMENT_SECRET_ENDS: where it ends
 * (GITHUB_PAT, MYSQL_PWD, but neither PKG_CONFIG_PATH nor PWD itself).  ENVIRONMENT_HARMLESS: words
 * that mean none of it; what else is in the name still counts. */
#define ENVIRONMENT_SECRETS(X)                                                             \
	X("KEY") X("TOKEN") X("SECRET") X("PASSWORD") X("PASSWD") X("PASSPHRASE")          \
	X("CREDENTIAL") X("AUTH") X("COOKIE") X("PRIVATE") X("LOGIN") X("WEBHOOK")
#define ENVIRONMENT_SECRET_EDGES(X) X("PASS") X("CREDS")
#define ENVIRONMENT_SECRET_ENDS(X) X("PAT") X("PATS") X("PWD")
#define ENVIRONMENT_HARMLESS(X)                                                            \
	X("AUTHOR") X("AUTHORS") X("BYPASS") X("COMPASS") X("COMPAT") X("HOTKEY")          \
	X("HOTKEYS") X("KEYBOARD") X("KEYMAP") X("KEYWORD") X("KEYWORDS") X("OLDPWD")      \
	X("PASSED") X("PASSIVE") X("PASSTHROUGH") X("TOKENIZER") X("TOKENIZERS")

struct environment_options {
	bool pty;                 /* TERM is xterm-256color, else dumb */
	enum sandbox_level level; /* above paths: SANDBOX=hasp, as Gemini CLI says it, and
	                           * HASP_LEVEL=full or landlock */
	/* What the user decided; each borrowed, NULL without, the arrays NULL-terminated. */
	const char *pager;        /* PAGER, GIT_PAGER and MANPAGER in place of cat */
	const char *const *more;  /* NAME=VALUE that come through whatever the tables say, but not
	                           * in place of what is set */
	const char *const *blocked; /* names that do not come through; they decide over all else */
};

/* `from`: NULL-terminated NAME=VALUE. The result is the caller's, NULL-terminated. */
char **environment_for_command(const char *const *from,
                               const struct environment_options *options);
/* What a worker is started with: what commands may see, nothing set. */
char **environment_for_worker(const char *const *from);
void environment_free(char **env); /* NULL is fine */

/* Whether one NAME=VALUE is let through. */
bool environment_allows(const char *variable);
/* Whether it looks like a secret, by a word of its name or by its value; more do than are. */
bool environment_is_secret(const char *variable);
/* Takes what looks like a secret out of the memory that the kernel shows others as this process's
 * environment (/proc/PID/environ, ps); getenv goes on to find it.  To be called once, before there
 * are threads. */
void environment_conceal(void);

#endif
