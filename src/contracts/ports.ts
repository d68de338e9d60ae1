// Ports: what the runtime needs from its surroundings, and tests replace.
import type { JsonSchema, MaybePromise } from './json.ts'

export interface Clock {
  /** Milliseconds since 1970; may jump. */
  now(): number
  /** Milliseconds from an arbitrary start; never goes back. Deadlines and latencies use this one. */
  monotonic(): number
  /** Calls `fire` once after `ms` of monotonic time. Returns a function that cancels it. */
  after(ms: number, fire: () => void): () => void
}

/** A source of unguessable ids. */
export interface Ids {
  next(): string
}

/** Uniform in [0, 1); the same key gives the same number in the same session. */
export interface Random {
  fraction(key: string): number
}

/** JSON Schema validation. Each schema is compiled once, on first use. */
export interface SchemaValidator {
  compile(schema: JsonSchema): MaybePromise<Validate>
  /** Repairs the JSON text of an object; `undefined` if that is impossible. */
  repair(text: string): MaybePromise<string | undefined>
}
/** A promise only for schemas of libraries that check asynchronously. */
export type Validate = (value: unknown) => MaybePromise<Validation>
/** `value` may differ from the input if a type was converted without loss, such as `"10"` to `10`. */
export type Validation =
  | { readonly ok: true; readonly value: unknown }
  /** Each problem names the place, the expected and the actual value. */
  | { readonly ok: false; readonly problems: readonly string[] }
