// The only host names that core may know. Node's own types are kept out of core's type check, so that a
// clock, a file or the environment can not slip in.
interface AbortSignal {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}
interface AbortController {
  readonly signal: AbortSignal
  abort(reason?: unknown): void
}
declare const AbortController: { new (): AbortController }
/** Reads a text, and nothing else. */
interface URL {
  readonly href: string
  readonly origin: string
  readonly protocol: string
  readonly username: string
  readonly password: string
  readonly host: string
  readonly hostname: string
  readonly pathname: string
  readonly search: string
  readonly hash: string
}
declare const URL: { parse(text: string): URL | null }
/** Pure conversions of bytes. */
declare const TextDecoder: {
  new (label: 'utf-8', options?: { fatal: true }): { decode(bytes?: Uint8Array, options?: { stream: true }): string }
}
declare const TextEncoder: { new (): { encode(text: string): Uint8Array } }
declare const btoa: (binary: string) => string
declare const atob: (base64: string) => string

// Named by the contract of extensions only.
interface Request {
  readonly url: string
}
interface Response {
  readonly status: number
}
