/* SPDX-License-Identifier: Apache-2.0 */
/* What of the machine's files a process inside a plan of level full sees and can change. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "den.h"
#include "sandbox/apply/steps.h"
#include "sandbox/apply/temp.h"

/* Everybody who is to be held: a worker for files and one for a command, of root and of
 * another. */
static const struct {
	enum sandbox_use use;
	uid_t uid;
} everybody[] = {
	{ SANDBOX_USE_FILES, 0 }, { SANDBOX_USE_FILES, DEN_NOBODY },
	{ SANDBOX_USE_COMMAND, 0 }, { SANDBOX_USE_COMMAND, DEN_NOBODY },
};

/* ---- probes ------------------------------------------------------------------------------ */

static int make_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	return fd < 0 ? -1 : close(fd);
}

/* Everything that changes something, tried on a file and the folder that it is in. */
static void probe_change(char **args)
{
	const struct timespec times[2] = { 0 };
	char file[512], fresh[512], other[512];

	snprintf(file, sizeof(file), "%s/file", args[0]);
	snprintf(fresh, sizeof(fresh), "%s/fresh", args[0]);
	snprintf(other, sizeof(other), "%s/other", args[0]);
	say("open", open(file, O_WRONLY | O_CLOEXEC));
	say("truncate", truncate(file, 0));
	say("chmod", chmod(file, 0600));
	say("chown", chown(file, geteuid(), getegid()));
	say("utimens", utimensat(AT_FDCWD, file, times, 0));
	say("setxattr", setxattr(file, "user.x", "1", 1, 0));
	say("create", make_file(fresh));
	say("mkdir", mkdir(other, 0755));
	say("symlink", symlink("x", fresh));
	say("link", link(file, fresh));
	say("rename", rename(file, fresh));
	say("unlink", unlink(file));
	say("rmdir", rmdir(args[0]));
}

#define ALL_READ_ONLY                                                                     \
	"open: EROFS\ntruncate: EROFS\nchmod: EROFS\nchown: EROFS\nutimens: EROFS\n"      \
	"setxattr: EROFS\ncreate: EROFS\nmkdir: EROFS\nsymlink: EROFS\nlink: EROFS\n"     \
	"rename: EROFS\nunlink: EROFS\n"

static void probe_make(char **args)
{
	for (; *args; args++)
		say(strrchr(*args, '/') + 1, make_file(*args));
}

static void probe_read(char **args)
{
	for (; *args; args++) {
		char text[64] = "";
		int fd = open(*args, O_RDONLY | O_CLOEXEC);

		if (fd >= 0 && read(fd, text, sizeof(text) - 1) >= 0)
			printf("%s: \"%s\"\n", strrchr(*args, '/') + 1, text);
		else
			say(strrchr(*args, '/') + 1, -1);
		if (fd >= 0)
			close(fd);
	}
}

/* The names in folders, in order. */
static void probe_list(char **args)
{
	for (; *args; args++) {
		struct dirent **names;
		int count = scandir(*args, &names, NULL, alphasort);

		if (count < 0)
			say("list", -1);
		for (int i = 0; i < count; i++) {
			if (names[i]->d_name[0] != '.')
				printf("%s ", names[i]->d_name);
		}
		printf("\n");
	}
}

static void probe_rename(char **args)
{
	say("rename", rename(args[0], args[1]));
}

static void probe_mounting(char **args)
{
	struct mount_attr clear = { .attr_clr = MOUNT_ATTR_RDONLY };

	say("umount", umount2(args[0], 0));
	say("detach", umount2(args[0], MNT_DETACH));
	say("mount", mount("none", args[0], "tmpfs", 0, NULL));
	say("bind", mount("/", args[0], NULL, MS_BIND, NULL));
	say("remount", mount(NULL, args[0], NULL, MS_REMOUNT | MS_BIND, NULL));
	say("setattr", mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &clear, sizeof(clear)));
	say("open_tree", open_tree(AT_FDCWD, "/", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC));
	say("fsopen", fsopen("tmpfs", 0));
	say("pivot_root", syscall(SYS_pivot_root, ".", "."));
	say("chroot", chroot("."));
}

/* What git does when it commits: a lock beside the file, renamed over it. */
static void probe_git(char **args)
{
	char lock[512], head[512];

	snprintf(lock, sizeof(lock), "%s/HEAD.lock", args[0]);
	snprintf(head, sizeof(head), "%s/HEAD", args[0]);
	say("lock", make_file(lock));
	say("commit", rename(lock, head));
	snprintf(lock, sizeof(lock), "%s/config.lock", args[0]);
	snprintf(head, sizeof(head), "%s/config", args[0]);
	say("config lock", make_file(lock));
	say("config", rename(lock, head));
	unlink(lock);
}

static void probe_devices(char **args)
{
	char dev[] = "/dev", *where[] = { dev, NULL }, text[8];
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC), pty, zero;

	(void)args;
	probe_list(where);
	say("null", write(fd, "x", 1));
	zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	say("zero", read(zero, text, sizeof(text)));
	say("urandom", open("/dev/urandom", O_RDONLY | O_CLOEXEC));
	pty = posix_openpt(O_RDWR | O_NOCTTY);
	say("openpt", pty);
	say("unlockpt", unlockpt(pty) == 0 ? 0 : -1);
	printf("%s\n", ptsname(pty) ? ptsname(pty) : "none");
	say("terminal", open(ptsname(pty), O_RDWR | O_NOCTTY | O_CLOEXEC));
	say("shm", make_file("/dev/shm/x"));
	say("dev", make_file("/dev/x"));
	say("mknod", mknod("/dev/shm/null", S_IFCHR | 0666, 0x103));
}

static void probe_path(char **args)
{
	char path[512];

	(void)args;
	puts(getcwd(path, sizeof(path)) ? path : "none");
	say("here", open("here", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
}

static const struct den_probe probes[] = {
	{ "change", probe_change }, { "make", probe_make },         { "read", probe_read },
	{ "list", probe_list },     { "rename", probe_rename },     { "mounting", probe_mounting },
	{ "git", probe_git },       { "devices", probe_devices },   { "path", probe_path },
	{ 0 }
};

/* ---- tests ------------------------------------------------------------------------------- */

static void nothing_outside_can_be_changed(void **state)
{
	struct den den;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(everybody); i++) {
		char *before, *after;

		den_init(&den, everybody[i].use, everybody[i].uid);
		den_make(&den, "outside/file");
		before = den_tree(&den);
		den_expect(&den, ALL_READ_ONLY "rmdir: EROFS\n", "change", "./outside", NULL);
		after = den_tree(&den);
		assert_string_equal(after, before);
		free(before);
		free(after);
		den_release(&den);
	}
}

static void a_root_can_be_changed_in_every_way(void **state)
{
	struct den den;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(everybody); i++) {
		den_init(&den, everybody[i].use, everybody[i].uid);
		den_make(&den, "ws/d/file");
		den_expect(&den,
		           "open: ok\ntruncate: ok\nchmod: ok\nchown: ok\nutimens: ok\nsetxattr: ok\n"
		           "create: ok\nmkdir: ok\nsymlink: EEXIST\nlink: EEXIST\nrename: ok\n"
		           "unlink: ENOENT\nrmdir: ENOTEMPTY\n",
		           "change", "./ws/d", NULL);
		den_release(&den);
	}
}

static void it_begins_in_the_first_root(void **state)
{
	struct den den;
	char line[256];

	(void)state;
	den_init(&den, SANDBOX_USE_COMMAND, DEN_NOBODY);
	snprintf(line, sizeof(line), "%s/ws\nhere: ok\n", den.base);
	den_expect(&den, line, "path", NULL);
	den_release(&den);
}

static void protected_paths_in_a_root_stay_as_they_are(void **state)
{
	struct den den;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(everybody); i++) {
		den_init(&den, everybody[i].use, everybody[i].uid);
		den_make(&den, "ws/.git/config");
		den_make(&den, "ws/.git/hooks/file");
		den_rule(&den, "ws/.git", SANDBOX_WRITE, SANDBOX_REASON_GIT);
		den_rule(&den, "ws/.git/config", SANDBOX_READ, SANDBOX_REASON_GIT);
		den_rule(&den, "ws/.git/hooks", SANDBOX_READ, SANDBOX_REASON_GIT);
		den_expect(&den, ALL_READ_ONLY "rmdir: EBUSY\n", "change", "./ws/.git/hooks", NULL);
		den_expect(&den, "config: EROFS\nx: ok\n", "make", "./ws/.git/config", "./ws/x", NULL);
		den_expect(&den, "lock: ok\ncommit: ok\nconfig lock: ok\nconfig: EBUSY\n", "git",
		           "./ws/.git", NULL);
		den_expect(&den, "rename: EBUSY\n", "rename", "./ws/.git", "./ws/.git2", NULL);
		den_expect(&den, "rename: EBUSY\n", "rename", "./ws/.git/hooks", "./ws/.git/h", NULL);
		den_release(&den);
	}
}

static void what_is_hidden_cannot_be_read(void **state)
{
	struct den den;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(everybody); i++) {
		/* A worker for files of root may read what it likes of the empty cover. */
		bool all = everybody[i].use == SANDBOX_USE_FILES && everybody[i].uid == 0;

		den_init(&den, everybody[i].use, everybody[i].uid);
		den_make(&den, "outside/keys/secret");
		den_make(&den, "ws/token");
		den_make(&den, "ws/private/secret");
		den_rule(&den, "outside/keys", SANDBOX_HIDDEN, SANDBOX_REASON_CREDENTIALS);
		den_rule(&den, "ws/token", SANDBOX_HIDDEN, SANDBOX_REASON_OPTION);
		den_rule(&den, "ws/private", SANDBOX_HIDDEN, SANDBOX_REASON_OPTION);
		den_expect(&den,
		           all ? "token: \"\"\nsecret: ENOENT\nsecret: ENOENT\n"
		               : "token: EACCES\nsecret: EACCES\nsecret: EACCES\n",
		           "read", "./ws/token", "./outside/keys/secret", "./ws/private/secret", NULL);
		den_expect(&den, all ? "\n\n" : "list: EACCES\n\nlist: EACCES\n\n", "list",
		           "./outside/keys", "./ws/private", NULL);
		den_expect(&den, "rename: EBUSY\n", "rename", "./ws/token", "./ws/t", NULL);
		den_release(&den);
	}
}

static void exceptions_beneath_what_is_hidden_are_seen(void **state)
{
	struct den den;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(everybody); i++) {
		den_init(&den, everybody[i].use, everybody[i].uid);
		den_make(&den, "house/secret");
		den_make(&den, "house/a/b/seen");
		den_make(&den, "house/a/c/hidden");
		den_make(&den, "house/a/desk/file");
		den_rule(&den, "house", SANDBOX_HIDDEN, SANDBOX_REASON_OPTION);
		den_rule(&den, "house/a/b/seen", SANDBOX_READ, SANDBOX_REASON_OPTION);
		den_rule(&den, "house/a/desk", SANDBOX_WRITE, SANDBOX_REASON_OPTION);
		den_expect(&den, "seen: \"house/a/b/seen\"\nsecret: ENOENT\nhidden: ENOENT\n", "read",
		           "./house/a/b/seen", "./house/secret", "./house/a/c/hidden", NULL);
		den_expect(&den, "x: ok\nseen: EROFS\nx: EROFS\n", "make", "./house/a/desk/x",
		           "./house/a/b/seen", "./house/a/x", NULL);
		den_release(&den);
	}
}

static void a_folder_is_not_taken_for_another_with_a_longer_name(void **state)
{
	struct den den;

	(void)state;
	den_init(&den, SANDBOX_USE_FILES, 0);
	den_make(&den, "ws-other/file");
	den_make(&den, "ws/sub/file");
	den_rule(&den, "ws/sub", SANDBOX_READ, SANDBOX_REASON_OPTION);
	den_rule(&den, "ws-other", SANDBOX_HIDDEN, SANDBOX_REASON_OPTION);
	den_expect(&den, "x: EROFS\ny: ok\nz: EROFS\n", "make", "./ws/sub/x", "./ws/y", "./ws-other/z",
	           NULL);
	den_release(&den);
}

static void mounts_cannot_be_undone(void **state)
{
	struct den den;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(everybody); i++) {
		den_init(&den, everybody[i].use, everybody[i].uid);
		den_make(&den, "ws/kept/file");
		den_rule(&den, "ws/kept", SANDBOX_READ, SANDBOX_REASON_SETTINGS);
		den_expect(&den,
		           "umount: EPERM\ndetach: EPERM\nmount: EPERM\nbind: EPERM\nremount: EPERM\n"
		           "setattr: EPERM\nopen_tree: EPERM\nfsopen: EPERM\npivot_root: EPERM\n"
		           "chroot: EPERM\n",
		           "mounting", "./ws/kept", NULL);
		den_release(&den);
	}
}

/* In a mount namespace of the test's own: a file system on a folder of the root, another beside the
 * root. */
static void mounts_in_a_root_are_part_of_it(void **state)
{
	struct den den;
	int status;
	pid_t pid;

	(void)state;
	den_init(&den, SANDBOX_USE_COMMAND, 0);
	den_make(&den, "ws/nested/");
	den_make(&den, "outside/nested/");
	pid = fork();
	if (pid == 0) {
		assert_int_equal(unshare(CLONE_NEWNS), 0);
		assert_int_equal(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
		assert_int_equal(mount("none", den_path(&den, "ws/nested"), "tmpfs", 0, NULL), 0);
		assert_int_equal(mount("none", den_path(&den, "outside/nested"), "tmpfs", 0, NULL), 0);
		den_make(&den, "ws/nested/there");
		den_expect(&den, "x: ok\nx: EROFS\n", "make", "./ws/nested/x", "./outside/nested/x", NULL);
		den_expect(&den, "there x \n", "list", "./ws/nested", NULL);
		den_rule(&den, "ws/nested", SANDBOX_READ, SANDBOX_REASON_OPTION);
		den_expect(&den, "y: EROFS\n", "make", "./ws/nested/y", NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	den_release(&den);
}

static void commands_have_devices_of_their_own(void **state)
{
	static const uid_t users[] = { 0, DEN_NOBODY };
	struct den den;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(users); i++) {
		den_init(&den, SANDBOX_USE_COMMAND, users[i]);
		den_expect(&den,
		           "fd full null ptmx pts random shm stderr stdin stdout tty urandom zero \n"
		           "null: ok\nzero: ok\nurandom: ok\nopenpt: ok\nunlockpt: ok\n/dev/pts/0\n"
		           "terminal: ok\nshm: ok\ndev: EROFS\nmknod: EACCES\n",
		           "devices", NULL);
		assert_int_equal(access("/dev/shm/x", F_OK), -1);
		den_release(&den);
	}
}

static void tmp_is_the_session_s_folder(void **state)
{
	struct den den;
	char name[64];
	int fd;

	(void)state;
	den_init(&den, SANDBOX_USE_COMMAND, DEN_NOBODY);
	den_temp(&den);
	snprintf(name, sizeof(name), "/tmp/den-other-%d", (int)getpid());
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0644);
	assert_true(fd >= 0);
	close(fd);
	assert_string_equal(sandbox_temp_seen(&den.plan), "/tmp");
	den_expect(&den, "mine: ok\n", "make", "/tmp/mine", NULL);
	den_expect(&den, "mine \n", "list", "/tmp", NULL);
	/* Both names of the same folder. */
	den_expect(&den, "mine \n", "list", "./temp", NULL);
	assert_int_equal(access(den_path(&den, "temp/mine"), F_OK), 0);
	assert_int_equal(access("/tmp/mine", F_OK), -1);
	unlink(name);
	den_release(&den);
}

/* A session's folder as it usually is. */
static void the_folder_s_own_name_in_tmp_leads_there(void **state)
{
	struct temp_folder *folder;
	struct err err = ERR_INIT;
	struct den den;
	char *file;

	(void)state;
	unsetenv("TMPDIR");
	assert_true(temp_folder_make(&folder, &err));
	den_init(&den, SANDBOX_USE_COMMAND, 0);
	den.plan.temp = mem_strdup(temp_folder_path(folder));
	den_rule(&den, den.plan.temp, SANDBOX_WRITE, SANDBOX_REASON_TEMP);
	file = mem_printf("%s/x", den.plan.temp);
	/* Twice: the second command finds what the first was given. */
	den_expect(&den, "x: ok\ny: ok\n", "make", file, "/tmp/y", NULL);
	den_expect(&den, "x: \"\"\nx: \"\"\n", "read", file, "/tmp/x", NULL);
	assert_int_equal(access(file, F_OK), 0);
	free(file);
	den_release(&den);
	temp_folder_free(folder);
}

static void a_workspace_beneath_tmp_is_there_too(void **state)
{
	struct den den;
	char *before, *after, command[256];

	(void)state;
	den_init_tmp(&den, SANDBOX_USE_COMMAND, DEN_NOBODY);
	den_temp(&den);
	den_make(&den, "ws/.git/config");
	den_make(&den, "ws/file");
	den_make(&den, "ws/secret");
	den_make(&den, "readable/file");
	den_make(&den, "hidden/file");
	den_rule(&den, "ws/.git", SANDBOX_WRITE, SANDBOX_REASON_GIT);
	den_rule(&den, "ws/.git/config", SANDBOX_READ, SANDBOX_REASON_GIT);
	den_rule(&den, "ws/secret", SANDBOX_HIDDEN, SANDBOX_REASON_OPTION);
	den_rule(&den, "readable/file", SANDBOX_READ, SANDBOX_REASON_OPTION);
	den_rule(&den, "hidden", SANDBOX_HIDDEN, SANDBOX_REASON_OPTION);
	before = den_tree(&den);
	den_expect(&den,
	           "file: \"ws/file\"\nconfig: \"ws/.git/config\"\nsecret: EACCES\n"
	           "file: \"readable/file\"\nfile: ENOENT\nfile: ENOENT\n",
	           "read", "./ws/file", "./ws/.git/config", "./ws/secret", "./readable/file",
	           "./hidden/file", "./outside/file", NULL);
	den_expect(&den, "file: ok\nconfig: EROFS\nfile: EROFS\n", "make", "./ws/file",
	           "./ws/.git/config", "./readable/file", NULL);
	after = den_tree(&den);
	/* Mount points are made in the session's folder, and nowhere else. */
	assert_string_not_equal(after, before);
	free(after);
	snprintf(command, sizeof(command), "rm -rf %s/temp/*", den.base);
	assert_int_equal(system(command), 0);
	after = den_tree(&den);
	assert_string_equal(after, before);
	free(before);
	free(after);
	den_release(&den);
}

static void a_command_cannot_lead_mount_points_astray(void **state)
{
	struct den den;
	char *name;

	(void)state;
	den_init_tmp(&den, SANDBOX_USE_COMMAND, 0);
	den_temp(&den);
	den_make(&den, "ws/file");
	/* What an earlier command left in /tmp: a symlink where the workspace's mount point has to be. */
	name = mem_printf("%s/%s", den_path(&den, "temp"), strrchr(den.base, '/') + 1);
	assert_int_equal(symlink(den_path(&den, "outside"), name), 0);
	den_expect(&den, "file: \"ws/file\"\n", "read", "./ws/file", NULL);
	assert_int_equal(access(den_path(&den, "outside/ws"), F_OK), -1);
	free(name);
	den_release(&den);
}

static void nothing_is_left_on_the_host(void **state)
{
	struct den den;
	char *before, *after;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(everybody); i++) {
		den_init(&den, everybody[i].use, everybody[i].uid);
		den_make(&den, "ws/.git/config");
		den_make(&den, "house/a/secret");
		den_make(&den, "house/a/b/seen");
		den_rule(&den, "ws/.git", SANDBOX_WRITE, SANDBOX_REASON_GIT);
		den_rule(&den, "ws/.git/config", SANDBOX_READ, SANDBOX_REASON_GIT);
		den_rule(&den, "house", SANDBOX_HIDDEN, SANDBOX_REASON_OPTION);
		den_rule(&den, "house/a/b", SANDBOX_READ, SANDBOX_REASON_OPTION);
		before = den_tree(&den);
		den_expect(&den, "config: EROFS\n", "make", "./ws/.git/config", NULL);
		after = den_tree(&den);
		assert_string_equal(after, before);
		free(before);
		free(after);
		den_release(&den);
	}
}

static void a_path_that_became_a_symlink_is_not_followed(void **state)
{
	struct den den;

	(void)state;
	den_init(&den, SANDBOX_USE_FILES, 0);
	den_make(&den, "outside/file");
	den_make(&den, "ws/sub/out/");
	den_rule(&den, "ws/sub/out", SANDBOX_WRITE, SANDBOX_REASON_OPTION);
	assert_int_equal(rename(den_path(&den, "ws/sub"), den_path(&den, "ws/was")), 0);
	assert_int_equal(symlink(den_path(&den, "outside"), den_path(&den, "ws/sub")), 0);
	assert_int_equal(mkdir(den_path(&den, "outside/out"), 0755), 0);
	den_run(&den, "make", "./outside/out/x", NULL);
	assert_int_equal(den.err.code, ERR_FILE_NOT_FOUND);
	assert_non_null(strstr(den.err.message, "ws/sub/out"));
	unlink(den_path(&den, "ws/sub"));
	den_run(&den, "make", "./outside/out/x", NULL);
	assert_int_equal(den.err.code, ERR_FILE_NOT_FOUND);
	den_release(&den);
}

/* Without a user namespace, as where they are forbidden and hasp is root. */
static void it_works_with_privileges_alone(void **state)
{
	static const enum sandbox_use uses[] = { SANDBOX_USE_FILES, SANDBOX_USE_COMMAND };
	struct den den;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(uses); i++) {
		den_init(&den, uses[i], 0);
		den.plan.user_namespace = false;
		den_make(&den, "ws/.git/config");
		den_make(&den, "ws/secret");
		den_make(&den, "outside/file");
		den_rule(&den, "ws/.git", SANDBOX_WRITE, SANDBOX_REASON_GIT);
		den_rule(&den, "ws/.git/config", SANDBOX_READ, SANDBOX_REASON_GIT);
		den_rule(&den, "ws/secret", SANDBOX_HIDDEN, SANDBOX_REASON_OPTION);
		den_expect(&den, "x: ok\nconfig: EROFS\nx: EROFS\n", "make", "./ws/x", "./ws/.git/config",
		           "./outside/x", NULL);
		den_expect(&den, ALL_READ_ONLY "rmdir: EROFS\n", "change", "./outside", NULL);
		den_expect(&den,
		           "umount: EPERM\ndetach: EPERM\nmount: EPERM\nbind: EPERM\nremount: EPERM\n"
		           "setattr: EPERM\nopen_tree: EPERM\nfsopen: EPERM\npivot_root: EPERM\n"
		           "chroot: EPERM\n",
		           "mounting", "./ws/.git", NULL);
		/* The machine's own mounts know nothing of it. */
		assert_int_equal(access(den_path(&den, "ws/secret"), R_OK), 0);
		assert_int_equal(system("! grep -q den- /proc/self/mountinfo"), 0);
		den_release(&den);
	}
}

/* A chroot whose root is no mount: there is nothing that could be made read-only, which is said. */
static void a_plain_chroot_is_refused_with_its_reason(void **state)
{
	struct den den;
	int status;
	pid_t pid;

	(void)state;
	den_init(&den, SANDBOX_USE_FILES, 0);
	den.program = open("/proc/self/exe", O_PATH | O_CLOEXEC);
	pid = fork();
	if (pid == 0) {
		const char *const argv[] = { "x", NULL };
		const int fds[] = { 0, 1, 2 };
		const struct sandbox_spawn spawn = { .plan = &den.plan, .program = den.program,
			.argv = argv, .envp = argv + 1, .fds = fds, .fd_count = 3 };
		struct sandbox_child child;

		den.plan.user_namespace = false;
		den.plan.landlock_abi = 0;
		if (chroot(den.base) != 0 || chdir("/") != 0)
			_exit(1);
		if (sandbox_spawn(&spawn, &child, &den.err) || den.err.code != ERR_DENIED_BY_SANDBOX)
			_exit(2);
		_exit(strstr(den.err.message, "private /") ? 0 : 3);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	den_release(&den);
}

/* A chroot that is a mount, as container runtimes make them. */
static void a_chroot_on_a_mount_works(void **state)
{
	struct den den;
	int status;
	pid_t pid;

	(void)state;
	den_init(&den, SANDBOX_USE_COMMAND, 0);
	den_make(&den, "root/");
	den.plan.user_namespace = false;
	pid = fork();
	if (pid == 0) {
		const char *root = den_path(&den, "root");

		if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    mount("/", root, NULL, MS_BIND | MS_REC, NULL) || chroot(root) || chdir("/"))
			_exit(1);
		den_expect(&den, "x: ok\nx: EROFS\n", "make", "./ws/x", "./outside/x", NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	den_release(&den);
}

/* This program again, inside the container. */
static int in_container(void)
{
	struct den den;

	den_init(&den, SANDBOX_USE_COMMAND, 0);
	den_expect(&den, "x: ok\nx: EROFS\n", "make", "./ws/x", "./outside/x", NULL);
	den_make(&den, "ws/secret");
	den_rule(&den, "ws/secret", SANDBOX_HIDDEN, SANDBOX_REASON_OPTION);
	den_run(&den, "read", "./ws/secret", NULL);
	assert_string_equal(den.output, "secret: EACCES\n");
	den_release(&den);
	return 0;
}

static void it_works_in_a_container_of_bubblewrap(void **state)
{
	char self[512], command[1024];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	(void)state;
	assert_true(len > 0);
	self[len] = '\0';
	snprintf(command, sizeof(command),
	         "bwrap --unshare-user --unshare-pid --uid 0 --gid 0 --bind / / --dev /dev --proc /proc "
	         "-- %s sandbox/mounts container", self);
	assert_int_equal(system(command), 0);
}

/* ---- as data ----------------------------------------------------------------------------- */

static char *described(const struct sandbox_plan *plan)
{
	struct buf text = BUF_INIT(65536);
	struct steps steps;

	steps_make(plan, &steps);
	for (size_t i = 0; i < steps.count; i++) {
		step_describe(&steps, i, &text);
		buf_char(&text, '\n');
	}
	steps_release(&steps);
	return buf_steal(&text);
}

static void steps_can_be_read(void **state)
{
	char paths[][12] = { "/h", "/h/see", "/w", "/w-secret", "/w/x" };
	struct sandbox_rule rules[] = {
		{ .path = paths[0], .access = SANDBOX_HIDDEN, .folder = true },
		{ .path = paths[1], .access = SANDBOX_READ },
		{ .path = paths[2], .access = SANDBOX_WRITE, .folder = true },
		{ .path = paths[3], .access = SANDBOX_HIDDEN },
		{ .path = paths[4], .access = SANDBOX_READ },
	};
	const struct sandbox_plan plan = { .level = SANDBOX_FULL, .use = SANDBOX_USE_FILES,
		.rules = rules, .rule_count = ARRAY_LEN(rules) };
	char *text = described(&plan);

	(void)state;
	assert_string_equal(text,
		"private /\n"
		"make #0 /h: tmpfs mode=0111,size=1m,nr_inodes=16384\n"
		"file #0 see mode 0111\n"
		"take #1 /h/see\n"
		"set #1 /h/see read-only nosuid nodev\n"
		"take #2 /w\n"
		"set #2 /w nosuid nodev\n"
		"take #3 /w/x\n"
		"set #3 /w/x read-only nosuid nodev\n"
		"make #5 /: tmpfs mode=0755,size=64k,nr_inodes=8\n"
		"folder #5 folder mode 0000\n"
		"file #5 file mode 0000\n"
		"set #5 / read-only nosuid nodev noexec\n"
		"part #4 of #5 file\n"
		"set-all / read-only nosuid nodev\n"
		"set #0 /h read-only nosuid nodev noexec\n"
		"put #0 /h\n"
		"put #1 /h/see\n"
		"put #2 /w\n"
		"put #3 /w/x\n"
		"put #4 /w-secret\n");
	free(text);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_outside_can_be_changed),
		cmocka_unit_test(a_root_can_be_changed_in_every_way),
		cmocka_unit_test(it_begins_in_the_first_root),
		cmocka_unit_test(protected_paths_in_a_root_stay_as_they_are),
		cmocka_unit_test(what_is_hidden_cannot_be_read),
		cmocka_unit_test(exceptions_beneath_what_is_hidden_are_seen),
		cmocka_unit_test(a_folder_is_not_taken_for_another_with_a_longer_name),
		cmocka_unit_test(mounts_cannot_be_undone),
		cmocka_unit_test(mounts_in_a_root_are_part_of_it),
		cmocka_unit_test(commands_have_devices_of_their_own),
		cmocka_unit_test(tmp_is_the_session_s_folder),
		cmocka_unit_test(the_folder_s_own_name_in_tmp_leads_there),
		cmocka_unit_test(a_workspace_beneath_tmp_is_there_too),
		cmocka_unit_test(a_command_cannot_lead_mount_points_astray),
		cmocka_unit_test(nothing_is_left_on_the_host),
		cmocka_unit_test(a_path_that_became_a_symlink_is_not_followed),
		cmocka_unit_test(it_works_with_privileges_alone),
		cmocka_unit_test(a_plain_chroot_is_refused_with_its_reason),
		cmocka_unit_test(a_chroot_on_a_mount_works),
		cmocka_unit_test(it_works_in_a_container_of_bubblewrap),
		cmocka_unit_test(steps_can_be_read),
	};

	den_probe_main(argc, argv, probes);
	if (argc == 2 && strcmp(argv[1], "container") == 0)
		return in_container();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
