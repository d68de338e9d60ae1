import type { ModelParameters } from './agent.ts'
import type { ModelFailure } from './failures.ts'
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
  /** Not to be changed or kept: it grows with the session. Copy what you need after the stream has ended. */
  readonly messages: readonly Message[]
  readonly tools: readonly ToolSpec[]
  /** `none` on a forced last step: the tools stay in place, so that the provider's prefix cache still hits. */
  readonly toolChoice: 'auto' | 'none'
  readonly parameters: ModelParameters
}

export type ModelPart =
  | { readonly type: 'text'; readonly text: string; readonly metadata?: JsonObject }
  | { readonly type: 'reasoning'; readonly text: string; readonly metadata?: JsonObject }
  /** A whole call; `input` is its JSON text. */
  | { readonly type: 'call'; readonly id: string; readonly name: string; readonly input: string; readonly metadata?: JsonObject }
  | { readonly type: 'error'; readonly failure: ModelFailure }
  /** The last part of a whole reply. A stream that ends without it was cut. */
  | {
      readonly type: 'finish'
      readonly reason: FinishReason
      readonly usage?: Usage
      readonly costUsd?: number
      readonly metadata?: JsonObject
    }

/** What an attempt hands to the model. */
export interface AttemptContext {
  readonly signal: AbortSignal
}

/**
 * One model. `stream` must not throw for a failure of the provider: it yields an `error` part.
 * A throw is taken as class `model`.
 */
export interface Model {
  /** `provider/name`, as it stands in accounting. */
  readonly id: string
  readonly abilities: readonly ModelAbility[]
  stream(request: ModelRequest, context: AttemptContext): AsyncIterable<ModelPart>
}

/** Finds a model by the name that an agent gives. An unknown name throws a `model_unknown` that lists what exists. */
export interface ModelAdapter {
  resolve(name: string): MaybePromise<Model>
}
