/** The little of WebAssembly that is needed here. The types of the language and of Node come without it. */
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
