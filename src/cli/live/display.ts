import type { Clock, StreamEvent } from '../../contracts/index.ts'
import type { Host } from '../host.ts'
import { PlainProgress } from '../plain-progress.ts'
import { logLine } from './json-log.ts'
import { LiveProgress } from './live-progress.ts'
import type { Progress } from './progress.ts'
import { processTerminal, type Terminal } from './terminal.ts'

/** Shows a run on standard error while it goes on. */
export interface Display {
  /** A promise where the next event should wait until this one is written. */
  show(event: StreamEvent): Promise<void> | undefined
  /** Somebody has asked for an early end. */
  interrupting(): void
  /** `keep` leaves the last picture where it is: nothing else will tell how far the run came. */
  close(how: 'erase' | 'keep'): void
}

export interface DisplayParts {
  readonly host: Host
  readonly clock: Clock
  /** The window of a live tree. Default: that of this process. */
  readonly terminal?: Terminal
}

export function openDisplay(progress: Progress, { host, clock, terminal }: DisplayParts): Display {
  const { paint, stderr } = host
  const quietly = { interrupting: () => {}, close: () => {} }
  switch (progress) {
    case 'none':
      return { ...quietly, show: () => undefined }
    case 'json':
      return {
        ...quietly,
        show(event) {
          const line = logLine(event, clock.now())
          return line === undefined ? undefined : stderr.line(line)
        },
      }
    case 'plain':
    case 'verbose': {
      const plain = new PlainProgress(paint, progress)
      return {
        ...quietly,
        show(event) {
          const lines = plain.lines(event)
          return lines.length === 0 ? undefined : stderr.lines(lines)
        },
      }
    }
    case 'live': {
      const live = new LiveProgress({ terminal: terminal ?? processTerminal(), clock, paint })
      return {
        show(event) {
          live.show(event)
          return undefined
        },
        interrupting: () => live.interrupting(),
        close: (how) => live.close(how),
      }
    }
    default:
      return progress satisfies never
  }
}
