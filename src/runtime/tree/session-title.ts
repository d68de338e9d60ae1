import type { SessionState } from '../../core/index.ts'

const maxChars = 80

/**
 * What a tree is listed by: the first that a person has said in it, not what the session was told before. A history that
 * was made shorter may no longer begin with it; then what is `known` stays.
 */
export function titleOf({ history, inputs, initialMessages, compacted }: SessionState, known: string | undefined): string {
  if (known !== undefined && compacted.length > 0) return known
  const first = history.toArray()[initialMessages.length]
  const parts = first?.role === 'user' ? first.parts : inputs[0]?.parts
  const text = parts?.find((part) => part.type === 'text')?.text
  return (text ?? '').trim().split('\n', 1)[0]?.slice(0, maxChars) ?? ''
}
