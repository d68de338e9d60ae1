export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

/** A JSON Schema, draft 2020-12. The root of a tool's input is always an object. */
export interface JsonSchema {
  readonly [keyword: string]: unknown
}

export type MaybePromise<T> = T | Promise<T>
