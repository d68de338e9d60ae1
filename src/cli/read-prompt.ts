import type { Readable } from 'node:stream'
import { type Problem, TroupeError } from '../contracts/index.ts'

interface PromptSources {
  /** What stands on the command line; `-` asks for standard input. */
  readonly argument: string | undefined
  readonly stdin: Readable & { readonly isTTY?: boolean }
  /** How long a pipe may be silent before it counts as absent. Default 3 s; with `-` there is no limit. */
  readonly patienceMs?: number
}

export interface ReadPrompt {
  readonly prompt: string
  /** What a person should know about it. */
  readonly notices: readonly string[]
}

/** Whether a person has to type the prompt, and should be told so before it is waited for. */
export const isTyped = ({ argument, stdin }: PromptSources): boolean => argument === '-' && stdin.isTTY === true

const mostBytes = 10 * 1024 * 1024

/**
 * The prompt: what stands on the command line, then a blank line, then what was piped in. A terminal is read only
 * when asked for by `-`. A pipe that stays open and silent, as some programs leave theirs, counts as absent.
 * Throws `usage` where there is no prompt.
 */
export async function readPrompt(sources: PromptSources): Promise<ReadPrompt> {
  const { argument, stdin } = sources
  const isAsked = argument === '-'
  const piped = isAsked || !stdin.isTTY ? await readAll(sources, isAsked) : ''
  const parts = [isAsked ? '' : (argument ?? ''), piped ?? ''].filter((part) => part.trim() !== '')
  if (parts.length === 0) throw noPrompt(argument)
  const notices = piped === undefined ? ['Nothing came from standard input, so it is left out. Use - to wait for it.'] : []
  return { prompt: parts.join('\n\n'), notices }
}

/** `undefined` where nothing came. */
async function readAll({ stdin, patienceMs = 3000 }: PromptSources, isAsked: boolean): Promise<string | undefined> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  let isSilent = false
  const patience = isAsked
    ? undefined
    : setTimeout(() => {
        isSilent = true
        stdin.destroy()
      }, patienceMs)
  try {
    for await (const chunk of stdin as AsyncIterable<Uint8Array | string>) {
      clearTimeout(patience)
      const part = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk
      bytes += part.length
      if (bytes > mostBytes) throw wrongInput(`it is longer than ${mostBytes} bytes`, 'Pipe in less, or let the agent read a file.')
      chunks.push(part)
    }
  } catch (error) {
    if (error instanceof TroupeError) throw error
    if (!isSilent) throw wrongInput(error instanceof Error ? error.message : String(error), 'Pipe in text, or redirect from /dev/null.')
    return undefined
  } finally {
    clearTimeout(patience)
  }
  return decode(chunks)
}

function decode(chunks: readonly Uint8Array[]): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)).replace(/\r?\n$/, '')
  } catch {
    throw wrongInput('it is not text in UTF-8', 'Pipe in text.')
  }
}

function noPrompt(argument: string | undefined): TroupeError {
  const message = argument === '-' ? 'Standard input is empty.' : argument === undefined ? 'It is missing.' : 'It is empty.'
  return usage({ place: 'PROMPT', message, remedy: 'Say what the agent is to do: troupe run FILE "…", or pipe it in.' })
}

function wrongInput(message: string, remedy: string): TroupeError {
  return usage({ place: 'standard input', message: `It cannot be read: ${message}.`, remedy })
}

function usage(problem: Problem): TroupeError {
  return new TroupeError('usage', 'The command line has a problem.', { problems: [problem] })
}
