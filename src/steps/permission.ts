import type { ApprovalKey, ApprovalRequest, ApprovalWish, JsonObject, ToolFailure } from '../contracts/index.ts'
import { approvalIdOf, callIdOf, type ReviewableCall } from '../core/index.ts'
import { copyJson } from '../util/copy-json.ts'
import { isGranted } from '../util/grants.ts'
import type { ActiveSession } from './active-session.ts'
import { askTool } from './ask-tool.ts'
import { type Ruling, ruling } from './rules.ts'
import type { OfferedTool } from './tool-registry.ts'

// Whether a call may run: what rules say, what was granted before, and only then a person.

export type Permission =
  /** `by`: the rule or grant that spoke where a person would have been asked. */
  | { readonly kind: 'granted'; readonly by?: string }
  | { readonly kind: 'refused'; readonly failure: ToolFailure }
  | { readonly kind: 'asked'; readonly request: ApprovalRequest }

interface Wanted {
  readonly offered: OfferedTool
  readonly input: JsonObject
}

/** There is something to look at before a call of this tool may run. */
export const mayBeRefused = ({ ports, state }: ActiveSession, { tool }: OfferedTool): boolean =>
  tool.approval !== undefined || ports.rules.length > 0 || state.agent.approvals !== undefined

export async function permission(session: ActiveSession, call: ReviewableCall, { offered, input }: Wanted): Promise<Permission> {
  const { tool, name } = offered
  const whole: ApprovalKey = { key: `tool:${name}`, label: `any call of ${name}` }
  // A tool that cannot say what it needs is asked about as a whole.
  const wish = tool.approval && (await askTool(session, () => tool.approval?.(copyJson(input)), { keys: [whole], summary: `Call ${name}` }))
  const wanted = wish && (redactedWish(session, wish) ?? { keys: [whole], summary: `Call ${name}` })
  const ruled = rulingFor(session, name, wanted?.keys ?? [])
  if (ruled?.verdict === 'deny') return { kind: 'refused', failure: forbidden(ruled) }
  const scope = wanted?.question ? 'question' : 'call'
  if (scope === 'call') {
    if (ruled?.verdict === 'allow') return { kind: 'granted', by: ruled.rule }
    if (!wanted && ruled === undefined) return { kind: 'granted' }
    const by = grantFor(session, [whole.key], wanted?.keys ?? [])
    if (by !== undefined) return { kind: 'granted', by }
  }
  const id = approvalIdOf(callIdOf(session.state.sessionId, call.itemId), scope)
  const { keys = [whole], summary = `Call ${name}`, wider = [], question } = wanted ?? {}
  const broader = scope === 'question' || keys.some(({ key }) => key === whole.key) ? wider : [...wider, whole]
  const request = { id, itemId: call.itemId, tool: name, summary, input, keys, scope } as const
  return { kind: 'asked', request: { ...request, ...(broader.length > 0 && { wider: broader }), ...(question && { question }) } }
}

/** The rules of the session, and those of the agent, which can only be stricter. */
export function rulingFor({ ports, state }: ActiveSession, tool: string, keys: readonly ApprovalKey[]): Ruling | undefined {
  const session = ruling(ports.rules, { tool, keys })
  const { approvals, name } = state.agent
  const own = approvals && ruling([policyOf(approvals, name)], { tool, keys })
  if (!own || own.verdict === 'allow') return session
  return session?.verdict === 'deny' ? session : own
}

const policies = new WeakMap<object, Parameters<typeof ruling>[0][number]>()

function policyOf(rules: NonNullable<ActiveSession['state']['agent']['approvals']>, agent: string) {
  const known = policies.get(rules) ?? { name: `agent ${agent}`, rules }
  policies.set(rules, known)
  return known
}

/** Who has granted all that a call needs, if it was granted: for this session, or for the project. */
export function grantFor({ ports, state }: ActiveSession, broad: readonly string[], keys: readonly ApprovalKey[]): string | undefined {
  const places = [
    { by: 'granted for this session', grants: state.grants },
    { by: 'granted for the project', grants: ports.grants?.list() ?? [] },
  ]
  const isCovered = (grants: readonly ApprovalKey[]): boolean =>
    broad.some((key) => isGranted(grants, key)) || (keys.length > 0 && keys.every(({ key }) => isGranted(grants, key)))
  // One part may be granted here and another there.
  if (isCovered(places.flatMap(({ grants }) => grants))) return places.find(({ grants }) => isCovered(grants))?.by ?? 'granted before'
  return undefined
}

/** What the tool asks for, without secrets; nothing where it is not in the right form. */
function redactedWish(session: ActiveSession, wish: ApprovalWish): ApprovalWish | undefined {
  const { redactor } = session.ports
  const { summary, keys, wider = [], question } = wish ?? {}
  if (typeof summary !== 'string' || !isKeys(keys) || !isKeys(wider)) return undefined
  if (question !== undefined && typeof question?.text !== 'string') return undefined
  // A redacted key still tells equal from different.
  const hidden = ({ key, label, isPrefix }: ApprovalKey): ApprovalKey => ({
    key: redactor.text(key),
    label: redactor.text(label),
    ...(isPrefix === true && { isPrefix }),
  })
  const options = Array.isArray(question?.options) ? question.options.map((option: unknown) => redactor.text(String(option))) : undefined
  return {
    summary: redactor.text(summary),
    keys: keys.map(hidden),
    ...(wider.length > 0 && { wider: wider.map(hidden) }),
    ...(question && { question: { text: redactor.text(question.text), ...(options && { options }) } }),
  }
}

const isKeys = (value: unknown): value is readonly ApprovalKey[] => Array.isArray(value) && value.every(isKey)

function isKey(value: unknown): value is ApprovalKey {
  const { key, label } = (value ?? {}) as { key?: unknown; label?: unknown }
  return typeof key === 'string' && key !== '' && typeof label === 'string'
}

function forbidden({ rule, reason }: Ruling): ToolFailure {
  const why = reason === undefined ? '' : ` ${reason.replace(/[^.!?]$/, '$&.')}`
  return { class: 'denied', message: `A rule forbids this call: ${rule}.${why}`, remedy: 'Go on without it.' }
}
