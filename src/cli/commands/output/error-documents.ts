// The documents of `--json` of commands that failed. Loaded at the start of every command.
import type { Problem, TroupeError, TurnReason } from '../../../contracts/index.ts'
import { exitCodeOfError, type FailureCode } from '../../terminal/exit-codes.ts'

export interface Ended {
  /** Whether the exit code is 0. */
  readonly ok: boolean
  readonly exitCode: number
}

/** Why the exit code is not 0: the same in the documents of all commands. */
export interface CommandError {
  /** A code of the table of errors, or the reason why a turn ended. */
  readonly code: FailureCode | TurnReason
  readonly message: string
  readonly remedy?: string
  readonly problems: readonly Problem[]
}

/** Why a run did not start. */
export interface ErrorDocument extends Ended {
  readonly error: CommandError
}

interface Failure extends Omit<CommandError, 'remedy' | 'problems'> {
  readonly remedy?: string | undefined
  readonly problems?: readonly Problem[]
}

export const commandError = ({ code, message, remedy, problems = [] }: Failure): CommandError => ({
  code,
  message,
  ...(remedy !== undefined && { remedy }),
  problems,
})

type Thrown = Pick<TroupeError, 'message' | 'remedy' | 'problems'> & { readonly code: FailureCode }

/** `details`: what the command did nevertheless. */
export function errorDocument<Details extends object>(error: Thrown, details?: Details): ErrorDocument & Details {
  return { ok: false, error: commandError(error), ...(details as Details), exitCode: exitCodeOfError(error) }
}

/** The last line of a stream without a run. */
export function runEndOfError(error: Thrown): ErrorDocument & { readonly type: 'run.failed' } {
  return { type: 'run.failed', ...errorDocument(error, {}) }
}
