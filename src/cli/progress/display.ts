import type { Clock, InteractionEvent, StreamEvent } from '../../contracts/index.ts'
import { applyEvent, applyPast, emptyTree, subjectOf } from '../../view/index.ts'
import type { DisplayOptions, OutputForm } from '../terminal/display-options.ts'
import type { Output } from '../terminal/output.ts'
import type { Window } from '../terminal/paint.ts'
import type { Host } from '../terminal/process-host.ts'
import { safeJson } from '../terminal/safe-json.ts'
import { logLine } from './json-log.ts'
import { LiveProgress } from './live-progress.ts'
import { PlainProgress, type Questions } from './plain-progress.ts'
import { processTerminal, type Terminal } from './terminal.ts'

/** Shows the progress of a run. */
export interface Display {
  /** If a promise is returned, the next event waits for it. */
  show(event: StreamEvent): Promise<void> | undefined
  /** Applies the events from before the run was resumed, without showing them. */
  recall(past: readonly InteractionEvent[]): void
  /** Frees the terminal for a question, and takes it back. */
  pause(): void
  resume(): void
  /** The user has requested an interruption. */
  interrupting(): void
  /** `keep` leaves the last frame on the screen: nothing else shows how far the run came. */
  close(how: 'erase' | 'keep'): void
}

export interface OpenDisplayOptions {
  readonly host: Host
  readonly progress: Progress
  /** With `stream-json`, every event is also written to standard output. Default: `answer`, which is printed elsewhere. */
  readonly output?: OutputForm
  readonly clock: Clock
  /** Whether requests get a line here or are shown by the approver. Default: here. */
  readonly questions?: Questions
  /** Terminal of the live tree. Default: that of this process. */
  readonly terminal?: Terminal
}

export function openDisplay(options: OpenDisplayOptions): Display {
  const display = progressDisplay(options)
  return options.output === 'stream-json' ? withEventStream(display, options.host.stdout) : display
}

/** Writes each event as a line after showing it. */
function withEventStream(display: Display, stdout: Output): Display {
  const show = display.show.bind(display)
  display.show = async (event) => {
    await show(event)
    await stdout.line(safeJson(event))
  }
  return display
}

const noOps = { pause: () => {}, resume: () => {}, interrupting: () => {}, close: () => {}, recall: () => {} }

function progressDisplay({ progress, host, clock, questions, terminal }: OpenDisplayOptions): Display {
  const { paint, stderr } = host
  switch (progress) {
    case 'none':
      return { ...noOps, show: () => undefined }
    case 'json': {
      const tree = emptyTree()
      return lineDisplay(stderr, {
        recall: (past) => applyPast(tree, past),
        lines(event) {
          const { label } = applyEvent(tree, event).session.agent
          const name = subjectOf(tree, event)
          const line = logLine(event, { now: clock.now(), ...(label !== '' && { source: label }), ...(name !== undefined && { name }) })
          return line === undefined ? [] : [line]
        },
      })
    }
    case 'plain':
    case 'verbose':
      return lineDisplay(stderr, new PlainProgress(paint, progress, questions))
    case 'live':
      return new LiveProgress({ terminal: terminal ?? processTerminal(), clock, paint })
    default:
      return progress satisfies never
  }
}

interface LineSource {
  recall(past: readonly InteractionEvent[]): void
  lines(event: StreamEvent): readonly string[]
}

/** While a question is open, lines are held back and written after it. */
function lineDisplay(stderr: Output, source: LineSource): Display {
  let held: string[] | undefined
  return {
    ...noOps,
    recall: (past) => source.recall(past),
    show(event) {
      const lines = source.lines(event)
      if (lines.length === 0) return undefined
      if (!held) return stderr.lines(lines)
      held.push(...lines)
      return undefined
    },
    pause() {
      held ??= []
    },
    resume() {
      const lines = held ?? []
      held = undefined
      void stderr.lines(lines)
    },
  }
}

/** Progress on standard error: a live tree, a line for each event, the same with more detail, a JSON log, or nothing. */
export type Progress = 'live' | 'plain' | 'verbose' | 'json' | 'none'

/** A live tree needs a terminal that supports escape sequences. */
export function progressFor(window: Window, { detail, logFormat }: Pick<DisplayOptions, 'detail' | 'logFormat'>): Progress {
  if (detail === 'quiet') return 'none'
  if (logFormat === 'json') return 'json'
  if (detail === 'verbose') return 'verbose'
  return window === 'terminal' ? 'live' : 'plain'
}

/** Whether the final tree follows. A log is for programs, and quiet prints nothing. */
export const showsTree = (progress: Progress): boolean => progress !== 'json' && progress !== 'none'
