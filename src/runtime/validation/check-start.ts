import type { StartOptions } from '../../contracts/index.ts'
import { someLabels } from '../../policy/session-fields.ts'
import { checkField, checkKeys, type FieldType, optional } from '../../util/option-problems.ts'
import type { RunInput } from '../options/agent-runtime.ts'
import { agentName, areOptions, check, checkInput, checkOverlay, nonEmpty, traceContext } from './check-arguments.ts'
import { changeProblems } from './check-changes.ts'
import { historyProblems } from './check-history.ts'
import { outputProblems } from './check-output-contract.ts'
import { checkPrincipal, shortText } from './check-principal.ts'

const fields: { readonly [Key in keyof Required<StartOptions>]: FieldType | undefined } = {
  agent: agentName,
  key: shortText('a key'),
  labels: someLabels,
  clientId: shortText('an id'),
  instructions: nonEmpty('a text'),
  traceContext,
  // Checked below.
  overlay: undefined,
  principal: undefined,
  history: undefined,
  models: undefined,
  limits: undefined,
  parameters: undefined,
  output: undefined,
  clientTools: undefined,
  toolChoice: undefined,
}

export function checkStart(input: RunInput, options: object, modelKeys: object): asserts options is StartOptions {
  check({ input, options }, (problems) => {
    if (areOptions(problems, options)) {
      checkKeys(problems, options, { known: Object.keys(fields), place: 'options' })
      for (const [key, type] of Object.entries(fields))
        if (type) checkField(problems, options[key], { type: optional(type), place: `options.${key}` })
      checkOverlay(problems, options.overlay, modelKeys)
      checkPrincipal(problems, options.principal)
      problems.push(...changeProblems(options), ...historyProblems(options.history), ...outputProblems(options.output))
    }
    checkInput(input, problems)
  })
}
