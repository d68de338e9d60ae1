import type { Hook, JsonObject, Message, Model, ToolFailure, ToolOutput } from '../contracts/index.ts'
import type { ReviewableCall, StartedCall } from '../core/index.ts'
import { copyJson } from '../util/copy-json.ts'
import type { ActiveSession } from './active-session.ts'
import { check } from './arguments.ts'
import { askHook } from './ask-hook.ts'
import type { OfferedTool } from './tool-registry.ts'

// Hooks run in order, each on what the one before left. Whatever they change is in the journal.

const hooksOf = ({ ports }: ActiveSession): readonly Hook[] => ports.hooks

type Checked = { readonly ok: true; readonly input: JsonObject } | { readonly ok: false; readonly failure: ToolFailure }

/** Whoever asks looks for an interrupt afterwards: the answers of those who were not asked any more are missing then. */
export async function beforeCall(
  session: ActiveSession,
  { itemId }: ReviewableCall,
  given: { offered: OfferedTool; input: JsonObject },
): Promise<Checked> {
  const { offered } = given
  let { input } = given
  for (const hook of hooksOf(session)) {
    if (!hook.beforeCall) continue
    const answer = await askHook(session, hook, {
      kinds: ['continue', 'change', 'block'],
      put: (context) => hook.beforeCall?.({ tool: offered.name, input: copyJson(input) }, context),
    })
    if (answer.kind === 'interrupted') break
    if (answer.kind === 'crash') {
      note(session, itemId, { hook, verdict: 'failed', message: answer.text })
      if (hook.onFailure === 'closed') return { ok: false, failure: blocked(`hook "${hook.name}" failed: ${answer.text}`) }
    }
    if (answer.kind === 'block') {
      note(session, itemId, { hook, verdict: 'blocked', message: answer.text })
      return { ok: false, failure: blocked(answer.text) }
    }
    if (answer.kind === 'change') {
      note(session, itemId, { hook, verdict: 'changed', message: answer.text })
      if (!answer.input)
        return { ok: false, failure: blocked(`hook "${hook.name}" changed the arguments to something that is not an object`) }
      const checked = check(offered, answer.input, await session.ports.validator.compile(offered.tool.inputSchema))
      if (!checked.ok)
        return { ok: false, failure: { ...checked.failure, message: `Hook "${hook.name}" changed the call. ${checked.failure.message}` } }
      input = checked.input
    }
  }
  return { ok: true, input }
}

/** The output with what hooks add to it. A crash after the effect cannot undo it; where a hook must not fail, the model is told. */
export async function afterCall(session: ActiveSession, { itemId, intent }: StartedCall, output: ToolOutput): Promise<ToolOutput> {
  const added: string[] = []
  for (const hook of hooksOf(session)) {
    if (!hook.afterCall) continue
    const answer = await askHook(session, hook, {
      kinds: ['continue', 'context'],
      put: (context) => hook.afterCall?.({ tool: intent.tool, input: copyJson(intent.input), output: structuredCopy(output) }, context),
    })
    if (answer.kind === 'interrupted') break
    if (answer.kind === 'crash') {
      note(session, itemId, { hook, verdict: 'failed', message: answer.text })
      if (hook.onFailure === 'closed')
        added.push(`The hook "${hook.name}" failed after this call, so nothing has looked at what came of it.`)
    }
    if (answer.kind === 'context') {
      note(session, itemId, { hook, verdict: 'context', message: answer.text })
      added.push(answer.text)
    }
  }
  if (added.length === 0) return output
  const context = added.join('\n')
  return output.ok
    ? { ...output, content: `${output.content}\n\n${context}` }
    : { ...output, partial: `${output.partial ?? ''}\n\n${context}`.trim() }
}

/** Outputs are flat but for a value and extras, which are the tool's own. */
const structuredCopy = (output: ToolOutput): ToolOutput => (output.ok ? { ...output } : { ...output, error: { ...output.error } })

export const hasStopHooks = ({ ports }: ActiveSession): boolean => ports.hooks.some((hook) => hook.atStop)

/** Whether the turn may go on, as far as hooks are concerned. */
export type HookVerdict = { readonly kind: 'continue' | 'resume' } | { readonly kind: 'failed'; readonly message: string }

/** What hooks have to say before a model is asked enters the history. */
export async function beforeRequest(session: ActiveSession, model: Model): Promise<HookVerdict> {
  for (const hook of hooksOf(session)) {
    if (!hook.beforeRequest) continue
    const { agent, promptChars, historyChars } = session.state
    const answer = await askHook(session, hook, {
      kinds: ['continue', 'context'],
      put: (context) => hook.beforeRequest?.({ agent: agent.name, model: model.id, size: promptChars + historyChars }, context),
    })
    if (answer.kind === 'interrupted') break
    if (answer.kind === 'crash') {
      note(session, undefined, { hook, verdict: 'failed', message: answer.text })
      if (hook.onFailure === 'closed')
        return { kind: 'failed', message: `The hook "${hook.name}" failed before the request: ${answer.text}` }
    }
    // A driver that died, or a history that had to be made shorter, may ask twice before there is a request.
    if (answer.kind === 'context' && !wasJustSaid(session, answer.text))
      addContext(session, hook, { verdict: 'context', text: answer.text })
  }
  return { kind: 'continue' }
}

/** So often hooks may send a model back in one turn: after that its answer stands. */
const mostResumed = 3

/** Whether an answer is one. What hooks are shown is durable. */
export async function atStop(session: ActiveSession): Promise<HookVerdict> {
  await session.flush()
  const { resumed, lastText: text } = session.turn
  for (const hook of hooksOf(session)) {
    if (!hook.atStop || resumed >= mostResumed) continue
    const answer = await askHook(session, hook, {
      kinds: ['continue', 'resume'],
      put: (context) => hook.atStop?.({ agent: session.state.agent.name, text, resumed }, context),
    })
    if (answer.kind === 'interrupted') break
    if (answer.kind === 'crash') {
      note(session, undefined, { hook, verdict: 'failed', message: answer.text })
      if (hook.onFailure === 'closed') return { kind: 'failed', message: `The hook "${hook.name}" failed at the end: ${answer.text}` }
    }
    if (answer.kind === 'resume') {
      addContext(session, hook, { verdict: 'resumed', text: answer.text })
      return { kind: 'resume' }
    }
  }
  return { kind: 'continue' }
}

function addContext(session: ActiveSession, hook: Hook, { verdict, text }: { verdict: 'context' | 'resumed'; text: string }): void {
  note(session, undefined, { hook, verdict, message: text })
  session.note({ type: 'interaction.context.added', source: `hook ${hook.name}`, text })
}

/** Whether it stands among what was said to the model since it last spoke. */
function wasJustSaid({ state }: ActiveSession, text: string): boolean {
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

interface Told {
  readonly hook: Pick<Hook, 'name'>
  readonly verdict: 'changed' | 'blocked' | 'context' | 'resumed' | 'failed'
  readonly message: string
}

function note(session: ActiveSession, itemId: ReviewableCall['itemId'] | undefined, { hook, verdict, message }: Told): void {
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
