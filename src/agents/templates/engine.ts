// 1. A template sees the variables it is given, and nothing else: no time, no chance, no file, no environment.
// 2. It ends: fuel bounds its steps, the memory of the module is bounded, and what one step can cost is bounded by a watchdog.
// 3. Nothing is left of a template for the next one. After a step that was cut off in the middle the module is thrown away.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { type Context, createContext, Script } from 'node:vm'
import type { Environment } from 'minijinja-js'
import { messageOf } from '../../util/message-of.ts'
import { type BoundMemory, boundMemory, type CompiledModule, webAssembly } from './bound-memory.ts'

/** Steps of one template: some ten milliseconds. A prompt that lists a thousand tools needs a tenth of it. */
const fuel = 100_000
/** 32 MiB, of which the engine itself needs one and a bit. */
const maxPages = 512
/** Far beyond what fuel allows ordinary steps: only hostile filters over large values come here. */
const timeoutMs = 1_000

export interface RenderJob {
  /** By name; the one that is rendered among them. */
  readonly templates: ReadonlyMap<string, string>
  readonly main: string
  readonly variables: { readonly [name: string]: unknown }
}

export type Rendered =
  | { readonly kind: 'text'; readonly text: string }
  /** In the engine's own words, one message per template that cannot be read, or the first that fails. */
  | { readonly kind: 'failed'; readonly messages: readonly string[] }
  | { readonly kind: 'exhausted'; readonly of: 'memory' | 'time' }

/** The generated part of the library that joins the module to the language. Its public entry offers no way to bound the memory. */
interface Glue {
  readonly Environment: new () => OwnedEnvironment
  __wbg_set_wasm(exports: object): void
}

interface OwnedEnvironment extends Environment {
  /** Lets go of what it owns in the module without freeing it. */
  __destroy_into_raw(): number
}

interface Running {
  readonly memory: BoundMemory
  readonly environment: OwnedEnvironment
}

let loading: Promise<Engine> | undefined

/** Loads the engine at the first call. */
export function loadEngine(): Promise<Engine> {
  loading ??= load()
  return loading
}

async function load(): Promise<Engine> {
  const { resolve } = createRequire(import.meta.url)
  const glue: Glue = await import(pathToFileURL(resolve('minijinja-js/dist/bundler/minijinja_js_bg.js')).href)
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
    // A module that runs out of memory would print its last words.
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
    // Without it errors have no column.
    environment.debug = true
    environment.enablePyCompat()
    environment.removeGlobal('debug')
    this.#running = { memory: exports.memory, environment }
    return this.#running
  }

  #discard(): void {
    // Otherwise it would be freed some day, in a module that has never heard of it.
    this.#running?.environment.__destroy_into_raw()
    // The glue keeps views of the memory, and lets go of them only where they are detached, which growing does.
    this.#running?.memory.grow(0)
    this.#running = undefined
  }
}

/** Throws only where the module is broken. */
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

/** An error in an included template says only which one: it is rendered by itself to learn more. */
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
