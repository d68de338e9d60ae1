import { type Problem, TroupeError } from '../../contracts/index.ts'
import { displaySentence } from '../../util/as-sentence.ts'
import { shellWord } from '../../util/shell-word.ts'
import type { ConfigDiagnostic } from '../config/config.ts'
import type { AgentDiagnostic } from '../registry/agent-diagnostic.ts'
import type { LeftOutAgent } from '../registry/missing-tools.ts'

/** A diagnostic about a team before it runs. */
export type StartDiagnostic = AgentDiagnostic | ConfigDiagnostic

/** Whether something is ignored because it is not trusted. */
export const isAboutTrust = ({ code }: StartDiagnostic): boolean => code === 'config_untrusted' || code === 'agent_untrusted'

/** Whether an agent may do something unexpected: these are printed even with `--quiet`. */
export const isAlarming = (each: StartDiagnostic): boolean => isAboutTrust(each) || each.code === 'agent_tools_absent'

export const sentenceOf = ({ place, message, remedy }: Problem): string =>
  [`${place}: ${displaySentence(message)}`, ...(remedy === undefined ? [] : [remedy])].join(' ')

/** Agents that did not start, or start without tools, with the reasons. */
export const leftOutAgents = ({ leftOut }: { readonly leftOut: readonly LeftOutAgent[] }): readonly string[] =>
  leftOut.flatMap(({ name, starts, problems }) =>
    problems.map((problem) => `The agent ${name} ${starts ? 'runs without a tool' : 'is left out'}. ${sentenceOf(problem)}`),
  )

/**
 * Adds ignored settings to an error, because they may be its cause: untrusted files first, unknown variables last. The
 * error keeps its code and its message.
 */
export function withIgnoredSettings(error: TroupeError, diagnostics: readonly StartDiagnostic[]): TroupeError {
  // Trusting an agent adds tools, never a model.
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

/** An error without its own remedy has those of its problems, where trust comes first. */
function trustFirst(remedy: string | undefined, withheld: readonly StartDiagnostic[]): string | undefined {
  if (remedy === undefined) return undefined
  const files = new Set(withheld.map(({ place }) => place.replace(/(?::\d+)+$/, '')))
  return `Untrusted files may be the cause (review them, then: troupe trust ${[...files].map(shellWord).join(' ')}). Otherwise: ${remedy}`
}
