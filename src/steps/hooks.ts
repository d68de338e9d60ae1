import type { AfterCallVerdict, BeforeCallVerdict, EventDraft, Hook, JsonObject, ToolFailure, ToolOutput } from '../contracts/index.ts'
import { check } from './arguments.ts'
import type { Stage } from './stage.ts'
import type { OfferedTool } from './tool-registry.ts'

// Hooks run in order, each on what the one before left. Whatever they change is in the journal.

export type Before = { readonly drafts: readonly EventDraft[] } & (
  | { readonly ok: true; readonly input: JsonObject }
  | { readonly ok: false; readonly failure: ToolFailure }
)

export async function beforeCall(stage: Stage, offered: OfferedTool, given: JsonObject): Promise<Before> {
  const drafts: EventDraft[] = []
  let input = given
  for (const hook of stage.ports.hooks) {
    if (!hook.beforeCall) continue
    const { verdict, crash } = await guarded<BeforeCallVerdict>(() => hook.beforeCall?.({ tool: offered.name, input }), {
      kind: 'continue',
    })
    if (crash !== undefined) {
      drafts.push(completed(hook, 'failed', crash))
      if (hook.onFailure === 'closed') return { ok: false, drafts, failure: blocked(`hook "${hook.name}" failed: ${crash}`) }
    }
    if (verdict.kind === 'block') {
      drafts.push(completed(hook, 'blocked', verdict.reason))
      return { ok: false, drafts, failure: blocked(verdict.reason) }
    }
    if (verdict.kind === 'change') {
      drafts.push(completed(hook, 'changed', verdict.reason))
      const checked = check(offered, verdict.input, await stage.ports.validator.validator(offered.tool.inputSchema))
      if (!checked.ok)
        return {
          ok: false,
          drafts,
          failure: { ...checked.failure, message: `Hook "${hook.name}" changed the call. ${checked.failure.message}` },
        }
      input = checked.input
    }
  }
  return { ok: true, drafts, input }
}

/** What hooks add to a result. A crash after the effect can not undo it: it is noted, never hidden. */
export async function afterCall(
  stage: Stage,
  call: { readonly tool: string; readonly input: JsonObject },
  output: ToolOutput,
): Promise<{ drafts: readonly EventDraft[]; context: string }> {
  const drafts: EventDraft[] = []
  const added: string[] = []
  for (const hook of stage.ports.hooks) {
    if (!hook.afterCall) continue
    const { verdict, crash } = await guarded<AfterCallVerdict>(() => hook.afterCall?.({ ...call, output }), { kind: 'continue' })
    if (crash !== undefined) drafts.push(completed(hook, 'failed', crash))
    if (verdict.kind === 'context') {
      drafts.push(completed(hook, 'context', verdict.text))
      added.push(verdict.text)
    }
  }
  return { drafts, context: added.join('\n') }
}

async function guarded<T>(question: () => T | undefined | Promise<T | undefined>, otherwise: T): Promise<{ verdict: T; crash?: string }> {
  try {
    return { verdict: (await question()) ?? otherwise }
  } catch (error) {
    return { verdict: otherwise, crash: error instanceof Error ? error.message : String(error) }
  }
}

const blocked = (reason: string): ToolFailure => ({
  class: 'blocked',
  message: `The call was blocked: ${reason}`,
  remedy: 'Try another way.',
})

const completed = (hook: Hook, verdict: 'changed' | 'blocked' | 'context' | 'failed', message: string): EventDraft => ({
  type: 'interaction.hook.completed',
  hook: hook.name,
  verdict,
  message,
})
