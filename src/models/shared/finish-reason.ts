import type { FinishReason } from '../../contracts/index.ts'
import { type GatheredCall, isWhole } from './calls.ts'

const words: { readonly [Reason in Exclude<FinishReason, 'other'>]: readonly string[] } = {
  stop: ['stop', 'end_turn', 'stop_sequence', 'complete', 'completed', 'eos', 'eos_token', 'finished'],
  'tool-calls': ['tool_calls', 'tool_call', 'tool_use', 'function_call'],
  length: ['length', 'max_tokens', 'max_output_tokens', 'model_length', 'model_context_window_exceeded'],
  'content-filter': [
    'content_filter',
    'content_filtered',
    'safety',
    'image_safety',
    'recitation',
    'blocklist',
    'prohibited_content',
    'spii',
    'refusal',
    'guardrail_intervened',
    'error_toxic',
  ],
  error: ['error', 'failed', 'cancelled', 'incomplete', 'malformed_function_call', 'unexpected_tool_call'],
}

const reasons = new Map(Object.entries(words).flatMap(([reason, said]) => said.map((word) => [word, reason as FinishReason] as const)))

/** What a provider's own word for the end of a reply means. A word that nobody knows is no `stop`. */
export function finishReasonOf(word: string): FinishReason {
  return reasons.get(word.toLowerCase().replaceAll('-', '_')) ?? 'other'
}

interface ReplyEnd {
  /** The provider's own word for it, where it has said one. */
  readonly word: string | undefined
  /** It always says one: without it the reply was cut. */
  readonly isAlwaysTelling: boolean
  readonly calls: readonly GatheredCall[]
}

/** `undefined` where the reply was cut. Where nobody tells, an orderly end of the stream is the end of the reply. */
export function endOfReply({ word, isAlwaysTelling, calls }: ReplyEnd): FinishReason | undefined {
  const orderly = calls.length > 0 ? 'tool-calls' : 'stop'
  if (word === undefined) return isAlwaysTelling || !calls.every(isWhole) ? undefined : orderly
  const reason = finishReasonOf(word)
  return reason === 'stop' ? orderly : reason
}
