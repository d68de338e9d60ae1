import type { StoreInvocation } from '../arguments/project-invocations.ts'
import { printNotice } from '../terminal/print-messages.ts'
import type { Host } from '../terminal/process-host.ts'

interface ReindexProgress {
  progress(done: number, total: number): void
  clear(): Promise<void>
}

/** On a terminal, one line that is written again and again; elsewhere, a line every few seconds. */
export function reindexProgress({ display }: Pick<StoreInvocation, 'display'>, host: Host, verb = 'Reading'): ReindexProgress {
  const { stderr, window } = host
  const textOf = (done: number, total: number): string => `${verb} ${done} of ${total} sessions`
  return window === 'terminal' && display.detail !== 'quiet' && display.logFormat === 'text'
    ? changingLine(stderr, textOf)
    : plainLines((done, total) => void printNotice(textOf(done, total), { host, display }), host)
}

function changingLine(stderr: Host['stderr'], textOf: (done: number, total: number) => string): ReindexProgress {
  let percent = -1
  return {
    progress(done, total) {
      const now = Math.floor((100 * done) / total)
      if (now === percent) return
      percent = now
      void stderr.write(`\r${textOf(done, total)}`)
    },
    clear: () => (percent >= 0 ? stderr.write('\r\u001b[K') : Promise.resolve()),
  }
}

const lineMs = 5000

function plainLines(print: (done: number, total: number) => void, { now }: Pick<Host, 'now'>): ReindexProgress {
  let last = now()
  return {
    progress(done, total) {
      if (now() - last < lineMs) return
      last = now()
      print(done, total)
    },
    clear: () => Promise.resolve(),
  }
}
