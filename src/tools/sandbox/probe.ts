/*
 * Tries to get out, for real, before anything else is let in. Whoever finds a way here finds that there is no sandbox.
 *
 * 1. What is planted outside is taken away again, whatever happened.
 * 2. A command that leaves a process behind holds its output open; so an end that does not come is a way out.
 */
import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { type Clock, defaultSandboxPolicy } from '../../contracts/index.ts'
import { isInside } from '../../util/is-inside.ts'
import { probeSource } from './probe-source.ts'
import type { Command, Ending, RunningCommand, StartResult } from './sandbox-types.ts'

export type EscapeReport =
  | { readonly kind: 'kept' }
  | { readonly kind: 'escaped'; readonly escapes: readonly string[] }
  | { readonly kind: 'not started'; readonly why: string }

export interface ProbePlace {
  /** Without links, as the others. */
  readonly root: string
  readonly scratch: string
  readonly home: string
  readonly clock: Clock
}

/** For building the walls and trying everything, on a machine that is busy. */
const patience = 20_000
/** For being gone after that. */
const farewell = 3_000

export async function tryToEscape(enter: (command: Command) => Promise<StartResult>, place: ProbePlace): Promise<EscapeReport> {
  const outside = mkdtempSync(join(place.scratch, 'troupe-probe-'))
  const secret = join(outside, 'secret')
  writeFileSync(secret, 'secret')
  const { port, reached, close } = await listen()
  try {
    const facts = {
      secret,
      port,
      pid: process.pid,
      namespaces: namespaces(),
      // Where a file must not appear. Asked for by name, so that nothing is left behind that could not be found.
      // What lies in the workspace may be written to, though it be somebody's home.
      folders: [outside, dirname(place.root), place.home, '/', '/etc', '/usr', '/var'].filter((folder) => !isInside(place.root, folder)),
      mark: `troupe-probe-${process.pid}`,
    }
    const started = await enter({
      argv: [process.execPath, '-e', probeSource, JSON.stringify(facts)],
      cwd: place.root,
      environment: {},
      policy: defaultSandboxPolicy,
    })
    if (!started.ok) return { kind: 'not started', why: started.failure.message }
    const { text, ending } = await heard(started.running, place.clock)
    started.running.kill()
    if (ending?.startFault !== undefined) return { kind: 'not started', why: ending.startFault }
    const said = found(text)
    if (!said) return { kind: 'not started', why: text.trim() || `it ended with ${ending?.signal ?? ending?.exitCode ?? 'nothing'}` }
    const left = facts.folders.filter((folder) => existsSync(join(folder, facts.mark)))
    for (const folder of left) rmSync(join(folder, facts.mark), { force: true })
    const escapes = [
      ...said,
      ...left.map((folder) => `write to ${folder}`),
      ...(reached() ? ['reach a port of this machine'] : []),
      ...(ending ? [] : ['leave a process behind']),
    ]
    return escapes.length === 0 ? { kind: 'kept' } : { kind: 'escaped', escapes: [...new Set(escapes)] }
  } finally {
    close()
    rmSync(outside, { recursive: true, force: true })
  }
}

/** What was said, and how it ended, if it did. */
async function heard(running: RunningCommand, clock: Clock): Promise<{ readonly text: string; readonly ending: Ending | undefined }> {
  let text = ''
  const late = Promise.withResolvers<undefined>()
  let cancel = clock.after(patience, () => late.resolve(undefined))
  running.listen((piece) => {
    text += Buffer.from(piece).toString()
    if (found(text) === undefined) return
    cancel()
    cancel = clock.after(farewell, () => late.resolve(undefined))
  })
  const ending = await Promise.race([running.ended, late.promise])
  cancel()
  return { text, ending }
}

function found(text: string): readonly string[] | undefined {
  const line = /^TRIED (.*)\n/m.exec(text)?.[1]
  return line === undefined ? undefined : (JSON.parse(line) as readonly string[])
}

async function listen(): Promise<{ readonly port: number; reached(): boolean; close(): void }> {
  let isReached = false
  const server = createServer((socket) => {
    isReached = true
    socket.destroy()
  })
  await new Promise<void>((done, failed) => {
    server.once('error', failed)
    server.listen(0, '127.0.0.1', done)
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    reached: () => isReached,
    close: () => server.close(),
  }
}

/** What tells one world from another; nothing where the system has no such thing. */
function namespaces(): { readonly [kind: string]: string } {
  try {
    return Object.fromEntries(
      readdirSync('/proc/self/ns')
        .filter((kind) => ['pid', 'net', 'mnt', 'ipc', 'user', 'uts'].includes(kind))
        .map((kind) => [kind, readlinkSync(`/proc/self/ns/${kind}`)]),
    )
  } catch {
    return {}
  }
}
