import type {
  AfterCallVerdict,
  AtStopVerdict,
  BeforeCallVerdict,
  BeforeRequestVerdict,
  Hook,
  JsonObject,
  MaybePromise,
  Model,
  ModelFailure,
  ToolFailure,
  ToolOutput,
} from '../contracts/index.ts'
import type { ReviewableCall, StartedCall } from '../core/index.ts'
import { copyJson, plainJson } from '../util/copy-json.ts'
import { Interrupt, unlessInterrupted } from '../util/interrupt.ts'
import { messageOf } from '../util/message-of.ts'
import type { ActiveSession } from './active-session.ts'
import { check } from './arguments.ts'
import type { OfferedTool } from './tool-registry.ts'

// Hooks run in order, each on what the one before left. Whatever they change is in the journal.

type Checked = { readonly ok: true; readonly input: JsonObject } | { readonly ok: false; readonly failure: ToolFailure }

export async function beforeCall(
  session: ActiveSession,
  { itemId }: ReviewableCall,
  given: { offered: OfferedTool; input: JsonObject },
): Promise<Checked> {
  const { offered } = given
  let { input } = given
  for (const hook of session.ports.hooks) {
    if (!hook.beforeCall) continue
    const answer = await ask<BeforeCallVerdict>(session, hook, {
      kinds: ['continue', 'change', 'block'],
      put: () => hook.beforeCall?.({ tool: offered.name, input: copyJson(input) }),
    })
    if (answer.kind === 'crash') {
      note(session, itemId, { hook, verdict: 'failed', message: answer.message })
      if (hook.onFailure === 'closed') return { ok: false, failure: blocked(`hook "${hook.name}" failed: ${answer.message}`) }
    }
    if (answer.kind === 'block') {
      note(session, itemId, { hook, verdict: 'blocked', message: answer.reason })
      return { ok: false, failure: blocked(session.ports.redactor.text(String(answer.reason))) }
    }
    if (answer.kind === 'change') {
      note(session, itemId, { hook, verdict: 'changed', message: answer.reason })
      const changed = plainJson(answer.input)
      if (!changed) return { ok: false, failure: blocked(`hook "${hook.name}" changed the arguments to something that is not an object`) }
      const checked = check(offered, changed, await session.ports.validator.compile(offered.tool.inputSchema))
      if (!checked.ok)
        return { ok: false, failure: { ...checked.failure, message: `Hook "${hook.name}" changed the call. ${checked.failure.message}` } }
      input = checked.input
    }
  }
  return { ok: true, input }
}

/** The output with what hooks add to it. A crash after the effect cannot undo it: it is noted, never hidden. */
export async function afterCall(session: ActiveSession, { itemId, intent }: StartedCall, output: ToolOutput): Promise<ToolOutput> {
  const added: string[] = []
  for (const hook of session.ports.hooks) {
    if (!hook.afterCall) continue
    const answer = await ask<AfterCallVerdict>(session, hook, {
      kinds: ['continue', 'context'],
      put: () => hook.afterCall?.({ tool: intent.tool, input: copyJson(intent.input), output }),
    })
    if (answer.kind === 'crash') note(session, itemId, { hook, verdict: 'failed', message: answer.message })
    if (answer.kind === 'context') {
      note(session, itemId, { hook, verdict: 'context', message: answer.text })
      added.push(String(answer.text))
    }
  }
  if (added.length === 0) return output
  const context = added.join('\n')
  return output.ok
    ? { ...output, content: `${output.content}\n\n${context}` }
    : { ...output, partial: `${output.partial ?? ''}\n\n${context}`.trim() }
}

export const hasRequestHooks = ({ ports }: ActiveSession): boolean => ports.hooks.some((hook) => hook.beforeRequest)
export const hasStopHooks = ({ ports }: ActiveSession): boolean => ports.hooks.some((hook) => hook.atStop)

/** What hooks have to say before a model is asked enters the history. A hook that must not fail and does costs the attempt. */
export async function beforeRequest(session: ActiveSession, model: Model): Promise<ModelFailure | undefined> {
  for (const hook of session.ports.hooks) {
    if (!hook.beforeRequest) continue
    const { agent, promptChars, historyChars } = session.state
    const answer = await ask<BeforeRequestVerdict>(session, hook, {
      kinds: ['continue', 'context'],
      put: () => hook.beforeRequest?.({ agent: agent.name, model: model.id, size: promptChars + historyChars }),
    })
    if (session.interrupt.reason !== undefined) return undefined
    if (answer.kind === 'crash') {
      note(session, undefined, { hook, verdict: 'failed', message: answer.message })
      if (hook.onFailure === 'closed')
        return { class: 'config', message: `The hook "${hook.name}" failed before the request: ${answer.message}` }
    }
    if (answer.kind === 'context') addContext(session, hook, { verdict: 'context', text: String(answer.text) })
  }
  return undefined
}

/** So often hooks may send a model back in one turn: after that its answer stands. */
const mostResumed = 3

type StopVerdict = { readonly kind: 'continue' | 'resume' } | { readonly kind: 'failed'; readonly message: string }

/** Whether an answer is one, as far as hooks are concerned. */
export async function atStop(session: ActiveSession): Promise<StopVerdict> {
  const { resumed, lastText: text } = session.turn
  for (const hook of session.ports.hooks) {
    if (!hook.atStop || resumed >= mostResumed) continue
    const answer = await ask<AtStopVerdict>(session, hook, {
      kinds: ['continue', 'resume'],
      put: () => hook.atStop?.({ agent: session.state.agent.name, text, resumed }),
    })
    if (session.interrupt.reason !== undefined) return { kind: 'continue' }
    if (answer.kind === 'crash') {
      note(session, undefined, { hook, verdict: 'failed', message: answer.message })
      if (hook.onFailure === 'closed') return { kind: 'failed', message: `The hook "${hook.name}" failed at the end: ${answer.message}` }
    }
    if (answer.kind === 'resume') {
      addContext(session, hook, { verdict: 'resumed', text: String(answer.reason) })
      return { kind: 'resume' }
    }
  }
  return { kind: 'continue' }
}

function addContext(session: ActiveSession, hook: Hook, { verdict, text }: { verdict: 'context' | 'resumed'; text: string }): void {
  note(session, undefined, { hook, verdict, message: text })
  session.note({ type: 'interaction.context.added', source: `hook ${hook.name}`, text: session.ports.redactor.text(text) })
}

type Answer<T> = T | { readonly kind: 'continue' } | { readonly kind: 'crash'; readonly message: string }

/** Hooks are other people's code: what they answer is checked, and an interrupt does not wait for them. */
async function ask<T extends { readonly kind: string }>(
  session: ActiveSession,
  { timeoutMs = hookTimeoutMs }: Hook,
  { kinds, put }: { readonly kinds: readonly string[]; readonly put: () => MaybePromise<T | undefined> },
): Promise<Answer<T>> {
  const patience = new Interrupt(session.interrupt)
  const cancel = session.clock.after(timeoutMs, () => patience.fire('timeout'))
  try {
    const answer = (await unlessInterrupted(patience, put())) ?? { kind: 'continue' as const }
    if (kinds.includes(answer.kind)) return answer
    return { kind: 'crash', message: `it answered neither of ${kinds.join(', ')}` }
  } catch (error) {
    const message = patience.reason === 'timeout' ? `it did not answer within ${timeoutMs} ms` : messageOf(error)
    return { kind: 'crash', message: session.ports.redactor.text(message) }
  } finally {
    cancel()
    patience.close()
  }
}

const hookTimeoutMs = 60_000

interface Told {
  readonly hook: Hook
  readonly verdict: 'changed' | 'blocked' | 'context' | 'resumed' | 'failed'
  readonly message: string
}

function note(session: ActiveSession, itemId: ReviewableCall['itemId'] | undefined, { hook, verdict, message }: Told): void {
  session.note({
    type: 'interaction.hook.completed',
    ...(itemId !== undefined && { itemId }),
    hook: hook.name,
    verdict,
    message: session.ports.redactor.text(String(message)),
  })
}

const blocked = (reason: string): ToolFailure => ({
  class: 'blocked',
  message: `The call was blocked: ${reason}`,
  remedy: 'Try another way.',
})
