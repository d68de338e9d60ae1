import type { ToolOutput } from '../contracts/index.ts'
import { approvalIdOf, callIdOf, openRequests, type StartedCall } from '../core/index.ts'
import { canonicalJson } from '../util/canonical-json.ts'
import type { ActiveSession } from './active-session.ts'
import { consult } from './approvals.ts'
import { grantFor, rulingFor } from './permission.ts'

/** The tool hit the walls of a sandbox that there is a way out of. */
export function isWalledIn({ ports }: ActiveSession, output: ToolOutput): boolean {
  return !output.ok && output.error.class === 'sandbox' && ports.sandbox.confinement.kind === 'sandbox'
}

/** Asks to run again outside the sandbox. The second attempt is committed before it starts, like the first. */
export async function escalate(session: ActiveSession, { intent, attempt, itemId }: StartedCall): Promise<boolean> {
  const { tool, input } = intent
  // The arguments themselves are the key: nothing is granted for a fingerprint.
  const key = { key: `unsandboxed:${tool}:${canonicalJson(input)}`, label: `${tool} with these arguments, outside the sandbox` }
  const always = { key: `unsandboxed:${tool}:`, label: `any call of ${tool}, outside the sandbox`, isPrefix: true }
  const ruled = rulingFor(session, 'unsandboxed', [key])?.verdict
  if (ruled === 'deny') return false
  if (ruled !== 'allow' && grantFor(session, [], [key]) === undefined) {
    const id = approvalIdOf(callIdOf(session.state.sessionId, itemId), 'unsandboxed')
    const summary = `Run ${tool} again outside the sandbox`
    const request = { id, itemId, tool, summary, input, keys: [key], wider: [always], scope: 'unsandboxed' } as const
    session.note({ type: 'interaction.approval.requested', itemId, request })
    consult(session)
    while (openRequests(session.state).some((open) => open.id === id)) {
      if (session.interrupt.reason !== undefined) return false
      if (session.verdicts.get(id) === 'suspend' || session.turn.cancel !== 'no') {
        // A call cannot be put off in mid run: it stays inside.
        session.note({
          type: 'interaction.approval.resolved',
          itemId,
          approvalId: id,
          decision: { kind: 'deny', feedback: 'put off' },
          by: 'runtime',
        })
        return false
      }
      await session.woken()
    }
    if (!isAllowed(session, itemId)) return false
  }
  session.note({ type: 'interaction.item.updated', itemId, update: { kind: 'attempt', attempt: attempt + 1, reason: 'unsandboxed' } })
  await session.flush()
  return session.interrupt.reason === undefined
}

function isAllowed(session: ActiveSession, itemId: StartedCall['itemId']): boolean {
  const { step } = session.turn
  return (
    step.kind === 'calling' && step.calls.some((call) => call.itemId === itemId && call.kind === 'started' && call.walls.kind === 'allowed')
  )
}
