import type { JsonOutput, ModelParameters } from './agent.ts'
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
  /**
   * The answer is to be JSON. A provider that has a schema mode is asked for it; where it has none, whoever speaks to
   * it puts the wish into words. The answer is checked either way.
   */
  readonly output?: JsonOutput
}

/** A piece of a text. Pieces in a row with the same `block` are one text; another block has metadata of its own. */
interface TextPiece {
  readonly text: string
  readonly block?: string
  readonly metadata?: JsonObject
}

export type ModelPart =
  | ({ readonly type: 'text' } & TextPiece)
  | ({ readonly type: 'reasoning' } & TextPiece)
  /** A whole call; `input` is its JSON text. */
  | { readonly type: 'call'; readonly id: string; readonly name: string; readonly input: string; readonly metadata?: JsonObject }
  | { readonly type: 'error'; readonly failure: ModelFailure }
  /**
   * The provider is at work, but has nothing to show yet: the arguments of a call are coming in, say. `characters` tells
   * how many of them came, so that arguments without end are noticed before the call is whole.
   */
  | { readonly type: 'working'; readonly characters?: number }
  /** The provider will not do something as asked: a setting that it does not know, say. */
  | { readonly type: 'notice'; readonly message: string }
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
  /**
   * Models with the same key share what their provider said about waiting and refused keys. It stands for the provider, its
   * address, the account and the model, and holds no secret. Without one, that is remembered for this object alone.
   */
  readonly healthKey?: string
  /** Tokens that a request and its reply may have together, where that is known. */
  readonly contextTokens?: number
  /** Tokens that one reply can have at most, where that is known. */
  readonly maxOutputTokens?: number
  /** What this much costs in US dollars; `undefined` where there is no price. What a provider reports goes before it. */
  costOf?(usage: Usage): number | undefined
  stream(request: ModelRequest, context: AttemptContext): AsyncIterable<ModelPart>
}

/** Finds a model by the name that an agent gives. An unknown name throws a `model_unknown` that lists what exists. */
export interface ModelAdapter {
  /** Keys by the name of their variable: they are taken out of whatever is recorded or shown. */
  readonly secrets?: { readonly [name: string]: string }
  resolve(name: string): MaybePromise<Model>
}
