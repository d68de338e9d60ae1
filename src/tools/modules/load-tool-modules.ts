import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type LoadFnOutput, registerHooks } from 'node:module'
import { basename } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Clock, Problem, Tool } from '../../contracts/index.ts'
import { automaticTools, builtinToolNames } from '../../policy/builtin-tool-names.ts'
import { agentPrefix } from '../../policy/foreign-tools.ts'
import { offeredName } from '../../policy/tool-name-patterns.ts'
import { asSentence } from '../../util/as-sentence.ts'
import { messageOf } from '../../util/message-of.ts'
import { showValue } from '../../util/show-value.ts'

// Modules with tools, imported into this process.
//
// 1. A file runs only with the content that is trusted: the hash is taken of the loaded text. This includes files that a tool imports
//    during a call. A module of a project cannot import other files of the project, such as by a path that it computes.
// 2. A module that fails costs its own tools, a wrong tool only itself.

interface ModuleToLoad {
  /** Without links. */
  readonly path: string
  /** As written in an agent file. */
  readonly written: string
  /** Where it is written. */
  readonly at: Pick<Problem, 'place' | 'line'>
  readonly files: readonly { readonly path: string; readonly sha256: string }[]
  /** Whether only these files are trusted. Modules of the user may import others. */
  readonly isConfined: boolean
}

interface LoadedModules {
  /** Each name once. */
  readonly tools: readonly Tool[]
  /** The names of the tools of each module, by path. A module that failed has none. */
  readonly names: ReadonlyMap<string, readonly string[]>
  readonly problems: readonly ModuleProblem[]
}

interface ModuleProblem extends Problem {
  /** The path of the module. */
  readonly module: string
}

interface LoadOptions {
  readonly clock: Clock
  /** The names of other tools that exist. */
  readonly taken?: readonly string[]
  /** The package that provides `troupe` to modules in a folder where it is not installed. */
  readonly ownPackage?: URL
  /** Checks everything but the uniqueness of names. */
  checkTools(tools: readonly Tool[], place: string): readonly Problem[]
}

/** How long a module may wait at its top level. */
const loadingMs = 10_000

export async function loadToolModules(modules: readonly ModuleToLoad[], options: LoadOptions): Promise<LoadedModules> {
  watchLoading(modules, options.ownPackage)
  const imported = await Promise.all(modules.map((module) => importOnce(module, options.clock)))
  const owners = new Map<string, string>(reservedNames.map((name) => [name, 'a built-in tool']))
  for (const name of options.taken ?? []) if (!owners.has(name)) owners.set(offeredName(name), 'a tool of this program')
  const tools: Tool[] = []
  const names = new Map<string, readonly string[]>()
  const problems: ModuleProblem[] = []
  for (const [index, module] of modules.entries()) {
    const found = toolsIn(imported[index] ?? { ok: false, why: 'it was not imported' })
    problems.push(...found.problems.map((fault) => problemOf(module, fault)))
    const own = found.tools.filter((tool) => {
      const faults = faultsOf(tool, owners, options)
      problems.push(...faults.map((fault) => problemOf(module, fault)))
      if (faults.length === 0) owners.set(offeredName(tool.name), `a tool of \`${module.written}\``)
      return faults.length === 0
    })
    tools.push(...own)
    names.set(
      module.path,
      own.map(({ name }) => name),
    )
  }
  return { tools, names, problems }
}

interface Fault {
  readonly message: string
  readonly remedy: string
}

const problemOf = ({ at, path, written }: ModuleToLoad, { message, remedy }: Fault): ModuleProblem => ({
  ...at,
  module: path,
  message: `\`${written}\`: ${message}`,
  remedy,
})

type Imported = { readonly ok: true; readonly exports: { readonly [name: string]: unknown } } | { readonly ok: false; readonly why: string }

/** By path, like Node's own cache: a module that hangs is awaited once. */
const results = new Map<string, Promise<Imported>>()

function importOnce({ path }: ModuleToLoad, clock: Clock): Promise<Imported> {
  const result = results.get(path) ?? importModule(path, clock)
  results.set(path, result)
  return result
}

async function importModule(path: string, clock: Clock): Promise<Imported> {
  const late = Promise.withResolvers<Imported>()
  const cancel = clock.after(loadingMs, () => late.resolve({ ok: false, why: `it did not finish loading within ${loadingMs / 1000} s` }))
  const loading = import(pathToFileURL(path).href).then(
    (exports: { readonly [name: string]: unknown }): Imported => ({ ok: true, exports }),
    (error: unknown): Imported => ({ ok: false, why: `${asSentence(messageOf(error)).replace(/\.$/, '')}${lineIn(error, path)}` }),
  )
  // A module that waits for nothing would end the process.
  const alive = setInterval(() => {}, loadingMs)
  const imported = await Promise.race([loading, late.promise])
  clearInterval(alive)
  cancel()
  return imported
}

/** ` (timetable.ts:3)`, the first line of the module that the error mentions. */
export function lineIn(error: unknown, path: string): string {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  const found = [pathToFileURL(path).href, path].map((name) => stack.indexOf(`${name}:`)).find((at) => at >= 0)
  const [, line] = found === undefined ? [] : (/^.*?[cm]?[jt]s:(\d+)/.exec(stack.slice(found)) ?? [])
  return line === undefined ? '' : ` (${basename(path)}:${line})`
}

/** The default export, or every exported tool. */
function toolsIn(imported: Imported): { readonly tools: readonly Tool[]; readonly problems: readonly Fault[] } {
  if (!imported.ok)
    return {
      tools: [],
      problems: [{ message: `the module cannot be loaded: ${imported.why}`, remedy: 'Fix the module. Its tools are absent.' }],
    }
  const { default: main, ...named } = imported.exports
  const found = (main === undefined ? Object.values(named) : [main]).flat()
  const tools = found.filter(isTool)
  const others = main === undefined ? [] : found.filter((each) => !isTool(each))
  const problems = others.map((each) => ({ message: `the default export has ${showValue(each)}, which is not a tool`, remedy }))
  if (tools.length === 0 && problems.length === 0) problems.push({ message: 'the module exports no tool', remedy })
  return { tools, problems }
}

const remedy = 'Export what `defineTool({ name, description, input, execute })` returns, or a list of such tools.'

const isTool = (value: unknown): value is Tool =>
  typeof value === 'object' && value !== null && 'execute' in value && typeof value.execute === 'function'

const reservedNames: readonly string[] = [...builtinToolNames, ...Object.keys(automaticTools)]

function faultsOf(tool: Tool, owners: ReadonlyMap<string, string>, { checkTools }: LoadOptions): readonly Fault[] {
  const wrong = checkTools([tool], 'tool').map(({ place, message, remedy: fix = 'Correct the tool.' }) => ({
    message: `the tool ${showValue(tool.name)} cannot be used: ${place.replace(/^tool\[0\]\.?/, '')}: ${message}`,
    remedy: fix,
  }))
  if (wrong.length > 0) return wrong
  const owner = owners.get(offeredName(tool.name)) ?? (tool.name.startsWith(agentPrefix) ? 'an agent' : undefined)
  if (owner === undefined) return []
  return [{ message: `the tool "${tool.name}" is left out: the name belongs to ${owner}`, remedy: 'Give it another name.' }]
}

/** By path. Filled before modules are imported, and never emptied: tools can import files later. */
const trusted = new Map<string, string>()
/** Modules that are confined to their files. */
const confined = new Set<string>()
let providers: URL | undefined
let isWatching = false

/** From now on, these files are loaded only with the content of their hashes. */
export function watchLoading(modules: readonly Pick<ModuleToLoad, 'files' | 'isConfined'>[], ownPackage?: URL): void {
  for (const { files, isConfined } of modules)
    for (const { path, sha256 } of files) {
      trusted.set(path, sha256)
      if (isConfined) confined.add(path)
    }
  providers ??= ownPackage
  if (isWatching) return
  isWatching = true
  registerHooks({
    resolve(specifier, context, next) {
      try {
        const resolved = next(specifier, context)
        if (!isPackage(specifier)) checkImported(resolved.url, context.parentURL)
        return resolved
      } catch (error) {
        if (!providers || !/^troupe(?:\/|$)/.test(specifier)) throw error
        try {
          return next(specifier, { ...context, parentURL: providers.href })
        } catch (missing) {
          return next(sourceOf(missing), context)
        }
      }
    },
    load(url, context, next) {
      const loaded = next(url, context)
      if (url.startsWith('file:')) checkLoaded(fileURLToPath(url), loaded)
      return loaded
    },
  })
}

/** The source of a file of the package that is not built. */
function sourceOf(missing: unknown): string {
  const [, root, name] = /^(.*)\/dist\/(.*)\.js$/.exec(String((missing as { readonly url?: unknown }).url)) ?? []
  if (root === undefined) throw missing
  return `${root}/src/${name}.ts`
}

const isPackage = (specifier: string): boolean => !/^(?:\.{1,2}(?:\/|$)|\/|#|file:)/.test(specifier)

function checkImported(url: string, importer = ''): void {
  if (!url.startsWith('file:') || !importer.startsWith('file:') || !confined.has(fileURLToPath(importer))) return
  const path = fileURLToPath(url)
  if (!trusted.has(path) && !/[/\\]node_modules[/\\]/.test(path))
    throw new Error(`${path} is not trusted with the module: write its path as a text where it is imported`)
}

function checkLoaded(path: string, { source }: LoadFnOutput): void {
  const expected = trusted.get(path)
  if (expected === undefined) return
  const text = source ?? readFileSync(path)
  const bytes = typeof text === 'string' ? text : new Uint8Array(text as ArrayBuffer)
  if (createHash('sha256').update(bytes).digest('hex') !== expected)
    throw new Error(`${path} has changed since it was trusted, so it is not run`)
}
