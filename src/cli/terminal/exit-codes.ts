import type { ErrorCode, ModelFailureClass, Outcome, TurnReason } from '../../contracts/index.ts'
import type { Denial } from '../../view/index.ts'
import type { EndRequest } from './process-host.ts'

/** Exit codes of the process and their meaning. */
export const exitCodes = {
  done: { code: 0, summary: 'success' },
  failed: { code: 1, summary: 'failure' },
  usage: { code: 2, summary: 'invalid usage or configuration' },
  model: { code: 3, summary: 'no model available, or authentication failed' },
  provider: { code: 4, summary: 'provider or network error' },
  budget: { code: 5, summary: 'limit reached: steps, tokens, cost, calls or time' },
  approval: {
    code: 6,
    summary: 'suspended for an approval, ended by a denial, or a call was denied because nobody could be asked',
  },
  hangup: { code: 129, summary: 'stopped by SIGHUP or a closed terminal; resumable' },
  interrupted: { code: 130, summary: 'interrupted with Ctrl-C' },
  pipe: { code: 141, summary: 'stopped because standard output was closed; resumable' },
  terminated: { code: 143, summary: 'stopped by SIGTERM; resumable' },
} as const

type ExitName = keyof typeof exitCodes

/** Why there is no outcome: an error of Troupe, or a signal. */
export type FailureCode = ErrorCode | EndRequest

export const exitByFailure: { readonly [Class in ModelFailureClass]: ExitName } = {
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
  input: 'approval',
  client: 'approval',
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
  extension_failed: 'usage',
  tools_unavailable: 'failed',
  script_invalid: 'usage',
  script_mismatch: 'failed',
  session_unknown: 'usage',
  step_unknown: 'usage',
  request_not_recorded: 'failed',
  approval_unknown: 'usage',
  approval_answered: 'usage',
  client_id_taken: 'usage',
  session_driven: 'failed',
  session_mismatch: 'usage',
  session_moved: 'failed',
  budget_exhausted: 'budget',
  store_failed: 'failed',
  store_invalid: 'failed',
  index_damaged: 'failed',
  command_failed: 'failed',
  runtime_closed: 'failed',
  internal: 'failed',
  interrupted: 'interrupted',
  terminated: 'terminated',
  hangup: 'hangup',
  pipe: 'pipe',
}

/** A partial answer has the code of its limit. `request`: the signal that released the run. */
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

interface RunFacts {
  readonly denials: readonly Pick<Denial, 'kind'>[]
  /** Whether there were warnings, before the run or in it. */
  readonly hasWarnings?: boolean | undefined
  readonly isStrict?: boolean | undefined
  readonly request?: EndRequest | undefined
}

/**
 * The code of a run. A run that ended well has another one if a call was denied because nobody could be asked; with `--strict` after
 * every denial and warning.
 */
export function exitCodeOfRun(outcome: Parameters<typeof exitCodeOf>[0], { denials, hasWarnings, isStrict, request }: RunFacts): number {
  const code = exitCodeOf(outcome, request)
  if (code !== exitCodes.done.code) return code
  if (denials.some(({ kind }) => isStrict || kind === 'unavailable')) return exitCodes.approval.code
  return isStrict && hasWarnings ? exitCodes.usage.code : code
}

export function exitCodeOfError({ code }: { readonly code: FailureCode }): number {
  return exitCodes[byError[code]].code
}

function failedCode(reason: TurnReason | undefined, failure: ModelFailureClass | undefined): number {
  if (failure !== undefined && (reason === undefined || reason === 'model')) return exitCodes[exitByFailure[failure]].code
  const name = reason === undefined ? 'failed' : byReason[reason]
  return exitCodes[name === 'done' ? 'failed' : name].code
}
