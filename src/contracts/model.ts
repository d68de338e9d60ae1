import type { JsonOutput, ModelParameters } from './agent.ts'
import type { ToolChoice } from './client-tool.ts'
import type { ModelFailure } from './failures.ts'
import type { SessionId } from './ids.ts'
import type { JsonObject, JsonSchema, MaybePromise } from './json.ts'
import type { Message } from './messages.ts'
import type { Usage } from './usage.ts'

export type FinishReason = 'stop' | 'tool-calls' | 'length' | 'content-filter' | 'error' | 'other'

export type ModelAbility = 'tools' | 'images' | 'files' | 'reasoning' | 'json_schema'

/** A tool as a model sees it. */
export interface ToolSpec {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonSchema
}

export interface ModelRequest {
  readonly system: string
  /** Do not change or keep it: it grows with the session. Copy what you need after the stream has ended. */
  readonly messages: readonly Message[]
  readonly tools: readonly ToolSpec[]
  /** `none` on a forced last step, `required` or a tool if the client asks for it. The tools stay in the request, so that the provider's prompt cache applies. */
  readonly toolChoice: ToolChoice
  readonly parameters: ModelParameters
  /** The answer must be JSON. Use the schema mode of the provider, or else `jsonInstruction` in the system text. */
  readonly output?: JsonOutput
}

/** A piece of a text. Consecutive pieces with the same `block` are one text. */
interface TextPiece {
  readonly text: string
  readonly block?: string
  readonly metadata?: JsonObject
}

export type ModelPart =
  | ({ readonly type: 'text' } & TextPiece)
  | ({ readonly type: 'reasoning' } & TextPiece)
  /** A complete call; `input` is its JSON text. */
  | { readonly type: 'call'; readonly id: string; readonly name: string; readonly input: string; readonly metadata?: JsonObject }
  | { readonly type: 'error'; readonly failure: ModelFailure }
  /** The provider works but has no output yet. `characters`: of arguments of a call that arrived, so that endless ones are noticed. */
  | { readonly type: 'working'; readonly characters?: number }
  /** The provider will not do something as requested, such as an unsupported setting. */
  | { readonly type: 'notice'; readonly message: string }
  /** The last part of a complete reply. A stream that ends without it was cut. */
  | {
      readonly type: 'finish'
      readonly reason: FinishReason
      readonly usage?: Usage
      readonly costUsd?: number
      readonly metadata?: JsonObject
    }

export interface AttemptContext {
  readonly signal: AbortSignal
  /** The session that asks. Absent if none does, as when an agent is selected. */
  readonly sessionId?: SessionId
}

/** One model. For a failure of the provider, `stream` yields an `error` part. A throw becomes a failure of class `model`. */
export interface Model {
  /** `provider/name`, as in accounting. */
  readonly id: string
  readonly abilities: readonly ModelAbility[]
  /**
   * Models with the same key share exclusions (Retry-After, refused keys). It identifies provider, address, account and
   * model, and contains no secret. Default: this object only.
   */
  readonly healthKey?: string
  /** Context window in tokens, for a request and its reply, if known. */
  readonly contextTokens?: number
  /** Maximum tokens of one reply, if known. */
  readonly maxOutputTokens?: number
  /** Cost in US dollars; `undefined` without a price. A cost that the provider reports takes precedence. */
  costOf?(usage: Usage): number | undefined
  stream(request: ModelRequest, context: AttemptContext): AsyncIterable<ModelPart>
}

/** Finds a model by name. An unknown name throws `model_unknown` with the known names. */
export interface ModelAdapter {
  /** API keys by the name of their variable. They are redacted in everything that is recorded or shown. */
  readonly secrets?: { readonly [name: string]: string }
  resolve(name: string): MaybePromise<Model>
}
