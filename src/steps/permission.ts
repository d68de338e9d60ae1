import type {
  AgentSpec,
  ApprovalKey,
  ApprovalPolicy,
  ApprovalRequest,
  ApprovalWish,
  Diagnostic,
  JsonObject,
  MaybePromise,
  ToolFailure,
} from '../contracts/index.ts'
import { approvalIdOf, callIdOf, type ReviewableCall } from '../core/index.ts'
import { copyJson, plainJson } from '../util/copy-json.ts'
import { isGranted } from '../util/grants.ts'
import { messageOf } from '../util/message-of.ts'
import type { ActiveSession } from './active-session.ts'
import { askTool } from './ask-tool.ts'
import { leavingTheSandbox, type Ruling, ruling, type Subject, stricter } from './rules.ts'
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
  tool.approval !== undefined || ports.rules.length > 0 || policiesOf(state.agent).length > 0

export async function permission(session: ActiveSession, call: ReviewableCall, wanted: Wanted): Promise<Permission> {
  const { offered, input } = wanted
  const { tool, name } = offered
  const whole = wholeOf(name)
  const wish = tool.approval && (await wishFor(session, wanted))
  const ruled = rulingFor(session, subjectOf(offered, { keys: wish?.keys ?? [], input }))
  if (ruled?.verdict === 'deny') return { kind: 'refused', failure: forbidden(ruled) }
  const scope = wish?.question ? 'question' : 'call'
  if (scope === 'call') {
    if (ruled?.verdict === 'allow') return { kind: 'granted', by: ruled.rule }
    // Rules have looked at it, and there is nobody else to ask.
    if (ruled === undefined && (!wish || wish.asks === false)) return { kind: 'granted' }
    const by = grantFor(session, ruled?.isUnsure ? [] : [whole.key], wish?.keys ?? [])
    if (by !== undefined) return { kind: 'granted', by }
  }
  const id = approvalIdOf(callIdOf(session.state.sessionId, call.itemId), scope)
  const { keys = [whole], summary = `Call ${name}`, wider = [], question } = wish ?? {}
  const broader = scope === 'question' || keys.some(({ key }) => key === whole.key) ? wider : [...wider, whole]
  const request = { id, itemId: call.itemId, tool: name, summary, input, keys, scope } as const
  return { kind: 'asked', request: { ...request, ...(broader.length > 0 && { wider: broader }), ...(question && { question }) } }
}

/** A rule that forbids what was approved, where rules have changed since it was asked for: it wins over any approval. */
export function forbiddenSince(session: ActiveSession, offered: OfferedTool, { keys, input }: ApprovalRequest): ToolFailure | undefined {
  const ruled = rulingFor(session, subjectOf(offered, { keys, input }))
  return ruled?.verdict === 'deny' ? forbidden(ruled) : undefined
}

const wholeOf = (name: string): ApprovalKey => ({ key: `tool:${name}`, label: `any call of ${name}` })

/** The key of the whole tool says nothing about the use of a call. */
const subjectOf = ({ name, tool }: OfferedTool, { keys, input }: Pick<ApprovalRequest, 'keys' | 'input'>): Subject => ({
  names: tool.name === name ? [name] : [name, tool.name],
  keys: keys.filter(({ key }) => key !== wholeOf(name).key),
  input,
})

/** What the tool asks for. One that cannot say what it needs is asked about as a whole; only `undefined` is harmless. */
function wishFor(session: ActiveSession, { offered: { tool, name }, input }: Wanted): MaybePromise<ApprovalWish | undefined> {
  const careful: ApprovalWish = { keys: [wholeOf(name)], summary: `Call ${name}` }
  const read = async (): Promise<ApprovalWish | undefined> => {
    const wish = await tool.approval?.(copyJson(input))
    // As plain data: what is checked is what is asked.
    return wish === undefined ? undefined : (redactedWish(session, plainJson(wish) as Partial<ApprovalWish> | undefined, name) ?? careful)
  }
  return askTool(session, read, careful)
}

/** The rules of the session, and those of the agent and of whoever called it, which can only be stricter. */
export function rulingFor({ ports, state }: ActiveSession, subject: Subject): Ruling | undefined {
  const session = ruling(ports.rules, subject)
  const own = ruling(policiesOf(state.agent), subject)
  return own?.verdict === 'allow' ? session : stricter(session, own)
}

const policies = new WeakMap<AgentSpec, readonly ApprovalPolicy[]>()

/** Kept for the agent, and not for its rules, which several may share. */
function policiesOf(agent: AgentSpec): readonly ApprovalPolicy[] {
  const { name, approvals, bounds = [] } = agent
  const known = policies.get(agent) ?? [...bounds, ...(approvals ? [{ name: `agent ${name}`, rules: approvals }] : [])]
  policies.set(agent, known)
  return known
}

/** Who has granted all that a call needs, if it was granted: for this session, or for the project. */
export function grantFor(session: ActiveSession, broad: readonly string[], keys: readonly ApprovalKey[]): string | undefined {
  const places = [
    { by: 'granted for this session', grants: [...session.state.grants, ...session.ports.tree.grants()] },
    { by: 'granted for the project', grants: projectGrants(session) },
  ]
  const isCovered = (grants: readonly ApprovalKey[]): boolean =>
    broad.some((key) => isGranted(grants, key)) || (keys.length > 0 && keys.every(({ key }) => isGranted(grants, key)))
  // One part may be granted here and another there.
  if (isCovered(places.flatMap(({ grants }) => grants))) return places.find(({ grants }) => isCovered(grants))?.by ?? 'granted before'
  return undefined
}

const told = new WeakSet<ActiveSession>()

/** The list may be damaged, and the port is other people's code: what cannot be read grants nothing. */
function projectGrants(session: ActiveSession): readonly ApprovalKey[] {
  try {
    return (session.ports.grants?.list() ?? []).filter(isKey)
  } catch (error) {
    if (!told.has(session))
      session.note({ type: 'interaction.diagnostic', diagnostic: unreadable(session.ports.redactor.text(messageOf(error))) })
    told.add(session)
    return []
  }
}

const unreadable = (why: string): Diagnostic => ({
  code: 'grant_not_kept',
  severity: 'warning',
  message: `What was approved for the project cannot be read, and does not count: ${why}`,
})

/** What the tool asks for, without secrets; nothing where it is not in the right form. */
function redactedWish(
  { ports: { redactor } }: ActiveSession,
  wish: Partial<ApprovalWish> | undefined,
  tool: string,
): ApprovalWish | undefined {
  const { summary, keys, wider = [], question, asks } = wish ?? {}
  if (typeof summary !== 'string' || !isKeys(keys) || !isKeys(wider)) return undefined
  if ([...keys, ...wider].some((key) => isAnothers(key, tool))) return undefined
  if (question !== undefined && typeof question?.text !== 'string') return undefined
  // A redacted key still tells equal from different.
  const hidden = ({ key, label, use, aliases, isPrefix }: ApprovalKey): ApprovalKey => ({
    key: redactor.text(key),
    label: redactor.text(label),
    ...(typeof use === 'string' && { use: redactor.text(use) }),
    ...(isTexts(aliases) && { aliases: aliases.map((alias) => redactor.text(alias)) }),
    ...(isPrefix === true && { isPrefix }),
  })
  const options = isTexts(question?.options) ? question.options.map((option) => redactor.text(option)) : undefined
  return {
    summary: redactor.text(summary),
    keys: keys.map(hidden),
    ...(asks === false && { asks }),
    ...(wider.length > 0 && { wider: wider.map(hidden) }),
    ...(question && { question: { text: redactor.text(question.text), ...(options && { options }) } }),
  }
}

const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every((each) => typeof each === 'string')
const isKeys = (value: unknown): value is readonly ApprovalKey[] => Array.isArray(value) && value.every(isKey)

function isKey(value: unknown): value is ApprovalKey {
  const { key, label } = (value ?? {}) as { key?: unknown; label?: unknown }
  return typeof key === 'string' && key !== '' && typeof label === 'string'
}

/** A yes to one tool must not be a yes to another, or to leaving the sandbox, whatever the label says. */
function isAnothers({ key, isPrefix }: ApprovalKey, tool: string): boolean {
  const isOwn = key === wholeOf(tool).key && isPrefix !== true
  return !isOwn && kindsOfOurs.some((kind) => key.startsWith(kind) || (isPrefix === true && kind.startsWith(key)))
}

const kindsOfOurs = ['tool:', `${leavingTheSandbox}:`]

function forbidden({ rule, reason }: Ruling): ToolFailure {
  const why = reason === undefined ? '' : ` ${reason.replace(/[^.!?]$/, '$&.')}`
  return { class: 'denied', message: `A rule forbids this call: ${rule}.${why}`, remedy: 'Go on without it.' }
}
