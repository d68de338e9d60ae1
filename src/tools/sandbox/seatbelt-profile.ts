import type { HostView } from './host-view.ts'
import type { Guard } from './workspace-guard.ts'

// UNPROVED: written after the language's public examples and never run on a Mac.

export interface SeatbeltWalls {
  /** The workspace, and further folders that may be written to. */
  readonly places: readonly string[]
  readonly view: HostView
  readonly guards: readonly Guard[]
  /** A private folder for what does not matter. */
  readonly scratch: string
}

/** The walls on macOS, in the language of sandbox-exec. Of several rules that fit, the last one counts. */
export function seatbeltProfile({ places, view, guards, scratch }: SeatbeltWalls): string {
  const writable = [...places, scratch]
  return [
    '(version 1)',
    '(deny default)',
    '(allow process-exec process-fork)',
    '(allow process-info* (target same-sandbox))',
    '(allow signal (target same-sandbox))',
    '(allow sysctl-read)',
    '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))',
    '(allow file-read*)',
    '(allow file-write-data file-ioctl (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty"))',
    ...rule('deny file-read* file-write*', view.emptied),
    ...rule('allow file-read*', [...view.readOnly, ...writable]),
    ...rule('allow file-write*', writable),
    ...rule(
      'deny file-write*',
      guards.flatMap(({ readOnly }) => readOnly),
    ),
    ...rule('deny file-read* file-write*', [...view.hidden, ...view.special, ...guards.flatMap(({ hidden }) => hidden)]),
    '(deny network*)',
    '',
  ].join('\n')
}

function rule(what: string, paths: readonly string[]): readonly string[] {
  return paths.length === 0 ? [] : [`(${what} ${paths.map((path) => `(subpath ${quoted(path)})`).join(' ')})`]
}

const quoted = (path: string): string => `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
