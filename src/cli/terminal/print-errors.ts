import { type Problem, TroupeError } from '../../contracts/index.ts'
import { displaySentence } from '../../util/as-sentence.ts'
import { InterruptedError } from './interruption.ts'
import type { Paint } from './paint.ts'
import { printable } from './printable.ts'

/** Anything thrown, as an error with a code. */
export function troupeError(error: unknown): TroupeError | InterruptedError {
  if (error instanceof TroupeError || error instanceof InterruptedError) return error
  const message = error instanceof Error ? error.message : String(error)
  return new TroupeError('internal', message, { remedy: 'This is a bug in Troupe; please report it.', cause: error })
}

export interface PrintedError extends Pick<TroupeError, 'message' | 'remedy' | 'problems'> {
  readonly code?: string
  /** Further lines of the message. */
  readonly details?: readonly string[]
  /** Commands of the remedy, to copy. */
  readonly commands?: readonly string[]
  /** `false` for a suspended run: nothing failed. */
  readonly isFailure?: boolean
}

/** Message, problems with their source lines, remedy. */
export function errorLines(error: PrintedError, paint: Paint): readonly string[] {
  const { code, message, details = [], remedy, problems, commands = [], isFailure = true } = error
  return [
    isFailure ? `${paint('red', 'error:')} ${headline(message)}` : paint('yellow', headline(message)),
    ...details.map((line) => `  ${printable(line)}`.trimEnd()),
    ...problems.flatMap((problem) => [
      '',
      ...problemLines(code === 'usage' && problem.remedy === undefined ? problem : asDisplayed(problem), paint),
    ]),
    ...(remedy === undefined ? [] : [...(problems.length > 0 ? [''] : []), `${paint('cyan', '→')} ${printable(remedy)}`]),
    ...commands.map((command) => `  ${printable(command)}`),
  ]
}

/** Some messages repeat their problems in further lines. */
function headline(message: string): string {
  return printable(message.split('\n', 1)[0]?.replace(/:\s*$/, '.') ?? '')
}

/** Usage errors also list choices as problems; those have no remedy and are not sentences. */
const asDisplayed = (problem: Problem): Problem => ({ ...problem, message: displaySentence(problem.message) })

function problemLines({ place, message, remedy, line }: Problem, paint: Paint): readonly string[] {
  const [first = '', ...more] = message.split('\n')
  return [
    `  ${paint('bold', printable(place))}  ${printable(first)}`,
    ...more.map((part) => `    ${printable(part)}`),
    ...(line === undefined || line.trim() === '' ? [] : excerpt(place, line, paint)),
    ...(remedy === undefined ? [] : [`    ${paint('cyan', '→')} ${printable(remedy)}`]),
  ]
}

const maxExcerptWidth = 100

/** The source line with a mark below the column of `place`. */
function excerpt(place: string, line: string, paint: Paint): readonly string[] {
  const [row = 1, column = 1] = place.split(':').slice(-2).map(Number)
  if (!Number.isInteger(row) || !Number.isInteger(column)) return []
  const from = column > maxExcerptWidth ? column - maxExcerptWidth / 2 : 0
  const shown = line.slice(from, from + maxExcerptWidth).replace(/[\s\p{Cc}\p{Cf}]/gu, ' ')
  const gutter = `    ${row} │ `
  const blank = `${' '.repeat(gutter.length - 2)}│ `
  return [
    `${paint('dim', gutter)}${shown.trimEnd()}`,
    `${paint('dim', blank)}${' '.repeat(Math.max(0, column - 1 - from))}${paint('red', '^')}`,
  ]
}
