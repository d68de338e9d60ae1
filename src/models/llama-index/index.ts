export { fromLlamaIndex } from './from-llama-index.ts'
export type { LlamaIndexLlm } from './llama-index-messages.ts'
