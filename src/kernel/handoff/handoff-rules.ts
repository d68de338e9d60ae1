import type { HandoffReason, WaitedAgent } from '../../contracts/index.ts'

// When a conversation of an agent with the person ends. Pure: the same facts give the same decision after a restart.

export interface HandoffLimits {
  /** Messages of the person. */
  readonly maxTurns: number
  /** Tokens and work of the whole call. */
  readonly maxTokensPerInvocation: number
  readonly timeBudgetMs: number
  /** Without a message of the person. */
  readonly idleMs: number
}

export const returnControlName = 'return_control'

interface HandoffFacts {
  readonly child: Pick<WaitedAgent, 'status' | 'turn' | 'result' | 'used' | 'idleMs' | 'isRecalled'>
  /** The last turn of the child that was judged. */
  readonly seen: number
  /** The call is ending. */
  readonly isCancelled: boolean
}

/** Why it ends now, or `continue`. */
export function judgeHandoff({ child, seen, isCancelled }: HandoffFacts, limits: HandoffLimits): HandoffReason | 'continue' {
  const { status, turn, result, used, idleMs = 0 } = child
  if (status === 'closed' || isCancelled) return 'ended'
  const hasNews = status === 'idle' && turn > seen && result !== undefined
  if (hasNews && hasReturned(result)) return 'done'
  if (child.isRecalled) return 'asked'
  if (idleMs >= limits.idleMs) return 'idle'
  // Somebody has written to the caller.
  if (!hasNews) return 'asked'
  if (result.reason === 'tokens' || result.reason === 'time') return result.reason
  if (result.status === 'failed') return 'failed'
  if (result.status === 'interrupted' || result.reason === 'stopped') return 'ended'
  if (!used) return 'continue'
  if (used.tokens >= limits.maxTokensPerInvocation) return 'tokens'
  if (used.workedMs >= limits.timeBudgetMs) return 'time'
  // Without the task.
  return used.inputs - 1 >= limits.maxTurns ? 'turns' : 'continue'
}

const hasReturned = ({ operations }: NonNullable<WaitedAgent['result']>): boolean =>
  operations.steps.at(-1)?.calls.some(({ tool, status }) => tool === returnControlName && status === 'completed') === true
