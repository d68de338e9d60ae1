import type { ApprovalDecision } from '../../contracts/index.ts'
import type { Host } from '../host/process-host.ts'
import { mayAsk } from '../trust/trust-question.ts'
import { type RunApprover, TerminalApprover } from './terminal-approver.ts'

/** What happens to a request where nobody can be asked. */
export type WithoutTerminal = 'suspend' | 'deny'

/** A person at the terminal is asked; without one the run waiting for an answer, or goes on without. */
export function chooseApprover(host: Host, otherwise: WithoutTerminal): RunApprover {
  if (mayAsk(host)) return new TerminalApprover(host)
  const decision: ApprovalDecision = { kind: 'deny', feedback: 'no person is available to approve it' }
  return {
    shows: 'nothing',
    decide: () => (otherwise === 'suspend' ? 'suspend' : { decision, by: 'approvals.onUnavailable' }),
    attach: () => {},
    hear: () => {},
  }
}
