import type {
  AgentSpec,
  ApprovalDecision,
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
import { samplingName } from '../../policy/sampling-rules.ts'
import { unsandboxedName } from '../../policy/unsandboxed-rules.ts'
import { asSentence } from '../../util/as-sentence.ts'
import { isThenable } from '../../util/is-thenable.ts'
import { messageOf } from '../../util/message-of.ts'
import { readFailure } from '../output/call-output.ts'
import type { ActiveSession } from '../session/active-session.ts'
import type { OfferedTool } from '../tools/tool-registry.ts'
import { confinementOf } from './agent-confinement.ts'
import { isApprovalKey, readApprovalWish, wholeToolKey } from './approval-request.ts'
import { askTool, outOfTime, withTimeout } from './ask-tool.ts'
import { type Ruling, ruling, type Subject, stricter } from './rules.ts'

// Whether a call may run: by rules, then by earlier grants, then by a person.

type Permission =
  /** `by`: the rule or grant that decided instead of a person. */
  | { readonly kind: 'granted'; readonly by?: string }
  | { readonly kind: 'refused'; readonly failure: ToolFailure }
  | { readonly kind: 'asked'; readonly request: ApprovalRequest }
  /** The turn was stopped meanwhile. The loop skips the call. */
  | { readonly kind: 'ended' }

interface Wanted {
  readonly offered: OfferedTool
  readonly input: JsonObject
  /** The reason that the model gave. */
  readonly reason: string | undefined
}

export const needsPermission = (session: ActiveSession, { tool }: OfferedTool): boolean => tool.approval !== undefined || hasRules(session)

const hasRules = ({ ports, state }: ActiveSession): boolean => ports.rules.length > 0 || policiesOf(state.agent).length > 0

export async function checkPermission(session: ActiveSession, call: ReviewableCall, wanted: Wanted): Promise<Permission> {
  const { offered, input, reason } = wanted
  const { tool, name } = offered
  const whole = wholeToolKey(name)
  const asked = tool.approval && (await readApprovalWish(session, offered, input))
  if (asked?.kind === 'ended') return asked
  if (asked?.kind === 'late') return { kind: 'refused', failure: outOfTime('its approval was determined') }
  const wish = asked?.answer
  const ruled = rulingFor(session, subjectOf(offered, { keys: wish?.keys ?? [], input }))
  if (ruled?.verdict === 'deny') return { kind: 'refused', failure: ruleDenial(ruled) }
  const unavailableFailure =
    tool.unavailable && (await askTool(session, tool, { ask: () => unavailable(session, tool), fallback: undefined }))
  if (unavailableFailure) return { kind: 'refused', failure: unavailableFailure }
  const scope = wish?.question ? 'question' : 'call'
  const mustBeNamed = wish?.keys.some((key) => key.mustBeNamed) ?? false
  if (scope === 'call') {
    if (ruled?.verdict === 'allow') return { kind: 'granted', by: ruled.rule }
    if (ruled === undefined && (!wish || wish.asks === false)) return { kind: 'granted' }
    const given = wish?.keys ?? []
    const granted = ruled?.isUnsure ? withoutWhole(name, given) : given
    const by = await findGrant(session, ruled?.isUnsure || mustBeNamed ? [] : [whole.key], granted)
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

async function unavailable(session: ActiveSession, tool: Tool): Promise<ToolFailure | undefined> {
  const failure = await tool.unavailable?.(confinementOf(session))
  return failure && readFailure(session, failure)
}

export interface Settlement {
  readonly decision: ApprovalDecision
  readonly by: string
}

/** The decision of the current rules and grants on an open request. `undefined`: a person must decide. */
export function decideByRules(session: ActiveSession, request: ApprovalRequest, project: readonly ApprovalKey[]): Settlement | undefined {
  const { scope, tool: name, keys } = request
  const offered = { name, tool: session.ports.registry.find(name) ?? { name } }
  const ruled = rulingFor(session, ownRuleNames[scope] ? { names: ownRuleNames[scope], keys } : subjectOf(offered, request))
  if (ruled?.verdict === 'deny') return { decision: { kind: 'deny', feedback: `a rule forbids it: ${ruleText(ruled)}` }, by: ruled.rule }
  if (scope === 'question') return undefined
  const isBroad = scope === 'call' && !ruled?.isUnsure && !keys.some(({ mustBeNamed }) => mustBeNamed)
  const broad = isBroad ? [wholeToolKey(name).key] : []
  const by =
    ruled?.verdict === 'allow'
      ? ruled.rule
      : coveringGrant(session, project, { broad, keys: ruled?.isUnsure ? withoutWhole(name, keys) : keys })
  return by === undefined ? undefined : { decision: { kind: 'approve', breadth: 'once' }, by }
}

/** Requests that are not about the call itself have rules of their own. */
const ownRuleNames: { readonly [Scope in ApprovalRequest['scope']]?: readonly string[] } = {
  unsandboxed: [unsandboxedName],
  sampling: [samplingName],
}

/** Rules may have changed since the request: a rule that denies wins over an approval. */
export function deniedSinceRequest(session: ActiveSession, offered: OfferedTool, asked: Asked): ToolFailure | undefined {
  const ruled = rulingFor(session, subjectOf(offered, asked))
  return ruled?.verdict === 'deny' ? ruleDenial(ruled) : undefined
}

/** The same for a call of an earlier driver that is about to run. An existing child continues under the current rules. */
export async function deniedByRules(session: ActiveSession, { tool: name, type, input }: CallIntent): Promise<ToolFailure | undefined> {
  const offered = session.ports.registry.tools.find((each) => each.name === name)
  if (!offered || type === 'subagent_call' || !hasRules(session)) return undefined
  const asked = offered.tool.approval && (await readApprovalWish(session, offered, input))
  const keys = asked?.kind === 'answered' ? asked.answer?.keys : undefined
  return deniedSinceRequest(session, offered, { keys: keys ?? [], input })
}

/** For what a running call finds, such as a file. Its approval named all that rules ask about, except for uses `without asking`. */
export function isUseAllowed(
  session: ActiveSession,
  offered: Named,
  { key, how }: { readonly key: ApprovalKey; readonly how: 'without asking' | undefined },
): boolean {
  if (!hasRules(session)) return true
  const verdict = rulingFor(session, { names: namesOf(offered), keys: [key] })?.verdict
  return verdict !== 'deny' && (verdict !== 'ask' || how !== 'without asking')
}

interface Named {
  readonly name: string
  readonly tool: Pick<Tool, 'name' | 'approval'>
}

const namesOf = ({ name, tool }: Named): readonly string[] => (tool.name === name ? [name] : [name, tool.name])

type Asked = Pick<ApprovalRequest, 'keys' | 'input'>

function subjectOf(offered: Named, { keys, input }: Asked): Subject {
  const said = withoutWhole(offered.name, keys)
  return { names: namesOf(offered), keys: said, input, isUnread: offered.tool.approval !== undefined && said.length < keys.length }
}

/** Without the key of the whole tool, which says nothing about this call. */
const withoutWhole = (name: string, keys: readonly ApprovalKey[]): readonly ApprovalKey[] =>
  keys.filter(({ key }) => key !== wholeToolKey(name).key)

/** The rules of the session, made stricter by those of the agent and its callers. */
export function rulingFor({ ports, state }: ActiveSession, subject: Subject): Ruling | undefined {
  const session = ruling(ports.rules, subject)
  const own = ruling(policiesOf(state.agent), subject)
  return own?.verdict === 'allow' ? session : stricter(session, own)
}

const policies = new WeakMap<AgentSpec, readonly ApprovalPolicy[]>()

/** Cached for each agent: agents may share a list of rules. */
function policiesOf(agent: AgentSpec): readonly ApprovalPolicy[] {
  const { name, approvals, bounds = [] } = agent
  const known = policies.get(agent) ?? [...bounds, ...(approvals ? [{ name: `agent ${name}`, rules: approvals }] : [])]
  policies.set(agent, known)
  return known
}

/** Which grants cover the call: those of this session, of the project, or both together. */
export async function findGrant(
  session: ActiveSession,
  broad: readonly string[],
  keys: readonly ApprovalKey[],
): Promise<string | undefined> {
  return coveringGrant(session, await readProjectGrants(session), { broad, keys })
}

interface Needed {
  /** Any of these covers the call. */
  readonly broad: readonly string[]
  readonly keys: readonly ApprovalKey[]
}

function coveringGrant(session: ActiveSession, project: readonly ApprovalKey[], { broad, keys }: Needed): string | undefined {
  const places = [
    { by: 'granted for this session', grants: [...session.state.grants, ...session.ports.tree.grants()] },
    { by: 'granted for the project', grants: project },
  ]
  const isCovered = (grants: readonly ApprovalKey[]): boolean =>
    broad.some((key) => isGranted(grants, key)) || (keys.length > 0 && areGranted(grants, keys))
  if (isCovered(places.flatMap(({ grants }) => grants))) return places.find(({ grants }) => isCovered(grants))?.by ?? 'granted before'
  return undefined
}

/** The port is third-party code: if it fails, nothing is granted. */
export async function readProjectGrants(session: ActiveSession): Promise<readonly ApprovalKey[]> {
  try {
    const listing = session.ports.grants?.list() ?? []
    const listed = isThenable(listing) ? await withTimeout(session, Promise.resolve(listing)) : listing
    return listed.filter(isApprovalKey)
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
  message: `The approvals of the project cannot be read and do not apply: ${why}`,
})

const ruleText = ({ rule, reason }: Ruling): string => `${rule}.${reason === undefined ? '' : ` ${asSentence(reason)}`}`

const ruleDenial = (ruled: Ruling): ToolFailure => ({
  class: 'denied',
  message: `A rule forbids this call: ${ruleText(ruled)}`,
  remedy: 'Continue without it.',
})
