// Tests the sandbox with real attempts to escape, before any other command runs in it.
//
// 1. Files that the test created outside are removed, whatever happened.
// 2. A process that survives holds the output open, so a command that does not end has escaped.
import { existsSync, mkdtempSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { type Clock, defaultSandboxPolicy } from '../../contracts/index.ts'
import { isInside } from '../../util/is-inside.ts'
import type { Command, Ending, ProcessSandboxOptions, RunningCommand, StartResult } from './sandbox-types.ts'

export type EscapeReport =
  | { readonly kind: 'kept' }
  | { readonly kind: 'escaped'; readonly escapes: readonly string[] }
  | { readonly kind: 'not started'; readonly why: string }

/** Paths without links. */
type ProbePlace = Required<Pick<ProcessSandboxOptions, 'root' | 'scratch' | 'home' | 'clock'>>

/** To build the sandbox and make all attempts, on a busy machine. */
const attemptsMs = 20_000
/** To end after that. */
const endMs = 3_000

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
      // Where no file must appear. A home folder in the workspace can be written to.
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
    const { text, ending } = await outputOf(started.running, place.clock)
    started.running.kill()
    if (ending?.startFault !== undefined) return { kind: 'not started', why: ending.startFault }
    const reported = escapesIn(text)
    if (!reported)
      return { kind: 'not started', why: text.trim() || `the test ended with ${ending?.signal ?? ending?.exitCode ?? 'no exit code'}` }
    const left = facts.folders.filter((folder) => existsSync(join(folder, facts.mark)))
    for (const folder of left) rmSync(join(folder, facts.mark), { force: true })
    const escapes = [
      ...reported,
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

async function outputOf(running: RunningCommand, clock: Clock): Promise<{ readonly text: string; readonly ending: Ending | undefined }> {
  let text = ''
  const late = Promise.withResolvers<undefined>()
  let cancel = clock.after(attemptsMs, () => late.resolve(undefined))
  running.listen((piece) => {
    text += Buffer.from(piece).toString()
    if (escapesIn(text) === undefined) return
    cancel()
    cancel = clock.after(endMs, () => late.resolve(undefined))
  })
  const ending = await Promise.race([running.ended, late.promise])
  cancel()
  return { text, ending }
}

function escapesIn(text: string): readonly string[] | undefined {
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

/** The namespaces of this process; none where the system has no such thing. */
function namespaces(): { readonly [kind: string]: string } {
  try {
    return Object.fromEntries(['pid', 'net', 'mnt', 'ipc', 'user', 'uts'].map((kind) => [kind, readlinkSync(`/proc/self/ns/${kind}`)]))
  } catch {
    return {}
  }
}

/** The source of a program that tries to escape from the sandbox. Plain JavaScript, because it is passed as text. */
const probeSource = `
const fs = require('node:fs')
const { connect } = require('node:net')
const { spawn } = require('node:child_process')
const { join } = require('node:path')
const { secret, port, pid, namespaces, folders, mark } = JSON.parse(process.argv[1])
const escapes = []
const attempt = (what, way) => {
  try {
    if (way() !== false) escapes.push(what)
  } catch {}
}
for (const folder of folders) attempt(null, () => fs.writeFileSync(join(folder, mark), 'out'))
escapes.length = 0
attempt('read a secret of this machine', () => fs.readFileSync(secret, 'utf8') === 'secret')
for (const [kind, own] of Object.entries(namespaces)) {
  attempt('share a namespace (' + kind + ')', () => fs.readlinkSync('/proc/self/ns/' + kind) === own)
}
if (!('pid' in namespaces)) attempt('signal a process outside', () => process.kill(pid, 0))
if (fs.existsSync('/proc/sys/kernel/core_pattern')) {
  attempt('change kernel settings', () => fs.closeSync(fs.openSync('/proc/sys/kernel/core_pattern', 'r+')))
}
if (process.platform === 'linux') {
  const status = fs.readFileSync('/proc/self/status', 'utf8')
  attempt('keep a capability', () => !/^CapEff:\\t0+$/m.test(status) || !/^CapBnd:\\t0+$/m.test(status))
  attempt('gain privileges', () => !/^NoNewPrivs:\\t1$/m.test(status))
}
// If it survives, it ends by itself soon.
spawn('/bin/sh', ['-c', 'trap "" TERM HUP; exec sleep 6'], { detached: true, stdio: 'inherit' }).unref()
const tell = () => process.stdout.write('TRIED ' + JSON.stringify(escapes) + '\\n', () => process.exit(0))
const socket = connect(port, '127.0.0.1')
socket.on('connect', () => {
  escapes.push('reach a port of this machine')
  tell()
})
socket.on('error', tell)
socket.setTimeout(2000, tell)
`
