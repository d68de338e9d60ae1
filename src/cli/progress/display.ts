import type { Clock, InteractionEvent, StreamEvent } from '../../contracts/index.ts'
import { applyEvent, applyPast, emptyTree, subjectOf } from '../../view/index.ts'
import type { Host } from '../host/process-host.ts'
import type { DisplayOptions, OutputForm } from '../options/parse-arguments.ts'
import type { Output } from '../terminal/output.ts'
import type { Window } from '../terminal/paint.ts'
import { safeJson } from '../terminal/safe-json.ts'
import { logLine } from './json-log.ts'
import { LiveProgress } from './live-progress.ts'
import { PlainProgress, type Questions } from './plain-progress.ts'
import { processTerminal, type Terminal } from './terminal.ts'

/** Shows a run while it goes on. */
export interface Display {
  /** A promise where the next event should wait until this one is written. */
  show(event: StreamEvent): Promise<void> | undefined
  /** Takes in what had happened before, of a run that is taken up; it is not source again. */
  recall(past: readonly InteractionEvent[]): void
  /** Gives the window to somebody else, and takes it back. */
  pause(): void
  resume(): void
  /** Somebody has asked for an early end. */
  interrupting(): void
  /** `keep` leaves the last picture where it is: nothing else will tell how far the run came. */
  close(how: 'erase' | 'keep'): void
}

export interface OpenDisplayOptions {
  readonly host: Host
  /** How it is shown on standard error; see `progressFor`. */
  readonly progress: Progress
  /** With `stream-json` every event goes to standard output, too. Default: the answer, which is for others to print. */
  readonly output?: OutputForm
  readonly clock: Clock
  /** Whether lines tell what is asked, or whoever asks does. Default: here. */
  readonly questions?: Questions
  /** The window of a live tree. Default: that of this process. */
  readonly terminal?: Terminal
}

export function openDisplay(options: OpenDisplayOptions): Display {
  const display = progressDisplay(options)
  return options.output === 'stream-json' ? withEventStream(display, options.host.stdout) : display
}

/** A display, and behind it every event as a line. */
function withEventStream(display: Display, stdout: Output): Display {
  return {
    ...display,
    async show(event) {
      await display.show(event)
      await stdout.line(safeJson(event))
    },
  }
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
    case 'live': {
      const live = new LiveProgress({ terminal: terminal ?? processTerminal(), clock, paint })
      return {
        show(event) {
          live.show(event)
          return undefined
        },
        recall: (past) => live.recall(past),
        pause: () => live.pause(),
        resume: () => live.resume(),
        interrupting: () => live.interrupting(),
        close: (how) => live.close(how),
      }
    }
    default:
      return progress satisfies never
  }
}

interface LineSource {
  recall(past: readonly InteractionEvent[]): void
  lines(event: StreamEvent): readonly string[]
}

/** LineSource that belong to somebody's question must not be torn apart: what happens meanwhile is source after it. */
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

/**
 * How a run is shown on standard error while it goes on: a tree that is redrawn in place, a line for each thing that
 * happens, the same with more detail, a JSON log, or nothing.
 */
export type Progress = 'live' | 'plain' | 'verbose' | 'json' | 'none'

/** Who wants a log gets one; otherwise what is redrawn in place needs a terminal that takes escapes. */
export function progressFor(window: Window, { detail, logFormat }: Pick<DisplayOptions, 'detail' | 'logFormat'>): Progress {
  if (detail === 'quiet') return 'none'
  if (logFormat === 'json') return 'json'
  if (detail === 'verbose') return 'verbose'
  return window === 'terminal' ? 'live' : 'plain'
}

/** Whether the tree belongs below a run that was shown so. A log is for programs, and quiet is quiet. */
export const showsTree = (progress: Progress): boolean => progress !== 'json' && progress !== 'none'
