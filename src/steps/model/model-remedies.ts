import type { ModelFailure } from '../../contracts/index.ts'

/** For failures without a remedy of the provider. */
export const modelRemedies: { readonly [Class in ModelFailure['class']]: string | undefined } = {
  rate_limit: 'Try again later, or add a fallback model.',
  auth: 'Check the API key of the provider.',
  quota: 'Check the plan and the balance of the account, or use another model.',
  network: 'Check the network connection and the address of the provider.',
  timeout: 'Try again, or raise llmTimeout.',
  invalid_response: 'Try again. If it happens again, use another model.',
  model: 'Try again later, or add a fallback model.',
  config: 'Check the name and the settings of the model.',
  context: 'Use a model with a larger window, or ask for less in one turn.',
  budget: 'Raise timeBudget.',
  cancelled: undefined,
  lost: undefined,
}
