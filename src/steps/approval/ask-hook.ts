import type { Hook, HookContext, JsonObject } from '../../contracts/index.ts'
import { Interrupt, unlessInterrupted } from '../../util/interrupt.ts'
import { isThenable } from '../../util/is-thenable.ts'
import { plainJson } from '../../util/json-values.ts'
import { messageOf } from '../../util/message-of.ts'
import { showValue } from '../../util/show-value.ts'
import { cutText } from '../../util/well-formed.ts'
import type { ActiveSession } from '../session/active-session.ts'

// Hooks are third-party code: their answers are copied and checked, they have a timeout, and an interrupt does not wait for
// them.

/** Texts are redacted and cut to a maximum length. */
export type HookAnswer =
  | { readonly kind: 'continue' }
  | { readonly kind: 'change'; readonly input: JsonObject | undefined; readonly text: string }
  | { readonly kind: 'block' | 'context' | 'resume'; readonly text: string }
  | { readonly kind: 'crash'; readonly text: string }
  /** The turn ended while the hook ran: no other hook is asked. */
  | { readonly kind: 'interrupted' }

export type HookVerdict = 'continue' | 'change' | 'block' | 'context' | 'resume'

export const defaultHookTimeoutMs = 60_000
/** Longer texts of a hook are cut. */
export const maxHookTextLength = 16_000

export async function askHook(
  session: ActiveSession,
  { timeoutMs = defaultHookTimeoutMs }: Hook,
  question: { readonly kinds: readonly HookVerdict[]; put(context: HookContext): unknown },
): Promise<HookAnswer> {
  // A hook acts: the call that started this child is on record first.
  const writing = session.handedOver()
  if (writing) await writing
  if (session.interrupt.reason !== undefined) return { kind: 'interrupted' }
  const deadline = new Interrupt(session.interrupt)
  const cancel = session.clock.after(timeoutMs, () => deadline.fire('late'))
  const context: HookContext = {
    ...session.place,
    get signal() {
      return deadline.signal
    },
  }
  try {
    return parseAnswer(session, question.kinds, await unlessInterrupted(deadline, asPromise(question.put(context))))
  } catch (error) {
    if (session.interrupt.reason !== undefined) return { kind: 'interrupted' }
    const message = deadline.reason === 'late' ? `it did not answer within ${timeoutMs} ms` : messageOf(error)
    return { kind: 'crash', text: safeText(session, message) }
  } finally {
    cancel()
    deadline.close()
  }
}

const asPromise = (answer: unknown): unknown => (isThenable(answer) ? Promise.resolve(answer) : answer)

/** Reads a plain copy: later changes of the hook, or getters, have no effect. */
function parseAnswer(session: ActiveSession, kinds: readonly HookVerdict[], answer: unknown): HookAnswer {
  if (answer === undefined || answer === null) return { kind: 'continue' }
  const plain = plainJson(answer)
  const kind = kinds.find((each) => each === plain?.kind)
  const crash = (message: string): HookAnswer => ({ kind: 'crash', text: safeText(session, message) })
  if (!plain || kind === undefined) return crash(`it answered ${showValue(plain ?? answer)}, expected a kind of ${kinds.join(', ')}`)
  const unknown = unknownKeys(plain, kind)
  // A block stays a block: with `onFailure: open` a failure would let the call run.
  if (unknown !== undefined && kind !== 'block') return crash(`${unknown}; expected ${kinds.map(verdictForm).join(' or ')}`)
  switch (kind) {
    case 'continue':
      return { kind }
    case 'change':
      return { kind, input: plainJson(plain.input), text: reasonText(session, plain) }
    case 'block':
      return { kind, text: `${reasonText(session, plain)}${unknown === undefined ? '' : safeText(session, ` (${unknown})`)}` }
    case 'resume':
      return { kind, text: reasonText(session, plain) }
    case 'context':
      if (typeof plain.text !== 'string' || plain.text.trim() === '') return crash('it answered "context" without a text')
      return { kind, text: safeText(session, plain.text) }
    default:
      return kind satisfies never
  }
}

/** The fields of each verdict besides `kind`, as a program writes them. */
const verdictFields: { readonly [Kind in HookVerdict]: { readonly [key: string]: string } } = {
  continue: {},
  change: { input: '{…}', reason: '"…"' },
  block: { reason: '"…"' },
  context: { text: '"…"' },
  resume: { reason: '"…"' },
}

export function verdictForm(kind: HookVerdict): string {
  const rest = Object.entries(verdictFields[kind]).map(([key, value]) => `,"${key}":${value}`)
  return `{"kind":"${kind}"${rest.join('')}}`
}

function unknownKeys(answer: JsonObject, kind: HookVerdict): string | undefined {
  const unknown = Object.keys(answer).filter((key) => key !== 'kind' && !Object.hasOwn(verdictFields[kind], key))
  if (unknown.length === 0) return undefined
  const names = unknown.slice(0, 5).map((key) => showValue(key))
  return `it answered "${kind}" with ${unknown.length === 1 ? 'the unknown key' : 'the unknown keys'} ${names.join(', ')}`
}

const reasonText = (session: ActiveSession, { reason }: JsonObject): string =>
  typeof reason === 'string' && reason.trim() !== '' ? safeText(session, reason) : 'no reason was given'

function safeText({ ports }: ActiveSession, text: string): string {
  const hidden = ports.redactor.text(text)
  return hidden.length > maxHookTextLength ? `${cutText(hidden, maxHookTextLength)}\n… the rest was left out …` : hidden
}
