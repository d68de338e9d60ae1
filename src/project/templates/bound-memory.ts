const memorySection = 5
const headerLength = 8

/** Limits the memory of a WebAssembly module to `maxPages` of 64 KiB. */
export function boundMemory(bytes: Uint8Array, maxPages: number): Uint8Array<ArrayBuffer> {
  let at = headerLength
  while (at < bytes.length) {
    const start = at
    const length = readNumber(bytes, at + 1)
    const body = readNumber(bytes, length.end)
    at = length.end + length.value
    if (bytes[start] !== memorySection) continue
    // The number of memories, the flag for a maximum, the initial size, the maximum.
    const first = readNumber(bytes, body.end + 1)
    const section = [...written(body.value), 1, ...written(first.value), ...written(maxPages)]
    return joined([bytes.subarray(0, start), Uint8Array.from([memorySection, ...written(section.length), ...section]), bytes.subarray(at)])
  }
  throw new Error('the module has no memory of its own')
}

/** LEB128: seven bits a byte, lowest first. */
function readNumber(bytes: Uint8Array, start: number): { readonly value: number; readonly end: number } {
  let value = 0
  for (let at = start, shift = 0; at < bytes.length; at++, shift += 7) {
    const byte = bytes[at] ?? 0
    value += (byte & 127) * 2 ** shift
    if (byte < 128) return { value, end: at + 1 }
  }
  throw new Error('the module is cut')
}

function written(value: number): readonly number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...written(Math.floor(value / 128))]
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** The part of WebAssembly that is used here. The types of the language and of Node do not include it. */
interface WebAssemblyApi {
  compile(bytes: Uint8Array): Promise<CompiledModule>
  readonly Instance: new (module: CompiledModule, imports: object) => { readonly exports: { readonly memory: BoundMemory } }
  readonly RuntimeError: new () => Error
}
export interface CompiledModule {
  readonly [Symbol.toStringTag]: string
}
export interface BoundMemory {
  grow(pages: number): number
}

export const webAssembly = (globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }).WebAssembly
