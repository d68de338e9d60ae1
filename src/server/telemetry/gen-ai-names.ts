import type { Cost, Usage } from '../../contracts/index.ts'

// The words of OpenTelemetry's conventions for generative AI.

/** Our prefix of a model, where the conventions have another well-known value. Others are used as they are. */
const providers: { readonly [prefix: string]: string } = {
  google: 'gcp.gemini',
  gemini: 'gcp.gemini',
  vertex: 'gcp.vertex_ai',
  bedrock: 'aws.bedrock',
  'amazon-bedrock': 'aws.bedrock',
  azure: 'azure.ai.openai',
  'azure-openai': 'azure.ai.openai',
  mistral: 'mistral_ai',
  xai: 'x_ai',
  moonshot: 'moonshot_ai',
  moonshotai: 'moonshot_ai',
  watsonx: 'ibm.watsonx.ai',
}

/** `openrouter/acme/large` is the model `acme/large` of `openrouter`. A model without a prefix is its own provider. */
export function modelNames(modelId: string): { readonly provider: string; readonly model: string } {
  const end = modelId.indexOf('/')
  const prefix = end < 0 ? modelId : modelId.slice(0, end)
  return { provider: Object.hasOwn(providers, prefix) ? (providers[prefix] ?? prefix) : prefix, model: modelId.slice(end + 1) }
}

export const usageAttributes = ({ input, output, cacheRead, cacheWrite, reasoning }: Usage): { readonly [name: string]: number } => ({
  'gen_ai.usage.input_tokens': input,
  'gen_ai.usage.output_tokens': output,
  ...(cacheRead > 0 && { 'gen_ai.usage.cache_read.input_tokens': cacheRead }),
  ...(cacheWrite > 0 && { 'gen_ai.usage.cache_creation.input_tokens': cacheWrite }),
  ...(reasoning > 0 && { 'gen_ai.usage.reasoning.output_tokens': reasoning }),
})

/** The cost of a model request. Readers add it up: a turn has a name of its own for its sum. */
export const costAttribute = (cost: Cost): { readonly [name: string]: number } => (cost === 'unknown' ? {} : { 'gen_ai.usage.cost': cost })

/** The messages of an answer, as the conventions want them in an attribute. */
export const outputMessages = (text: string): string =>
  JSON.stringify([{ role: 'assistant', parts: [{ type: 'text', content: text }], finish_reason: 'stop' }])
