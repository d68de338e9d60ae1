import { type CallNode, isRunning, shownStatus } from '../../view/index.ts'
import type { MarkStatus } from './status-mark.tsx'

/** What the mark of a call shows. A child that outlives its call has its own status. */
export function callStatus(call: CallNode): MarkStatus {
  const { child, isSpawned, isAsking, sandbox, exitCode, speaks } = call
  const status = shownStatus(call)
  const turn = child?.turns.at(-1)
  // The child has answered, and waits for the next message of the person.
  if (speaks && turn && !isRunning(turn)) return 'suspended'
  if (turn && (isSpawned || status === 'running')) return turn.status
  if (isAsking || sandbox.kind === 'asking') return 'suspended'
  return status === 'completed' && exitCode ? 'warning' : status
}

/** Why a call did not succeed, in a word or two. */
export function callProblem({ error, exitCode }: Pick<CallNode, 'error' | 'exitCode'>): string | undefined {
  if (exitCode) return `exit ${exitCode}`
  return error?.class.replaceAll('_', ' ')
}
