import { accessSync, constants, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { defaultSandboxPolicy } from '../../contracts/index.ts'
import { isInside } from '../../util/is-inside.ts'
import { realOrSame } from '../real-or-same.ts'
import { hostView } from './host-view.ts'
import { noRetries } from './no-retries.ts'
import { startPlain } from './plain-command.ts'
import { tryToEscape } from './probe.ts'
import type { Availability, Command, ProcessSandbox, ProcessSandboxOptions, StartResult } from './sandbox-types.ts'
import { seatbeltProfile } from './seatbelt-profile.ts'
import { switchOff, unavailable } from './unavailable.ts'
import { guard, undone } from './workspace-guard.ts'
import { writablePlaces } from './writable-folders.ts'

const program = '/usr/bin/sandbox-exec'

/**
 * macOS. UNPROVED: nobody has run it there, so it counts only where its own probe finds no way out. It keeps neither
 * memory nor processes within limits, and lets nobody reach a host.
 */
export class SeatbeltSandbox implements ProcessSandbox {
  readonly name = 'sandbox-exec'
  readonly #options: ProcessSandboxOptions
  #probed: Promise<Availability> | undefined

  constructor(options: ProcessSandboxOptions) {
    this.#options = options
  }

  probe(): Promise<Availability> {
    this.#probed ??= this.#probe()
    return this.#probed
  }

  async start(command: Command): Promise<StartResult> {
    const availability = await this.probe()
    return availability.kind === 'available' ? this.#enter(command) : { ok: false, failure: availability.failure }
  }

  async #probe(): Promise<Availability> {
    try {
      accessSync(program, constants.X_OK)
    } catch {
      return unavailable(`Commands need a sandbox, and ${program} is not there.`, switchOff)
    }
    const { clock, scratch = '/tmp' } = this.#options
    const [root, home] = [realpathSync(this.#options.root), realOrSame(this.#options.home)]
    const report = await tryToEscape((command) => this.#enter(command), { root, home, clock, scratch: realpathSync(scratch) })
    if (report.kind === 'kept') return { kind: 'available', weaknesses: ['neither memory nor processes of a command are limited'] }
    const why = report.kind === 'escaped' ? `a try to ${report.escapes.join(', to ')} succeeded` : report.why
    return unavailable(`The sandbox does not hold here: ${why}.`, switchOff)
  }

  async #enter(command: Command): Promise<StartResult> {
    const policy = command.policy ?? this.#options.policy ?? defaultSandboxPolicy
    if (policy.hosts.length > 0) {
      const message = 'sandbox.hosts names hosts, and the sandbox of macOS can not let a command reach some of them only.'
      return { ok: false, failure: { class: 'sandbox_unavailable', message, remedy: `Take the hosts off the list. ${switchOff}` } }
    }
    const { path, hidden = [], guarded = [], scratch = '/tmp' } = this.#options
    const home = realOrSame(this.#options.home)
    const root = realpathSync(this.#options.root)
    const opened = writablePlaces({ root, scratch: realOrSame(scratch), policy })
    if (!opened.ok) return opened
    const { places } = opened
    const guards = places.map((folder) => guard({ folder, guarded: guarded.map(realOrSame), ...(isInside(folder, home) && { home }) }))
    const own = realpathSync(mkdtempSync(join(scratch, 'troupe-command-')))
    const view = hostView({ places, home, path, hidden: [...hidden, '/private/tmp', '/private/var/folders'], special: [] })
    const profile = seatbeltProfile({ places, view, guards, scratch: own })
    const walled = {
      ...command,
      argv: [program, '-p', profile, ...command.argv],
      environment: { ...noRetries, ...command.environment, HOME: own, TMPDIR: own },
    } as const
    const running = await startPlain(walled, this.#options.clock)
    const ended = running.ended.then(async (ending) => {
      rmSync(own, { recursive: true, force: true })
      return { ...ending, undone: await undone(guards) }
    })
    return { ok: true, running: { ...running, ended } }
  }
}
