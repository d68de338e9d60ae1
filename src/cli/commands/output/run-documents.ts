// The documents of `--json` and the last line of `--stream-json`. Published as schemas/run-document.schema.json and
// schemas/stream-event.schema.json.
import type { AgentLimits, Diagnostic, Model, ModelParameters, Outcome, OutputContract, Problem } from '../../../contracts/index.ts'
import type { StartDiagnostic } from '../../../project/index.ts'
import { type AgentSummary, type Denial, runSummary } from '../../../view/index.ts'
import { exitCodeOfError, exitCodeOfRun, exitCodes, type FailureCode } from '../../terminal/exit-codes.ts'

interface Ended {
  /** Whether the exit code is 0. */
  readonly ok: boolean
  readonly exitCode: number
}

/** An outcome with the diagnostics from before the start, which come first. */
export interface ReportedOutcome extends Omit<Outcome, 'snapshot' | 'diagnostics'> {
  readonly diagnostics: readonly (StartDiagnostic | Diagnostic)[]
}

/** A run that started, whatever its outcome. */
export interface OutcomeDocument extends ReportedOutcome, Pick<Outcome, 'snapshot'>, Ended {
  /** Calls of this turn that were not allowed. */
  readonly denials: readonly Denial[]
  /** Usage per agent; absent if no turn started. */
  readonly summary?: AgentSummary
}

/** Why a run did not start. */
export interface ErrorDocument extends Ended {
  readonly error: RunError
}
export interface RunError {
  readonly code: FailureCode
  readonly message: string
  readonly remedy?: string
  readonly problems: readonly Problem[]
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
        readonly denials: readonly Denial[]
        readonly summary?: AgentSummary
      }
    | { readonly type: 'run.failed'; readonly error: RunError }
  )

interface DocumentOptions {
  /** Default: that of the outcome and the denials. */
  readonly exitCode?: number
  readonly before?: readonly StartDiagnostic[] | undefined
  readonly denials?: readonly Denial[]
}

export function outcomeDocument(outcome: Outcome, { before = [], denials = [], ...given }: DocumentOptions = {}): OutcomeDocument {
  const { exitCode = exitCodeOfRun(outcome, { denials }) } = given
  const diagnostics = [...before, ...outcome.diagnostics]
  return { ok: exitCode === exitCodes.done.code, ...outcome, diagnostics, denials, ...summaryOf(outcome), exitCode }
}

type Thrown = Omit<RunError, 'remedy'> & { readonly remedy: string | undefined }

export function errorDocument(error: Thrown): ErrorDocument {
  const { code, message, remedy, problems } = error
  return { ok: false, error: { code, message, ...(remedy !== undefined && { remedy }), problems }, exitCode: exitCodeOfError(error) }
}

/** `completed` if there is an answer, also a partial one. The exit code shows the difference. */
export function runEnd(
  { snapshot: _repeated, ...outcome }: Outcome,
  { before = [], denials = [], ...given }: DocumentOptions = {},
): RunEnd {
  const { exitCode = exitCodeOfRun(outcome, { denials }) } = given
  const type = outcome.status === 'completed' || outcome.status === 'partial' ? 'run.completed' : 'run.failed'
  const reported = { ...outcome, diagnostics: [...before, ...outcome.diagnostics] }
  return { type, ok: exitCode === exitCodes.done.code, outcome: reported, denials, ...summaryOf(outcome), exitCode }
}

function summaryOf(outcome: Pick<Outcome, 'operations' | 'trace'>): { readonly summary?: AgentSummary } {
  const summary = runSummary(outcome)
  return summary ? { summary } : {}
}

export function runEndOfError(error: Thrown): RunEnd {
  return { type: 'run.failed', ...errorDocument(error) }
}
