import type { Outcome, TurnReason } from '../../../contracts/index.ts'
import { turnEndTexts } from '../../../policy/limit-texts.ts'
import { joinNames } from '../../../util/join-names.ts'
import type { Denial } from '../../../view/index.ts'
import { exitCodeOf, exitCodes, type FailureCode } from '../../terminal/exit-codes.ts'
import type { EndRequest } from '../../terminal/process-host.ts'

/** A run with another exit code than that of its outcome, if calls were denied or `--strict` was given. */
export interface EndedRun {
  readonly outcome: Pick<Outcome, 'status' | 'reason' | 'message' | 'remedy' | 'failure' | 'code' | 'diagnostics'>
  readonly denials: readonly Denial[]
  readonly exitCode: number
}

interface RunFailure {
  readonly code: FailureCode | TurnReason
  readonly message: string
  readonly remedy: string | undefined
}

/** Why the exit code of a run is not 0. `request`: the signal that released it. */
export function errorOfRun({ outcome, denials, exitCode }: EndedRun, request?: EndRequest): RunFailure {
  const { failure, reason, code } = outcome
  if (exitCodeOf(outcome, request) === exitCodes.done.code)
    return exitCode === exitCodes.approval.code ? deniedFailure(denials) : strictFailure
  const remedy = outcome.remedy ?? failure?.remedy ?? limitRemedy(outcome)
  if (reason === 'released' && request !== undefined) return { code: request, message: stopTexts[request], remedy }
  const known = { code: code ?? reason ?? 'internal', remedy }
  if (outcome.status === 'suspended' && reason === 'approval') return { ...known, message: suspendedText }
  return { ...known, message: outcome.message ?? failure?.message ?? endingText(outcome) }
}

/** The agent has answered, and the exit code is not 0 all the same. */
function deniedFailure(denials: readonly Denial[]): RunFailure {
  const unavailable = denials.filter(({ kind }) => kind === 'unavailable')
  const tools = joinNames([...new Set((unavailable.length > 0 ? unavailable : denials).map(({ tool }) => tool))])
  if (unavailable.length === 0)
    return { code: 'denied', message: `Calls were denied, and --strict allows no denial: ${tools}.`, remedy: undefined }
  const remedy = 'Allow them in advance with --allow PATTERN, or run the agent on a terminal.'
  return { code: 'denied', message: `Calls were denied because nobody could be asked: ${tools}.`, remedy }
}

const strictFailure: RunFailure = {
  code: 'config_invalid',
  message: 'There were warnings, and --strict allows none.',
  remedy: 'Fix what they name, or run without --strict.',
}

const suspendedText = 'The run is suspended: a request is waiting for your answer.'

const stopTexts: { readonly [Request in EndRequest]: string } = {
  interrupted: 'The run was stopped before it ended.',
  terminated: 'The run was stopped by SIGTERM before it ended.',
  hangup: 'The run was stopped before it ended: its terminal was closed.',
  pipe: 'The run was stopped before it ended: its output was closed.',
}

/** How to raise the limit that made an answer partial. */
const limitRemedy = ({ status, diagnostics }: Pick<Outcome, 'status' | 'diagnostics'>): string | undefined =>
  status === 'partial' ? diagnostics.findLast(({ code }) => code === 'limit_reached')?.remedy : undefined

function endingText({ status, reason }: Pick<Outcome, 'status' | 'reason'>): string {
  const why = reason === undefined || reason === status ? '' : `: ${turnEndTexts[reason].status}`
  return status === 'partial' ? `The answer is partial${why}.` : `The run has the status ${status}${why}.`
}
