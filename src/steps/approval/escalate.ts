import type { ApprovalRequest, ToolFailure, ToolOutput } from '../../contracts/index.ts'
import { type AtTheWalls, approvalIdOf, atTheWalls, callIdOf, findCall, type StartedCall } from '../../core/index.ts'
import { unsandboxedName } from '../../policy/unsandboxed-rules.ts'
import { canonicalJson } from '../../util/canonical-json.ts'
import { wellFormed } from '../../util/well-formed.ts'
import { parseArguments } from '../calls/parse-arguments.ts'
import type { ActiveSession } from '../loop/active-session.ts'
import { consult } from './approvals.ts'
import { grantFor, rulingFor } from './permission.ts'

/** The tool hit the walls of a sandbox that there is a way out of. */
export function isWalledIn({ ports }: ActiveSession, output: ToolOutput): output is Failed {
  return !output.ok && output.error.class === 'sandbox' && ports.sandbox.confinement.kind === 'sandbox'
}

/** `waiting`: nobody decides now. The request stays open, and whoever drives next goes on from there. */
export type WayOut = 'outside' | 'waiting' | Failed
type Failed = Extract<ToolOutput, { ok: false }>

/** Asks to run again outside the sandbox. The second attempt is committed before it starts, like the first. */
export async function escalate(session: ActiveSession, call: StartedCall, failed: Failed): Promise<WayOut> {
  const { attempt, itemId } = call
  const request = requestFor(session, call, { failed, reason: await reasonOf(session, call) })
  const ruled = rulingFor(session, { names: [unsandboxedName], keys: request.keys })
  if (ruled?.verdict === 'deny') return failed
  const by = ruled?.verdict === 'allow' ? ruled.rule : grantFor(session, [], request.keys)
  if (by === undefined) {
    const answer = await answerTo(session, request)
    if (answer === 'none') return 'waiting'
    if (answer.kind !== 'allowed') return { ...failed, error: refused(failed.error, answer.feedback) }
  }
  const update = { kind: 'attempt', attempt: attempt + 1, reason: 'unsandboxed' } as const
  session.note({ type: 'interaction.item.updated', itemId, update: by === undefined ? update : { ...update, by } })
  await session.flush()
  return session.interrupt.reason === undefined ? 'outside' : failed
}

/** As it was understood when the call was reviewed. */
async function reasonOf({ ports: { registry, validator } }: ActiveSession, { intent, part }: StartedCall): Promise<string | undefined> {
  const offered = registry.tools.find(({ name }) => name === intent.tool)
  const parsed = offered && (await parseArguments(validator, offered, part.input))
  return parsed?.ok ? parsed.reason : undefined
}

function requestFor(
  session: ActiveSession,
  { intent: { tool, input }, itemId }: StartedCall,
  { failed, reason }: { readonly failed: Failed; readonly reason: string | undefined },
): ApprovalRequest {
  const { redactor } = session.ports
  const scope = 'unsandboxed'
  // The arguments themselves are the key: nothing is granted for a fingerprint.
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
    inside: toldOf(session, failed),
  }
}

/** The end of a text says why it failed. */
const mostChars = 4_000

function toldOf({ ports: { redactor } }: ActiveSession, { error, partial }: Failed): NonNullable<ApprovalRequest['inside']> {
  const short = (text: string): string => wellFormed(redactor.text(text).slice(-mostChars))
  const told = { ...error, message: short(error.message) }
  return partial === undefined ? { error: told } : { error: told, partial: short(partial) }
}

/** What was said to it, now or to a driver before this one. `none`: everybody has put it off. */
async function answerTo(session: ActiveSession, request: ApprovalRequest): Promise<AtTheWalls | 'none'> {
  const { id: approvalId, itemId } = request
  if (!standing(session, itemId)) {
    session.note({ type: 'interaction.approval.requested', itemId, request })
    consult(session)
  }
  while (standing(session, itemId)?.kind === 'asking') {
    if (session.interrupt.reason !== undefined || session.turn.cancel !== 'no') {
      const decision = { kind: 'deny', feedback: 'nobody has answered' } as const
      session.note({ type: 'interaction.approval.resolved', itemId, approvalId, decision, by: 'runtime' })
    } else if (session.verdicts.get(approvalId) === 'suspend') return 'none'
    else await session.woken()
  }
  return standing(session, itemId) ?? { kind: 'refused', request }
}

/** Where the call stands with the sandbox. */
function standing(session: ActiveSession, itemId: StartedCall['itemId']): AtTheWalls | undefined {
  const { step } = session.turn
  const call = step.kind === 'calling' ? findCall(step.calls, itemId) : undefined
  return call?.kind === 'started' ? atTheWalls(call) : undefined
}

const refused = (failure: ToolFailure, feedback: string | undefined): ToolFailure => ({
  ...failure,
  remedy: feedback === undefined ? 'It may not run outside the sandbox.' : `It may not run outside the sandbox: ${feedback}`,
})
