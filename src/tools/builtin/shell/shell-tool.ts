import { existsSync } from 'node:fs'
import {
  type Clock,
  type Confinement,
  defaultSandboxPolicy,
  type JsonObject,
  type SandboxPolicy,
  type Tool,
  type ToolContext,
  type ToolOutput,
} from '../../../contracts/index.ts'
import {
  type Command,
  type Ending,
  type ProcessSandbox,
  type RunningCommand,
  type StartResult,
  startUnsandboxed,
} from '../../sandbox/index.ts'
import { commandApproval } from './command-approval.ts'
import { folderFacts } from './command-folder.ts'
import { OutputBuffer } from './output-buffer.ts'
import { mostSeconds, readShellInput, type ShellInput, shellSchema } from './shell-input.ts'
import { type Stop, shellResult } from './shell-result.ts'
import { LiveText } from './terminal-text.ts'

export interface ShellOptions {
  readonly root: string
  readonly sandbox: ProcessSandbox
  readonly clock: Clock
  /** Search path for programs, like `PATH`. */
  readonly path: string
  /** For commands outside the sandbox; inside, they have a temporary home. */
  readonly home: string
  /** For calls without their own policy. */
  readonly policy?: SandboxPolicy
  /** Calls run in the sandbox by default, so read-only commands need no approval. */
  readonly isConfined: boolean
}

/** Between SIGTERM and SIGKILL. */
const graceMs = 1000
/** The same when the call is cancelled: an interrupted turn waits a second for the output. */
const cancelGraceMs = 700
/** For the beginning and the end each. */
const keptBytes = 512 * 1024
/** Live output; the model sees what is kept. */
const shownBytes = 1024 * 1024

export function shellTool(options: ShellOptions): Tool {
  const factsOf = folderFacts(options.root, options.path)
  const policy = { ...(options.policy ?? defaultSandboxPolicy), mode: options.isConfined ? 'required' : 'off' } as const
  return {
    name: 'shell',
    description: [
      'Run a shell command in the workspace. Returns its exit code and output.',
      'There is no terminal input, and no background process survives the command.',
      describeSandbox(policy),
    ].join(' '),
    inputSchema: shellSchema,
    effect: 'write',
    concurrency: 'exclusive',
    // A fallback: the tool applies the timeout of each call itself.
    timeoutMs: mostSeconds * 1000 + 5 * graceMs,
    graceMs: 2 * graceMs,
    unavailable: async (confinement) => {
      if (!sandboxFor(options, confinement).isRequired) return undefined
      const found = await options.sandbox.probe()
      return found.kind === 'unavailable' ? found.failure : undefined
    },
    approval: (input) => {
      const command = String(input.command)
      const facts = factsOf(command, textOf(input.cwd) ?? '.')
      return commandApproval({ command, stdin: textOf(input.stdin), isConfined: options.isConfined, ...facts })
    },
    view: (input) => ({ type: 'command_execution', details: { command: String(input.command), cwd: textOf(input.cwd) ?? '.' } }),
    execute: (input, context) => run(options, input, context),
  }
}

function sandboxFor(options: ShellOptions, confinement: Confinement): { readonly policy: SandboxPolicy; readonly isRequired: boolean } {
  const policy = (confinement.kind === 'sandbox' ? confinement.policy : undefined) ?? options.policy ?? defaultSandboxPolicy
  return { policy, isRequired: confinement.kind === 'sandbox' && policy.mode === 'required' }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

async function run(options: ShellOptions, input: JsonObject, context: ToolContext): Promise<ToolOutput> {
  const read = readShellInput(input, { root: options.root, toolTimeout: context.toolTimeout })
  if (!read.ok) return { ok: false, error: read.failure }
  const { policy, isRequired } = sandboxFor(options, context.confinement)
  const { clock } = options
  const begun = clock.monotonic()
  const started = await start(options, read.input, { context, policy, isRequired })
  if (!started.ok) return { ok: false, error: started.failure }
  const kept = new OutputBuffer(keptBytes)
  const stopped = stopInTime(started.running, { clock, timeoutMs: read.input.timeoutMs, signal: context.signal })
  const ending = await follow(started.running, kept, context)
  return shellResult({ ending, kept, durationMs: clock.monotonic() - begun, stop: stopped(), policy: isRequired ? policy : undefined })
}

async function start(
  options: ShellOptions,
  input: ShellInput,
  { context, policy, isRequired }: { readonly context: ToolContext; readonly policy: SandboxPolicy; readonly isRequired: boolean },
): Promise<StartResult> {
  if (context.signal.aborted) return { ok: false, failure: { class: 'cancelled', message: 'The command was not started.' } }
  const command: Command = {
    argv: [existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh', '-c', input.command],
    cwd: input.cwd,
    environment: { LANG: 'C.UTF-8', TERM: 'dumb', ...named(context.overlay, policy.environment), PATH: options.path },
    policy,
    ...(input.stdin !== undefined && { stdin: input.stdin }),
  }
  if (isRequired) return options.sandbox.start(command)
  const plain = { ...command, environment: { ...command.environment, HOME: options.home } }
  return { ok: true, running: await startUnsandboxed(plain, options.clock) }
}

const named = (overlay: ToolContext['overlay'], names: readonly string[]): { readonly [name: string]: string } =>
  Object.fromEntries(names.flatMap((name) => (Object.hasOwn(overlay, name) ? [[name, overlay[name] ?? '']] : [])))

/** Terminates a command at its timeout or when the call is cancelled, and kills it after a grace period. */
function stopInTime(
  running: RunningCommand,
  { clock, timeoutMs, signal }: { readonly clock: Clock; readonly timeoutMs: number; readonly signal: AbortSignal },
): () => Stop | undefined {
  let stop: Stop | undefined
  let cancel = clock.after(timeoutMs, () => end({ kind: 'timeout', seconds: timeoutMs / 1000 }))
  const end = (reason: Stop): void => {
    if (stop) return
    cancel()
    stop = reason
    running.terminate()
    cancel = clock.after(reason.kind === 'interrupted' ? cancelGraceMs : graceMs, () => running.kill())
  }
  const onAbort = (): void => end({ kind: 'interrupted' })
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  const over = (): void => {
    cancel()
    signal.removeEventListener('abort', onAbort)
  }
  running.ended.then(over, over)
  return () => stop
}

/** Keeps the output, and shows its beginning live. */
function follow(running: RunningCommand, kept: OutputBuffer, context: ToolContext): Promise<Ending> {
  const live = new LiveText()
  let shown = 0
  running.listen((piece) => {
    kept.add(piece)
    if (shown >= shownBytes) return
    shown += piece.length
    const text = live.add(piece)
    if (text !== '') context.output(text)
    if (shown >= shownBytes) context.output('\n… further output is not shown …\n')
  })
  return running.ended.then((ending) => {
    const rest = shown < shownBytes ? live.end() : ''
    if (rest !== '') context.output(rest)
    return ending
  })
}

const mostNamed = 10

/** For the tool description. Single agents may have a stricter policy. */
export function describeSandbox({ mode, hosts, writable }: Pick<SandboxPolicy, 'mode' | 'hosts' | 'writable'>): string {
  if (mode === 'off') return 'By default it runs without a sandbox, with all permissions of the user.'
  const folders = listed(['the workspace', ...writable])
  const network = hosts.length === 0 ? 'has no network' : `can reach only ${listed(hosts)}, over HTTP or HTTPS`
  return `By default it runs in a sandbox: it can write only to ${folders}, and ${network}. Files in /tmp and the home folder are deleted when it ends.`
}

function listed(names: readonly string[]): string {
  const left = names.length - mostNamed
  const [last = '', ...before] = (left > 1 ? [...names.slice(0, mostNamed), `${left} more`] : names).toReversed()
  return before.length === 0 ? last : `${before.toReversed().join(', ')} and ${last}`
}
