import type { AgentChanges, Problem } from '../../contracts/index.ts'
import { expectObject } from '../../util/option-problems.ts'
import { showValue } from '../../util/show-value.ts'
import { clientToolProblems } from './check-client-tools.ts'
import { checkLimits, checkParameters } from './check-limits.ts'

/** Problems of what a caller sets instead of the definition of an agent. */
export function changeProblems(changes: AgentChanges, place = 'options'): readonly Problem[] {
  const { models, limits, parameters } = changes
  const problems: Problem[] = []
  if (models !== undefined && !areNames(models))
    problems.push({
      place: `${place}.models`,
      message: `expected a list of model names, found ${showValue(models)}`,
      remedy: 'List them in order of preference: ["provider/name"].',
    })
  if (expectObject(problems, limits, `${place}.limits`)) checkLimits(problems, limits, `${place}.limits`)
  if (expectObject(problems, parameters, `${place}.parameters`)) checkParameters(problems, parameters, `${place}.parameters`)
  problems.push(...clientToolProblems(changes, place))
  return problems
}

const areNames = (given: unknown): boolean =>
  Array.isArray(given) && given.length > 0 && given.every((name) => typeof name === 'string' && name !== '')
