import type { AfterCallVerdict, BeforeCallVerdict, Hook, JsonObject, MaybePromise, ToolFailure, ToolOutput } from '../contracts/index.ts'
import type { ReviewableCall, StartedCall } from '../core/index.ts'
import { copyJson, plainJson } from '../util/copy-json.ts'
import { unlessInterrupted } from '../util/interrupt.ts'
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
    const answer = await ask<BeforeCallVerdict>(session, ['continue', 'change', 'block'], () =>
      hook.beforeCall?.({ tool: offered.name, input: copyJson(input) }),
    )
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
    const answer = await ask<AfterCallVerdict>(session, ['continue', 'context'], () =>
      hook.afterCall?.({ tool: intent.tool, input: copyJson(intent.input), output }),
    )
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

type Answer<T> = T | { readonly kind: 'continue' } | { readonly kind: 'crash'; readonly message: string }

/** Hooks are other people's code: what they answer is checked, and an interrupt does not wait for them. */
async function ask<T extends { readonly kind: string }>(
  session: ActiveSession,
  kinds: readonly string[],
  question: () => MaybePromise<T | undefined>,
): Promise<Answer<T>> {
  try {
    const answer = (await unlessInterrupted(session.interrupt, question())) ?? { kind: 'continue' as const }
    if (kinds.includes(answer.kind)) return answer
    return { kind: 'crash', message: `it answered neither of ${kinds.join(', ')}` }
  } catch (error) {
    return { kind: 'crash', message: session.ports.redactor.text(messageOf(error)) }
  }
}

interface Told {
  readonly hook: Hook
  readonly verdict: 'changed' | 'blocked' | 'context' | 'failed'
  readonly message: string
}

function note(session: ActiveSession, itemId: ReviewableCall['itemId'], { hook, verdict, message }: Told): void {
  session.note({
    type: 'interaction.hook.completed',
    itemId,
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
