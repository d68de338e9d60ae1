import type { InputPart } from '../../contracts/index.ts'

const maxTitleChars = 80

/** The title of a new session: the first line of its first message. */
export function sessionTitle(input: readonly InputPart[]): string {
  const text = input.find((part) => part.type === 'text')?.text
  return (text ?? '').trim().split('\n', 1)[0]?.slice(0, maxTitleChars) ?? ''
}
