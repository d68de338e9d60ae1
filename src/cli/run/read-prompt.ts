import { type Clock, type Problem, TroupeError } from '../../contracts/index.ts'
import type { Host } from '../host/process-host.ts'
import { type InputKind, inputKindOf } from '../options/input-kind.ts'

interface PromptSources {
  /** What stands on the command line; `-` asks for standard input. */
  readonly argument: string | undefined
  readonly stdin: Host['stdin']
  readonly clock: Clock
  /** Called once, when an input that is waited for has been silent for a while. */
  readonly onWaiting?: () => void
}

export interface ReadPrompt {
  readonly prompt: string
  /** What a person should know about it. */
  readonly warnings: readonly string[]
}

/** Whether a person has to type the prompt, and should be told so before it is waited for. */
export const isTyped = ({ argument, stdin }: Pick<PromptSources, 'argument' | 'stdin'>): boolean => argument === '-' && stdin.isTTY === true

const mostBytes = 10 * 1024 * 1024
/** How long an input may be silent before a person is told, or before one that may never speak counts as absent. */
const patienceMs = 3000
/** Where something else is wrong, nobody should have to wait for a pipe to hear of it. */
const momentMs = 100

/**
 * The prompt: what stands on the command line, then a blank line, then what was piped in. A terminal is read only
 * when asked for by `-`; files and pipes are read to their end, however slowly it comes. A socket or a device that
 * stays silent counts as absent. Throws `usage` where there is no prompt.
 */
export async function readPrompt(sources: PromptSources): Promise<ReadPrompt> {
  const { argument, stdin } = sources
  const kind = inputKindOf(stdin)
  const isAsked = argument === '-'
  const isAwaited = isAsked || kind === 'file' || kind === 'pipe'
  const input =
    isAsked || kind !== 'terminal' ? await readInput(sources, { kind, silence: isAwaited ? 'is waited for' : 'is absence' }) : ''
  const parts = [isAsked ? '' : (argument ?? ''), input ?? ''].filter((part) => part.trim() !== '')
  if (parts.length === 0) throw noPrompt(argument)
  const warnings = input === undefined ? ['Standard input sent nothing and is ignored. Use - to wait for it.'] : []
  return { prompt: parts.join('\n\n'), warnings }
}

/** What is wrong with the prompt as far as that can be told in a moment. */
export async function promptProblem(sources: Omit<PromptSources, 'onWaiting'>): Promise<TroupeError | undefined> {
  const { argument, stdin } = sources
  const kind = inputKindOf(stdin)
  if (argument === '-') return undefined
  try {
    const input = kind === 'terminal' ? '' : await readInput(sources, { kind, silence: 'ends a moment' })
    return input?.trim() === '' && (argument ?? '').trim() === '' ? noPrompt(argument) : undefined
  } catch (error) {
    if (error instanceof TroupeError) return error
    throw error
  }
}

interface Reading {
  readonly kind: InputKind
  readonly silence: 'is waited for' | 'is absence' | 'ends a moment'
}

/** `undefined` where nothing came. */
async function readInput({ stdin, clock, onWaiting }: PromptSources, { kind, silence }: Reading): Promise<string | undefined> {
  if (kind === 'nothing') return ''
  if (kind === 'folder') throw wrongInput('it is a folder', 'Redirect from a file, or from /dev/null.')
  const chunks: Uint8Array[] = []
  const absent = Promise.withResolvers<'absent'>()
  let isTold = silence === 'ends a moment'
  const listen = (): (() => void) =>
    clock.after(silence === 'ends a moment' ? momentMs : patienceMs, () => {
      if (silence === 'ends a moment' || (silence === 'is absence' && chunks.length === 0)) return absent.resolve('absent')
      isTold = true
      onWaiting?.()
    })
  let stopListening = listen()
  const read = (async () => {
    for await (const part of boundedChunks(stdin)) {
      chunks.push(part)
      if (isTold) continue
      stopListening()
      stopListening = listen()
    }
    return 'ended' as const
  })()
  try {
    if ((await Promise.race([read, absent.promise])) === 'ended') return decode(chunks)
    // Whatever it still says, nobody listens any more.
    read.catch(() => {})
    stdin.destroy()
    return undefined
  } catch (error) {
    if (error instanceof TroupeError) throw error
    throw wrongInput(error instanceof Error ? error.message : String(error), 'Pipe in text, or redirect from /dev/null.')
  } finally {
    stopListening()
  }
}

async function* boundedChunks(stdin: Host['stdin']): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of stdin as AsyncIterable<Uint8Array | string>) {
    const part = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk
    bytes += part.length
    if (bytes > mostBytes) throw wrongInput(`it is longer than ${mostBytes} bytes`, 'Pipe in less, or let the agent read a file.')
    yield part
  }
}

function decode(chunks: readonly Uint8Array[]): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)).replace(/\r?\n$/, '')
  } catch {
    throw wrongInput('it is not text in UTF-8', 'Pipe in text.')
  }
}

function noPrompt(argument: string | undefined): TroupeError {
  const message = argument === '-' ? 'Standard input is empty.' : argument === undefined ? 'The prompt is missing.' : 'The prompt is empty.'
  return usage({ place: 'PROMPT', message, remedy: 'Pass the task: troupe run FILE "…", or pipe it in.' })
}

function wrongInput(message: string, remedy: string): TroupeError {
  return usage({ place: 'standard input', message: `It cannot be read: ${message}.`, remedy })
}

function usage(problem: Problem): TroupeError {
  return new TroupeError('usage', 'The command line is invalid.', { problems: [problem] })
}
