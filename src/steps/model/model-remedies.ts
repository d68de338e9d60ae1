import type { ModelFailure } from '../../contracts/index.ts'

/** What can be done about a failure whose provider gave no advice. */
const remedies: { readonly [Class in ModelFailure['class']]: string | undefined } = {
  rate_limit: 'Try again later, or name a further model to fall back on.',
  auth: 'Check the key of the provider.',
  quota: 'Check the plan and the balance of the account, or name another model.',
  network: 'Check the connection and the address of the provider.',
  timeout: 'Try again, or raise llmTimeout.',
  invalid_response: 'Try again; if it stays, name another model.',
  model: 'Try again later, or name a further model to fall back on.',
  config: 'Check the name and the settings of the model.',
  context: 'Take a model with a larger window, or ask for less at once.',
  budget: 'Raise timeBudget.',
  cancelled: undefined,
  lost: undefined,
}

export function withRemedy(failure: ModelFailure): ModelFailure {
  const remedy = failure.remedy ?? remedies[failure.class]
  return remedy === undefined ? failure : { ...failure, remedy }
}
