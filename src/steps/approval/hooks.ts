import type { Diagnostic, Hook, HookContext, ItemId, JsonObject, Message, Model, ToolFailure, ToolOutput } from '../../contracts/index.ts'
import type { ReviewableCall, StartedCall } from '../../core/index.ts'
import { matches } from '../../policy/tool-name-patterns.ts'
import { copyJson } from '../../util/copy-json.ts'
import { outputViews } from '../calls/output-view.ts'
import { checkArguments } from '../calls/parse-arguments.ts'
import type { OfferedTool } from '../calls/tool-registry.ts'
import type { ActiveSession } from '../loop/active-session.ts'
import { askHook, type HookAnswer, type HookVerdict } from './ask-hook.ts'

// Hooks run in order, each on what the one before left. Whatever they change is in the journal.

type Point = 'beforeCall' | 'afterCall' | 'beforeRequest' | 'atStop'

const verdictsAt: { readonly [At in Point]: readonly HookVerdict[] } = {
  beforeCall: ['continue', 'change', 'block'],
  afterCall: ['continue', 'context'],
  beforeRequest: ['continue', 'context'],
  atStop: ['continue', 'resume'],
}

export const hasHooksAt = ({ ports }: ActiveSession, point: Point): boolean => ports.hooks.some((hook) => hook[point])

interface HookRun {
  readonly point: Point
  /** Of the call that it is about. */
  readonly itemId?: ItemId
  /** Its tool, as the model knows it. */
  readonly tool?: string
  /** Looked at anew for each hook: it is asked about what the one before left. */
  put(hook: Hook, context: HookContext): unknown
}

/** What somebody has to act on; a `crash` is that of a hook which must not fail. */
interface HookResult {
  readonly hook: Hook
  readonly answer: Exclude<HookAnswer, { readonly kind: 'continue' | 'interrupted' }>
}

/**
 * Asks one after the other, as long as somebody wants to know; every failure is noted. With an interrupt it ends: whoever
 * asks looks for one afterwards, since the answers of those who were not asked any more are missing then.
 */
async function* askHooks(session: ActiveSession, { point, itemId, tool, put }: HookRun): AsyncGenerator<HookResult, void, undefined> {
  for (const hook of session.ports.hooks) {
    if (!hook[point] || (tool !== undefined && !appliesTo(hook, tool))) continue
    const answer = await askHook(session, hook, { kinds: verdictsAt[point], put: (context) => put(hook, context) })
    if (answer.kind === 'interrupted') return
    if (answer.kind === 'crash') noteHook(session, itemId, { hook, verdict: 'failed', message: answer.text })
    const isLetGo = answer.kind === 'continue' || (answer.kind === 'crash' && hook.onFailure !== 'closed')
    if (!isLetGo) yield { hook, answer }
  }
}

/** `server/tool` and `extension.tool` are known to models as `server__tool`. */
const appliesTo = ({ tools }: Hook, name: string): boolean =>
  tools === undefined || tools.some((pattern) => matches(pattern.replaceAll(/[/.]/g, '__'), name))

type Checked = { readonly ok: true; readonly input: JsonObject } | { readonly ok: false; readonly failure: ToolFailure }

export async function beforeCall(
  session: ActiveSession,
  { itemId }: ReviewableCall,
  { offered, input: given }: { readonly offered: OfferedTool; readonly input: JsonObject },
): Promise<Checked> {
  let input = given
  const asked = askHooks(session, {
    point: 'beforeCall',
    itemId,
    tool: offered.name,
    put: (hook, context) => hook.beforeCall?.({ tool: offered.name, input: copyJson(input) }, context),
  })
  for await (const { hook, answer } of asked) {
    if (answer.kind === 'crash') return { ok: false, failure: blocked(`hook "${hook.name}" failed: ${answer.text}`) }
    if (answer.kind === 'block') {
      noteHook(session, itemId, { hook, verdict: 'blocked', message: answer.text })
      return { ok: false, failure: blocked(answer.text) }
    }
    if (answer.kind === 'change') {
      noteHook(session, itemId, { hook, verdict: 'changed', message: answer.text })
      const changed = await checkChange(session, offered, { hook, input: answer.input })
      if (!changed.ok) return changed
      input = changed.input
    }
  }
  return { ok: true, input }
}

interface Change {
  readonly hook: Hook
  readonly input: JsonObject | undefined
}

async function checkChange(session: ActiveSession, offered: OfferedTool, { hook, input }: Change): Promise<Checked> {
  if (!input) return { ok: false, failure: blocked(`hook "${hook.name}" changed the arguments to something that is not an object`) }
  const checked = checkArguments(offered, input, await session.ports.validator.compile(offered.tool.inputSchema))
  if (checked.ok) return checked
  return { ok: false, failure: { ...checked.failure, message: `Hook "${hook.name}" changed the call. ${checked.failure.message}` } }
}

/** The output with what hooks add to it. A crash after the effect cannot undo it; where a hook must not fail, the model is told. */
export async function afterCall(session: ActiveSession, { itemId, intent }: StartedCall, output: ToolOutput): Promise<ToolOutput> {
  const added: string[] = []
  const shown = outputViews(output, session.ports.redactor)
  const asked = askHooks(session, {
    point: 'afterCall',
    itemId,
    tool: intent.tool,
    put: (hook, context) => hook.afterCall?.({ tool: intent.tool, input: copyJson(intent.input), output: shown() }, context),
  })
  for await (const { hook, answer } of asked) {
    if (answer.kind === 'crash') added.push(`The hook "${hook.name}" failed after this call, so nothing has looked at what came of it.`)
    if (answer.kind === 'context') {
      noteHook(session, itemId, { hook, verdict: 'context', message: answer.text })
      added.push(answer.text)
    }
  }
  if (added.length === 0) return output
  const context = added.join('\n')
  return output.ok
    ? { ...output, content: `${output.content}\n\n${context}` }
    : { ...output, partial: `${output.partial ?? ''}\n\n${context}`.trim() }
}

/** Whether the turn may go on, as far as hooks are concerned. */
export type RequestVerdict = { readonly kind: 'continue' } | { readonly kind: 'failed'; readonly message: string }

/** What hooks have to say before a model is asked enters the history. */
export async function beforeRequest(session: ActiveSession, model: Model): Promise<RequestVerdict> {
  const asked = askHooks(session, {
    point: 'beforeRequest',
    put: (hook, context) => {
      const { agent, promptChars, historyChars } = session.state
      return hook.beforeRequest?.({ agent: agent.name, model: model.id, size: promptChars + historyChars }, context)
    },
  })
  for await (const { hook, answer } of asked) {
    if (answer.kind === 'crash') return { kind: 'failed', message: `The hook "${hook.name}" failed before the request: ${answer.text}` }
    // A driver that died, or a history that had to be made shorter, may ask twice before there is a request.
    if (answer.kind === 'context' && !isAlreadyAdded(session, answer.text))
      addContext(session, hook, { verdict: 'context', text: answer.text })
  }
  return { kind: 'continue' }
}

/** Whether an answer is one. `overruled`: it stands although somebody objects, since the model was sent back often enough. */
export type StopVerdict =
  | RequestVerdict
  | { readonly kind: 'resume' }
  | { readonly kind: 'overruled'; readonly objections: readonly Diagnostic[] }

/** So often hooks may send a model back in one turn. */
const maxResumes = 3

/** What hooks are shown is durable. Once they can no longer send the model back they are all heard, and put on record. */
export async function atStop(session: ActiveSession): Promise<StopVerdict> {
  await session.flush()
  const { resumed, lastText: text } = session.turn
  const objections: Diagnostic[] = []
  const asked = askHooks(session, {
    point: 'atStop',
    put: (hook, context) => hook.atStop?.({ agent: session.state.agent.name, text, resumed }, context),
  })
  for await (const { hook, answer } of asked) {
    if (answer.kind === 'crash') return { kind: 'failed', message: `The hook "${hook.name}" failed at the end: ${answer.text}` }
    if (answer.kind !== 'resume') continue
    if (resumed < maxResumes) {
      addContext(session, hook, { verdict: 'resumed', text: answer.text })
      return { kind: 'resume' }
    }
    objections.push(overruled(hook, answer.text))
  }
  return objections.length > 0 ? { kind: 'overruled', objections } : { kind: 'continue' }
}

const overruled = ({ name }: Hook, reason: string): Diagnostic => ({
  code: 'hook_overruled',
  severity: 'warning',
  message: `The hook "${name}" still objects, after hooks have sent the model back ${maxResumes} times, which is the most in one turn: ${reason}`,
  remedy: 'Look at the answer yourself. Send a further message to go on: hooks may then send the model back again.',
})

function addContext(session: ActiveSession, hook: Hook, { verdict, text }: { verdict: 'context' | 'resumed'; text: string }): void {
  noteHook(session, undefined, { hook, verdict, message: text })
  session.note({ type: 'interaction.context.added', source: `hook ${hook.name}`, text })
}

/** Whether it stands among what was said to the model since it last spoke. */
function isAlreadyAdded({ state }: ActiveSession, text: string): boolean {
  const messages = state.history.toArray()
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index]
    if (message?.role === 'assistant') return false
    if (message && isText(message, text)) return true
  }
  return false
}

const isText = ({ role, ...message }: Message, text: string): boolean =>
  role === 'user' && 'parts' in message && message.parts.length === 1 && message.parts[0]?.type === 'text' && message.parts[0].text === text

interface HookNote {
  readonly hook: Pick<Hook, 'name'>
  readonly verdict: 'changed' | 'blocked' | 'context' | 'resumed' | 'failed'
  readonly message: string
}

function noteHook(session: ActiveSession, itemId: ItemId | undefined, { hook, verdict, message }: HookNote): void {
  session.note({
    type: 'interaction.hook.completed',
    ...(itemId !== undefined && { itemId }),
    hook: hook.name,
    verdict,
    message,
  })
}

const blocked = (reason: string): ToolFailure => ({
  class: 'blocked',
  message: `The call was blocked: ${reason}`,
  remedy: 'Try another way.',
})
