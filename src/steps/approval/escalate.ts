import type { ApprovalRequest, ToolFailure, ToolOutput } from '../../contracts/index.ts'
import { approvalIdOf, callIdOf, type EscalationStage, escalationStage, findCall, type StartedCall } from '../../core/index.ts'
import { unsandboxedName } from '../../policy/unsandboxed-rules.ts'
import { canonicalJson } from '../../util/json-values.ts'
import { wellFormed } from '../../util/well-formed.ts'
import type { ActiveSession } from '../session/active-session.ts'
import { parseArguments } from '../tools/call-arguments.ts'
import { addRequest, waitForDecision } from './ask-person.ts'
import { checkedInTime } from './checked-arguments.ts'
import { findGrant, rulingFor } from './permission.ts'

/** The sandbox stopped the call, and the call may run again outside if approved. */
export function canEscalate({ ports }: ActiveSession, output: ToolOutput): output is Failed {
  return !output.ok && output.error.class === 'sandbox' && ports.sandbox.confinement.kind === 'sandbox'
}

/** `waiting`: the request stays open for a later driver. */
type EscalationResult = 'outside' | 'waiting' | Failed
type Failed = Extract<ToolOutput, { ok: false }>

/** Asks for permission to run outside the sandbox. The second attempt is durable before it starts, like the first. */
export async function escalate(session: ActiveSession, call: StartedCall, failed: Failed): Promise<EscalationResult> {
  const { attempt, itemId } = call
  const request = escalationRequest(session, call, { failed, reason: await reasonOf(session, call) })
  const ruled = rulingFor(session, { names: [unsandboxedName], keys: request.keys })
  if (ruled?.verdict === 'deny') return failed
  const by = ruled?.verdict === 'allow' ? ruled.rule : await findGrant(session, [], request.keys)
  if (by === undefined) {
    const answer = await waitForAnswer(session, request)
    if (answer === 'none') return 'waiting'
    if (answer.kind !== 'allowed') return { ...failed, error: refused(failed.error, answer.feedback) }
  }
  const update = { kind: 'attempt', attempt: attempt + 1, reason: 'unsandboxed' } as const
  session.note({ type: 'interaction.item.updated', itemId, update: by === undefined ? update : { ...update, by } })
  await session.flush()
  return session.interrupt.reason === undefined ? 'outside' : failed
}

/** The reason that the model gave for the call. */
async function reasonOf(session: ActiveSession, { intent, part }: StartedCall): Promise<string | undefined> {
  const { registry, validator } = session.ports
  const offered = registry.tools.find(({ name }) => name === intent.tool)
  if (!offered) return undefined
  const parsing = parseArguments(validator, offered, part.input)
  const parsed = parsing instanceof Promise ? await checkedInTime(session, offered, parsing) : parsing
  return parsed?.ok ? parsed.reason : undefined
}

function escalationRequest(
  session: ActiveSession,
  { intent: { tool, input }, itemId }: StartedCall,
  { failed, reason }: { readonly failed: Failed; readonly reason: string | undefined },
): ApprovalRequest {
  const { redactor } = session.ports
  const scope = 'unsandboxed'
  // The key contains the arguments themselves, not a hash of them.
  const key = redactor.text(`${unsandboxedName}:${tool}:${canonicalJson(input)}`)
  const always = { key: `${unsandboxedName}:${tool}:`, label: `any call of ${tool}, outside the sandbox`, isPrefix: true }
  return {
    id: approvalIdOf(callIdOf(session.state.sessionId, itemId), scope),
    itemId,
    agentPath: session.state.agentPath,
    tool,
    summary: `Run ${tool} again outside the sandbox: ${key.slice(always.key.length)}`,
    ...(reason !== undefined && { reason }),
    input,
    keys: [{ key, label: `${tool} with these arguments, outside the sandbox` }],
    wider: [always],
    scope,
    inside: sandboxFailure(session, failed),
  }
}

/** The end of an output usually shows why it failed. */
const maxFailureChars = 4_000

function sandboxFailure({ ports: { redactor } }: ActiveSession, { error, partial }: Failed): NonNullable<ApprovalRequest['inside']> {
  const short = (text: string): string => wellFormed(redactor.text(text).slice(-maxFailureChars))
  const told = { ...error, message: short(error.message) }
  return partial === undefined ? { error: told } : { error: told, partial: short(partial) }
}

/** The decision, possibly from an earlier driver. `none`: the approver deferred it. */
async function waitForAnswer(session: ActiveSession, request: ApprovalRequest): Promise<EscalationStage | 'none'> {
  const { itemId } = request
  if (!stageOf(session, itemId)) await addRequest(session, request)
  if ((await waitForDecision(session, request)) === 'suspended') return 'none'
  return stageOf(session, itemId) ?? { kind: 'refused', request }
}

function stageOf(session: ActiveSession, itemId: StartedCall['itemId']): EscalationStage | undefined {
  const { step } = session.turn
  const call = step.kind === 'calling' ? findCall(step.calls, itemId) : undefined
  return call?.kind === 'started' ? escalationStage(call) : undefined
}

const refused = (failure: ToolFailure, feedback: string | undefined): ToolFailure => ({
  ...failure,
  remedy: feedback === undefined ? 'It may not run outside the sandbox.' : `It may not run outside the sandbox: ${feedback}`,
})
