import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { spawn } from '@lydell/node-pty'
import { onTestFinished } from 'vitest'
import { binary } from './troupe.ts'

export const shellNames = ['bash', 'zsh', 'fish'] as const
export type ShellName = (typeof shellNames)[number]

/** Why a shell cannot be tested here; undefined where it can. */
export function whyNoShell(name: ShellName): string | undefined {
  const { error, stdout } = spawnSync(name, ['--version'], { encoding: 'utf8' })
  if (error) return `${name} is not installed`
  const [, major = 0, minor = 0] = (/version (\d+)\.(\d+)/.exec(stdout) ?? []).map(Number)
  return name === 'bash' && major * 100 + minor < 404 ? 'bash is older than 4.4' : undefined
}

/** An interactive shell in a terminal, which has done what the documentation says. */
export interface Shell {
  /** What is offered when Tab is pressed at the end of this line. */
  offers(line: string): Promise<readonly string[]>
  /** The arguments that `troupe` gets after this line, Tab and Enter. */
  runs(line: string): Promise<readonly string[]>
}

// Tab, Ctrl-U and Enter are typed at once: shells read them one after the other. Then the next prompt is awaited, which has another
// number. A shell writes it when its line editor reads the terminal, and not the terminal lines.
//
// The scripts complete for real. `troupe` itself is a function that writes down its arguments; the scripts call the one in PATH.

const start: { readonly [Name in ShellName]: { readonly file: string; readonly args: readonly string[]; readonly code: string } } = {
  bash: {
    file: 'bashrc',
    args: ['--noprofile', '--rcfile', 'home/bashrc', '-i'],
    code: `
bind 'set enable-bracketed-paste off'; bind 'set bell-style none'
__count=start; PS1='mark-$__count-'; __mark() { __count=$1; }
eval "$(troupe completion bash)"
__spy() { _troupe "$@"; local ended=$?; ((\${#COMPREPLY[@]})) && printf '%s\\0' "\${COMPREPLY[@]}" >home/offered; return $ended; }
complete -F __spy troupe
troupe() { (($#)) && printf '%s\\0' "$@" >home/arguments; }
`,
  },
  zsh: {
    file: '.zshrc',
    args: ['-i'],
    code: `
unset zle_bracketed_paste; LISTMAX=10000; unsetopt beep prompt_sp
__count=start; PS1='$ '; __mark() { __count=$1; }
zle-line-init() { print -n "mark-$__count-"; }; zle -N zle-line-init
autoload -Uz compinit; compinit -u -D
eval "$(troupe completion zsh)"
compadd() {
  if [[ "\${(j: :)@}" != *-[OAD]* ]]; then
    local -a __hits; builtin compadd -O __hits "$@"; (($#__hits)) && printf '%s\\0' "$__hits[@]" >>home/offered
  fi
  builtin compadd "$@"
}
troupe() { (($#)) && printf '%s\\0' "$@" >home/arguments; }
`,
  },
  fish: {
    file: 'config.fish',
    args: ['--no-config', '--init-command', 'source home/config.fish', '-i'],
    code: `
set -g __count start
function fish_prompt; printf 'mark-%s-' $__count; end
function __mark; set -g __count $argv; end
function fish_greeting; end
command troupe completion fish | source
function troupe; printf '%s\\0' $argv >home/arguments; end
function __offers; complete -C (cat home/line | string collect) | string replace -r '\\t.*' '' | string join0 >home/offered; end`,
  },
}

/** `answers`: what `troupe __complete NAMES` has said, so that it is not started again each time. */
export async function openShell(name: ShellName, folder: string, answers: { readonly [names: string]: string } = {}): Promise<Shell> {
  const home = join(folder, 'home')
  mkdirSync(join(home, 'bin'), { recursive: true })
  const program = join(home, 'bin', 'troupe')
  mkdirSync(join(home, 'answers'), { recursive: true })
  for (const [names, answer] of Object.entries(answers)) writeFileSync(join(home, 'answers', names), answer)
  const answered = Object.keys(answers).map((names) => `'__complete ${names}') exec cat "$HOME/answers/$2" ;;`)
  writeFileSync(program, `#!/bin/sh\ncase "$1 $2" in ${answered.join(' ')} esac\nexec '${process.execPath}' '${binary}' "$@"\n`)
  chmodSync(program, 0o755)
  const { file, args, code } = start[name]
  writeFileSync(join(home, file), code)
  const pty = spawn(name, [...args], {
    name: 'xterm',
    cols: 200,
    rows: 100,
    cwd: folder,
    env: {
      PATH: `${join(home, 'bin')}:${process.env.PATH}`,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      HOME: home,
      ZDOTDIR: home,
      XDG_STATE_HOME: join(home, 'state'),
      LANG: 'C.UTF-8',
    },
  })
  onTestFinished(() => pty.kill('SIGKILL'))
  let written = ''
  let look = (): void => {}
  pty.onData((text) => {
    written += text
    look()
  })
  const shows = (mark: string): Promise<void> =>
    new Promise((resolve, reject) => {
      look = () => {
        if (written.includes(mark)) resolve()
      }
      pty.onExit(() => reject(new Error(`${name} has ended:\n${written}`)))
      look()
    })
  await shows('mark-start-')
  let count = 0
  async function types(keys: string, result: string): Promise<readonly string[]> {
    rmSync(join(home, result), { force: true })
    count += 1
    pty.write(`${keys}__mark ${count}\r`)
    await shows(`mark-${count}-`)
    try {
      return readFileSync(join(home, result), 'utf8').split('\0').slice(0, -1)
    } catch {
      return []
    }
  }
  return {
    async offers(line) {
      if (name !== 'fish') return types(`${line}\t\u0015`, 'offered')
      writeFileSync(join(home, 'line'), line)
      return types('__offers\r', 'offered')
    },
    runs: (line) => types(`${line}\t\r`, 'arguments'),
  }
}
