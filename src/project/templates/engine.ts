// 1. A template sees only the given variables: no time, no randomness, no files, no environment.
// 2. It ends: fuel limits its steps, the memory of the module is limited, and a watchdog limits the time of a single step.
// 3. Templates do not affect each other. After an interrupted step the module is discarded.
// 4. Each engine has bindings of its own: they keep the memory that they used last. A process may load this file twice.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { type Context, createContext, Script } from 'node:vm'
import type { Environment } from 'minijinja-js'
import { messageOf } from '../../util/message-of.ts'
import { type BoundMemory, boundMemory, type CompiledModule, webAssembly } from './bound-memory.ts'

/** Steps of one template, about ten milliseconds. A prompt with a thousand tools needs a tenth of it. */
const fuel = 100_000
/** 32 MiB; the engine itself needs about one. */
const maxPages = 512
/** Only hostile filters over large values take this long. */
const timeoutMs = 3_000

export interface RenderJob {
  /** By name, including `main`. */
  readonly templates: ReadonlyMap<string, string>
  readonly main: string
  readonly variables: { readonly [name: string]: unknown }
}

export type Rendered =
  | { readonly kind: 'text'; readonly text: string }
  /** Messages of the engine: one for each invalid template, or the first error of rendering. */
  | { readonly kind: 'failed'; readonly messages: readonly string[] }
  | { readonly kind: 'exhausted'; readonly of: 'memory' | 'time' }

/** The generated bindings of the library. Its public entry cannot limit the memory. */
interface Glue {
  readonly Environment: new () => OwnedEnvironment
  __wbg_set_wasm(exports: object): void
}

interface OwnedEnvironment extends Environment {
  /** Detaches the object without freeing it. */
  __destroy_into_raw(): number
}

interface Running {
  readonly memory: BoundMemory
  readonly environment: OwnedEnvironment
}

let loading: Promise<Engine> | undefined

export function loadEngine(): Promise<Engine> {
  loading ??= load()
  return loading
}

async function load(): Promise<Engine> {
  const { resolve } = createRequire(import.meta.url)
  const bindings = pathToFileURL(resolve('minijinja-js/dist/bundler/minijinja_js_bg.js')).href
  const glue: Glue = await import(`${bindings}?${randomUUID()}`)
  const bytes = readFileSync(resolve('minijinja-js/dist/bundler/minijinja_js_bg.wasm'))
  return new Engine(glue, await webAssembly.compile(boundMemory(bytes, maxPages)))
}

export class Engine {
  readonly #glue: Glue
  readonly #module: CompiledModule
  readonly #imports: object
  readonly #watched: Context = createContext({})
  readonly #script = new Script('work()')
  #running: Running | undefined

  constructor(glue: Glue, module: CompiledModule) {
    this.#glue = glue
    this.#module = module
    // A module without memory would print an error.
    const quiet = Object.keys(glue).filter((name) => name.startsWith('__wbg_error_'))
    this.#imports = { './minijinja_js_bg.js': { ...glue, ...Object.fromEntries(quiet.map((name) => [name, () => undefined])) } }
  }

  render(job: RenderJob): Rendered {
    const { environment } = this.#running ?? this.#begin()
    this.#watched.work = () => work(environment, job)
    try {
      return this.#script.runInContext(this.#watched, { timeout: timeoutMs })
    } catch (error) {
      this.#discard()
      return { kind: 'exhausted', of: (error as { code?: unknown }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT' ? 'time' : 'memory' }
    } finally {
      this.#watched.work = undefined
    }
  }

  #begin(): Running {
    const { exports } = new webAssembly.Instance(this.#module, this.#imports)
    this.#glue.__wbg_set_wasm(exports)
    const environment = new this.#glue.Environment()
    environment.undefinedBehavior = 'strict'
    environment.fuel = fuel
    // Needed for columns in errors.
    environment.debug = true
    environment.enablePyCompat()
    environment.removeGlobal('debug')
    this.#running = { memory: exports.memory, environment }
    return this.#running
  }

  #discard(): void {
    // Otherwise it would be freed later, in another module.
    this.#running?.environment.__destroy_into_raw()
    // The bindings cache views of the memory until it grows.
    this.#running?.memory.grow(0)
    this.#running = undefined
  }
}

/** Throws only if the module is broken. */
function work(environment: Environment, { templates, main, variables }: RenderJob): Rendered {
  environment.clearTemplates()
  const messages: string[] = []
  for (const [name, source] of templates) {
    const message = failureOf(() => environment.addTemplate(name, source))
    if (message !== undefined) messages.push(message)
  }
  let text = ''
  if (messages.length === 0) {
    const message = failureOf(() => {
      text = environment.renderTemplate(main, variables)
    })
    if (message !== undefined) messages.push(message, ...causes(environment, message, variables))
  }
  return messages.length === 0 ? { kind: 'text', text } : { kind: 'failed', messages }
}

/** The error of an include names only the file: renders that file alone for the details. */
function causes(environment: Environment, message: string, variables: RenderJob['variables']): readonly string[] {
  const found: string[] = []
  let last: string | undefined = message
  while (last !== undefined && found.length < 10) {
    const [, name]: readonly string[] = /: error in "(.*)" \(in .*\)$/m.exec(last) ?? []
    if (name === undefined) return found
    last = failureOf(() => environment.renderTemplate(name, variables))
    if (last !== undefined) found.push(last)
  }
  return found
}

function failureOf(run: () => unknown): string | undefined {
  try {
    run()
    return undefined
  } catch (error) {
    if (error instanceof webAssembly.RuntimeError || error instanceof RangeError) throw error
    return messageOf(error)
  }
}
