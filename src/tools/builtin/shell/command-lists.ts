// What is known about programs. Words of a command are as `shell-words.ts` tells them.

/**
 * Programs whose arguments are programs, or that can do anything at all: allowing "anything that begins like this" would
 * allow everything. They are asked about one by one.
 */
const launchers: { readonly [why: string]: string } = {
  shells: 'sh bash dash zsh fish ksh csh tcsh ash busybox pwsh powershell cmd',
  interpreters:
    'python python2 python3 node nodejs deno bun perl ruby php lua tclsh awk gawk mawk sed R Rscript julia osascript java groovy scala elixir erl ghci irb ipython sqlite3 psql mysql jq yq expect gdb lldb',
  'programs that run other programs':
    'sudo su doas env nohup nice ionice setsid timeout time stdbuf xargs parallel find fd watch exec eval command builtin source . trap alias export set unset cd pushd popd script strace ltrace chroot unshare nsenter bwrap firejail systemd-run at batch crontab make just task npx pnpx bunx uvx pipx tsx ts-node vite-node',
  'ways to other machines':
    'ssh scp sftp rsync curl wget nc ncat netcat socat telnet ftp aws gcloud az kubectl helm terraform ansible gh glab',
  containers: 'docker podman nerdctl buildah lxc vagrant',
  'programs that destroy':
    'rm rmdir shred dd mkfs mv cp ln install truncate chmod chown chattr tar unzip kill pkill killall reboot shutdown tee',
}
const launcherNames = new Set(Object.values(launchers).flatMap((names) => names.split(' ')))

/** Programs of which the second word says what they do. */
const withVerbs = new Set(
  'git npm pnpm yarn cargo go pip pip3 uv poetry brew apt apt-get dotnet mvn gradle bundle gem composer mix flutter dart rustup'.split(' '),
)
/** Verbs that launch. */
const launchingVerbs = new Set(
  'npm exec|npm x|pnpm exec|pnpm dlx|yarn exec|yarn dlx|go run|go generate|cargo run|uv run|uvx|poetry run|bundle exec|dotnet run|git config|git push|git bisect|git filter-branch|git submodule|git rebase|git clean|git reset'.split(
    '|',
  ),
)

/** How much of a command may be granted for all that begins like it: so many words, or none. */
export function grantableWords([name, verb]: readonly string[]): number {
  if (name === undefined || !/^[\w.+-]+$/.test(name) || launcherNames.has(name)) return 0
  // `python3.12` is `python3`.
  if (launcherNames.has(name.replace(/[\d.]+$/, ''))) return 0
  if (!withVerbs.has(name)) return 1
  if (verb === undefined || !/^[a-z][a-z-]*$/.test(verb) || launchingVerbs.has(`${name} ${verb}`)) return 0
  return 2
}

/** Programs that only look, whatever they are told. */
const lookers = new Set(
  'ls cat cd pwd echo printf head tail wc stat du df date uname whoami id basename dirname realpath readlink grep egrep fgrep cut tr nl cmp diff true false test seq which type tac rev comm fold md5sum sha1sum sha256sum'.split(
    ' ',
  ),
)
const lookingVerbs = new Set('status log diff show ls-files rev-parse describe blame shortlog'.split(' '))
/** Options of git's looking verbs that neither write a file nor run a program. */
const lookingOptions =
  /^(?:-[0-9]+|-n|-[abpsSuwz]|--(?:short|branch|porcelain|stat|numstat|shortstat|name-only|name-status|oneline|graph|all|cached|staged|abbrev-ref|show-toplevel|patch|no-color|no-pager|reverse|follow|merges|no-merges|date=\w+|format=[^;]*|pretty=\w+|max-count=\d+|since=\S+|until=\S+|author=\S+|tags|always|dirty|word-diff)|--)$/

/** Behind walls there is nothing to ask about it. */
export function isHarmless([name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return false
  if (lookers.has(name)) return true
  const [verb, ...options] = rest
  if (name !== 'git' || verb === undefined || !lookingVerbs.has(verb)) return false
  return options.every((option) => (!option.startsWith('-') && !option.startsWith("'-") ? true : lookingOptions.test(option)))
}
