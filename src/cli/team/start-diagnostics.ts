import type { AgentDiagnostic, ConfigDiagnostic } from '../../agents/index.ts'
import { type Problem, TroupeError } from '../../contracts/index.ts'
import { asSentence } from '../../util/as-sentence.ts'
import { shellWord } from '../../util/shell-word.ts'

/** What is told about a team before it runs. */
export type StartDiagnostic = AgentDiagnostic | ConfigDiagnostic

/** Whether something does not count for want of a person's trust. */
export const isAboutTrust = ({ code }: StartDiagnostic): boolean => code === 'config_untrusted' || code === 'agent_untrusted'

/** As a person is told it. */
export const sentenceOf = ({ place, message, remedy }: StartDiagnostic): string =>
  `${place}: ${remedy === undefined ? message : `${asSentence(message)} ${remedy}`}`

/**
 * What was said and does not count may be why a start has failed, so the error tells it, too: what waits for trust before
 * everything else, variables that nobody knows after it. The error keeps its code and its message.
 */
export function withWithheld(error: TroupeError, diagnostics: readonly StartDiagnostic[]): TroupeError {
  // Trust in an agent brings tools, and never a model.
  const isAboutModels = error.code.startsWith('model_')
  const withheld = diagnostics.filter((each) => isAboutTrust(each) && !(isAboutModels && each.code === 'agent_untrusted'))
  const unknown = diagnostics.filter(({ code }) => code === 'variable_unused')
  if (withheld.length + unknown.length === 0) return error
  const { code, message, problems, cause } = error
  const remedy = withheld.length > 0 ? trustFirst(error.remedy, withheld) : error.remedy
  return new TroupeError(code, message, {
    problems: [...withheld.map(problemOf), ...problems, ...unknown.map(problemOf)],
    ...(remedy !== undefined && { remedy }),
    cause,
  })
}

const problemOf = ({ place, message, remedy }: StartDiagnostic): Problem => ({ place, message, ...(remedy !== undefined && { remedy }) })

/** Where the error has none of its own, those of its problems are all there is, and trust comes first among them. */
function trustFirst(remedy: string | undefined, withheld: readonly StartDiagnostic[]): string | undefined {
  if (remedy === undefined) return undefined
  const files = new Set(withheld.map(({ place }) => place.replace(/(?::\d+)+$/, '')))
  return `Untrusted files may be the cause (review them, then: troupe trust ${[...files].map(shellWord).join(' ')}). Otherwise: ${remedy}`
}
