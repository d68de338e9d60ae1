import type { LanguageModelV3Usage, LanguageModelV4Usage } from '@ai-sdk/provider'
import type { Usage } from '../../contracts/index.ts'
import { amountOf, countOf, fieldsOf } from '../shared/index.ts'

type AiSdkUsage = LanguageModelV4Usage | LanguageModelV3Usage

/** Nothing where the provider did not count: two zeros are what some packages make of that. */
export function usageOf(usage: AiSdkUsage | undefined): Usage | undefined {
  const input = countOf(usage?.inputTokens?.total)
  const output = countOf(usage?.outputTokens?.total)
  if (!usage || input === undefined || output === undefined || !countOf(input + output)) return undefined
  return {
    input,
    output,
    cacheRead: count(usage.inputTokens.cacheRead),
    cacheWrite: count(usage.inputTokens.cacheWrite),
    reasoning: count(usage.outputTokens.reasoning),
  }
}

/** OpenRouter says what a request has cost; with a key of one's own, what the provider will bill comes on top. */
export function reportedCost(usage: AiSdkUsage | undefined): number | undefined {
  const { cost, cost_details, is_byok } = fieldsOf(usage?.raw)
  const charged = amountOf(cost)
  if (charged === undefined) return undefined
  return charged + (is_byok === true ? (amountOf(fieldsOf(cost_details).upstream_inference_cost) ?? 0) : 0)
}

const count = (value: unknown): number => countOf(value) ?? 0
