import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { defaultSandboxPolicy } from '../../contracts/index.ts'
import { isInside } from '../../util/is-inside.ts'
import { isProgram, realOrSame } from '../trusted-path.ts'
import { commandEnvironment } from './command-environment.ts'
import { type HostView, hostView } from './host-view.ts'
import { tryToEscape } from './probe.ts'
import { type ProtectedFiles, WritableFolder } from './protected-files.ts'
import type { Availability, Command, ProcessSandbox, ProcessSandboxOptions, StartResult } from './sandbox-types.ts'
import { sandboxUnavailable, switchOff } from './unavailable.ts'
import { startUnsandboxed } from './unsandboxed-command.ts'
import { writableFolders } from './writable-folders.ts'

const program = '/usr/bin/sandbox-exec'

/**
 * macOS. UNTESTED on a Mac, so it is used only where its own probe finds no way out. It limits neither memory nor processes, and
 * allows no hosts.
 */
export class SeatbeltSandbox implements ProcessSandbox {
  readonly name = 'sandbox-exec'
  readonly #options: ProcessSandboxOptions
  #probed: Promise<Availability> | undefined

  constructor(options: ProcessSandboxOptions) {
    this.#options = options
  }

  probe(): Promise<Availability> {
    this.#probed ??= this.#options.probe?.() ?? this.#probe()
    return this.#probed
  }

  async start(command: Command): Promise<StartResult> {
    const availability = await this.probe()
    return availability.kind === 'available' ? this.#start(command) : { ok: false, failure: availability.failure }
  }

  async #probe(): Promise<Availability> {
    if (!isProgram(program)) return sandboxUnavailable(`Commands need a sandbox, and ${program} was not found.`, switchOff)
    const { clock, scratch = '/tmp' } = this.#options
    const [root, home] = [realpathSync(this.#options.root), realOrSame(this.#options.home)]
    const report = await tryToEscape((command) => this.#start(command), { root, home, clock, scratch: realpathSync(scratch) })
    if (report.kind === 'kept') return { kind: 'available', weaknesses: ['neither memory nor processes of a command are limited'] }
    const why = report.kind === 'escaped' ? `a test was able to ${report.escapes.join(', to ')}` : report.why
    return sandboxUnavailable(`The sandbox does not work here: ${why}.`, switchOff)
  }

  async #start(command: Command): Promise<StartResult> {
    const policy = command.policy ?? this.#options.policy ?? defaultSandboxPolicy
    if (policy.hosts.length > 0) {
      const message = 'sandbox.hosts lists hosts, and the sandbox of macOS cannot allow single hosts.'
      return { ok: false, failure: { class: 'sandbox_unavailable', message, remedy: `Remove the hosts from the list. ${switchOff}` } }
    }
    const { path, hidden = [], guarded = [], scratch = '/tmp', onlyReadable } = this.#options
    const home = realOrSame(this.#options.home)
    const found = writableFolders({ root: realpathSync(this.#options.root), scratch: realOrSame(scratch), policy })
    if (!found.ok) return found
    const writable = found.folders
    const view = hostView({ writable, home, path, hidden: [...hidden, '/private/tmp', '/private/var/folders'], onlyReadable })
    const files = writable.map((folder) =>
      new WritableFolder(folder).protectedFiles({ home: isInside(folder, home) ? home : undefined, guarded, hidden: view.hidden }),
    )
    const own = realpathSync(mkdtempSync(join(scratch, 'troupe-command-')))
    const running = await startUnsandboxed(
      {
        ...command,
        argv: [program, '-p', seatbeltProfile({ writable, view, files, scratch: own }), ...command.argv],
        environment: commandEnvironment({ given: command.environment, hasNetwork: false, home: own, temporary: own }),
      },
      this.#options.clock,
    )
    const ended = running.ended.then((ending) => {
      rmSync(own, { recursive: true, force: true })
      return { ...ending, readOnly: files.flatMap(({ readOnly }) => readOnly) }
    })
    return { ok: true, running: { ...running, ended } }
  }
}

interface SeatbeltOptions {
  readonly writable: readonly string[]
  readonly view: HostView
  readonly files: readonly Pick<ProtectedFiles, 'readOnly' | 'absent' | 'hidden'>[]
  readonly scratch: string
}

/** The profile for sandbox-exec. Of several rules that match, the last one applies. */
export function seatbeltProfile({ writable, view, files, scratch }: SeatbeltOptions): string {
  const folders = [...writable, scratch]
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
    ...rule('allow file-read*', [...view.readOnly, ...folders]),
    ...rule('allow file-write*', folders),
    '(deny file-write-setugid)',
    ...rule(
      'deny file-write*',
      files.flatMap(({ readOnly, absent }) => [...readOnly, ...absent]),
    ),
    ...rule('deny file-read* file-write*', [...view.hidden, ...files.flatMap(({ hidden }) => hidden)]),
    '(deny network*)',
    '',
  ].join('\n')
}

function rule(what: string, paths: readonly string[]): readonly string[] {
  return paths.length === 0 ? [] : [`(${what} ${paths.map((path) => `(subpath ${quoted(path)})`).join(' ')})`]
}

const quoted = (path: string): string => `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
