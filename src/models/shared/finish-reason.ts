import type { FinishReason } from '../../contracts/index.ts'
import { type GatheredCall, isWhole } from './gathered-calls.ts'

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

/** Maps a provider's finish reason. An unknown one is not `stop`. */
export function finishReasonOf(word: string): FinishReason {
  return reasons.get(word.toLowerCase().replaceAll('-', '_')) ?? 'other'
}

interface ReplyEnd {
  /** The provider's finish reason, if it gave one. */
  readonly word: string | undefined
  /** It always gives one: without it the reply was cut off. */
  readonly alwaysGivesReason: boolean
  readonly calls: readonly GatheredCall[]
}

/** `undefined` if the reply was cut off. A provider that gives no reasons ends a reply with its stream. */
export function endOfReply({ word, alwaysGivesReason, calls }: ReplyEnd): FinishReason | undefined {
  const orderly = calls.length > 0 ? 'tool-calls' : 'stop'
  if (word === undefined) return alwaysGivesReason || !calls.every(isWhole) ? undefined : orderly
  const reason = finishReasonOf(word)
  return reason === 'stop' ? orderly : reason
}
