import type { Diagnostic, Hook, HookContext, ItemId, JsonObject, Model, ToolFailure, ToolOutput } from '../../contracts/index.ts'
import type { ReviewableCall, StartedCall } from '../../core/index.ts'
import { matchesTool } from '../../policy/tool-name-patterns.ts'
import { copyJson } from '../../util/json-values.ts'
import { outputViews } from '../output/output-view.ts'
import type { ActiveSession } from '../session/active-session.ts'
import { checkArguments, validateOf } from '../tools/call-arguments.ts'
import type { OfferedTool } from '../tools/tool-registry.ts'
import { askHook, type HookAnswer, type HookVerdict } from './ask-hook.ts'
import { checkedInTime } from './checked-arguments.ts'

// Hooks run in order; each sees the result of the one before. The journal records what they change.

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
  readonly itemId?: ItemId
  /** The name that models know. */
  readonly tool?: string
  /** Called for each hook: it sees the result of the one before. */
  put(hook: Hook, context: HookContext): unknown
}

/** An answer that has an effect. `crash`: only of hooks with `onFailure: closed`. */
interface HookResult {
  readonly hook: Hook
  readonly answer: Exclude<HookAnswer, { readonly kind: 'continue' | 'interrupted' }>
}

/** Asks one hook after the other, and records every failure. Ends early on an interrupt: callers must check for one. */
async function* askHooks(session: ActiveSession, { point, itemId, tool, put }: HookRun): AsyncGenerator<HookResult, void, undefined> {
  for (const hook of session.ports.hooks) {
    if (!hook[point] || (tool !== undefined && !appliesTo(hook, tool))) continue
    const answer = await askHook(session, hook, { kinds: verdictsAt[point], put: (context) => put(hook, context) })
    if (answer.kind === 'interrupted') return
    if (answer.kind === 'crash') noteHook(session, itemId, { hook, verdict: 'failed', message: answer.text })
    const isIgnored = answer.kind === 'continue' || (answer.kind === 'crash' && hook.onFailure !== 'closed')
    if (!isIgnored) yield { hook, answer }
  }
}

const appliesTo = ({ tools }: Hook, name: string): boolean => tools === undefined || tools.some((pattern) => matchesTool(pattern, name))

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
      // The turn was stopped: the caller checks for it.
      if (!changed) break
      if (!changed.ok) return changed
      input = changed.input
    }
  }
  return { ok: true, input }
}

async function checkChange(
  session: ActiveSession,
  offered: OfferedTool,
  { hook, input }: { readonly hook: Hook; readonly input: JsonObject | undefined },
): Promise<Checked | undefined> {
  if (!input) return { ok: false, failure: blocked(`hook "${hook.name}" changed the arguments to something that is not an object`) }
  const checking = checkArguments(offered, input, await validateOf(session.ports.validator, offered))
  const checked = checking instanceof Promise ? await checkedInTime(session, offered, checking) : checking
  if (!checked || checked.ok) return checked
  return { ok: false, failure: { ...checked.failure, message: `Hook "${hook.name}" changed the call. ${checked.failure.message}` } }
}

/** The output with the context that hooks add. If a hook with `onFailure: closed` crashes, the output says so. */
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
    if (answer.kind === 'crash') added.push(`The hook "${hook.name}" failed after this call and did not check the result.`)
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

type RequestVerdict = { readonly kind: 'continue' } | { readonly kind: 'failed'; readonly message: string }

/** Adds the context of hooks to the history before a model request. */
export async function beforeRequest(session: ActiveSession, model: Model): Promise<RequestVerdict> {
  const asked = askHooks(session, {
    point: 'beforeRequest',
    put: (hook, context) => {
      const { agent, promptChars, historyChars } = session.state
      const step = session.turn.steps + 1
      return hook.beforeRequest?.({ agent: agent.name, model: model.id, size: promptChars + historyChars, step }, context)
    },
  })
  for await (const { hook, answer } of asked) {
    if (answer.kind === 'crash') return { kind: 'failed', message: `The hook "${hook.name}" failed before the request: ${answer.text}` }
    // After a crash or a compaction a hook may be asked twice for the same request.
    if (answer.kind === 'context' && !isAlreadyAdded(session, answer.text))
      addContext(session, hook, { verdict: 'context', text: answer.text })
  }
  return { kind: 'continue' }
}

/** `overruled`: hooks reject the answer, but have sent the model back the maximum number of times. */
type StopVerdict = RequestVerdict | { readonly kind: 'resume' } | { readonly kind: 'overruled'; readonly objections: readonly Diagnostic[] }

/** How often hooks may send a model back in one turn. */
const maxResumes = 3

/** Flushes first: hooks see durable data. Once they can no longer send the model back, the objections of all are recorded. */
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
  message: `The hook "${name}" still rejects the answer, and hooks have sent the model back ${maxResumes} times, the maximum in one turn: ${reason}`,
  remedy: 'Check the answer yourself. Send another message to continue; hooks can then send the model back again.',
})

function addContext(session: ActiveSession, hook: Hook, { verdict, text }: { verdict: 'context' | 'resumed'; text: string }): void {
  noteHook(session, undefined, { hook, verdict, message: text })
  session.note({ type: 'interaction.context.added', source: `hook ${hook.name}`, text })
}

/** Whether the same text was added since the last reply. */
function isAlreadyAdded({ state }: ActiveSession, text: string): boolean {
  const messages = state.history.toArray()
  const since = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1)
  const added = JSON.stringify([{ type: 'text', text }])
  return since.some((message) => message.role === 'user' && JSON.stringify(message.parts) === added)
}

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
