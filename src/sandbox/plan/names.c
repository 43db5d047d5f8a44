/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of names.h, and the words for reasons. */
#include "sandbox/plan/names.h"

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
	[SANDBOX_REASON_DEVICE] = { "device", "a device: commands get the harmless ones" },
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

#define GIT(path, why, source) \
	{ path, SANDBOX_READ, SANDBOX_REASON_GIT, NAME_ABSENT, why, "version control", source }

static const struct sandbox_name git[] = {
	GIT("config", "programs that git starts: fsmonitor, pager, filters, ssh command, aliases",
	    "git-config(1)"),
	GIT("config.worktree", "read beside config",
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
	GIT("config.worktree", "read beside config",
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
	RESOLVER("run/systemd/resolve/io.systemd.Resolve.Monitor", "tells what names were asked",
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
