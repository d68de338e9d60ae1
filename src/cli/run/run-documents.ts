// What `--json` and `--stream-json` print besides events. Published as schemas/run-document.schema.json and, for the last
// line of a stream, schemas/stream-event.schema.json.
import type { AgentLimits, Diagnostic, Model, ModelParameters, Outcome, OutputContract, Problem } from '../../contracts/index.ts'
import { type AgentSummary, runSummary } from '../../view/index.ts'
import { exitCodeOf, exitCodeOfError, exitCodes, type FailureCode } from '../host/exit-codes.ts'
import type { StartDiagnostic } from '../team/start-diagnostics.ts'

interface Ended {
  /** Whether the exit code is 0. */
  readonly ok: boolean
  readonly exitCode: number
}

/** An outcome with what was told about its team before: that comes first. */
export interface ToldOutcome extends Omit<Outcome, 'snapshot' | 'diagnostics'> {
  readonly diagnostics: readonly (StartDiagnostic | Diagnostic)[]
}

/** A run that came about, however it ended. */
export interface OutcomeDocument extends ToldOutcome, Pick<Outcome, 'snapshot'>, Ended {
  /** Who did how much; absent where no turn came about. */
  readonly summary?: AgentSummary
}

/** Why a run did not come about. */
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
  /** Whom it may call, and whom they may. */
  readonly team: readonly PlannedMember[]
  /** Characters of what it is to do. */
  readonly requestChars: number
  /** The folder that the journal would be kept in. */
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
  /** As the agent names it, and as it calls itself. */
  readonly name: string
  readonly id: string
  readonly abilities: Model['abilities']
  readonly contextTokens?: number
}

/** The last line of a stream. The snapshot is left out: it repeats what the events have said. */
export type RunEnd = Ended &
  (
    | { readonly type: 'run.completed' | 'run.failed'; readonly outcome: ToldOutcome; readonly summary?: AgentSummary }
    | { readonly type: 'run.failed'; readonly error: RunError }
  )

interface Telling {
  readonly exitCode?: number
  readonly before?: readonly StartDiagnostic[] | undefined
}

export function outcomeDocument(outcome: Outcome, { exitCode = exitCodeOf(outcome), before = [] }: Telling = {}): OutcomeDocument {
  const diagnostics = [...before, ...outcome.diagnostics]
  return { ok: exitCode === exitCodes.done.code, ...outcome, diagnostics, ...summaryOf(outcome), exitCode }
}

/** What is thrown, as far as a document tells it. */
type Thrown = Omit<RunError, 'remedy'> & { readonly remedy: string | undefined }

export function errorDocument(error: Thrown): ErrorDocument {
  const { code, message, remedy, problems } = error
  return { ok: false, error: { code, message, ...(remedy !== undefined && { remedy }), problems }, exitCode: exitCodeOfError(error) }
}

/** `completed` where there is an answer, even if only a partial one; the exit code tells which. */
export function runEnd(
  { snapshot: _repeated, ...outcome }: Outcome,
  { exitCode = exitCodeOf(outcome), before = [] }: Telling = {},
): RunEnd {
  const type = outcome.status === 'completed' || outcome.status === 'partial' ? 'run.completed' : 'run.failed'
  const told = { ...outcome, diagnostics: [...before, ...outcome.diagnostics] }
  return { type, ok: exitCode === exitCodes.done.code, outcome: told, ...summaryOf(outcome), exitCode }
}

function summaryOf(outcome: Pick<Outcome, 'operations' | 'trace'>): { readonly summary?: AgentSummary } {
  const summary = runSummary(outcome)
  return summary ? { summary } : {}
}

export function runEndOfError(error: Thrown): RunEnd {
  return { type: 'run.failed', ...errorDocument(error) }
}
