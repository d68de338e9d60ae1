import type { ModelParameters, ReasoningEffort } from '../../contracts/index.ts'
import { type AiSdkModel, type Dialect, speaksResponses } from './dialect.ts'

type Options = { readonly [name: string]: unknown }

/** How reasoning is requested: by the common option, by the provider's own, or not at all. */
interface ReasoningRequest {
  readonly effort?: ReasoningEffort
  /** The limit for the answer, where the provider counts reasoning separately. */
  readonly maxOutputTokens?: number
  readonly options: Options
  readonly notice?: string
}

export function reasoningRequest(parameters: ModelParameters, model: AiSdkModel, dialect: Dialect): ReasoningRequest {
  const { reasoning: effort, maxOutputTokens } = parameters
  if (effort === undefined) return { options: {} }
  if (dialect === 'anthropic' && effort !== 'none' && maxOutputTokens !== undefined && thinksByBudget(model.modelId))
    return withinLimit(effort, maxOutputTokens)
  if (model.specificationVersion === 'v4') return { effort, options: shown(effort, model, dialect) }
  return olderReasoningRequest(effort, model, dialect)
}

/** The third specification has no common option for it. */
function olderReasoningRequest(effort: ReasoningEffort, model: AiSdkModel, dialect: Dialect): ReasoningRequest {
  switch (dialect) {
    case 'openai':
    case 'openai-compatible':
      return { options: { reasoningEffort: effort } }
    case 'anthropic':
      return { options: { thinking: effort === 'none' ? { type: 'disabled' } : { type: 'enabled', budgetTokens: budgets[effort] } } }
    case 'google':
      return { options: { thinkingConfig: { thinkingBudget: budgets[effort], includeThoughts: effort !== 'none' } } }
    case 'plain':
      return { options: {}, notice: `The setting reasoning: ${effort} has no effect: ${model.provider} has no such option.` }
    default:
      return dialect satisfies never
  }
}

const budgets: { readonly [E in ReasoningEffort]: number } = {
  none: 0,
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 32_768,
}

// Later Claude models choose their reasoning length themselves, within the limit.
const thinksByBudget = (modelId: string): boolean => /claude-(?:3-7|(?:opus|sonnet|haiku)-4(?!-[6-9]))/.test(modelId)

const leastBudget = 1024
const shares: { readonly [E in Exclude<ReasoningEffort, 'none'>]: number } = { minimal: 0.1, low: 0.2, medium: 0.4, high: 0.6, xhigh: 0.8 }

/** The package would add the reasoning budget to the limit, and exceed it. */
function withinLimit(effort: Exclude<ReasoningEffort, 'none'>, limit: number): ReasoningRequest {
  if (limit < 2 * leastBudget) {
    const notice = `The setting reasoning: ${effort} has no effect: of ${limit} tokens of output leave no room for reasoning.`
    return { options: { thinking: { type: 'disabled' } }, notice }
  }
  const budgetTokens = Math.max(leastBudget, Math.floor(limit * shares[effort]))
  return { maxOutputTokens: limit - budgetTokens, options: { thinking: { type: 'enabled', budgetTokens } } }
}

/** Options that show the reasoning, where no provider refuses them. */
function shown(effort: ReasoningEffort, model: AiSdkModel, dialect: Dialect): Options {
  if (dialect === 'google' && effort !== 'none') return { thinkingConfig: { includeThoughts: true } }
  // By default the package requests detailed summaries, which OpenAI refuses for organisations that are not verified.
  if (dialect === 'openai' && speaksResponses(model)) return { reasoningSummary: null }
  return {}
}
