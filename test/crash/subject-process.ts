import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { InteractionEvent, Outcome } from '../../src/contracts/index.ts'
import type { Stop } from './wrong-ends.ts'

/** A life takes far less than a second; one that takes this long hangs. */
const longestLifeMs = 60_000

/** What one process did with a tree, from taking it up until it let go of it or was killed. */
export type Life =
  | { readonly kind: 'killed' }
  | {
      readonly kind: 'ended'
      readonly points: readonly string[]
      readonly outcome: Outcome
      readonly events: readonly InteractionEvent[]
      /** Parts of results whose bytes are missing. */
      readonly lostBlobs: readonly unknown[]
      /** Where usage, search and recorded requests differ from the journal. */
      readonly wrongRecords: readonly string[]
    }

/**
 * A real process that lives lives one after the other. One that is killed is replaced; one that is not goes on with
 * other trees, because starting costs more than living.
 */
export class SubjectProcess {
  readonly #subject: readonly string[]
  #process: ChildProcessByStdio<Writable, Readable, Readable> | undefined

  /** `subject`: the file beside this one that lives the lives. */
  constructor(subject: string, args: readonly string[] = []) {
    this.#subject = [fileURLToPath(new URL(subject, import.meta.url)), ...args]
  }

  live(folder: string, killAt: number, how: Stop = 'kill'): Promise<Life> {
    this.#process ??= spawn(process.execPath, this.#subject, { stdio: ['pipe', 'pipe', 'pipe'] })
    const { stdin, stdout, stderr } = this.#process
    const child = this.#process
    const lines = createInterface({ input: stdout })
    let errors = ''
    let hangs = false
    const timer = setTimeout(() => {
      hangs = true
      child.kill('SIGKILL')
    }, longestLifeMs)
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer)
        lines.close()
        child.removeAllListeners('close')
        stderr.removeAllListeners('data')
      }
      stderr.on('data', (chunk: Buffer) => {
        errors += chunk
      })
      child.on('close', (code, signal) => {
        leave()
        this.#process = undefined
        if (signal === 'SIGKILL' && !hangs) return resolve({ kind: 'killed' })
        reject(
          new Error(
            `the subject ${hangs ? 'came to no end' : `ended with ${code ?? signal}`} (${folder}, to be killed at ${killAt}): ${errors}`,
          ),
        )
      })
      lines.once('line', (line) => {
        leave()
        resolve({ kind: 'ended', ...(JSON.parse(line) as Omit<Extract<Life, { kind: 'ended' }>, 'kind'>) })
      })
      stdin.write(`${JSON.stringify({ folder, killAt, how })}\n`)
    })
  }

  /** Ends the process, if there is one. */
  end(): void {
    this.#process?.stdin.end()
    this.#process = undefined
  }
}

/** Whether its process was killed, or stopped cleanly before it had come to rest by itself. */
export const wasStopped = (life: Life): boolean => life.kind === 'killed' || life.outcome.reason === 'released'
