/* SPDX-License-Identifier: Apache-2.0 */
/* Names in a workspace that programs obey, and what is decided about each.
 *
 * DEEP rows are protected in every folder beneath a writable one; ASK and OPEN rows are written by
 * commands like any other file.  docs/attacks.md lists the OPEN rows; a test compares the two. */
#include "sandbox/plan/names.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"

#define ROW(path, reason, flags, kind, why, source) \
	{ path, SANDBOX_READ, SANDBOX_REASON_##reason, flags, why, kind, source }
#define PROTECT (NAME_ABSENT | NAME_DEEP)
#define AGENT(path, why, source) ROW(path, SETTINGS, PROTECT, "agent", why, source)
#define EDITOR(path, why, source) ROW(path, SETTINGS, PROTECT, "editor", why, source)
#define SHELL(path, why, source) ROW(path, SETTINGS, PROTECT, "shell", why, source)
#define DEBUGGER(path, why, source) ROW(path, SETTINGS, PROTECT, "debugger", why, source)
#define VCS(path, why, source) ROW(path, GIT, PROTECT, "version control", why, source)
#define ASK(path, why, source) ROW(path, SETTINGS, NAME_ASK, "hooks", why, source)
#define OPEN(path, kind, why, source) ROW(path, SETTINGS, NAME_OPEN, kind, why, source)

/* Rows that share their first folder stand together. */
static const struct sandbox_name obeyed[] = {
	/* agents: hooks, servers to start, commands that need no question */
	AGENT(".gemini", "Gemini CLI and hasp: settings, hooks, servers, extensions",
	      "Gemini CLI: docs/cli/settings.md"),
	AGENT(".hasp", "hasp: settings", "docs/settings.md"),
	AGENT(".agents", "agents: skills and settings that several of them read",
	      "Codex: Agent skills"),
	AGENT(".claude", "Claude Code: hooks, permissions, commands", "Claude Code: Settings"),
	AGENT(".codex", "Codex: settings, servers", "Codex: docs/config.md"),
	AGENT(".mcp.json", "servers that agents start", "Claude Code: MCP"),
	AGENT(".cursor", "Cursor: servers, hooks, rules", "Cursor: MCP; Hooks"),
	AGENT(".windsurf", "Windsurf: servers, hooks, rules", "Windsurf: Cascade hooks"),
	AGENT(".aider.conf.yml", "aider: commands for lint and test, run by themselves",
	      "aider: YAML config file"),
	AGENT(".continue", "Continue: servers, settings", "Continue: config.yaml reference"),
	AGENT(".continuerc.json", "Continue: settings", "Continue: config.json reference"),
	AGENT(".roo", "Roo Code: servers, allowed commands", "Roo Code: Using MCP"),
	AGENT(".cline", "Cline: hooks, settings", "Cline: Hooks"),
	AGENT(".clinerules/hooks", "Cline: programs run at the events of a session",
	      "Cline: Hooks"),
	AGENT(".kilocode", "Kilo Code: servers, settings", "Kilo Code: Using MCP"),
	AGENT(".kiro", "Kiro: hooks, servers", "Kiro: Hooks"),
	AGENT(".amazonq", "Amazon Q: agents, servers", "Amazon Q Developer: MCP configuration"),
	AGENT(".amp", "Amp: servers, permissions", "Amp: Owner's manual"),
	AGENT(".opencode", "opencode: plugins, agents", "opencode: Config"),
	AGENT("opencode.json", "opencode: servers, permissions", "opencode: Config"),
	AGENT("opencode.jsonc", "opencode: servers, permissions", "opencode: Config"),
	AGENT(".openhands", "OpenHands: set-up and pre-commit scripts",
	      "OpenHands: Repository customization"),
	AGENT(".crush.json", "Crush: servers, permissions", "Crush: README"),
	AGENT("crush.json", "Crush: servers, permissions", "Crush: README"),
	AGENT(".qwen", "Qwen Code: settings, servers", "Qwen Code: Configuration"),
	AGENT(".junie", "Junie: servers, settings", "Junie: MCP settings"),
	AGENT(".augment", "Augment: settings, servers", "Auggie CLI: settings"),
	AGENT(".factory", "Factory: hooks, servers", "Factory: Hooks"),
	AGENT(".trae", "Trae: servers, settings", "Trae: MCP"),
	AGENT(".github/hooks", "Copilot: commands run at the events of a session",
	      "GitHub Copilot: Hooks configuration"),
	/* editors: tasks that run when a folder is opened, paths of programs to start */
	EDITOR(".vscode", "VS Code: tasks on opening, paths of programs",
	       "VS Code: Tasks, runOptions"),
	EDITOR(".theia", "Theia: tasks, paths of programs", "Theia: Preferences"),
	EDITOR(".vs", "Visual Studio: tasks, paths of programs",
	       "Visual Studio: tasks.vs.json reference"),
	EDITOR(".idea", "JetBrains: run configurations, tools, watchers",
	       "IntelliJ IDEA: Project security"),
	EDITOR(".run", "JetBrains: run configurations", "IntelliJ IDEA: Run configurations"),
	EDITOR(".fleet", "Fleet: run configurations, settings", "Fleet: run.json"),
	EDITOR(".zed", "Zed: tasks, paths of language servers", "Zed: Configuring Zed"),
	EDITOR(".helix", "Helix: paths of language servers and formatters", "Helix: languages.toml"),
	EDITOR(".nova", "Nova: tasks, paths of programs", "Nova: Tasks"),
	EDITOR(".idx", "Firebase Studio: commands run when a workspace is opened",
	       "Firebase Studio: dev.nix"),
	EDITOR(".devcontainer", "dev containers: initializeCommand runs outside of them",
	       "containers.dev: devcontainer.json reference"),
	EDITOR(".devcontainer.json", "dev containers: initializeCommand runs outside of them",
	       "containers.dev: devcontainer.json reference"),
	EDITOR(".exrc", "vi and Vim with 'exrc': commands run at the start", "Vim: options.txt 'exrc'"),
	EDITOR(".vimrc", "Vim with 'exrc': commands run at the start", "Vim: options.txt 'exrc'"),
	EDITOR("_vimrc", "Vim with 'exrc': commands run at the start", "Vim: options.txt 'exrc'"),
	EDITOR(".gvimrc", "Vim with 'exrc': commands run at the start", "Vim: gui.txt"),
	EDITOR(".lvimrc", "localvimrc: commands run when a file is opened", "localvimrc: README"),
	EDITOR(".nvimrc", "Neovim with 'exrc': commands run at the start",
	       "Neovim: options.txt 'exrc'"),
	EDITOR(".nvim.lua", "Neovim with 'exrc': commands run at the start",
	       "Neovim: options.txt 'exrc'"),
	EDITOR(".dir-locals.el", "Emacs: evaluated when a file is opened",
	       "GNU Emacs manual: Directory Variables"),
	EDITOR(".dir-locals-2.el", "Emacs: evaluated when a file is opened",
	       "GNU Emacs manual: Directory Variables"),
	EDITOR(".emacs.desktop", "Emacs: a session, which is evaluated",
	       "GNU Emacs manual: Saving Emacs Sessions"),
	/* shells: what entering the folder runs */
	SHELL(".envrc", "direnv: run when the folder is entered", "direnv(1)"),
	SHELL(".autoenv.zsh", "zsh-autoenv: run when the folder is entered", "zsh-autoenv: README"),
	SHELL(".autoenv_leave.zsh", "zsh-autoenv: run when the folder is left",
	      "zsh-autoenv: README"),
	SHELL(".autoenv", "autoenv: run when the folder is entered", "autoenv: README"),
	SHELL(".mise.toml", "mise: hooks and scripts run when the folder is entered",
	      "mise: Configuration"),
	SHELL("mise.toml", "mise: hooks and scripts run when the folder is entered",
	      "mise: Configuration"),
	SHELL(".mise.local.toml", "mise: hooks and scripts run when the folder is entered",
	      "mise: Configuration"),
	SHELL("mise.local.toml", "mise: hooks and scripts run when the folder is entered",
	      "mise: Configuration"),
	SHELL(".mise", "mise: hooks and scripts run when the folder is entered",
	      "mise: Configuration"),
	SHELL("mise/config.toml", "mise: hooks and scripts run when the folder is entered",
	      "mise: Configuration"),
	SHELL(".config/mise", "mise: hooks and scripts run when the folder is entered",
	      "mise: Configuration"),
	SHELL(".config/mise.toml", "mise: hooks and scripts run when the folder is entered",
	      "mise: Configuration"),
	SHELL(".rtx.toml", "mise under its old name", "mise: Configuration"),
	/* debuggers: commands run when they start in the folder */
	DEBUGGER(".gdbinit", "GDB: commands run at its start",
	         "GDB manual: Init File in the Current Directory"),
	DEBUGGER(".gdbearlyinit", "GDB: commands run at its start", "GDB manual: Startup"),
	DEBUGGER(".lldbinit", "LLDB: commands run at its start", "lldb(1)"),
	DEBUGGER(".pdbrc", "Python's debugger: commands run at its start",
	         "Python: pdb, .pdbrc"),
	/* hooks that live in the tree */
	VCS(".husky", "husky: git runs it at the next commit", "husky: Get started"),
	VCS(".githooks", "the usual place of core.hooksPath", "githooks(5)"),
	/* other version control; a repository in .git is in a table of its own */
	VCS(".hg/hgrc", "Mercurial: hooks, extensions, aliases", "hgrc(5)"),
	VCS(".hg/hgrc-not-shared", "Mercurial: hooks, extensions, aliases", "hgrc(5)"),
	VCS(".hg/sharedpath", "Mercurial: where another repository's hooks would come from",
	    "Mercurial: hg help share"),
	VCS(".sl/config", "Sapling: hooks, extensions, aliases", "Sapling: sl help config"),
	VCS(".sl/sharedpath", "Sapling: where another repository's hooks would come from",
	    "Sapling: sl help config"),
	VCS(".jj/repo/config.toml", "Jujutsu: programs it starts", "Jujutsu: docs/config.md"),
	VCS(".jj/workspace-config.toml", "Jujutsu: programs it starts", "Jujutsu: docs/config.md"),
	VCS(".bzr/branch/branch.conf", "Breezy: programs it starts", "Breezy: Configuration"),
	VCS(".pijul/config", "Pijul: hooks", "Pijul: Configuration"),
	/* what git's hooks run, once the user has installed those: an edit is asked about */
	ASK(".pre-commit-config.yaml", "pre-commit runs its entries at the next commit",
	    "pre-commit: local hooks"),
	ASK(".pre-commit-config.yml", "prek runs its entries at the next commit", "prek: README"),
	ASK("prek.toml", "prek runs its entries at the next commit", "prek: README"),
	ASK("lefthook.yml", "lefthook runs its commands at the next commit",
	    "lefthook: Configuration"),
	ASK("lefthook.yaml", "lefthook runs its commands at the next commit",
	    "lefthook: Configuration"),
	ASK("lefthook.toml", "lefthook runs its commands at the next commit",
	    "lefthook: Configuration"),
	ASK("lefthook.json", "lefthook runs its commands at the next commit",
	    "lefthook: Configuration"),
	ASK("lefthook-local.yml", "lefthook runs its commands at the next commit",
	    "lefthook: Configuration"),
	ASK(".lefthook.yml", "lefthook runs its commands at the next commit",
	    "lefthook: Configuration"),
	ASK(".lefthook-local.yml", "lefthook runs its commands at the next commit",
	    "lefthook: Configuration"),
	ASK(".overcommit.yml", "Overcommit runs its commands at the next commit",
	    "Overcommit: README"),
	ASK("captainhook.json", "CaptainHook runs its actions at the next commit",
	    "CaptainHook: Configuration"),
	ASK(".simple-git-hooks.json", "simple-git-hooks takes the commands of hooks from it",
	    "simple-git-hooks: README"),
	/* what stays writable, and why */
	OPEN(".env", "shell", "a project's own variables, which its set-up and tests write; of what "
	     "hasp reads there, nothing that steers hasp is obeyed", "docs/settings.md"),
	OPEN("AGENTS.md", "instructions", "text for agents, part of the project and of its reviews; "
	     "what an agent may do does not depend on it", "agents.md"),
	OPEN("CLAUDE.md", "instructions", "as AGENTS.md", "Claude Code: Memory"),
	OPEN("GEMINI.md", "instructions", "as AGENTS.md", "Gemini CLI: docs/cli/gemini-md.md"),
	OPEN(".cursorrules", "instructions", "as AGENTS.md", "Cursor: Rules"),
	OPEN(".windsurfrules", "instructions", "as AGENTS.md", "Windsurf: Memories and rules"),
	OPEN(".goosehints", "instructions", "as AGENTS.md", "goose: Hints"),
	OPEN(".github/copilot-instructions.md", "instructions", "as AGENTS.md",
	     "GitHub Copilot: Repository custom instructions"),
	OPEN(".editorconfig", "editor", "indentation and line ends alone", "editorconfig.org"),
	OPEN("*.sublime-project", "editor", "its build systems run when the user asks for a build",
	     "Sublime Text: Projects"),
	OPEN("*.code-workspace", "editor", "VS Code opens it when the user names it, and asks for "
	     "trust", "VS Code: Workspace trust"),
	OPEN(".tool-versions", "shell", "names versions of tools that are installed",
	     "asdf: Configuration"),
	OPEN(".nvmrc", "shell", "names a version", "nvm: README"),
	OPEN(".node-version", "shell", "names a version", "nodenv: README"),
	OPEN(".python-version", "shell", "names a version", "pyenv: README"),
	OPEN(".gitpod.yml", "editor", "its tasks run in a container of the service",
	     "Gitpod: .gitpod.yml reference"),
	OPEN("devbox.json", "shell", "runs when the user starts its shell; what does that by itself "
	     "is .envrc", "Devbox: Configuration"),
	OPEN("devenv.nix", "shell", "as devbox.json", "devenv: Basics"),
	OPEN("flake.nix", "shell", "as devbox.json", "nix3-develop(1)"),
	OPEN("shell.nix", "shell", "as devbox.json", "nix-shell(1)"),
	OPEN("Makefile", "build", "the project's own code: runs when the user builds it, and a "
	     "reviewer sees it", "make(1)"),
	OPEN("package.json", "build", "as Makefile", "npm: package.json"),
	OPEN(".npmrc", "build", "as Makefile", "npm: npmrc"),
	OPEN(".yarnrc.yml", "build", "as Makefile (yarnPath)", "Yarn: Settings"),
	OPEN(".pnp.cjs", "build", "as Makefile", "Yarn: Plug'n'Play"),
	OPEN(".cargo/config.toml", "build", "as Makefile (rustc-wrapper, runners)",
	     "Cargo: Configuration"),
	OPEN(".bazelrc", "build", "as Makefile", "Bazel: Write bazelrc files"),
	OPEN(".mvn", "build", "as Makefile", "Maven: Configuring Maven"),
	OPEN("gradlew", "build", "as Makefile", "Gradle: The Gradle wrapper"),
	OPEN("justfile", "build", "as Makefile", "just: README"),
	OPEN("Rakefile", "build", "as Makefile", "Rake: README"),
	OPEN("conftest.py", "build", "as Makefile: runs with the tests", "pytest: conftest.py"),
	OPEN("sitecustomize.py", "build", "as Makefile: runs where the user's own Python has the "
	     "folder on its path", "Python: site"),
	OPEN(".github/workflows", "build", "as Makefile: runs after a push, on another machine",
	     "GitHub Actions: Workflow syntax"),
	OPEN(".gitattributes", "version control", "names drivers; their commands stand in git's "
	     "configuration, which is protected", "gitattributes(5)"),
	OPEN(".gitmodules", "version control", "git has ignored commands in it since 2.20.1",
	     "gitmodules(5)"),
	OPEN(".venv/bin/activate", "shell", "the user sources it, and hasp never does",
	     "Python: venv"),
};

struct sandbox_names names_workspace(void)
{
	return (struct sandbox_names){ obeyed, ARRAY_LEN(obeyed) };
}

/* Packages put there may bring anything; nobody opens them as a project. */
static const char *const packages[] = {
	"node_modules", "bower_components", "site-packages", "dist-packages", "vendor",
};

bool names_is_packages(struct span name)
{
	for (size_t i = 0; i < ARRAY_LEN(packages); i++)
		if (span_eq(name, span_str(packages[i])))
			return true;
	return false;
}

/* Some file systems take .VSCODE for .vscode. */
static bool begins_with(const char *path, const char *name)
{
	size_t len = strlen(name);

	return strncasecmp(path, name, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

const struct sandbox_name *names_obeyed_at(const char *rel)
{
	for (size_t i = 0; i < ARRAY_LEN(obeyed); i++)
		if ((obeyed[i].flags & NAME_DEEP) && (rel[0] | 0x20) == (obeyed[i].path[0] | 0x20) &&
		    begins_with(rel, obeyed[i].path))
			return &obeyed[i];
	return NULL;
}

const struct sandbox_name *names_obeyed_beneath(const char *rel, size_t *ret_at, size_t *ret_end)
{
	for (const char *at = rel; *at;) {
		const struct sandbox_name *row = names_obeyed_at(at);
		struct span component = span_of(at, strcspn(at, "/"));

		if (row) {
			*ret_at = (size_t)(at - rel);
			*ret_end = *ret_at + strlen(row->path);
			return row;
		}
		/* git's own folders are another matter (git.c, sandbox/guard/git.c). */
		if (span_eq(component, SPAN(".git")) || names_is_packages(component))
			return NULL;
		at += component.len + (at[component.len] == '/');
	}
	return NULL;
}

static bool starts_obeyed(const char *component, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(obeyed); i++)
		if ((obeyed[i].flags & NAME_DEEP) && strlen(obeyed[i].path) > len &&
		    obeyed[i].path[len] == '/' && strncasecmp(obeyed[i].path, component, len) == 0)
			return true;
	return false;
}

bool names_leads_to_obeyed(const char *rel)
{
	size_t at, end;

	for (const char *part = rel; *part;) {
		size_t len = strcspn(part, "/");

		if (part[0] == '.' || part[0] == 'm') {
			if (names_obeyed_beneath(part, &at, &end) || starts_obeyed(part, len))
				return true;
		}
		part += len + (part[len] == '/');
	}
	return false;
}

void names_obeyed_first(bool ret[static 256])
{
	memset(ret, 0, 256 * sizeof(*ret));
	for (size_t i = 0; i < ARRAY_LEN(obeyed); i++) {
		unsigned char first = (unsigned char)obeyed[i].path[0];

		if (!(obeyed[i].flags & NAME_DEEP))
			continue;
		ret[first] = true;
		if (first >= 'a' && first <= 'z')
			ret[first - 'a' + 'A'] = true;
	}
}
