import type { LanguageModelV3Usage, LanguageModelV4Usage } from '@ai-sdk/provider'
import type { Usage } from '../../contracts/index.ts'

type AiSdkUsage = LanguageModelV4Usage | LanguageModelV3Usage

/** Nothing where the provider did not count: two zeros are what some packages make of that. */
export function usageOf(usage: AiSdkUsage | undefined): Usage | undefined {
  const input = usage?.inputTokens?.total
  const output = usage?.outputTokens?.total
  if (!usage || !isCount(input) || !isCount(output) || input + output === 0) return undefined
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
  const raw: { readonly [key: string]: unknown } | undefined = usage?.raw
  if (!isCount(raw?.cost)) return undefined
  const details = raw.cost_details as { readonly upstream_inference_cost?: unknown } | undefined
  return raw.cost + (raw.is_byok === true ? count(details?.upstream_inference_cost) : 0)
}

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0
const count = (value: unknown): number => (isCount(value) ? value : 0)
