// Programs that run code from their arguments: a command line, a script, an option with a command.
//
// 1. Their arguments are not analysed: a command that passes code to one of them is opaque.
// 2. A table lists the forms that pass no code; any other form is opaque.
// 3. Files of the workspace and existing configuration are not analysed.
import { unquoted } from './shell-words.ts'

const set = (...names: readonly string[]): ReadonlySet<string> => new Set(names.flatMap((some) => some.split(' ')))

/** Opaque with any arguments. */
const alwaysOpaque = set(
  // With other permissions, limits, users or roots.
  'flock lckdo nsenter setarch chrt uclampset coresched pipesz enosys cpulimit numactl capsh runcon cgexec chpst softlimit setuidgid',
  'envuidgid envdir su runuser sg newgrp login sulogin gosu su-exec run0 sudoedit tini dumb-init catatonit systemd-run start-stop-daemon',
  'switch_root bwrap firejail proot sandbox-exec arch docker podman nerdctl kubectl vagrant adb lxc machinectl flatpak snap wsl',
  // Tracing, watching, repeating, scheduling.
  'strace ltrace gdb lldb perf valgrind rr watch entr watchexec inotifyd script scriptlive unbuffer rlwrap xvfb-run faketime parallel',
  'zrun pee mispipe sem run-parts run-one hyperfine at batch crontab tmux screen zellij openvt dtach abduco nodemon concurrently',
  'env-cmd cross-env-shell dotenv direnv mise asdf rbenv pyenv nix nix-shell guix doppler just task fzf ssh-agent gpg-agent dbus-launch systemd-inhibit',
  'setlock runsv s6-setuidgid daemon daemonize timelimit schedtool aa-exec rootlesskit distcc bear scan-build trickle dtrace truss ktrace',
  'dtruss stap bpftrace heaptrack uftrace proxychains proxychains4 tsocks stress-ng retry',
  // On other machines, or for other users.
  'ssh sshpass mosh rsh autossh sftp ftp nc ncat netcat socat telnet tcpsvd udpsvd xinetd ansible osascript open xdg-open launchctl',
  // Editors, pagers and consoles with an escape to the shell.
  'ed ex red vi vim nvim view vimdiff rvim gvim emacs emacsclient nano pico joe mcedit vipe vidir vipw vigr less more most',
  'man info mail mailx mutt dc m4 gnuplot sqlite3 psql mysql mariadb R octave irb ipython bpython ghci jshell scala groovy julia',
  // Languages without a known form, and other shells.
  'jrunscript kotlin kotlinc ocaml raku perl6 crystal clojure clj bb lein php-cgi phpdbg jruby micropython',
  'expect tclsh wish guile sbcl clisp racket erl elixir iex swift tcsh csh fish nu elvish xonsh pwsh powershell cmd tcc',
  // Shell built-ins.
  'mapfile readarray compgen complete bind jobs fc',
)

/** Arguments that pass no code to a program. */
interface TransparentForm {
  /** The first word that is not an option; without one, the program reads commands from elsewhere. */
  readonly operand?: RegExp
  /** Options before the operand. Default: any. */
  readonly options?: RegExp
  /** Words that pass code, anywhere. */
  readonly never?: RegExp
  /** The same, for a sequence of words. */
  readonly line?: RegExp
  /** Arguments after `--` are for the program that it runs. */
  readonly passesOn?: true
}

const awk: TransparentForm = { operand: /^/, options: /^-[Fvf]/, never: /^-(?:f-)?$|system|@|\\\n|[^|]\|[^|]/ }
const packager: TransparentForm = {
  operand: /^(?:test|t|run|run-script|start|stop|install|i|ci|ls|list|outdated|view|audit|why|pack|add|remove|build|lint)$/,
  never: /^-(?!-$|[DSgEws]$|-(?:if-present|silent|save-dev|no-audit|no-fund|workspaces?|omit=dev|production|ignore-scripts|json)$)/,
  options: /^(?:-s|--silent)$/,
  passesOn: true,
}

const python: TransparentForm = {
  operand: /\.pyw?$|\/|^(?:pytest|unittest|venv|pip|mypy|black|ruff|flake8|isort|build|http\.server|json\.tool|compileall)$/,
  options: /^-(?:[uBEsSOIq]+|m)$/,
}
const tex: TransparentForm = { never: /shell-e|write18|^-.*(?:enable|cnf)|\\/ }

const node: TransparentForm = {
  operand: /\.[cm]?[jt]sx?$|\/|^\.$/,
  options: /^--(?:test|watch|enable-source-maps|no-warnings|experimental-strip-types|max-old-space-size=\d+)$/,
}

const transparentForms: { readonly [program: string]: TransparentForm } = {
  ...{ awk, gawk: awk, mawk: awk, nawk: awk },
  // One plain command: no `e`, and no flag `e`.
  sed: {
    operand:
      /^(?:(?:\d+|\$|\/[^/\\\n]*\/)(?:,(?:\d+|\$|\/[^/\\\n]*\/))?!?[pdq=]|s([/|#,:@])(?:\\.|(?!\1)[^\\\n])*\1(?:\\.|(?!\1)[^\\\n])*\1[gpiI\d]*)$/,
    never: /^-(?!(?:[nErsuz]+|i.*)$)/,
  },
  ...{ python, pypy: python },
  ...{ node, nodejs: node, tsx: node, 'ts-node': node },
  perl: { operand: /\.(?:pl|t)$|\//, options: /^-(?:[wTtW]+|I.+)$/ },
  ruby: { operand: /\.rb$|\//, options: /^-(?:w|I.+)$/ },
  php: { operand: /\.php$|\//, options: /^-f$/ },
  lua: { operand: /\.lua$|\//, options: /^-W$/ },
  luajit: { operand: /\.lua$|\//, options: /^-W$/ },
  Rscript: { operand: /\.R$|\//i, options: /^--vanilla$/ },
  deno: { operand: /^(?:test|fmt|lint|check|cache)$/, options: /^-q$/ },
  bun: { operand: /^(?:test|install|add|remove)$/, options: /^--silent$/, never: /^--(?:preload|eval|print|shell)/ },
  ...{ npm: packager, pnpm: packager, yarn: packager },
  ...{ uv: { never: /^(?:run|tool|x)$/ }, poetry: { never: /^run$/ }, pipenv: { never: /^(?:run|shell)$/ }, pipx: { never: /^run$/ } },
  ...{ bundle: { never: /^exec$/ }, conda: { never: /^run$/ }, mamba: { never: /^run$/ } },
  git: {
    never: /^(?:-c|--conf.*|--exec-path=.*|--u(?:p(?:l.*)?)?(?:=.*)?|--rece.*|--e(?:x(?:[et].*)?)?(?:=.*)?|--too.*|--ope.*|ext::.*)$/s,
    line: / (?:config (?!--get|--list|-l$|user\.)|bisect run|submodule .*foreach|rebase .*-\w*x|grep .*-\w*O|clone .*-u|(?:filter-branch|difftool|mergetool|daemon|instaweb|send-email|remote-ext|shell)(?: |$))/s,
  },
  go: { never: /^--?(?:exec|toolexec|vettool)/ },
  cargo: { never: /^--config|^-Z/ },
  make: { never: /\{\}|^--ev|^-\w*(?:E|f-)|^-$|^(?:SHELL|\.SHELLFLAGS|MAKE\w*)\W*=|=.*[\s$`!;|&]/s },
  tar: {
    operand: /^(?![a-zA-Z]*[IF][a-zA-Z]*$)/,
    never: /^-(?!(?:[cxtrzjJvfphkamOPC]*|-exclude.*|-strip-components=\d+|-directory.*|-file.*|-)$)/s,
  },
  ...{
    zip: { never: /^-\w*T|^--(?:unz|te)/ },
    cpio: { never: /^--rs/ },
    rsync: { never: /^-[a-zA-Z]*e|^--rs/ },
    scp: { never: /^-\w*[oSDF]/ },
  },
  ...{ wget: { never: /^-[a-zA-Z]*e|^--(?:use-a|exe|conf)/ }, sort: { never: /^--co/ }, split: { never: /^--f/ } },
  ...{
    install: { never: /^--str/ },
    rg: { never: /^--(?:pre|hostname-bin)/ },
    fd: { never: /^-\w*[xX]|^--exec/ },
    fdfind: { never: /^-\w*[xX]|^--exec/ },
  },
  ...{
    tcpdump: { never: /^-\w*z/ },
    ip: { never: /^exec$|^-b/ },
    sdiff: { never: /^--diff-p/ },
    pip: { never: /^--(?:editor|global-option|config-setting)/ },
  },
  ...{ cmake: { never: /^-[EP]|CMAKE_\w*(?:LAUNCHER|COMMAND|PROGRAM|COMPILER)/ }, gcc: { never: /^-wrapper|^-fplugin/ } },
  ...{ tex, latex: tex, pdftex: tex, pdflatex: tex, xelatex: tex, lualatex: tex },
  ...{ apt: { never: /^-[oc]|^--opt/ }, 'apt-get': { never: /^-[oc]|^--opt/ } },
}

const aboutItself = /^(?:--version|--help|-[vV])$/
/** Standard input, descriptors and terminals. */
export const isStandardInput = (path: string): boolean => /(?:^|\/)(?:dev|proc)\/+(?:stdin|fd|self|thread-self|tty|pts|\.|\d)/.test(path)

/** Whether a program may run unknown code from its arguments. */
export function isOpaqueCommand(name: string, words: readonly string[], isOpen: boolean): boolean {
  const known = transparentFormOf(name)
  if (!known) return isAlwaysOpaque(name) && !(words.length === 2 && /^--(?:version|help)$/.test(words[1] ?? ''))
  const { operand, options = /^/, never, line, passesOn } = known
  const all = words.slice(1)
  const at = all.findIndex((word) => !plain(word).startsWith('-'))
  const isOver = at >= 0 && !never && !line
  // Words after the operand or `--` may be for another program.
  const end = isOver ? at + 1 : passesOn && all.includes('--') ? all.indexOf('--') : all.length
  const checked = all.slice(0, end)
  if ((isOpen && !isOver) || checked.some(mayBecomeOption)) return true
  const given = checked.map(plain)
  if (given.length === 1 && aboutItself.test(given[0] ?? '')) return false
  const first = given[at]
  if (operand && (first === undefined || !operand.test(first))) return true
  // `find` may put the name of a file there.
  if ((operand && first?.includes('{}')) || !given.slice(0, at < 0 ? end : at).every((word) => options.test(word))) return true
  const row = given.map((word) => word.replaceAll(/\s/g, '_')).join(' ')
  return given.some((word) => isStandardInput(word) || never?.test(word)) || (line?.test(` ${row}`) ?? false)
}

const plain = (word: string): string => unquoted(word) ?? word

/** Also variants such as `vim.tiny`, and the parts of git. */
const isAlwaysOpaque = (name: string): boolean => alwaysOpaque.has(name.replace(/^(vim|nc|mail)\..*/, '$1')) || name.startsWith('git-')

/** `python3.12` is `python`. */
function transparentFormOf(name: string): TransparentForm | undefined {
  return [name, unversioned(name)].flatMap((each) => (Object.hasOwn(transparentForms, each) ? (transparentForms[each] ?? []) : []))[0]
}

export const unversioned = (name: string): string => name.replace(/-?[\d.]+[dmt]?(?:-dbg)?$/, '')

/** A glob that may expand to a name that begins with a dash; `*.ts` hardly does. */
export const mayBecomeOption = (word: string): boolean =>
  unquoted(word) === undefined && /^(?:\*+$|[?[]|-.*[*?[])/s.test(word.replaceAll("'", ''))

/** Variables that choose programs to run or code to load. */
const riskyVariable =
  /^(?:BASH_ENV|ENV|BASH_FUNC.*|SHELLOPTS|PS\d|IFS|PATH|GIT_.*|LESS.*|LD_.*|DYLD_.*|PERL.*|PYTHON(?!UNBUFFERED|DONTWRITEBYTECODE|PATH).*|RUBY.*|MAKE.*|GNUMAKE.*|npm_config_.*|.*(?:PAGER|EDITOR|VISUAL|BROWSER|SHELL|COMMAND|CMD|ASKPASS|EXEC|RSH|WRAPPER|_OPTS?|_OPTIONS))=/i

/** Other variables only if the value could be a command line. */
export const isRiskyAssignment = (word: string): boolean => riskyVariable.test(word) || /=.*[\s$`;|&(]/s.test(word)
