import { statSync } from 'node:fs'
import { delimiter, isAbsolute, resolve } from 'node:path'
import type { Hook, Problem } from '../../contracts/index.ts'
import { systemClock } from '../../runtime/index.ts'
import type { Config } from '../config/config.ts'
import { type ConfiguredHook, hooksOf, sandboxOf } from '../config/section-values.ts'
import type { TrustRecords } from '../config/trust/trust-records.ts'
import type { ProjectPlace } from '../setup/project-place.ts'
import { trustPlaceOf } from '../setup/read-setup.ts'

/** The hooks of all configuration files in effect. */
interface ConfiguredHooks {
  readonly hooks: readonly Hook[]
  /** Their programs and modules, which agents must not change. */
  readonly files: readonly string[]
  readonly problems: readonly Problem[]
}

interface HookContext {
  readonly place: Pick<ProjectPlace, 'env'>
  readonly workingDirectory: string
  /** Default: the stored list of trusted files. */
  readonly trusted?: TrustRecords | undefined
}

export async function configuredHooks(config: Config, { place, workingDirectory, trusted }: HookContext): Promise<ConfiguredHooks> {
  const configured = hooksOf(config)
  if (configured.length === 0) return { hooks: [], files: [], problems: [] }
  const { hookFiles, createHook, hookHashes } = await import('../../tools/hooks/index.ts')
  const { environment, writable } = await environmentOf(config, place, workingDirectory)
  const trustedHashes = await trustedHashesFor(configured, { place, trusted })
  const built = await Promise.all(
    configured.map(async ({ definition, baseDir, place, isOwn }) => {
      // The user's own hooks need no trust, but files in folders that agents can write to are compared with their current form.
      const known = isOwn ? { hashes: hookHashes([definition], baseDir), folders: writable } : { hashes: trustedHashes }
      return {
        name: definition.name,
        place,
        ...(await createHook(definition, { baseDir, clock: systemClock, environment, writable, trusted: known })),
      }
    }),
  )
  return {
    hooks: built.flatMap((each) => ('hook' in each ? [each.hook] : [])),
    files: [...new Set(configured.flatMap(({ definition, baseDir }) => hookFiles([definition], baseDir)))],
    problems: built.flatMap((each) => ('missing' in each ? [unusable(each.name, each.place, each.missing)] : [])),
  }
}

/** Programs and modules of hooks that do not exist. Runs no program and loads no module. */
export async function missingHookParts(config: Config, { place, workingDirectory }: HookContext): Promise<readonly Problem[]> {
  const configured = hooksOf(config)
  if (configured.length === 0) return []
  const { createHook } = await import('../../tools/hooks/index.ts')
  const { environment, writable } = await environmentOf(config, place, workingDirectory)
  const missing = async ({ definition, baseDir }: ConfiguredHook): Promise<Pick<Problem, 'message' | 'remedy'> | undefined> => {
    if (definition.command === undefined) return missingModule(resolve(baseDir, definition.module))
    // For a program, this only searches the file.
    const built = await createHook(definition, { baseDir, clock: systemClock, environment, writable })
    return 'missing' in built ? built.missing : undefined
  }
  const found = await Promise.all(configured.map(async (each) => ({ ...each, missing: await missing(each) })))
  return found.flatMap(({ definition, place, missing }) => (missing ? [unusable(definition.name, place, missing)] : []))
}

function missingModule(file: string): Pick<Problem, 'message' | 'remedy'> | undefined {
  if (statSync(file, { throwIfNoEntry: false })?.isFile()) return undefined
  return { message: `the file ${file} does not exist`, remedy: 'Check the path. It is relative to the file that names it.' }
}

const unusable = (name: string, place: string, { message, remedy }: Pick<Problem, 'message' | 'remedy'>): Problem => ({
  place,
  message: `the hook "${name}" cannot be used: ${message}`,
  ...(remedy !== undefined && { remedy }),
})

/** The hashes of trusted files. The user's own files need no trust. */
async function trustedHashesFor(
  configured: readonly ConfiguredHook[],
  { place, trusted }: Pick<HookContext, 'place' | 'trusted'>,
): Promise<ReadonlyMap<string, string>> {
  if (configured.every(({ isOwn }) => isOwn)) return new Map()
  const records = trusted ?? (await trustPlaceOf(place).store.list())
  return new Map([...records.values()].map(({ path, sha256 }) => [path, sha256]))
}

const defaultPath = '/usr/bin:/bin'
const inherited = ['PATH', 'HOME', 'LANG', 'TMPDIR']

interface HookEnvironment {
  /** The variables that hook programs get: never keys. */
  readonly environment: { readonly [name: string]: string }
  /** Real paths of the folders that commands of agents can write to. */
  readonly writable: readonly string[]
}

/** `PATH` keeps the real paths of its folders, except those that lead through a folder that agents can write to. */
async function environmentOf(config: Config, { env }: Pick<ProjectPlace, 'env'>, workingDirectory: string): Promise<HookEnvironment> {
  const { trustedPath } = await import('../../tools/sandbox/index.ts')
  const writable = [workingDirectory, ...sandboxOf(config).writable].map((folder) => trustedPath([], folder)[0] ?? folder)
  const environment = Object.fromEntries(inherited.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])))
  const { PATH = defaultPath } = environment
  const folders = PATH.split(delimiter).flatMap((folder) => (isAbsolute(folder) ? trustedPath(writable, folder) : []))
  // An empty PATH would mean the current folder of the hook.
  return { writable, environment: { ...environment, PATH: [...new Set(folders)].join(delimiter) || defaultPath } }
}
