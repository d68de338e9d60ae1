import { dirname, resolve } from 'node:path'
import type { Problem } from '../../contracts/index.ts'
import { isInside } from '../../util/is-inside.ts'
import { shellWord } from '../../util/shell-word.ts'
import type { SourceLocation } from '../../yaml/source-text.ts'
import { toolEntries } from '../agent-file/tool-entries.ts'
import { nodeConfigFileSystem } from '../config/files/config-file-system.ts'
import { isModuleFile, readModuleFiles } from '../config/trust/module-files.ts'
import { type FileState, type TrustStatus, trustOf } from '../config/trust/trust-records.ts'
import { realPath } from './agent-paths.ts'
import type { LoadedFile } from './loaded-file.ts'
import { type MissingTool, mustHaveItsTools } from './missing-tools.ts'
import type { RegistryOptions } from './registry-options.ts'

// An agent file can name modules in `tools`: `./timetable.ts`. Their code runs in this process, so a module is imported only if it
// belongs to the user, or a person trusts it in its current form. Otherwise its tools are missing.

interface ToolModule {
  /** Without links. */
  readonly path: string
  /** As written in the first agent that names it. */
  readonly written: string
  /** Where that agent names it. */
  readonly at: SourceLocation
  /** The module and the files that it imports, with the content that is trusted. */
  readonly files: readonly FileState[]
  /** Whether only these files are trusted, by their content. */
  readonly isConfined: boolean
}

export interface UntrustedModule extends ToolModule {
  readonly status: Exclude<TrustStatus, 'trusted'>
}

/** Imports trusted modules. Returns the names of the tools of each, by path, and what is wrong. */
export type ImportModules = (modules: readonly ToolModule[]) => Promise<{
  readonly tools: ReadonlyMap<string, readonly string[]>
  readonly problems: readonly ModuleProblem[]
}>

interface ModuleProblem extends Problem {
  /** The path of the module. */
  readonly module: string
}

export interface TeamModules {
  readonly untrusted: readonly UntrustedModule[]
  /** The names of all tools of modules. */
  readonly names: readonly string[]
  /** Whether some modules were not imported, so that other names may be theirs. */
  readonly areIncomplete: boolean
  /** Modules, and tools in them, that cannot be used: for each agent that names them. */
  readonly missing: readonly MissingTool[]
  /** The tools of an agent, with the names of tools in place of modules. */
  toolsOf(file: LoadedFile): readonly string[]
}

export const isModulePath = (entry: string): boolean => /^\.{0,2}\//.test(entry)

export async function teamModules(files: readonly LoadedFile[], options: RegistryOptions): Promise<TeamModules> {
  const namedIn = new Map(files.map((file) => [file, modulesIn(file, options)]))
  const named = [...namedIn.values()].flat()
  const byPath = new Map<string, NamedModule>()
  for (const each of named) if (!byPath.has(each.path) || each.isGiven) byPath.set(each.path, each)
  const read = await Promise.all([...byPath.values()].map((each) => readModule(each, options)))
  const trusted = read.flatMap((each) => (each.kind === 'trusted' ? [each.module] : []))
  const untrusted = read.flatMap((each) => (each.kind === 'untrusted' ? [each.module] : []))
  const imported = trusted.length > 0 ? await options.importModules?.(trusted) : undefined
  const faults = [...read.flatMap(faultsOf), ...(imported?.problems.map((problem) => ({ ...problem, kind: 'absent' as const })) ?? [])]
  return {
    untrusted,
    names: [...(imported?.tools.values() ?? [])].flat(),
    areIncomplete: read.some(({ path }) => !imported?.tools.has(path)),
    missing: [...namedIn].flatMap(([file, modules]) => modules.flatMap((each) => missingOf(each, file, faults))),
    toolsOf(file) {
      const paths = new Map(namedIn.get(file)?.map(({ written, path }) => [written, path]))
      return [
        ...new Set(
          file.agent.tools.flatMap((entry) => {
            const path = paths.get(entry)
            return path === undefined ? [entry] : (imported?.tools.get(path) ?? [])
          }),
        ),
      ]
    },
  }
}

interface NamedModule extends Omit<ToolModule, 'files' | 'isConfined'> {
  /** Given on the command line, which needs no trust. */
  readonly isGiven: boolean
  readonly isOptional: boolean
}

function modulesIn(file: LoadedFile, { workingDirectory }: RegistryOptions): readonly NamedModule[] {
  const { path, values } = file
  if (!mustHaveItsTools(file)) return []
  const isGiven = values.get('tools')?.precedence === 'override'
  const folder = isGiven ? workingDirectory : dirname(path)
  return toolEntries(values).flatMap(({ written, ...entry }) =>
    isModulePath(written) ? [{ ...entry, written, path: realPath(resolve(folder, written)), isGiven }] : [],
  )
}

interface ModuleFault extends Pick<Problem, 'message' | 'remedy'>, Pick<MissingTool, 'kind'> {
  /** The path of the module. */
  readonly module: string
}

const missingOf = (
  { path, at, isOptional }: NamedModule,
  { path: agent }: LoadedFile,
  faults: readonly ModuleFault[],
): readonly MissingTool[] =>
  faults.flatMap(({ module, message, remedy, kind }) =>
    module === path ? [{ ...at, message, ...(remedy !== undefined && { remedy }), agent, isOptional, kind }] : [],
  )

type ReadModule = { readonly path: string } & (
  | { readonly kind: 'trusted'; readonly module: ToolModule }
  | { readonly kind: 'untrusted'; readonly module: UntrustedModule }
  | { readonly kind: 'unreadable'; readonly fault: ModuleFault }
)

async function readModule({ isGiven, isOptional: _, ...named }: NamedModule, { config, trusted }: RegistryOptions): Promise<ReadModule> {
  const { path, written } = named
  const unreadable = (why: string, remedy: string): ReadModule => ({
    kind: 'unreadable',
    path,
    fault: { module: path, message: absent(written, why), remedy, kind: 'absent' },
  })
  if (!isModuleFile(path)) return unreadable('it is not a module', 'Name a file that ends in .ts, .mts, .js or .mjs.')
  const read = await readModuleFiles(nodeConfigFileSystem, path)
  if (!read.ok) return unreadable(read.why, 'Check the path. It is relative to the agent file.')
  const { files } = read
  const own = config.ownFolders.map(realPath)
  const isOwn = (file: FileState): boolean => isGiven || own.some((folder) => isInside(folder, file.path))
  const statuses = files.map((file) => (isOwn(file) ? 'trusted' : trustOf(file, trusted)))
  const status = statuses.includes('changed') ? 'changed' : statuses.includes('unknown') ? 'unknown' : 'trusted'
  const module = { ...named, files, isConfined: trusted !== 'everything' && !files.every(isOwn) }
  return status === 'trusted' ? { kind: status, path, module } : { kind: 'untrusted', path, module: { ...module, status } }
}

function faultsOf(read: ReadModule): readonly ModuleFault[] {
  if (read.kind === 'unreadable') return [read.fault]
  if (read.kind === 'trusted') return []
  const { path, written, status } = read.module
  const why =
    status === 'changed' ? 'it, or a file that it imports, has changed since it was trusted' : 'nobody has trusted it in its current form'
  const remedy = `Review it and the files that it imports, then: troupe trust ${shellWord(path)}`
  return [{ module: path, message: absent(written, why), remedy, kind: 'untrusted' }]
}

const absent = (written: string, why: string): string => `the tools of \`${written}\` are absent: ${why}`
