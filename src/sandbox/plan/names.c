/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of names.h, and the words for reasons. */
#include "sandbox/plan/names.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"

#define TABLE(rows) ((struct sandbox_names){ rows, ARRAY_LEN(rows) })

static const struct {
	const char *name, *text;
} reasons[SANDBOX_REASON_COUNT] = {
	[SANDBOX_REASON_DEFAULT] = { "default", "outside the writable paths" },
	[SANDBOX_REASON_ROOT] = { "root", "a workspace root" },
	[SANDBOX_REASON_OPTION] = { "option", "asked for by the user" },
	[SANDBOX_REASON_DENY] = { "deny", "denied by the user" },
	[SANDBOX_REASON_KEPT] = { "kept", "a policy rule, or the setting hasp.sandbox.keepPaths, "
	                                  "keeps it from being changed" },
	[SANDBOX_REASON_POLICY] = { "policy", "a policy rule asks before it is written" },
	[SANDBOX_REASON_VOTED] = { "policy",
	                           "a policy rule asks its reviewers before it is written" },
	[SANDBOX_REASON_TEMP] = { "temp", "the session's temporary files" },
	[SANDBOX_REASON_JOURNAL] = { "journal", "hasp's own journal" },
	[SANDBOX_REASON_DEVICE] = { "device", "a device: commands get the harmless ones" },
	[SANDBOX_REASON_GIT] = { "git", "version control runs it or is steered by it" },
	[SANDBOX_REASON_SETTINGS] = { "settings", "an editor, a shell or an agent obeys it" },
	[SANDBOX_REASON_CREDENTIALS] = { "credentials", "keys, tokens or passwords" },
	[SANDBOX_REASON_OWN_SECRETS] = { "own_secrets",
	                                 "tokens, sessions and policies of hasp and Gemini CLI" },
	[SANDBOX_REASON_SOCKETS] = { "sockets", "sockets of daemons" },
	[SANDBOX_REASON_NETWORK] = { "network", "the network is off" },
	[SANDBOX_REASON_KERNEL] = { "kernel", "a system call that no command needs" },
	[SANDBOX_REASON_SYSCALLS] = { "syscalls",
	                              "forbidden by the setting hasp.sandbox.syscalls" },
	[SANDBOX_REASON_LIMIT] = { "limit", "a limit was reached" },
	[SANDBOX_REASON_VIEW] = { "view", "its files are hidden here, at least in part: a commit "
	                          "would delete them" },
	[SANDBOX_REASON_UNJUDGED] = { "unjudged", "hasp cannot tell what the call is about" },
	[SANDBOX_REASON_NEXT_TO] = { "beside", "at this level nothing new can be read in a folder "
	                                      "that holds something hidden" },
};

const char *sandbox_reason_name(enum sandbox_reason reason)
{
	return (unsigned)reason < SANDBOX_REASON_COUNT ? reasons[reason].name : "unknown";
}

const char *sandbox_reason_text(enum sandbox_reason reason)
{
	return (unsigned)reason < SANDBOX_REASON_COUNT ? reasons[reason].text : "unknown";
}

#define GIT(path, why, source) \
	{ path, SANDBOX_READ, SANDBOX_REASON_GIT, NAME_ABSENT, why, "version control", source }

static const struct sandbox_name git[] = {
	GIT("config", "programs that git starts: fsmonitor, pager, filters, ssh command, aliases",
	    "git-config(1)"),
	GIT("config.worktree", "read in addition to config",
	    "git-worktree(1)"),
	GIT("hooks", "programs that git starts",
	    "githooks(5)"),
	GIT("info/attributes", "which filters and drivers run on which files",
	    "gitattributes(5)"),
	GIT("commondir", "makes git read another folder's config and hooks",
	    "gitrepository-layout(5)"),
};

static const struct sandbox_name git_worktree[] = {
	GIT("commondir", "which repository's config and hooks are read",
	    "gitrepository-layout(5)"),
	GIT("gitdir", "which folder git takes for this worktree's",
	    "gitrepository-layout(5)"),
	GIT("config.worktree", "read in addition to config",
	    "git-worktree(1)"),
};

#define SYSTEM_KEYS(path, why, source) \
	{ path, SANDBOX_HIDDEN, SANDBOX_REASON_CREDENTIALS, 0, why, "credentials", source }
#define SOCKETS(path, why, source) \
	{ path, SANDBOX_HIDDEN, SANDBOX_REASON_SOCKETS, 0, why, "socket", source }
#define RESOLVER(path, why, source) \
	{ path, SANDBOX_HIDDEN, SANDBOX_REASON_SOCKETS, NAME_NETWORK_OFF, why, "socket", source }

/* Those that the user cannot read anyway are left out of a plan. */
static const struct sandbox_name system_names[] = {
	SYSTEM_KEYS("etc/shadow", "passwords of users", "shadow(5)"),
	SYSTEM_KEYS("etc/shadow-", "passwords of users", "shadow(5)"),
	SYSTEM_KEYS("etc/gshadow", "passwords of groups", "gshadow(5)"),
	SYSTEM_KEYS("etc/gshadow-", "passwords of groups", "gshadow(5)"),
	SYSTEM_KEYS("etc/sudoers", "who may become root", "sudoers(5)"),
	SYSTEM_KEYS("etc/sudoers.d", "who may become root", "sudoers(5)"),
	SYSTEM_KEYS("etc/ssh/ssh_host_*_key", "the machine's SSH keys", "sshd(8)"),
	SYSTEM_KEYS("etc/ssl/private", "the machine's keys", "ssl-cert: README"),
	SYSTEM_KEYS("etc/krb5.keytab", "the machine's keys", "kerberos(7)"),
	SYSTEM_KEYS("etc/wireguard", "keys of tunnels", "wg-quick(8)"),
	SYSTEM_KEYS("etc/openvpn", "keys of tunnels", "openvpn(8)"),
	SYSTEM_KEYS("etc/NetworkManager/system-connections", "passwords of networks",
	            "nm-settings-keyfile(5)"),
	SYSTEM_KEYS("etc/kubernetes", "keys of a cluster", "Kubernetes: PKI certificates"),
	SYSTEM_KEYS("etc/rancher", "keys of a cluster", "K3s: Cluster access"),
	SYSTEM_KEYS("etc/docker/key.json", "the daemon's key", "Docker: dockerd"),
	SYSTEM_KEYS("etc/iwd", "passwords of networks", "iwd(8)"),
	SYSTEM_KEYS("var/lib/iwd", "passwords of networks", "iwd(8)"),
	SYSTEM_KEYS("etc/wpa_supplicant", "passwords of networks", "wpa_supplicant.conf(5)"),
	SYSTEM_KEYS("etc/ppp/chap-secrets", "passwords of networks", "pppd(8)"),
	SYSTEM_KEYS("etc/ppp/pap-secrets", "passwords of networks", "pppd(8)"),
	SYSTEM_KEYS("etc/ipsec.secrets", "keys of tunnels", "ipsec.secrets(5)"),
	SYSTEM_KEYS("etc/swanctl/private", "keys of tunnels", "swanctl.conf(5)"),
	SYSTEM_KEYS("var/lib/tailscale", "keys of tunnels", "Tailscale: tailscaled"),
	SYSTEM_KEYS("etc/cloudflared", "keys of tunnels", "cloudflared: tunnel login"),
	SYSTEM_KEYS("etc/letsencrypt/archive", "the machine's keys", "certbot(1)"),
	SYSTEM_KEYS("etc/letsencrypt/accounts", "the machine's keys", "certbot(1)"),
	SYSTEM_KEYS("etc/pki/tls/private", "the machine's keys", "update-ca-trust(8)"),
	SYSTEM_KEYS("etc/mysql/debian.cnf", "passwords of MySQL", "mysql(1)"),
	SYSTEM_KEYS("etc/samba/private", "passwords of shares", "smb.conf(5)"),
	SYSTEM_KEYS("var/lib/samba/private", "passwords of shares", "smb.conf(5)"),
	SYSTEM_KEYS("etc/davfs2/secrets", "passwords of WebDAV", "davfs2.conf(5)"),
	SYSTEM_KEYS("etc/msmtprc", "mail passwords", "msmtp(1)"),
	SYSTEM_KEYS("etc/exim4/passwd.client", "mail passwords", "exim4-config_files(5)"),
	SYSTEM_KEYS("etc/postfix/sasl_passwd", "mail passwords", "postfix: SASL_README"),
	SYSTEM_KEYS("etc/apt/auth.conf", "passwords of package indexes", "apt_auth.conf(5)"),
	SYSTEM_KEYS("etc/apt/auth.conf.d", "passwords of package indexes", "apt_auth.conf(5)"),
	SYSTEM_KEYS("var/lib/docker", "images and secrets of containers", "Docker: Storage"),
	SYSTEM_KEYS("tmp/krb5cc_*", "tickets of Kerberos", "krb5_ccache"),
	SYSTEM_KEYS("var/lib/sss/db", "cached passwords", "sssd(8)"),
	SYSTEM_KEYS("var/lib/sss/secrets", "cached passwords", "sssd-secrets(5)"),
	SYSTEM_KEYS("var/run/secrets", "secrets of a container", "Kubernetes: Service accounts"),
	SOCKETS("var/lib/lxd", "LXD: root on this machine", "LXD: Security"),
	SOCKETS("var/lib/incus", "Incus: root on this machine", "Incus: Security"),
	SOCKETS("var/snap/lxd/common/lxd", "LXD: root on this machine", "LXD: Security"),
	SYSTEM_KEYS("run/secrets", "secrets of a container", "Docker: Secrets"),
	SYSTEM_KEYS("run/credentials", "secrets of services", "systemd.exec(5)"),
	SOCKETS("run/user", "session bus, agents for keys, display, sound", "pam_systemd(8)"),
	SOCKETS("run/dbus", "system bus", "dbus-daemon(1)"),
	SOCKETS("run/systemd/private", "the service manager", "systemctl(1)"),
	SOCKETS("run/docker.sock", "Docker: root on this machine", "Docker: Attack surface"),
	SOCKETS("run/docker", "Docker: root on this machine", "Docker: Attack surface"),
	SOCKETS("run/containerd", "containerd: root on this machine", "containerd(8)"),
	SOCKETS("run/crio", "CRI-O: root on this machine", "crio(8)"),
	SOCKETS("run/podman", "Podman: root on this machine", "podman-system-service(1)"),
	SOCKETS("run/buildkit", "BuildKit: root on this machine", "BuildKit: README"),
	SOCKETS("run/libvirt", "virtual machines", "libvirtd(8)"),
	SOCKETS("run/lxd.socket", "LXD: root on this machine", "LXD: Security"),
	SOCKETS("run/incus", "Incus: root on this machine", "Incus: Security"),
	SOCKETS("run/snapd.socket", "packages of the machine", "snapd: REST API"),
	SOCKETS("run/snapd-snap.socket", "packages of the machine", "snapd: REST API"),
	SOCKETS("run/cups", "printers", "cupsd(8)"),
	SOCKETS("run/WSL", "programs of Windows", "WSL: Interoperability"),
	RESOLVER("run/nscd", "asks name servers on a program's behalf", "nscd(8)"),
	RESOLVER("run/avahi-daemon", "asks the local network for names", "avahi-daemon(8)"),
	RESOLVER("run/systemd/resolve/io.systemd.Resolve", "asks name servers",
	            "systemd-resolved(8)"),
	RESOLVER("run/systemd/resolve/io.systemd.Resolve.Monitor", "reveals which names were "
		"looked up",
	            "systemd-resolved(8)"),
	SOCKETS("mnt/wslg", "display, sound and files of Windows", "WSLg: README"),
	SOCKETS("tmp/.X11-unix", "display", "X(7)"),
	SOCKETS("tmp/.ICE-unix", "desktop session", "iceauth(1)"),
};

#define DEVICE(path, why, source) \
	{ path, SANDBOX_WRITE, SANDBOX_REASON_DEVICE, 0, why, "device", source }

static const struct sandbox_name devices[] = {
	DEVICE("dev/null", "swallows all", "null(4)"),
	DEVICE("dev/zero", "zeros", "null(4)"),
	DEVICE("dev/full", "a full disk, for tests", "full(4)"),
	DEVICE("dev/random", "random bytes", "random(4)"),
	DEVICE("dev/urandom", "random bytes", "random(4)"),
	DEVICE("dev/tty", "the command's own terminal", "tty(4)"),
	DEVICE("dev/ptmx", "new terminals", "pts(4)"),
	DEVICE("dev/pts", "terminals", "pts(4)"),
	DEVICE("dev/shm", "shared memory", "shm_overview(7)"),
};

struct sandbox_names names_git(void)
{
	return TABLE(git);
}

struct sandbox_names names_git_worktree(void)
{
	return TABLE(git_worktree);
}

struct sandbox_names names_system(void)
{
	return TABLE(system_names);
}

struct sandbox_names names_devices(void)
{
	return TABLE(devices);
}

/* ---- names that others obey ---- */

/* DEEP rows are protected in every folder beneath a writable one; ASK and OPEN rows are written by
 * commands like any other file.  docs/attacks.md lists both; a test compares the two.
 */

#define ROW(path, reason, flags, kind, why, source) \
	{ path, SANDBOX_READ, SANDBOX_REASON_##reason, flags, why, kind, source }
#define PROTECT (NAME_ABSENT | NAME_DEEP)
#define AGENT(path, why, source) ROW(path, SETTINGS, PROTECT, "agent", why, source)
#define EDITOR(path, why, source) ROW(path, SETTINGS, PROTECT, "editor", why, source)
#define SHELL(path, why, source) ROW(path, SETTINGS, PROTECT, "shell", why, source)
#define DEBUGGER(path, why, source) ROW(path, SETTINGS, PROTECT, "debugger", why, source)
#define VCS(path, why, source) ROW(path, GIT, PROTECT, "version control", why, source)
#define ASK(path, kind, why, source) ROW(path, SETTINGS, NAME_ASK, kind, why, source)
#define HOOKS(path, why, source) ASK(path, "hooks", why, source)
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
	EDITOR(".helix", "Helix: paths of language servers and formatters",
	       "Helix: languages.toml"),
	EDITOR(".nova", "Nova: tasks, paths of programs", "Nova: Tasks"),
	EDITOR(".idx", "Firebase Studio: commands run when a workspace is opened",
	       "Firebase Studio: dev.nix"),
	EDITOR(".devcontainer", "dev containers: initializeCommand runs outside of them",
	       "containers.dev: devcontainer.json reference"),
	EDITOR(".devcontainer.json", "dev containers: initializeCommand runs outside of them",
	       "containers.dev: devcontainer.json reference"),
	EDITOR(".exrc", "vi and Vim with 'exrc': commands run at the start",
	       "Vim: options.txt 'exrc'"),
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
	/* other version control; repositories in .git have a separate table */
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
	HOOKS(".pre-commit-config.yaml", "pre-commit runs its entries at the next commit",
	      "pre-commit: local hooks"),
	HOOKS(".pre-commit-config.yml", "prek runs its entries at the next commit", "prek: README"),
	HOOKS("prek.toml", "prek runs its entries at the next commit", "prek: README"),
	HOOKS("lefthook.yml", "lefthook runs its commands at the next commit",
	      "lefthook: Configuration"),
	HOOKS("lefthook.yaml", "lefthook runs its commands at the next commit",
	      "lefthook: Configuration"),
	HOOKS("lefthook.toml", "lefthook runs its commands at the next commit",
	      "lefthook: Configuration"),
	HOOKS("lefthook.json", "lefthook runs its commands at the next commit",
	      "lefthook: Configuration"),
	HOOKS("lefthook-local.yml", "lefthook runs its commands at the next commit",
	      "lefthook: Configuration"),
	HOOKS(".lefthook.yml", "lefthook runs its commands at the next commit",
	      "lefthook: Configuration"),
	HOOKS(".lefthook-local.yml", "lefthook runs its commands at the next commit",
	      "lefthook: Configuration"),
	HOOKS(".overcommit.yml", "Overcommit runs its commands at the next commit",
	      "Overcommit: README"),
	HOOKS("captainhook.json", "CaptainHook runs its actions at the next commit",
	      "CaptainHook: Configuration"),
	HOOKS(".simple-git-hooks.json", "simple-git-hooks takes the commands of hooks from it",
	      "simple-git-hooks: README"),
	/* what a model is instructed with, and variables: commands write it as any file, an edit is
	 * asked about */
	ASK(".env", "shell",
	     "a project's own variables, which its set-up and tests write; of what "
	     "hasp reads there, nothing that steers hasp is obeyed", "docs/settings.md"),
	ASK("AGENTS.md", "instructions",
	     "text for agents, part of the project and of its reviews; "
	     "what an agent may do does not depend on it", "agents.md"),
	ASK("AGENTS.override.md", "instructions", "as AGENTS.md", "Codex: docs/agents_md.md"),
	ASK("CLAUDE.md", "instructions", "as AGENTS.md", "Claude Code: Memory"),
	ASK("CLAUDE.local.md", "instructions", "as AGENTS.md", "Claude Code: Memory"),
	ASK("GEMINI.md", "instructions", "as AGENTS.md", "Gemini CLI: docs/cli/gemini-md.md"),
	ASK(".cursorrules", "instructions", "as AGENTS.md", "Cursor: Rules"),
	ASK(".windsurfrules", "instructions", "as AGENTS.md", "Windsurf: Memories and rules"),
	ASK(".goosehints", "instructions", "as AGENTS.md", "goose: Hints"),
	ASK(".github/copilot-instructions.md", "instructions", "as AGENTS.md",
	     "GitHub Copilot: Repository custom instructions"),
	ASK(".github/instructions", "instructions", "as AGENTS.md",
	     "GitHub Copilot: Repository custom instructions"),
	/* what stays writable, and why */
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
	OPEN("devbox.json", "shell",
	     "runs when the user starts its shell; what does that by itself "
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

/* Packages put there may bring anything; they are not opened as projects. */
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
static bool starts_with_name(const char *path, const char *name)
{
	size_t len = strlen(name);

	return strncasecmp(path, name, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

const struct sandbox_name *names_obeyed_at(const char *rel)
{
	for (size_t i = 0; i < ARRAY_LEN(obeyed); i++)
		if ((obeyed[i].flags & NAME_DEEP) &&
		    (rel[0] | 0x20) == (obeyed[i].path[0] | 0x20) &&
		    starts_with_name(rel, obeyed[i].path))
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
