import type { JsonObject, Model, Usage } from '../../src/contracts/index.ts'

/** A call as the model writes it. A text is sent as it stands: it is how arguments are broken. */
export interface PlayedCall {
  readonly id: string
  readonly name: string
  readonly input: JsonObject | string
}

/**
 * How a reply goes wrong. `cut` breaks off in the middle; `silence` sends all but the end, and then nothing;
 * `unauthorized` and `limited` are refusals before anything was said.
 */
export type PlayedFault = 'cut' | 'silence' | 'unauthorized' | { readonly limitedForSeconds: number }

/** What a model says, before it is put into the form of any adapter. */
export interface PlayedReply {
  readonly reasoning?: string
  readonly text?: string
  readonly calls?: readonly PlayedCall[]
  /** Default: `tool-calls` where there are calls, else `stop`. */
  readonly finish?: 'stop' | 'tool-calls' | 'length' | 'content-filter'
  readonly usage?: Usage
  readonly fault?: PlayedFault
}

export interface PlayOptions {
  readonly costOf?: (usage: Usage) => number | undefined
}

/** A model under test together with its far side. */
export interface Played {
  readonly model: Model
  /** What has reached the far side, oldest first, in the form that it has there. */
  readonly requests: readonly unknown[]
  /** Resolves when a reply that fell silent was given up by whoever asked for it. */
  abandoned(): Promise<unknown>
  close?(): Promise<void>
}

export interface LoopAdapter {
  readonly name: string
  /** A model that plays these replies strictly in order. */
  play(replies: readonly PlayedReply[], options?: PlayOptions): Played | Promise<Played>
  /** The conversation in a request, in the form that it has there. */
  messagesIn(request: unknown): readonly unknown[]
  toolsAreOff(request: unknown): boolean
  /** What the far side seals a reasoning with, and has to see again. */
  readonly seal?: string
  /** Figures that the far side does not report. */
  readonly uncounted?: readonly (keyof Usage)[]
  /** Behaviours that cannot be had here, each with its reason. */
  readonly cannot?: { readonly [behaviour: string]: string }
}

export const usual: Usage = { input: 120, output: 60, cacheRead: 20, cacheWrite: 0, reasoning: 10 }
export const pngPixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

export const finishOf = ({ finish, calls = [] }: PlayedReply): NonNullable<PlayedReply['finish']> =>
  finish ?? (calls.length > 0 ? 'tool-calls' : 'stop')

export const inputText = ({ input }: PlayedCall): string => (typeof input === 'string' ? input : JSON.stringify(input))
