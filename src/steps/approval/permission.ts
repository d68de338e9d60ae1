import type {
  AgentSpec,
  ApprovalKey,
  ApprovalPolicy,
  ApprovalRequest,
  CallIntent,
  Diagnostic,
  JsonObject,
  Tool,
  ToolFailure,
} from '../../contracts/index.ts'
import { approvalIdOf, callIdOf, type ReviewableCall } from '../../core/index.ts'
import { areGranted, isGranted } from '../../policy/grants.ts'
import { asSentence } from '../../util/as-sentence.ts'
import { messageOf } from '../../util/message-of.ts'
import { readFailure } from '../calls/tool-output.ts'
import type { OfferedTool } from '../calls/tool-registry.ts'
import type { ActiveSession } from '../loop/active-session.ts'
import { isApprovalKey, readApprovalWish, wholeToolKey } from './approval-request.ts'
import { askTool } from './ask-tool.ts'
import { confinementOf } from './confinement.ts'
import { type Ruling, ruling, type Subject, stricter } from './rules.ts'

// Whether a call may run: what rules say, what was granted before, and only then a person.

export type Permission =
  /** `by`: the rule or grant that spoke where a person would have been asked. */
  | { readonly kind: 'granted'; readonly by?: string }
  | { readonly kind: 'refused'; readonly failure: ToolFailure }
  | { readonly kind: 'asked'; readonly request: ApprovalRequest }

interface Wanted {
  readonly offered: OfferedTool
  readonly input: JsonObject
  /** Why the model wants it. */
  readonly reason: string | undefined
}

/** There is something to look at before a call of this tool may run. */
export const needsPermission = (session: ActiveSession, { tool }: OfferedTool): boolean => tool.approval !== undefined || hasRules(session)

const hasRules = ({ ports, state }: ActiveSession): boolean => ports.rules.length > 0 || policiesOf(state.agent).length > 0

export async function checkPermission(session: ActiveSession, call: ReviewableCall, wanted: Wanted): Promise<Permission> {
  const { offered, input, reason } = wanted
  const { tool, name } = offered
  const whole = wholeToolKey(name)
  const wish = tool.approval && (await readApprovalWish(session, offered, input))
  const ruled = rulingFor(session, subjectOf(offered, { keys: wish?.keys ?? [], input }))
  if (ruled?.verdict === 'deny') return { kind: 'refused', failure: ruleDenial(ruled) }
  const unavailableFailure = tool.unavailable && (await askTool(session, () => unavailable(session, tool), undefined))
  if (unavailableFailure) return { kind: 'refused', failure: unavailableFailure }
  const scope = wish?.question ? 'question' : 'call'
  const mustBeNamed = wish?.keys.some((key) => key.mustBeNamed) ?? false
  if (scope === 'call') {
    if (ruled?.verdict === 'allow') return { kind: 'granted', by: ruled.rule }
    // Rules have looked at it, and there is nobody else to ask.
    if (ruled === undefined && (!wish || wish.asks === false)) return { kind: 'granted' }
    const by = findGrant(session, ruled?.isUnsure || mustBeNamed ? [] : [whole.key], wish?.keys ?? [])
    if (by !== undefined) return { kind: 'granted', by }
  }
  const id = approvalIdOf(callIdOf(session.state.sessionId, call.itemId), scope)
  const { keys = [whole], summary = `Call ${name}`, wider = [], question, diff } = wish ?? {}
  const isWholeOffered = scope === 'call' && !mustBeNamed && !keys.some(({ key }) => key === whole.key)
  const broader = isWholeOffered ? [...wider, whole] : wider
  const request: ApprovalRequest = {
    ...{ id, itemId: call.itemId, agentPath: session.state.agentPath, tool: name, summary, input, keys, scope },
    ...(reason !== undefined && { reason }),
    ...(broader.length > 0 && { wider: broader }),
    ...(diff !== undefined && { diff }),
    ...(question && { question }),
  }
  return { kind: 'asked', request }
}

/** Why the tool cannot run here, as it says itself. */
async function unavailable(session: ActiveSession, tool: Tool): Promise<ToolFailure | undefined> {
  const failure = await tool.unavailable?.(confinementOf(session))
  return failure && readFailure(session, failure)
}

/** A rule that forbids what was approved, where rules have changed since it was asked for: it wins over any approval. */
export function deniedSinceRequest(
  session: ActiveSession,
  offered: OfferedTool,
  { keys, input }: ApprovalRequest,
): ToolFailure | undefined {
  const ruled = rulingFor(session, subjectOf(offered, { keys, input }))
  return ruled?.verdict === 'deny' ? ruleDenial(ruled) : undefined
}

/**
 * The same for a call that was begun by a driver before this one, and is to run again or for the first time. A child that is
 * there already goes on: what it does is bound by the rules of now.
 */
export async function deniedByRules(session: ActiveSession, { tool: name, type, input }: CallIntent): Promise<ToolFailure | undefined> {
  const offered = session.ports.registry.tools.find((each) => each.name === name)
  if (!offered || type === 'subagent_call' || !hasRules(session)) return undefined
  const { keys = [] } = (offered.tool.approval && (await readApprovalWish(session, offered, input))) ?? {}
  const ruled = rulingFor(session, subjectOf(offered, { keys, input }))
  return ruled?.verdict === 'deny' ? ruleDenial(ruled) : undefined
}

/**
 * Whether rules leave something to a call that it comes upon while it runs. Nobody is asked then: whoever let the call run
 * was told of all that rules may want to be asked about.
 */
export function isUseAllowed(session: ActiveSession, offered: Named, { key, how }: Use): boolean {
  if (!hasRules(session)) return true
  const verdict = rulingFor(session, { names: namesOf(offered), keys: [key] })?.verdict
  return verdict !== 'deny' && (verdict !== 'ask' || how !== 'without asking')
}

/** Nobody was told of a use without asking: what rules want to be asked about is not left to it either. */
interface Use {
  readonly key: ApprovalKey
  readonly how: 'without asking' | undefined
}

type Named = Pick<OfferedTool, 'name' | 'tool'>
const namesOf = ({ name, tool }: Named): readonly string[] => (tool.name === name ? [name] : [name, tool.name])

/** The key of the whole tool says nothing about the use of a call. */
const subjectOf = (offered: OfferedTool, { keys, input }: Pick<ApprovalRequest, 'keys' | 'input'>): Subject => ({
  names: namesOf(offered),
  keys: keys.filter(({ key }) => key !== wholeToolKey(offered.name).key),
  input,
})

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
export function findGrant(session: ActiveSession, broad: readonly string[], keys: readonly ApprovalKey[]): string | undefined {
  const places = [
    { by: 'granted for this session', grants: [...session.state.grants, ...session.ports.tree.grants()] },
    { by: 'granted for the project', grants: projectGrants(session) },
  ]
  const isCovered = (grants: readonly ApprovalKey[]): boolean =>
    broad.some((key) => isGranted(grants, key)) || (keys.length > 0 && areGranted(grants, keys))
  // One part may be granted here and another there.
  if (isCovered(places.flatMap(({ grants }) => grants))) return places.find(({ grants }) => isCovered(grants))?.by ?? 'granted before'
  return undefined
}

/** The list may be damaged, and the port is other people's code: what cannot be read grants nothing. */
function projectGrants(session: ActiveSession): readonly ApprovalKey[] {
  try {
    return (session.ports.grants?.list() ?? []).filter(isApprovalKey)
  } catch (error) {
    if (!session.hasReportedGrants)
      session.note({ type: 'interaction.diagnostic', diagnostic: grantsUnreadable(session.ports.redactor.text(messageOf(error))) })
    session.hasReportedGrants = true
    return []
  }
}

const grantsUnreadable = (why: string): Diagnostic => ({
  code: 'grant_not_kept',
  severity: 'warning',
  message: `What was approved for the project cannot be read, and does not count: ${why}`,
})

function ruleDenial({ rule, reason }: Ruling): ToolFailure {
  const why = reason === undefined ? '' : ` ${asSentence(reason)}`
  return { class: 'denied', message: `A rule forbids this call: ${rule}.${why}`, remedy: 'Go on without it.' }
}
