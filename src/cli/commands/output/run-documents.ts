// The documents of `--json` and the last line of `--stream-json`. Published as schemas/run-document.schema.json and
// schemas/stream-event.schema.json.
import type { AgentLimits, Diagnostic, Model, ModelParameters, Outcome, OutputContract } from '../../../contracts/index.ts'
import type { StartDiagnostic } from '../../../project/index.ts'
import { type AgentSummary, type Denial, runSummary } from '../../../view/index.ts'
import { exitCodeOfRun, exitCodes } from '../../terminal/exit-codes.ts'
import type { EndRequest } from '../../terminal/process-host.ts'
import { type CommandError, commandError, type Ended } from './error-documents.ts'
import { type EndedRun, errorOfRun } from './run-error.ts'

/** An outcome with the diagnostics from before the start, which come first. */
export interface ReportedOutcome extends Omit<Outcome, 'snapshot' | 'diagnostics'> {
  readonly diagnostics: readonly (StartDiagnostic | Diagnostic)[]
}

/** A run that started, whatever its outcome. */
export interface OutcomeDocument extends ReportedOutcome, Pick<Outcome, 'snapshot'>, Ended {
  readonly error?: CommandError
  /** Calls of this turn that were not allowed. */
  readonly denials: readonly Denial[]
  /** Usage per agent; absent if no turn started. */
  readonly summary?: AgentSummary
}

/** What would run. */
export interface DryRunDocument extends Ended {
  readonly dryRun: true
  readonly agent: {
    readonly name: string
    readonly description: string
    readonly file: string
    /** Characters of the prompt in the file. */
    readonly promptChars: number
  }
  /** In the order in which they are tried. */
  readonly models: readonly PlannedModel[]
  readonly parameters: ModelParameters
  readonly limits: AgentLimits
  readonly output: OutputContract
  readonly tools: readonly string[]
  /** The descendants of the agent. */
  readonly team: readonly PlannedMember[]
  /** Characters of the request. */
  readonly requestChars: number
  /** The data folder. */
  readonly journal: string
  readonly notices: readonly string[]
}
export interface PlannedMember {
  readonly name: string
  readonly models: readonly string[]
  readonly tools: readonly string[]
  readonly agents: readonly string[]
}
export interface PlannedModel {
  /** As the agent file names it, and its resolved id. */
  readonly name: string
  readonly id: string
  readonly abilities: Model['abilities']
  readonly contextTokens?: number
}

/** The last line of a stream. Without the snapshot, which repeats the events. */
export type RunEnd = Ended &
  (
    | {
        readonly type: 'run.completed' | 'run.failed'
        readonly outcome: ReportedOutcome
        readonly error?: CommandError
        readonly denials: readonly Denial[]
        readonly summary?: AgentSummary
      }
    | { readonly type: 'run.failed'; readonly error: CommandError }
  )

interface DocumentOptions {
  /** Default: that of the outcome and the denials. */
  readonly exitCode?: number
  readonly before?: readonly StartDiagnostic[] | undefined
  readonly denials?: readonly Denial[]
  /** The signal that released the run. */
  readonly request?: EndRequest | undefined
}

export function outcomeDocument(outcome: Outcome, { before = [], denials = [], ...given }: DocumentOptions = {}): OutcomeDocument {
  const { exitCode = exitCodeOfRun(outcome, { denials }), request } = given
  const diagnostics = [...before, ...outcome.diagnostics]
  const error = errorIn({ outcome, denials, exitCode }, request)
  return { ok: exitCode === exitCodes.done.code, ...error, ...outcome, diagnostics, denials, ...summaryOf(outcome), exitCode }
}

function errorIn(ended: EndedRun, request: EndRequest | undefined): { readonly error?: CommandError } {
  return ended.exitCode === exitCodes.done.code ? {} : { error: commandError(errorOfRun(ended, request)) }
}

/** `completed` if there is an answer, also a partial one. The exit code shows the difference. */
export function runEnd(
  { snapshot: _repeated, ...outcome }: Outcome,
  { before = [], denials = [], ...given }: DocumentOptions = {},
): RunEnd {
  const { exitCode = exitCodeOfRun(outcome, { denials }), request } = given
  const type = outcome.status === 'completed' || outcome.status === 'partial' ? 'run.completed' : 'run.failed'
  const reported = { ...outcome, diagnostics: [...before, ...outcome.diagnostics] }
  const error = errorIn({ outcome, denials, exitCode }, request)
  return { type, ok: exitCode === exitCodes.done.code, ...error, outcome: reported, denials, ...summaryOf(outcome), exitCode }
}

function summaryOf(outcome: Pick<Outcome, 'operations' | 'trace'>): { readonly summary?: AgentSummary } {
  const summary = runSummary(outcome)
  return summary ? { summary } : {}
}
