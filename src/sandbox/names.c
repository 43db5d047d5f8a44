/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of names.h, and the words for reasons. */
#include "sandbox/names.h"

#include "base/mem.h"

#define TABLE(rows) ((struct sandbox_names){ rows, ARRAY_LEN(rows) })

static const struct {
	const char *name, *text;
} reasons[SANDBOX_REASON_COUNT] = {
	[SANDBOX_REASON_DEFAULT] = { "default", "outside the writable paths" },
	[SANDBOX_REASON_ROOT] = { "root", "a workspace root" },
	[SANDBOX_REASON_OPTION] = { "option", "asked for by the user" },
	[SANDBOX_REASON_DENY] = { "deny", "denied by the user" },
	[SANDBOX_REASON_TEMP] = { "temp", "the session's temporary files" },
	[SANDBOX_REASON_JOURNAL] = { "journal", "hasp's own journal" },
	[SANDBOX_REASON_DEVICE] = { "device", "a harmless device" },
	[SANDBOX_REASON_GIT] = { "git", "version control runs it or is steered by it" },
	[SANDBOX_REASON_SETTINGS] = { "settings", "an editor, a shell or an agent obeys it" },
	[SANDBOX_REASON_CREDENTIALS] = { "credentials", "keys, tokens or passwords" },
	[SANDBOX_REASON_OWN_SECRETS] = { "own_secrets",
	                                 "tokens, sessions and policies of hasp and Gemini CLI" },
	[SANDBOX_REASON_SOCKETS] = { "sockets", "sockets of daemons" },
	[SANDBOX_REASON_NETWORK] = { "network", "the network is off" },
	[SANDBOX_REASON_KERNEL] = { "kernel", "a system call that no command needs" },
	[SANDBOX_REASON_LIMIT] = { "limit", "a limit was reached" },
};

const char *sandbox_reason_name(enum sandbox_reason reason)
{
	return (unsigned)reason < SANDBOX_REASON_COUNT ? reasons[reason].name : "unknown";
}

const char *sandbox_reason_text(enum sandbox_reason reason)
{
	return (unsigned)reason < SANDBOX_REASON_COUNT ? reasons[reason].text : "unknown";
}

#define SETTINGS(path, why) { path, SANDBOX_READ, SANDBOX_REASON_SETTINGS, NAME_ABSENT, why }
#define GIT(path, why) { path, SANDBOX_READ, SANDBOX_REASON_GIT, NAME_ABSENT, why }

static const struct sandbox_name workspace[] = {
	/* agents: hooks, servers to start, commands that need no question */
	SETTINGS(".gemini", "Gemini CLI and hasp: settings, hooks, servers, extensions"),
	SETTINGS(".hasp", "hasp: settings"),
	SETTINGS(".agents", "agents: skills and settings that several of them read"),
	SETTINGS(".claude", "Claude Code: hooks, permissions, commands"),
	SETTINGS(".codex", "Codex: settings, servers"),
	SETTINGS(".mcp.json", "servers that agents start"),
	SETTINGS(".cursor", "Cursor: servers, hooks, rules"),
	SETTINGS(".windsurf", "Windsurf: servers, hooks, rules"),
	SETTINGS(".aider.conf.yml", "aider: commands for lint and test, run by themselves"),
	SETTINGS(".continue", "Continue: servers, settings"),
	SETTINGS(".continuerc.json", "Continue: settings"),
	SETTINGS(".roo", "Roo Code: servers, allowed commands"),
	SETTINGS(".cline", "Cline: hooks, settings"),
	SETTINGS(".kilocode", "Kilo Code: servers, settings"),
	SETTINGS(".kiro", "Kiro: hooks, servers"),
	SETTINGS(".amazonq", "Amazon Q: agents, servers"),
	SETTINGS(".opencode", "opencode: plugins, agents"),
	SETTINGS("opencode.json", "opencode: servers, permissions"),
	SETTINGS("opencode.jsonc", "opencode: servers, permissions"),
	SETTINGS(".crush.json", "Crush: servers, permissions"),
	SETTINGS("crush.json", "Crush: servers, permissions"),
	SETTINGS(".qwen", "Qwen Code: settings, servers"),
	SETTINGS(".junie", "Junie: servers, settings"),
	SETTINGS(".augment", "Augment: settings, servers"),
	SETTINGS(".factory", "Factory: hooks, servers"),
	SETTINGS(".trae", "Trae: servers, settings"),
	SETTINGS(".github/hooks", "Copilot: commands run at the events of a session"),
	/* editors: tasks that run when a folder is opened, paths of programs to start */
	SETTINGS(".vscode", "VS Code: tasks on opening, paths of programs"),
	SETTINGS(".vs", "Visual Studio: tasks, paths of programs"),
	SETTINGS(".idea", "JetBrains: run configurations, tools, watchers"),
	SETTINGS(".run", "JetBrains: run configurations"),
	SETTINGS(".fleet", "Fleet: run configurations, settings"),
	SETTINGS(".zed", "Zed: tasks, paths of language servers"),
	SETTINGS(".devcontainer", "dev containers: initializeCommand runs outside of them"),
	SETTINGS(".devcontainer.json", "dev containers: initializeCommand runs outside of them"),
	SETTINGS(".exrc", "vi and Vim with 'exrc': commands run at the start"),
	SETTINGS(".vimrc", "Vim with 'exrc': commands run at the start"),
	SETTINGS(".nvimrc", "Neovim with 'exrc': commands run at the start"),
	SETTINGS(".nvim.lua", "Neovim with 'exrc': commands run at the start"),
	SETTINGS(".dir-locals.el", "Emacs: evaluated when a file is opened"),
	/* shells: what entering the folder runs */
	SETTINGS(".envrc", "direnv: run when the folder is entered"),
	SETTINGS(".mise.toml", "mise: hooks and scripts run when the folder is entered"),
	SETTINGS("mise.toml", "mise: hooks and scripts run when the folder is entered"),
	/* hooks that live in the tree */
	GIT(".husky", "husky: git runs it at the next commit"),
	GIT(".githooks", "the usual place of core.hooksPath"),
	/* other version control; a repository in .git is in the next table */
	GIT(".hg/hgrc", "Mercurial: hooks, extensions, aliases"),
	GIT(".hg/hgrc-not-shared", "Mercurial: hooks, extensions, aliases"),
	GIT(".hg/sharedpath", "Mercurial: where another repository's hooks would come from"),
	GIT(".jj/repo/config.toml", "Jujutsu: programs it starts"),
	GIT(".jj/workspace-config.toml", "Jujutsu: programs it starts"),
};

static const struct sandbox_name git[] = {
	GIT("config", "programs that git starts: fsmonitor, pager, filters, ssh command, aliases"),
	GIT("config.worktree", "read beside config"),
	GIT("hooks", "programs that git starts"),
	GIT("info/attributes", "which filters and drivers run on which files"),
	GIT("commondir", "makes git read another folder's config and hooks"),
};

static const struct sandbox_name git_worktree[] = {
	GIT("commondir", "which repository's config and hooks are read"),
	GIT("gitdir", "which folder git takes for this worktree's"),
	GIT("config.worktree", "read beside config"),
};

#define KEYS(path, why) { path, SANDBOX_HIDDEN, SANDBOX_REASON_CREDENTIALS, NAME_ABSENT, why }
#define OWN(path, why) { path, SANDBOX_HIDDEN, SANDBOX_REASON_OWN_SECRETS, NAME_ABSENT, why }
#define OPEN(path, why) { path, SANDBOX_READ, SANDBOX_REASON_OWN_SECRETS, NAME_ABSENT, why }
#define STARTUP(path, why)                              \
	{ path, SANDBOX_READ, SANDBOX_REASON_SETTINGS,  \
	  NAME_ABSENT | NAME_IN_WRITABLE_HOME, why }

/* Rows that share their first folder stand together: where it is missing it is looked for once. */
static const struct sandbox_name home[] = {
	KEYS(".ssh", "SSH keys and who may come in"),
	KEYS(".gnupg", "GnuPG keys"),
	KEYS(".pki", "certificates and keys of browsers"),
	KEYS(".password-store", "pass"),
	KEYS(".netrc", "passwords of hosts"),
	KEYS("_netrc", "passwords of hosts"),
	KEYS(".authinfo", "passwords of hosts"),
	KEYS(".authinfo.gpg", "passwords of hosts"),
	KEYS(".git-credentials", "passwords of git remotes"),
	KEYS(".Xauthority", "access to the display"),
	KEYS(".ICEauthority", "access to the desktop session"),
	KEYS(".pgpass", "passwords of PostgreSQL"),
	KEYS(".my.cnf", "passwords of MySQL"),
	KEYS(".mylogin.cnf", "passwords of MySQL"),
	KEYS(".vnc", "passwords of VNC"),
	/* clouds and clusters */
	KEYS(".aws", "Amazon Web Services"),
	KEYS(".azure", "Azure"),
	KEYS(".kube", "Kubernetes"),
	KEYS(".minikube", "Kubernetes"),
	KEYS(".docker/config.json", "passwords of container registries"),
	KEYS(".boto", "Google Cloud Storage"),
	KEYS(".s3cfg", "S3"),
	KEYS(".oci", "Oracle Cloud"),
	KEYS(".bluemix", "IBM Cloud"),
	KEYS(".aliyun", "Alibaba Cloud"),
	KEYS(".fly", "Fly.io"),
	KEYS(".heroku", "Heroku"),
	KEYS(".cloudflared", "Cloudflare tunnels"),
	KEYS(".wrangler", "Cloudflare Workers"),
	KEYS(".tsh", "Teleport"),
	KEYS(".step", "step certificates"),
	KEYS(".vault-token", "HashiCorp Vault"),
	KEYS(".terraformrc", "Terraform"),
	KEYS(".terraform.d/credentials.tfrc.json", "Terraform"),
	KEYS(".pulumi/credentials.json", "Pulumi"),
	KEYS(".databrickscfg", "Databricks"),
	KEYS(".snowflake", "Snowflake"),
	KEYS(".snowsql", "Snowflake"),
	KEYS(".dbt/profiles.yml", "passwords of databases"),
	KEYS(".kaggle", "Kaggle"),
	KEYS(".huggingface/token", "Hugging Face"),
	KEYS(".sentryclirc", "Sentry"),
	KEYS(".circleci", "CircleCI"),
	KEYS(".chef", "Chef"),
	/* package managers: what publishes */
	KEYS(".npmrc", "npm"),
	KEYS(".yarnrc.yml", "Yarn"),
	KEYS(".pypirc", "PyPI"),
	KEYS(".pip/pip.conf", "passwords of package indexes"),
	KEYS(".cargo/credentials", "Cargo"),
	KEYS(".cargo/credentials.toml", "Cargo"),
	KEYS(".gem/credentials", "RubyGems"),
	KEYS(".bundle/config", "passwords of gem servers"),
	KEYS(".m2/settings.xml", "Maven servers"),
	KEYS(".m2/settings-security.xml", "Maven servers"),
	KEYS(".gradle/gradle.properties", "Gradle's signing keys and servers"),
	KEYS(".ivy2/.credentials", "Ivy servers"),
	KEYS(".sbt/.credentials", "sbt servers"),
	KEYS(".nuget/NuGet/NuGet.Config", "NuGet"),
	KEYS(".composer/auth.json", "Composer"),
	KEYS(".hex/hex.config", "Hex"),
	/* beneath .config */
	KEYS(".config/gcloud", "Google Cloud"),
	KEYS(".config/git/credentials", "passwords of git remotes"),
	KEYS(".config/gh", "GitHub"),
	KEYS(".config/hub", "GitHub"),
	KEYS(".config/glab-cli", "GitLab"),
	KEYS(".config/tea", "Gitea"),
	KEYS(".config/github-copilot", "GitHub Copilot"),
	KEYS(".config/op", "1Password"),
	KEYS(".config/1Password", "1Password"),
	KEYS(".config/Bitwarden", "Bitwarden"),
	KEYS(".config/Bitwarden CLI", "Bitwarden"),
	KEYS(".config/keepassxc", "KeePassXC"),
	KEYS(".config/rclone", "rclone"),
	KEYS(".config/sops", "sops keys"),
	KEYS(".config/age", "age keys"),
	KEYS(".config/doctl", "DigitalOcean"),
	KEYS(".config/hcloud", "Hetzner"),
	KEYS(".config/linode-cli", "Linode"),
	KEYS(".config/scw", "Scaleway"),
	KEYS(".config/netlify", "Netlify"),
	KEYS(".config/stripe", "Stripe"),
	KEYS(".config/ngrok", "ngrok"),
	KEYS(".config/configstore", "tokens of programs from npm"),
	KEYS(".config/containers/auth.json", "passwords of container registries"),
	KEYS(".config/pip/pip.conf", "passwords of package indexes"),
	KEYS(".config/composer/auth.json", "Composer"),
	KEYS(".config/NuGet", "NuGet"),
	KEYS(".config/solana", "Solana keys"),
	KEYS(".config/anthropic", "Anthropic"),
	KEYS(".config/openai", "OpenAI"),
	KEYS(".config/pulse/cookie", "access to the sound server"),
	KEYS(".config/google-chrome", "a browser's cookies and passwords"),
	KEYS(".config/google-chrome-beta", "a browser's cookies and passwords"),
	KEYS(".config/chromium", "a browser's cookies and passwords"),
	KEYS(".config/BraveSoftware", "a browser's cookies and passwords"),
	KEYS(".config/microsoft-edge", "a browser's cookies and passwords"),
	KEYS(".config/vivaldi", "a browser's cookies and passwords"),
	KEYS(".config/opera", "a browser's cookies and passwords"),
	KEYS(".config/Slack", "Slack"),
	KEYS(".config/discord", "Discord"),
	KEYS(".config/Signal", "Signal"),
	/* elsewhere */
	KEYS(".mozilla", "a browser's cookies and passwords"),
	KEYS(".thunderbird", "mail passwords"),
	KEYS("snap/firefox", "a browser's cookies and passwords"),
	KEYS("snap/chromium", "a browser's cookies and passwords"),
	KEYS(".var/app/org.mozilla.firefox", "a browser's cookies and passwords"),
	KEYS(".var/app/com.google.Chrome", "a browser's cookies and passwords"),
	KEYS(".local/share/keyrings", "the desktop's keyring"),
	KEYS(".local/share/kwalletd", "the desktop's keyring"),
	KEYS(".local/share/opencode/auth.json", "opencode"),
	KEYS(".local/share/fish/fish_history", "a shell's history"),
	KEYS(".local/share/containers/auth.json", "passwords of container registries"),
	KEYS(".cache/huggingface/token", "Hugging Face"),
	KEYS(".bitcoin", "keys of a wallet"),
	KEYS(".ethereum", "keys of a wallet"),
	KEYS(".electrum", "keys of a wallet"),
	KEYS(".msmtprc", "mail passwords"),
	KEYS(".mbsyncrc", "mail passwords"),
	/* histories: passwords get typed into them */
	KEYS(".bash_history", "a shell's history"),
	KEYS(".zsh_history", "a shell's history"),
	KEYS(".history", "a shell's history"),
	KEYS(".python_history", "a shell's history"),
	KEYS(".node_repl_history", "a shell's history"),
	KEYS(".psql_history", "a shell's history"),
	KEYS(".mysql_history", "a shell's history"),
	KEYS(".rediscli_history", "a shell's history"),
	/* other agents */
	KEYS(".claude.json", "Claude Code's account and servers"),
	KEYS(".claude/.credentials.json", "Claude Code's account"),
	KEYS(".codex/auth.json", "Codex's account"),
	KEYS(".qwen/oauth_creds.json", "Qwen Code's account"),
	KEYS(".copilot", "Copilot's account and sessions"),
	KEYS(".cursor/mcp.json", "tokens of servers"),
	/* what runs by itself at the next login, prompt or start */
	STARTUP(".bashrc", "run by every shell"),
	STARTUP(".bash_profile", "run at login"),
	STARTUP(".bash_login", "run at login"),
	STARTUP(".bash_logout", "run at logout"),
	STARTUP(".bash_aliases", "run by every shell"),
	STARTUP(".profile", "run at login"),
	STARTUP(".zshrc", "run by every shell"),
	STARTUP(".zshenv", "run by every shell"),
	STARTUP(".zprofile", "run at login"),
	STARTUP(".zlogin", "run at login"),
	STARTUP(".zlogout", "run at logout"),
	STARTUP(".inputrc", "what keys do in a shell"),
	STARTUP(".gitconfig", "programs that git starts"),
	STARTUP(".config/git", "programs that git starts"),
	STARTUP(".config/fish", "run by every shell"),
	STARTUP(".config/autostart", "run at login"),
	STARTUP(".config/systemd", "run at login"),
	STARTUP(".config/environment.d", "the environment of all programs"),
	STARTUP(".config/nvim", "run by the editor"),
	STARTUP(".local/share/systemd", "run at login"),
	STARTUP(".local/bin", "programs on the search path"),
	STARTUP("bin", "programs on the search path"),
	STARTUP(".cargo/bin", "programs on the search path"),
	STARTUP(".cargo/env", "run at login"),
	STARTUP(".hgrc", "programs that Mercurial starts"),
	STARTUP(".vim", "run by the editor"),
	STARTUP(".emacs", "run by the editor"),
	STARTUP(".emacs.d", "run by the editor"),
	STARTUP(".tmux.conf", "run by tmux"),
	STARTUP(".xinitrc", "run at login"),
	STARTUP(".xsession", "run at login"),
	STARTUP(".xprofile", "run at login"),
	STARTUP(".pam_environment", "the environment of all programs"),
};

/* All but what is meant to be read.  The hidden rows after the first matter where --read or a
 * workspace root opens that. */
static const struct sandbox_name own[] = {
	OWN(".gemini", "accounts, tokens, sessions, policies"),
	OWN(".gemini/oauth_creds.json", "the account's token"),
	OWN(".gemini/gemini-credentials.json", "tokens"),
	OWN(".gemini/google_accounts.json", "accounts"),
	OWN(".gemini/mcp-oauth-tokens.json", "tokens of servers"),
	OWN(".gemini/mcp-oauth-tokens-v2.json", "tokens of servers"),
	OWN(".gemini/a2a-oauth-tokens.json", "tokens of agents"),
	OWN(".gemini/.env", "keys"),
	OWN(".gemini/settings.json", "keys of servers"),
	OWN(".gemini/tmp", "sessions, journals"),
	OWN(".gemini/history", "copies of files"),
	OPEN(".gemini/GEMINI.md", "instructions, meant to be read"),
	OPEN(".gemini/commands", "prompts, meant to be read"),
	OPEN(".gemini/skills", "skills, meant to be read"),
	OPEN(".gemini/agents", "agents, meant to be read"),
	OPEN(".gemini/extensions", "programs that extensions bring"),
	OWN(".gemini/extensions/*/.env", "keys of an extension"),
};

#define SYSTEM_KEYS(path, why) { path, SANDBOX_HIDDEN, SANDBOX_REASON_CREDENTIALS, 0, why }
#define SOCKETS(path, why) { path, SANDBOX_HIDDEN, SANDBOX_REASON_SOCKETS, 0, why }
#define RESOLVER(path, why) \
	{ path, SANDBOX_HIDDEN, SANDBOX_REASON_SOCKETS, NAME_NETWORK_OFF, why }

/* Those that the user cannot read anyway are left out of a plan. */
static const struct sandbox_name system_names[] = {
	SYSTEM_KEYS("etc/shadow", "passwords of users"),
	SYSTEM_KEYS("etc/shadow-", "passwords of users"),
	SYSTEM_KEYS("etc/gshadow", "passwords of groups"),
	SYSTEM_KEYS("etc/gshadow-", "passwords of groups"),
	SYSTEM_KEYS("etc/sudoers", "who may become root"),
	SYSTEM_KEYS("etc/sudoers.d", "who may become root"),
	SYSTEM_KEYS("etc/ssh/ssh_host_*_key", "the machine's SSH keys"),
	SYSTEM_KEYS("etc/ssl/private", "the machine's keys"),
	SYSTEM_KEYS("etc/krb5.keytab", "the machine's keys"),
	SYSTEM_KEYS("etc/wireguard", "keys of tunnels"),
	SYSTEM_KEYS("etc/openvpn", "keys of tunnels"),
	SYSTEM_KEYS("etc/NetworkManager/system-connections", "passwords of networks"),
	SYSTEM_KEYS("etc/kubernetes", "keys of a cluster"),
	SYSTEM_KEYS("etc/rancher", "keys of a cluster"),
	SYSTEM_KEYS("etc/docker/key.json", "the daemon's key"),
	SYSTEM_KEYS("var/lib/sss/db", "cached passwords"),
	SYSTEM_KEYS("var/lib/sss/secrets", "cached passwords"),
	SYSTEM_KEYS("var/run/secrets", "secrets of a container"),
	SOCKETS("var/lib/lxd", "LXD: root on this machine"),
	SOCKETS("var/lib/incus", "Incus: root on this machine"),
	SOCKETS("var/snap/lxd/common/lxd", "LXD: root on this machine"),
	SYSTEM_KEYS("run/secrets", "secrets of a container"),
	SYSTEM_KEYS("run/credentials", "secrets of services"),
	SOCKETS("run/user", "session bus, agents for keys, display, sound"),
	SOCKETS("run/dbus", "system bus"),
	SOCKETS("run/systemd/private", "the service manager"),
	SOCKETS("run/docker.sock", "Docker: root on this machine"),
	SOCKETS("run/docker", "Docker: root on this machine"),
	SOCKETS("run/containerd", "containerd: root on this machine"),
	SOCKETS("run/crio", "CRI-O: root on this machine"),
	SOCKETS("run/podman", "Podman: root on this machine"),
	SOCKETS("run/buildkit", "BuildKit: root on this machine"),
	SOCKETS("run/libvirt", "virtual machines"),
	SOCKETS("run/lxd.socket", "LXD: root on this machine"),
	SOCKETS("run/incus", "Incus: root on this machine"),
	SOCKETS("run/snapd.socket", "packages of the machine"),
	SOCKETS("run/snapd-snap.socket", "packages of the machine"),
	SOCKETS("run/cups", "printers"),
	SOCKETS("run/WSL", "programs of Windows"),
	RESOLVER("run/nscd", "asks name servers on a program's behalf"),
	RESOLVER("run/avahi-daemon", "asks the local network for names"),
	RESOLVER("run/systemd/resolve/io.systemd.Resolve", "asks name servers"),
	RESOLVER("run/systemd/resolve/io.systemd.Resolve.Monitor", "tells what names were asked"),
	SOCKETS("mnt/wslg", "display, sound and files of Windows"),
	SOCKETS("tmp/.X11-unix", "display"),
	SOCKETS("tmp/.ICE-unix", "desktop session"),
};

#define DEVICE(path, why) { path, SANDBOX_WRITE, SANDBOX_REASON_DEVICE, 0, why }

static const struct sandbox_name devices[] = {
	DEVICE("dev/null", "swallows all"),
	DEVICE("dev/zero", "zeros"),
	DEVICE("dev/full", "a full disk, for tests"),
	DEVICE("dev/random", "random bytes"),
	DEVICE("dev/urandom", "random bytes"),
	DEVICE("dev/tty", "the command's own terminal"),
	DEVICE("dev/ptmx", "new terminals"),
	DEVICE("dev/pts", "terminals"),
	DEVICE("dev/shm", "shared memory"),
};

static const struct sandbox_name macos[] = {
	KEYS("Library/Keychains", "the keychain"),
	KEYS("Library/Cookies", "cookies"),
	KEYS("Library/Safari", "a browser's cookies and passwords"),
	KEYS("Library/Containers/com.apple.Safari", "a browser's cookies and passwords"),
	KEYS("Library/Application Support/Google/Chrome", "a browser's cookies and passwords"),
	KEYS("Library/Application Support/Firefox", "a browser's cookies and passwords"),
	KEYS("Library/Application Support/BraveSoftware", "a browser's cookies and passwords"),
	KEYS("Library/Application Support/Microsoft Edge", "a browser's cookies and passwords"),
	KEYS("Library/Application Support/com.apple.TCC", "what programs may do"),
	KEYS("Library/Mail", "mail"),
	KEYS("Library/Messages", "messages"),
};

static const struct sandbox_variable variables[] = {
	{ "GNUPGHOME", "", 0 },
	{ "PASSWORD_STORE_DIR", "", 0 },
	{ "NETRC", "", 0 },
	{ "PGPASSFILE", "", 0 },
	{ "XAUTHORITY", "", 0 },
	{ "ICEAUTHORITY", "", 0 },
	{ "AWS_SHARED_CREDENTIALS_FILE", "", 0 },
	{ "AWS_CONFIG_FILE", "", 0 },
	{ "AWS_WEB_IDENTITY_TOKEN_FILE", "", 0 },
	{ "AZURE_CONFIG_DIR", "", 0 },
	{ "CLOUDSDK_CONFIG", "", 0 },
	{ "GOOGLE_APPLICATION_CREDENTIALS", "", 0 },
	{ "BOTO_CONFIG", "", 0 },
	{ "KUBECONFIG", "", ':' },
	{ "DOCKER_CONFIG", "config.json", 0 },
	{ "REGISTRY_AUTH_FILE", "", 0 },
	{ "GH_CONFIG_DIR", "", 0 },
	{ "GLAB_CONFIG_DIR", "", 0 },
	{ "NPM_CONFIG_USERCONFIG", "", 0 },
	{ "PIP_CONFIG_FILE", "", 0 },
	{ "CARGO_HOME", "credentials", 0 },
	{ "CARGO_HOME", "credentials.toml", 0 },
	{ "GRADLE_USER_HOME", "gradle.properties", 0 },
	{ "SOPS_AGE_KEY_FILE", "", 0 },
	{ "HISTFILE", "", 0 },
};

struct sandbox_names names_workspace(void)
{
	return TABLE(workspace);
}

struct sandbox_names names_git(void)
{
	return TABLE(git);
}

struct sandbox_names names_git_worktree(void)
{
	return TABLE(git_worktree);
}

struct sandbox_names names_home(void)
{
	return TABLE(home);
}

struct sandbox_names names_own(void)
{
	return TABLE(own);
}

struct sandbox_names names_system(void)
{
	return TABLE(system_names);
}

struct sandbox_names names_devices(void)
{
	return TABLE(devices);
}

struct sandbox_names names_macos(void)
{
	return TABLE(macos);
}

const struct sandbox_variable *names_variables(size_t *ret_count)
{
	*ret_count = ARRAY_LEN(variables);
	return variables;
}
