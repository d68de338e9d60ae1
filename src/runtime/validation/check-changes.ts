import type { AgentChanges, Problem } from '../../contracts/index.ts'
import { expectObject } from '../../util/option-problems.ts'
import { showValue } from '../../util/show-value.ts'
import { checkLimits, checkParameters } from './check-limits.ts'

/** Problems of what a caller sets instead of the definition of an agent. */
export function changeProblems({ models, limits, parameters }: AgentChanges): readonly Problem[] {
  const problems: Problem[] = []
  if (models !== undefined && !areNames(models))
    problems.push({
      place: 'options.models',
      message: `expected a list of model names, found ${showValue(models)}`,
      remedy: 'List them in order of preference: ["provider/name"].',
    })
  if (expectObject(problems, limits, 'options.limits')) checkLimits(problems, limits, 'options.limits')
  if (expectObject(problems, parameters, 'options.parameters')) checkParameters(problems, parameters, 'options.parameters')
  return problems
}

const areNames = (given: unknown): boolean =>
  Array.isArray(given) && given.length > 0 && given.every((name) => typeof name === 'string' && name !== '')
