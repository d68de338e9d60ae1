import type { ModelParameters } from '../../contracts/index.ts'
import type { LangChainChatModel } from './types.ts'

interface CallSettings {
  readonly options: { readonly [name: string]: unknown }
  /** What the model cannot be asked for with a call. */
  readonly notices: readonly string[]
}

/** The names under which integrations take a setting with a call. */
const names: { readonly [Setting in Exclude<keyof ModelParameters, 'cache'>]: readonly string[] } = {
  temperature: ['temperature'],
  topP: ['topP', 'top_p'],
  maxOutputTokens: ['maxTokens', 'max_tokens', 'maxOutputTokens', 'max_output_tokens'],
  seed: ['seed'],
  reasoning: ['reasoning', 'reasoningEffort', 'reasoning_effort'],
}

/**
 * Most settings of a LangChain model belong to its constructor, and one that it does not take with a call is dropped
 * without a word. So only those go with the call that it lists, and the others are told.
 */
export function callSettings(model: LangChainChatModel, parameters: ModelParameters): CallSettings {
  const options: Record<string, unknown> = {}
  const unknown: string[] = []
  const { cache, ...settings } = parameters
  for (const [setting, value] of Object.entries(settings)) {
    if (value === undefined) continue
    const name = names[setting as keyof typeof names]?.find((each) => model.callKeys?.includes(each))
    if (name === undefined) unknown.push(setting)
    else options[name] = name === 'reasoning' ? { effort: value } : value
  }
  // Not to be asked for a cache is what happens anyway.
  if (cache === true) unknown.push('cache')
  return {
    options,
    notices: unknown.map((setting) => `The LangChain model does not take "${setting}" with a call. Set it where the model is built.`),
  }
}
