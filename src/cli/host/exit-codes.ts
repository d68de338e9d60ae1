import type { ErrorCode, ModelFailureClass, Outcome, TurnReason } from '../../contracts/index.ts'
import type { EndRequest } from './process-host.ts'

/** What the shell is told, and what it means. */
export const exitCodes = {
  done: { code: 0, summary: 'done' },
  failed: { code: 1, summary: 'failed' },
  usage: { code: 2, summary: 'usage or configuration is wrong' },
  model: { code: 3, summary: 'no model, or not let in' },
  provider: { code: 4, summary: 'provider or network' },
  budget: { code: 5, summary: 'steps, tokens, money, calls or time ran out' },
  approval: { code: 6, summary: 'an approval was denied or is needed' },
  hangup: { code: 129, summary: 'stopped by SIGHUP or a lost terminal; resumable' },
  interrupted: { code: 130, summary: 'interrupted with Ctrl-C' },
  pipe: { code: 141, summary: 'stopped because the reader of its output has gone; resumable' },
  terminated: { code: 143, summary: 'stopped by SIGTERM; resumable' },
} as const

type ExitName = keyof typeof exitCodes

/** Why there is no outcome: an error of Troupe, or somebody who asked to end. */
export type FailureCode = ErrorCode | EndRequest

const byFailure: { readonly [Class in ModelFailureClass]: ExitName } = {
  auth: 'model',
  config: 'usage',
  rate_limit: 'provider',
  quota: 'provider',
  network: 'provider',
  timeout: 'provider',
  budget: 'budget',
  invalid_response: 'provider',
  model: 'provider',
  context: 'budget',
  lost: 'provider',
  cancelled: 'interrupted',
}

const byReason: { readonly [Reason in TurnReason]: ExitName } = {
  steps: 'budget',
  tokens: 'budget',
  cost: 'budget',
  time: 'budget',
  calls: 'budget',
  context: 'budget',
  repeats: 'budget',
  hook: 'failed',
  stopped: 'done',
  interrupted: 'interrupted',
  approval: 'approval',
  released: 'terminated',
  denied: 'approval',
  model: 'provider',
  invalid_output: 'failed',
  config: 'usage',
  store: 'failed',
  internal: 'failed',
}

const byError: { readonly [Code in FailureCode]: ExitName } = {
  usage: 'usage',
  config_invalid: 'usage',
  agent_file_invalid: 'usage',
  agent_unknown: 'usage',
  model_unknown: 'model',
  model_key_missing: 'model',
  model_unavailable: 'model',
  tools_unavailable: 'failed',
  script_invalid: 'usage',
  script_mismatch: 'failed',
  tree_unknown: 'usage',
  approval_unknown: 'usage',
  tree_owned: 'failed',
  session_mismatch: 'usage',
  tree_moved: 'failed',
  store_failed: 'failed',
  store_invalid: 'failed',
  runtime_closed: 'failed',
  internal: 'failed',
  interrupted: 'interrupted',
  terminated: 'terminated',
  hangup: 'hangup',
  pipe: 'pipe',
}

/**
 * How a run went, for the shell. An answer that had to be forced is printed and still counts as run out. `request`: what it was
 * released for.
 */
export function exitCodeOf({ status, reason, failure }: Pick<Outcome, 'status' | 'reason' | 'failure'>, request?: EndRequest): number {
  if (reason === 'released' && request !== undefined) return exitCodes[request].code
  switch (status) {
    case 'completed':
      return exitCodes.done.code
    case 'suspended':
      return exitCodes[reason === undefined ? 'approval' : byReason[reason]].code
    case 'interrupted':
      return exitCodes[reason === undefined ? 'interrupted' : byReason[reason]].code
    case 'partial':
      return exitCodes[reason === undefined ? 'done' : byReason[reason]].code
    case 'failed':
      return failedCode(reason, failure?.class)
    default:
      return status satisfies never
  }
}

/** What stopped a run before it began. */
export function exitCodeOfError({ code }: { readonly code: FailureCode }): number {
  return exitCodes[byError[code]].code
}

function failedCode(reason: TurnReason | undefined, failure: ModelFailureClass | undefined): number {
  if (failure !== undefined && (reason === undefined || reason === 'model')) return exitCodes[byFailure[failure]].code
  const name = reason === undefined ? 'failed' : byReason[reason]
  return exitCodes[name === 'done' ? 'failed' : name].code
}
