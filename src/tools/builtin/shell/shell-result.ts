import { constants } from 'node:os'
import type { JsonObject, SandboxPolicy, ToolFailure, ToolOutput } from '../../../contracts/index.ts'
import type { Ending } from '../../sandbox/index.ts'
import type { OutputBuffer } from './output-buffer.ts'
import { sandboxDenial } from './sandbox-denial.ts'
import { mostSeconds } from './shell-input.ts'
import { plainText } from './terminal-text.ts'

export type Stop = { readonly kind: 'timeout'; readonly seconds: number } | { readonly kind: 'interrupted' }

interface EndedCommand {
  readonly ending: Ending
  readonly kept: OutputBuffer
  readonly durationMs: number
  readonly stop: Stop | undefined
  /** The policy of its sandbox, where it had one. */
  readonly policy: SandboxPolicy | undefined
}

/** A command that fails by itself is an ordinary result with exit code and output. */
export function shellResult(ended: EndedCommand): ToolOutput {
  const { ending, kept, stop, policy } = ended
  const text = keptText(kept)
  const failure = failureOf(ended) ?? (policy && ending.exitCode !== 0 ? sandboxDenial({ text, policy, ...ending }) : undefined)
  if (failure) {
    const state = (stop ?? ending.limit) ? '' : `${stateOf(ended)}\n`
    return { ok: false, error: failure, ...(text !== '' && { partial: `${state}${text}` }) }
  }
  const value: JsonObject = {
    exitCode: ending.exitCode,
    signal: signalOf(ending) ?? null,
    durationMs: Math.round(ended.durationMs),
    truncatedBytes: kept.leftOut,
  }
  return { ok: true, content: `${stateOf(ended)}\n${text === '' ? '(no output)' : text}`, value }
}

function failureOf({ ending, stop, durationMs, policy }: EndedCommand): ToolFailure | undefined {
  if (ending.startFault !== undefined) {
    return { class: policy ? 'sandbox_unavailable' : 'failed', message: `The command was not started: ${ending.startFault}` }
  }
  if (ending.limit !== undefined) {
    const message = `The command was stopped after ${seconds(durationMs)} because it used ${ending.limit}.`
    return { class: 'failed', message, remedy: 'Do less in one command, or ask the user to raise the limit.' }
  }
  if (stop?.kind === 'timeout') {
    const message = `The command timed out after ${stop.seconds} s and was stopped, with all processes it had started.`
    const more =
      stop.seconds < mostSeconds
        ? 'Set a larger "timeout", or do less in one command.'
        : `Do less in one command: ${mostSeconds} s is the maximum.`
    return { class: 'timeout', message, remedy: `${more} Background processes are not supported.` }
  }
  if (stop) return { class: 'cancelled', message: `The command was stopped after ${seconds(durationMs)}.` }
  return undefined
}

function stateOf({ ending, durationMs }: EndedCommand): string {
  const signal = signalOf(ending)
  const code = ending.exitCode === null ? 'No exit code' : `Exit code ${ending.exitCode}`
  return `${code}${signal === undefined ? '' : ` (${signal})`} after ${seconds(durationMs)}.`
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

/** A shell reports a signal as a code above 128. */
function signalOf({ exitCode, signal }: Ending): string | undefined {
  if (signal) return signal
  const number = (exitCode ?? 0) - 128
  return number > 0 ? Object.entries(constants.signals).find(([, each]) => each === number)?.[0] : undefined
}

function keptText(kept: OutputBuffer): string {
  const decoder = new TextDecoder()
  if (kept.leftOut === 0) return plainText(decoder.decode(Buffer.concat([kept.head(), kept.tail()])))
  const head = plainText(decoder.decode(kept.head()))
  const tail = plainText(decoder.decode(fromLine(kept.tail())))
  return `${head}\n… ${kept.leftOut} of ${kept.total} bytes omitted; write the output to a file to see them …\n${tail}`
}

/** Begins with a whole line, or at least a whole character. */
function fromLine(bytes: Buffer): Buffer {
  const end = bytes.indexOf(0x0a)
  if (end >= 0 && end < 4096) return bytes.subarray(end + 1)
  let start = 0
  while (start < 4 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++
  return bytes.subarray(start)
}
