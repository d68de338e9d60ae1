import type { Readable } from 'node:stream'
import { Output } from './output.ts'
import { type Paint, paintFor, type Window, windowFor } from './paint.ts'

/** What a command sees of the process it runs in. */
export interface Host {
  readonly env: { readonly [name: string]: string | undefined }
  readonly stdin: Readable & { readonly isTTY?: boolean; readonly fd?: number }
  /** Belongs to the answer. */
  readonly stdout: Output
  /** Everything else. */
  readonly stderr: Output
  /** What standard error is. */
  readonly window: Window
  /** Whether a person sees it, whatever may be drawn there. Default: where the window is a terminal. */
  readonly isSeen?: boolean
  /** Colours of standard error. */
  readonly paint: Paint
  /** Colours of standard output. Default: none. */
  readonly answerPaint?: Paint
  /** Columns of standard error. */
  readonly width: number
  /** Milliseconds since 1970. */
  now(): number
  /** Calls back whenever a person or the system asks to end. The answer stops listening. */
  onInterrupt(listener: () => void): () => void
  /** Ends the process at once. */
  exit(code: number): never
}

/** Where there is no terminal, lines are as long as most people's. */
const plainWidth = 100
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export function processHost(): Host {
  const { env, stdin, stdout, stderr } = process
  const window = windowFor(stderr, env)
  return {
    env,
    stdin,
    stdout: new Output(stdout),
    stderr: new Output(stderr),
    window,
    isSeen: stderr.isTTY === true,
    paint: paintFor(window),
    answerPaint: paintFor(windowFor(stdout, env)),
    // The window may have been resized since.
    get width() {
      return stderr.isTTY ? stderr.columns || plainWidth : plainWidth
    },
    now: () => Date.now(),
    onInterrupt(listener) {
      for (const signal of signals) process.on(signal, listener)
      return () => {
        for (const signal of signals) process.off(signal, listener)
      }
    },
    exit: (code) => process.exit(code),
  }
}
