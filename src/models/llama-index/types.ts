import type { JsonObject, JsonSchema } from '../../contracts/index.ts'

/** What a LlamaIndex LLM has, as far as it is used here. The parameter is `never`, so that any LLM fits. */
export interface LlamaIndexLlm {
  chat(params: never): PromiseLike<unknown>
  readonly supportToolCall?: boolean
  readonly metadata?: object
}

export interface LlamaIndexMessage {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string | readonly JsonObject[]
  readonly options?: {
    readonly toolCall?: readonly { readonly id: string; readonly name: string; readonly input: JsonObject }[]
    readonly toolResult?: { readonly id: string; readonly result: string; readonly isError: boolean }
    readonly thinking?: string
    readonly thinking_signature?: string
  }
}

export interface LlamaIndexTool {
  readonly metadata: { readonly name: string; readonly description: string; readonly parameters: JsonSchema }
}
