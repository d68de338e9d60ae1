import type { CallNode } from '../../view/index.ts'

/** What a person wrote about a call. */
export interface PersonWords {
  readonly kind: 'answer' | 'denial'
  readonly text: string
  /** Who, if somebody decided at a request. */
  readonly by?: string
}

/** The answer to the question of a call, or why it was denied. `undefined`: nobody wrote anything. */
export function personWords({ asked, permit }: Pick<CallNode, 'asked' | 'permit'>): PersonWords | undefined {
  const { by, decision } = asked.findLast(({ answer }) => answer !== undefined)?.answer ?? {}
  const who = by === undefined ? {} : { by }
  if (decision?.kind === 'deny' && decision.feedback !== undefined && decision.feedback.trim() !== '')
    return { kind: 'denial', text: decision.feedback, ...who }
  const text = decision?.kind === 'answer' ? decision.text || fieldsText(decision.content) : permit?.kind === 'answered' ? permit.text : ''
  return text.trim() === '' ? undefined : { kind: 'answer', text, ...who }
}

/** The fields of a form in one line. */
const fieldsText = (content: object = {}): string =>
  Object.entries(content)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
