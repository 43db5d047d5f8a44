# SPDX-License-Identifier: Apache-2.0
"""A home folder that is writable: what programs obey there cannot be made or changed, whether a table knows it or not;
work in folders of it, and caches, go on."""

import random
import shlex

import pytest

from names_fixture import Place, table

pytestmark = pytest.mark.in_turn("user", "level", "how")

LEVELS = ("full", "landlock")
# What the tables did not have when it was asked for: found on people's machines.
FOUND = """.local/lib/python3.11/site-packages/usercustomize.py .local/lib/python3.11/site-packages/x.pth
.config/bash_completion .local/share/bash-completion/completions/git .cargo/config.toml .gradle/init.d/x.gradle
.gradle/gradle.properties .docker/cli-plugins/docker-x .docker/config.json .config/bspwm/bspwmrc .config/sxhkd/sxhkdrc
.config/qtile/config.py .config/herbstluftwm/autostart .config/river/init .config/niri/config.kdl .config/labwc/autostart
.config/lxsession/LXDE/autostart .config/xfce4/xinitrc .fluxbox/startup .icewm/startup .xmonad/xmonad.hs .dwm/autostart.sh
.vscode-server/extensions/x/package.json .vscode-server/data/Machine/settings.json .vscode/extensions/x/package.json
.codeium/windsurf/mcp_config.json .cursor/mcp.json .config/sublime-text/Packages/User/x.py .config/micro/init.lua
.config/kak/kakrc .config/tig/config .config/lazygit/config.yml .config/yarn/global/node_modules/.bin/x .yarnrc.yml
.yarnrc .config/pip/pip.conf .config/htop/htoprc .config/mpv/scripts/x.lua .config/ranger/commands.py .config/lf/lfrc
.config/nnn/plugins/x .config/vifm/vifmrc .config/mc/menu .lftprc .ncftp/x .gem/ruby/3.2.0/bin/x .gemrc .rspec .rubocop.yml
.pylintrc .config/pycodestyle .config/matplotlib/matplotlibrc .matplotlib/matplotlibrc .octaverc .juliarc.jl
.julia/config/startup.jl .ghci .ghc/ghci.conf .config/ghc/ghci.conf .ocamlinit .sbclrc .guile .racketrc .erlang .iex.exs
.config/clojure/deps.edn .clojure/deps.edn .lein/profiles.clj .sbt/1.0/global.sbt .mill/ammonite/predef.sc .m2/settings.xml
.m2/extensions.xml .ant/lib/x.jar .config/fontconfig/fonts.conf .xbindkeysrc .config/xkb/x .Xresources .Xdefaults
.Xmodmap .config/user-dirs.dirs .config/mimeapps.list .local/share/mime/x .config/pulse/default.pa .config/pipewire/x
.asoundrc .config/wireplumber/x .local/share/gnome-shell/extensions/x/extension.js .local/share/plasma/x .kde/Autostart/x
.config/kwinrc .local/share/cinnamon/extensions/x .config/conky/conky.conf .conkyrc .config/polybar/launch.sh
.config/waybar/config .config/rofi/config.rasi .config/dunst/dunstrc .config/eww/x .config/picom.conf .tmuxinator/x.yml
.config/tmuxp/x.yaml .byobu/keybindings.tmux .config/fastfetch/config.jsonc .config/neofetch/config.conf .dircolors
.lesskey .ackrc .agignore .ripgreprc .config/ripgrep/rc .fdignore .config/bat/config .config/thefuck/settings.py
.config/broot/conf.hjson .zplug/x .zim/x .antidote/x .sheldon/plugins.toml .config/sheldon/plugins.toml .bash-git-prompt/x
.local/share/zinit/x .local/share/omf/x .local/state/nix/profile .nix-defexpr/x .config/nix/nix.conf .config/nixpkgs/x.nix
.config/home-manager/home.nix .config/containers/registries.conf .kube/config .config/helm/x .ansible.cfg
.ansible/plugins/x.py .chef/knife.rb .vagrant.d/Vagrantfile .terraformrc .packer.d/x .aws/cli/alias .config/gh/config.yml
.local/share/gh/extensions/x .config/hub .config/glab-cli/config.yml .tigrc .quiltrc .devscripts .reportbugrc .dput.cf
.gbp.conf .sbuildrc .pbuilderrc .rpmmacros .config/osc/oscrc .signature .plan .netrc .mailrc .config/neomutt/x .alpine/x
.config/newsboat/config .newsboat/config .config/qutebrowser/config.py .config/luakit/x .mozilla/x .thunderbird/x
.config/obs-studio/x .config/blender/4.0/scripts/startup/x.py .config/GIMP/2.10/plug-ins/x .config/inkscape/extensions/x
.config/libreoffice/4/user/x .kodi/x .steam/x .wine/x .config/lutris/x .config/heroic/x .android/x .gradle/x .skiko/x
.config/JetBrains/x .IntelliJIdea2024.1/x .eclipse/x .netbeans/x .kakoune/x .config/lite-xl/init.lua .atom/init.js
.config/pulsar/x .jed/x .joerc .mg .nvim/x .SpaceVim.d/init.toml .vimspector.json .config/coc/x .local/share/nvim/x
.local/state/nvim/x .rustup/toolchains/x/bin/rustc .rustup/settings.toml .cargo/env .cargo/bin/x .cargo/credentials.toml
.pyenv/shims/python .local/pipx/venvs/x .local/share/uv/tools/x .local/share/pnpm/x .bun/bin/x .deno/bin/x .nvm/nvm.sh
.volta/bin/x .sdkman/x .jenv/x .rbenv/x .goenv/x .asdf/x .local/share/mise/x .proto/x .config/pnpm/rc .bunfig.toml .env
.bash_sessions/x .hushlogin .config/environment.d/x.conf .config/systemd/user/x.service .local/bin/x bin/x go/bin/x perl5/x
.npmrc .pypirc .condarc .conda/x miniconda3/x node_modules/x/index.js .local/share/applications/x.desktop .config/autostart/x""".split()
# Words that no table has, at each place where configuration lies.
UNKNOWN = ["%s%s" % (folder, name) for folder in (".", ".config/", ".local/", ".local/share/", ".local/state/", ".cargo/",
                                                  ".gradle/", ".m2/", ".docker/", ".%s.d/" % random.Random(4).random())
           for name in ("zz-unknown", "zz/unknown", "zzrc", "zz.conf")]
WORK = {
    "a project": "mkdir p; cd p; git init -q .; echo x > .gitignore; mkdir -p .github/workflows .storybook; echo > .foorc; "
                 "echo > .github/workflows/ci.yml; echo > .storybook/main.js; echo > .env; mkdir src; echo > src/.hidden; "
                 "git add .; git -c user.name=a -c user.email=e commit -qm x",
    "files and folders at the top": "echo > notes.txt; mkdir -p Documents/x; mv notes.txt Documents; rm -r Documents",
    "caches": "mkdir -p .cache/pip .npm/_cacache .ccache; echo > .cache/pip/x; echo > .npm/_cacache/x; echo > .ccache/x",
    "caches in folders that are there": "echo > .cargo/registry/x; echo > .m2/repository/x; echo > .gradle/caches/x",
    "the home folder as a repository": "git init -q .; echo x > .gitignore; git add .gitignore; "
                                       "git -c user.name=a -c user.email=e commit -qm x",
}


@pytest.fixture(name="place", params=["root", "user"])
def a_place(request):
    place = Place(request.param)
    for folder in (".cargo/registry", ".m2/repository", ".gradle/caches", ".config", ".local/share"):
        (place.home / folder).mkdir(parents=True)
    yield place
    place.close()


HOW = {"the workspace": ("home", ()), "named": ("work", ("--write", "home")), "around it": ("", ())}


def inside(place, level, how, script):
    folder, flags = HOW[how]
    flags = [flag if flag.startswith("--") else place.top / flag for flag in flags]
    return place.sandbox(level, "cd %s; %s" % (place.home, script), *flags, cwd=place.top / folder)


def names():
    rows = [row.place() for row in table("home") if row.kind == "startup"]
    return sorted({*FOUND, *UNKNOWN, *rows})


def state(place):
    """Files, and folders with hidden names."""
    return {str(path.relative_to(place.home)): path.read_text() if path.is_file() else None
            for path in place.home.rglob("*") if path.is_file() or path.relative_to(place.home).parts[0][0] == "."}


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("level", LEVELS)
def test_nothing_that_programs_obey_can_be_made(place, level, how):
    place.give_away()
    before = state(place)
    script = "; ".join("mkdir -p %s 2>/dev/null; echo new > %s" % (shlex.quote(name.rpartition("/")[0] or "."),
                                                                  shlex.quote(name)) for name in names())
    ended = inside(place, level, how, "exec 2>&1; " + script)
    assert state(place) == before, ended.stdout[-2000:]
    assert "To allow: --write %s/.local" % place.home in ended.stdout, ended.stdout[-2000:]


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("level", LEVELS)
def test_nothing_that_programs_obey_can_be_changed(place, level, how):
    for name in names():
        if not any(other.startswith(name + "/") for other in names()):
            place.plant(place.home / name)
    place.give_away()
    before = state(place)
    done = "; ".join("echo >> %s; chmod +x %s; mv -f new %s" % ((shlex.quote(name),) * 3) for name in names())
    ended = inside(place, level, how, "exec 2>/dev/null; echo x > new; %s; rm -f new" % done)
    assert state(place) == before, ended.stdout[-2000:]


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", WORK)
def test_work_goes_on(place, name, level, how):
    place.give_away()
    ended = inside(place, level, how, "set -e; " + WORK[name])
    assert ended.returncode == 0 and "denied" not in ended.stdout, ended.stdout


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_named_can_be_written(place, level):
    place.give_away()
    ended = place.sandbox(level, "mkdir -p .config/zz && echo > .config/zz/x && echo > .zzrc", "--write",
                          place.home / ".config", "--write", place.home / ".zzrc", cwd=place.home)
    assert ended.returncode == 0 and (place.home / ".config/zz/x").exists(), ended.stdout
