import { fstatSync, type Stats, statSync } from 'node:fs'
import { devNull } from 'node:os'
import { type Clock, type InputContract, type Problem, TroupeError } from '../../../contracts/index.ts'
import { schemaValidator } from '../../../tools/index.ts'
import { shellWord } from '../../../util/shell-word.ts'
import type { Host } from '../../terminal/process-host.ts'

interface PromptSources {
  /** `PROMPT` of the command line; `-` is standard input. */
  readonly argument: string | undefined
  /** Text that comes before it. */
  readonly before?: string | undefined
  readonly stdin: Host['stdin']
  readonly clock: Clock
  /** Called once when standard input has sent nothing for a while. */
  readonly onWaiting?: () => void
}

interface ReadPrompt {
  readonly prompt: string
  readonly warnings: readonly string[]
}

/** Whether the user has to type the prompt at a terminal. */
export const isTyped = ({ argument, stdin }: Pick<PromptSources, 'argument' | 'stdin'>): boolean => argument === '-' && stdin.isTTY === true

const maxBytes = 10 * 1024 * 1024
/** How long standard input may send nothing before a warning, or before a socket or device is ignored. */
const patienceMs = 3000
/** The shorter wait when another error is reported anyway. */
const momentMs = 100

/**
 * The prompt: the argument, a blank line, then piped input. A terminal is read only for `-`. Files and pipes are read to
 * their end. A socket or device that sends nothing is ignored. Throws `usage` if there is no prompt.
 */
export async function readPrompt(sources: PromptSources): Promise<ReadPrompt> {
  const { argument, stdin } = sources
  const kind = inputKindOf(stdin)
  const isAsked = argument === '-'
  const isAwaited = isAsked || kind === 'file' || kind === 'pipe'
  const input = isAsked || kind !== 'terminal' ? await readInput(sources, { kind, onSilence: isAwaited ? 'wait' : 'ignore' }) : ''
  const parts = [sources.before ?? '', isAsked ? '' : (argument ?? ''), input ?? ''].filter((part) => part.trim() !== '')
  if (parts.length === 0) throw noPrompt(argument)
  const warnings = input === undefined ? ['Standard input sent nothing and is ignored. Use - to wait for it.'] : []
  return { prompt: parts.join('\n\n'), warnings }
}

/** Problems of the prompt that are known within `momentMs`. */
export async function promptProblem(sources: Omit<PromptSources, 'onWaiting'>): Promise<TroupeError | undefined> {
  const { argument, stdin } = sources
  const kind = inputKindOf(stdin)
  if (argument === '-') return undefined
  try {
    const input = kind === 'terminal' ? '' : await readInput(sources, { kind, onSilence: 'give up' })
    return input?.trim() === '' && (argument ?? '').trim() === '' ? noPrompt(argument) : undefined
  } catch (error) {
    if (error instanceof TroupeError) return error
    throw error
  }
}

interface Reading {
  readonly kind: InputKind
  readonly onSilence: 'wait' | 'ignore' | 'give up'
}

/** `undefined` if nothing was received in time. */
async function readInput({ stdin, clock, onWaiting }: PromptSources, { kind, onSilence }: Reading): Promise<string | undefined> {
  if (kind === 'nothing') return ''
  if (kind === 'folder') throw wrongInput('it is a folder', 'Redirect from a file, or from /dev/null.')
  const chunks: Uint8Array[] = []
  const absent = Promise.withResolvers<'absent'>()
  let isReported = onSilence === 'give up'
  const startTimer = (): (() => void) =>
    clock.after(onSilence === 'give up' ? momentMs : patienceMs, () => {
      if (onSilence === 'give up' || (onSilence === 'ignore' && chunks.length === 0)) return absent.resolve('absent')
      isReported = true
      onWaiting?.()
    })
  let stopTimer = startTimer()
  const read = (async () => {
    for await (const part of boundedChunks(stdin)) {
      chunks.push(part)
      if (isReported) continue
      stopTimer()
      stopTimer = startTimer()
    }
    return 'ended' as const
  })()
  try {
    if ((await Promise.race([read, absent.promise])) === 'ended') return decode(chunks)
    read.catch(() => {})
    stdin.destroy()
    return undefined
  } catch (error) {
    if (error instanceof TroupeError) throw error
    throw wrongInput(error instanceof Error ? error.message : String(error), 'Pipe in text, or redirect from /dev/null.')
  } finally {
    stopTimer()
  }
}

async function* boundedChunks(stdin: Host['stdin']): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of stdin as AsyncIterable<Uint8Array | string>) {
    const part = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk
    bytes += part.length
    if (bytes > maxBytes) throw wrongInput(`it is longer than ${maxBytes} bytes`, 'Pipe in less, or let the agent read it from a file.')
    yield part
  }
}

function decode(chunks: readonly Uint8Array[]): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)).replace(/\r?\n$/, '')
  } catch {
    throw wrongInput('it is not UTF-8 text', 'Pipe in UTF-8 text.')
  }
}

function noPrompt(argument: string | undefined): TroupeError {
  const message = argument === '-' ? 'Standard input is empty.' : argument === undefined ? 'The prompt is missing.' : 'The prompt is empty.'
  return usage({ place: 'PROMPT', message, remedy: 'Pass a prompt: troupe run FILE "…", or pipe it in.' })
}

function wrongInput(message: string, remedy: string): TroupeError {
  return usage({ place: 'standard input', message: `Standard input cannot be read: ${message}.`, remedy })
}

function usage(problem: Problem): TroupeError {
  return new TroupeError('usage', 'The command line is invalid.', { problems: [problem] })
}

interface PromptTarget {
  /** The file of the agent, as written. */
  readonly file: string
  readonly input: InputContract
}

/** Checks the prompt of an agent with JSON input against its schema, as for calls by other agents. */
export async function checkPrompt(prompt: string, { file, input }: PromptTarget): Promise<TroupeError | undefined> {
  if (input.format !== 'json') return undefined
  const message = await problemOf(prompt, input.schema)
  if (message === undefined) return undefined
  const remedy = `Pass JSON that matches its schema; to see the schema: troupe run ${shellWord(file)} --help`
  return new TroupeError('usage', 'The command line is invalid.', { problems: [{ place: 'PROMPT', message, remedy }] })
}

async function problemOf(prompt: string, schema: Extract<InputContract, { format: 'json' }>['schema']): Promise<string | undefined> {
  let value: unknown
  try {
    value = JSON.parse(prompt)
  } catch {
    return 'The prompt is not JSON; this agent requires JSON.'
  }
  const found = await (await schemaValidator().compile(schema))(value)
  return found.ok ? undefined : `The prompt does not match the input schema of the agent: ${found.problems.join('; ')}.`
}

/**
 * The kind of standard input. Files and pipes come from the command line and are read to their end. A socket or device
 * may be inherited from the parent process and never send anything. `nothing` is the null device.
 */
type InputKind = 'nothing' | 'terminal' | 'file' | 'pipe' | 'socket' | 'device' | 'folder'

function inputKindOf({ isTTY, fd }: Host['stdin']): InputKind {
  if (isTTY) return 'terminal'
  return fd === undefined ? 'pipe' : kindOf(fstatSync(fd))
}

function kindOf(found: Stats): InputKind {
  if (found.isDirectory()) return 'folder'
  if (found.isFile()) return 'file'
  if (found.isSocket()) return 'socket'
  if (found.isFIFO()) return 'pipe'
  return isNothing(found) ? 'nothing' : 'device'
}

function isNothing({ rdev }: Stats): boolean {
  const nothing = statSync(devNull, { throwIfNoEntry: false })
  return nothing !== undefined && !nothing.isFile() && nothing.rdev === rdev
}
