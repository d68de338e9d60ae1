import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import type { Duplex } from 'node:stream'
import { killMarked, newMark, sendSignal } from '../sandbox/process-tree.ts'
import { watchedCommand } from '../sandbox/watched-command.ts'
import type { HookPlace } from './hook-answer.ts'

/** How a program ended, and what it printed. */
export interface ProgramEnd {
  readonly code: number | undefined
  /** Where it was ended by one. */
  readonly signal: string | undefined
  readonly stdout: string
  readonly stderr: string
}

interface Program extends Pick<HookPlace, 'environment' | 'clock'> {
  readonly command: readonly string[]
  readonly cwd: string
  readonly signal: AbortSignal | undefined
}

/** For each of its two outputs. */
export const mostOutputBytes = 65_536
/** How long a group has to leave when it is asked to, and pipes to close once the program is gone. */
export const graceMs = 500
export const markVariable = 'TROUPE_HOOK'

export const printedTooMuch = (): Error => new Error(`it printed more than ${mostOutputBytes} bytes`)
export const cancelledError = (): Error => new Error('it was cancelled')

/**
 * Runs a program to its end, without a shell.
 *
 * 1. It has its own process group, and no process of that group survives it.
 * 2. It is killed when it prints more than `mostOutputBytes` to one of its outputs.
 * 3. When it is cancelled or killed, processes that left the group are killed, too, as far as they are found. When it ends
 *    by itself, they are left alone.
 * 4. The promise settles once, even if a process that left the group keeps the pipes open.
 * 5. If Troupe is killed, a watcher kills the group: it waits for the end of a pipe that only Troupe
 *    holds. Processes that left the group are not found.
 */
export function runProgram({ command, cwd, environment, clock, signal }: Program, input: string): Promise<ProgramEnd> {
  const [file = '', ...args] = command
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(cancelledError())
      return
    }
    const [shell, ...begin] = watchedCommand
    const mark = newMark(markVariable)
    const child = spawn(shell, [...begin, file, ...args], {
      cwd,
      env: { ...environment, ...mark.environment },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    })
    const { stdin, stdout, stderr } = child as ChildProcessWithoutNullStreams
    const lifeline = child.stdio[3] as Duplex
    lifeline.on('error', () => {})
    let isGivenUp = false
    const end = (): void => {
      endGroup(child, 'SIGKILL')
      if (isGivenUp) killMarked(mark)
    }
    const flooded = (): void => {
      isGivenUp = true
      end()
    }
    const outputs = { stdout: new Output(flooded), stderr: new Output(flooded) }
    const cancels: (() => void)[] = []
    const settle = (finish: () => void): void => {
      for (const cancel of cancels.splice(0)) cancel()
      signal?.removeEventListener('abort', abandon)
      for (const stream of [stdin, stdout, stderr, lifeline]) stream.destroy()
      finish()
    }
    const abandon = (): void => {
      isGivenUp = true
      endGroup(child, 'SIGTERM')
      cancels.push(clock.after(graceMs, end))
    }
    const ended = (): void =>
      settle(() => {
        const [code, by] = [child.exitCode ?? undefined, child.signalCode ?? undefined]
        if (outputs.stdout.isOver || outputs.stderr.isOver) reject(printedTooMuch())
        else resolve({ code, signal: by, stdout: outputs.stdout.text, stderr: outputs.stderr.text })
      })
    signal?.addEventListener('abort', abandon, { once: true })
    stdout.on('data', (piece: Buffer) => outputs.stdout.add(piece))
    stderr.on('data', (piece: Buffer) => outputs.stderr.add(piece))
    // The program may exit without reading its input.
    stdin.on('error', () => {})
    stdin.end(input)
    child.once('error', (error) => settle(() => reject(error)))
    child.once('exit', () => {
      end()
      cancels.push(clock.after(graceMs, ended))
    })
    child.once('close', ended)
  })
}

/** Everything that the program has started and that has not left its group. */
function endGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid !== undefined) sendSignal(-pid, signal)
}

class Output {
  readonly #pieces: Buffer[] = []
  readonly #onFlood: () => void
  #bytes = 0

  constructor(onFlood: () => void) {
    this.#onFlood = onFlood
  }

  add(piece: Buffer): void {
    this.#bytes += piece.length
    if (!this.isOver) this.#pieces.push(piece)
    else if (this.#bytes - piece.length <= mostOutputBytes) this.#onFlood()
  }

  get isOver(): boolean {
    return this.#bytes > mostOutputBytes
  }

  get text(): string {
    return Buffer.concat(this.#pieces).toString('utf8')
  }
}

/** The last line of the output of a failed program, as a suffix. */
export function lastLine(printed: string): string {
  const last = printed.trim().split('\n').at(-1) ?? ''
  return last === '' ? '' : `: ${last}`
}
