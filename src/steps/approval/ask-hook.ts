import type { Hook, HookContext, JsonObject } from '../../contracts/index.ts'
import { plainJson } from '../../util/copy-json.ts'
import { Interrupt, unlessInterrupted } from '../../util/interrupt.ts'
import { isThenable } from '../../util/is-thenable.ts'
import { messageOf } from '../../util/message-of.ts'
import { showValue } from '../../util/show-value.ts'
import { cutText } from '../../util/well-formed.ts'
import type { ActiveSession } from '../loop/active-session.ts'

// Hooks are other people's code: what they answer is copied and checked, nothing waits for them beyond their time, and
// an interrupt does not wait for them at all.

/** What came of asking, whatever the hook did. Texts are free of secrets, and of a size that can be shown. */
export type HookAnswer =
  | { readonly kind: 'continue' }
  | { readonly kind: 'change'; readonly input: JsonObject | undefined; readonly text: string }
  | { readonly kind: 'block' | 'context' | 'resume'; readonly text: string }
  | { readonly kind: 'crash'; readonly text: string }
  /** The turn ended while it thought: nobody is to blame, and nobody else is asked. */
  | { readonly kind: 'interrupted' }

/** What may be answered; which of them depends on the question. */
export type HookVerdict = 'continue' | 'change' | 'block' | 'context' | 'resume'

export interface HookQuestion {
  readonly kinds: readonly HookVerdict[]
  put(context: HookContext): unknown
}

/** How long a hook may think where it does not say. */
export const defaultHookTimeoutMs = 60_000
/** More than this of what a hook says is left out. */
export const maxHookTextLength = 16_000

export async function askHook(
  session: ActiveSession,
  { timeoutMs = defaultHookTimeoutMs }: Hook,
  question: HookQuestion,
): Promise<HookAnswer> {
  if (session.interrupt.reason !== undefined) return { kind: 'interrupted' }
  const deadline = new Interrupt(session.interrupt)
  const cancel = session.clock.after(timeoutMs, () => deadline.fire('late'))
  const context: HookContext = {
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

/** A copy: what a hook holds on to, or what runs when it is looked at, has no say any more. */
function parseAnswer(session: ActiveSession, kinds: readonly HookVerdict[], answer: unknown): HookAnswer {
  if (answer === undefined || answer === null) return { kind: 'continue' }
  const plain = plainJson(answer)
  const kind = kinds.find((each) => each === plain?.kind)
  const crash = (message: string): HookAnswer => ({ kind: 'crash', text: safeText(session, message) })
  if (!plain || kind === undefined) return crash(`it answered ${showValue(plain ?? answer)}, expected a kind of ${kinds.join(', ')}`)
  const unknown = unknownKeys(plain, kind)
  // Whatever else it says: where it is let go on a failure, a no must not become a yes.
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

/** What stands beside its kind in each of them, and how a program writes it. */
const verdictFields: { readonly [Kind in HookVerdict]: { readonly [key: string]: string } } = {
  continue: {},
  change: { input: '{…}', reason: '"…"' },
  block: { reason: '"…"' },
  context: { text: '"…"' },
  resume: { reason: '"…"' },
}

/** A verdict as a program writes it. */
export function verdictForm(kind: HookVerdict): string {
  const rest = Object.entries(verdictFields[kind]).map(([key, value]) => `,"${key}":${value}`)
  return `{"kind":"${kind}"${rest.join('')}}`
}

/** What nobody would look at is told: whoever wrote it meant something by it. */
function unknownKeys(answer: JsonObject, kind: HookVerdict): string | undefined {
  const unknown = Object.keys(answer).filter((key) => key !== 'kind' && !Object.hasOwn(verdictFields[kind], key))
  if (unknown.length === 0) return undefined
  const names = unknown.slice(0, 5).map((key) => showValue(key))
  return `it answered "${kind}" with ${unknown.length === 1 ? 'the unknown key' : 'the unknown keys'} ${names.join(', ')}`
}

/** A verdict counts, whether or not it comes with a reason. */
const reasonText = (session: ActiveSession, { reason }: JsonObject): string =>
  typeof reason === 'string' && reason.trim() !== '' ? safeText(session, reason) : 'no reason was given'

function safeText({ ports }: ActiveSession, text: string): string {
  const hidden = ports.redactor.text(text)
  return hidden.length > maxHookTextLength ? `${cutText(hidden, maxHookTextLength)}\n… the rest was left out …` : hidden
}
