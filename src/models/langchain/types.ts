import type { JsonObject, JsonSchema } from '../../contracts/index.ts'

/** What a LangChain chat model has, as far as it is used here. Parameters are `never`, so that any model fits. */
export interface LangChainChatModel {
  stream(messages: never, options?: never): PromiseLike<AsyncIterable<unknown>>
  bindTools?(tools: never, options?: never): Pick<LangChainChatModel, 'stream'>
  /** Names of the settings that it takes with a call; all others belong to its constructor. */
  readonly callKeys?: readonly string[]
}

/** A message in the plain form that LangChain turns into its own. */
export type LangChainMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: LangChainContent }
  | {
      readonly role: 'assistant'
      readonly content: LangChainContent
      readonly tool_calls?: readonly { readonly type: 'tool_call'; readonly id: string; readonly name: string; readonly args: JsonObject }[]
      readonly additional_kwargs?: JsonObject
      readonly response_metadata?: JsonObject
    }
  | {
      readonly role: 'tool'
      readonly content: string
      readonly tool_call_id: string
      readonly name: string
      readonly status: 'success' | 'error'
    }
export type LangChainContent = string | readonly JsonObject[]

/** The one form of a tool that every LangChain integration takes. */
export interface LangChainTool {
  readonly type: 'function'
  readonly function: { readonly name: string; readonly description: string; readonly parameters: JsonSchema }
}
