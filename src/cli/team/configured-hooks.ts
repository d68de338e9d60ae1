import { statSync } from 'node:fs'
import { delimiter, isAbsolute, resolve } from 'node:path'
import { type Config, type ConfiguredHook, hooksOf, readTrust, sandboxOf, type TrustRecords } from '../../agents/index.ts'
import type { Hook, Problem } from '../../contracts/index.ts'
import { systemClock } from '../../runtime/index.ts'
import type { Host } from '../host/process-host.ts'
import { trustPlaceOf } from './load-config.ts'

/** The hooks of every file that counts. */
export interface ConfiguredHooks {
  readonly hooks: readonly Hook[]
  /** What they are made of: agents must not change it. */
  readonly files: readonly string[]
  readonly problems: readonly Problem[]
}

interface HookSurroundings {
  readonly host: Pick<Host, 'env'>
  readonly workingDirectory: string
  /** Default: what stands in the list of trust. */
  readonly trusted?: TrustRecords | undefined
}

export async function configuredHooks(config: Config, { host, workingDirectory, trusted }: HookSurroundings): Promise<ConfiguredHooks> {
  const configured = hooksOf(config)
  if (configured.length === 0) return { hooks: [], files: [], problems: [] }
  const { hookFiles, createHook, hookHashes } = await import('../../tools/hooks/index.ts')
  const { environment, writable } = await surroundingsOf(config, host, workingDirectory)
  const trustedHashes = await hashesOfOthers(configured, { host, trusted })
  const built = await Promise.all(
    configured.map(async ({ definition, baseDir, place, isOwn }) => {
      // Whose file it is decides whose word is needed; what agents could have changed since they began is looked at in any case.
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

/** Programs and modules of hooks that are not there. Nothing is run for it, and no module loaded. */
export async function missingHookParts(config: Config, { host, workingDirectory }: HookSurroundings): Promise<readonly Problem[]> {
  const configured = hooksOf(config)
  if (configured.length === 0) return []
  const { createHook } = await import('../../tools/hooks/index.ts')
  const { environment, writable } = await surroundingsOf(config, host, workingDirectory)
  const missing = async ({ definition, baseDir }: ConfiguredHook): Promise<Pick<Problem, 'message' | 'remedy'> | undefined> => {
    if (definition.command === undefined) return missingModule(resolve(baseDir, definition.module))
    // A program is only looked for until it is asked something.
    const built = await createHook(definition, { baseDir, clock: systemClock, environment, writable })
    return 'missing' in built ? built.missing : undefined
  }
  const found = await Promise.all(configured.map(async (each) => ({ ...each, fault: await missing(each) })))
  return found.flatMap(({ definition, place, fault }) => (fault ? [unusable(definition.name, place, fault)] : []))
}

function missingModule(file: string): Pick<Problem, 'message' | 'remedy'> | undefined {
  if (statSync(file, { throwIfNoEntry: false })?.isFile()) return undefined
  return { message: `there is no file ${file}`, remedy: 'Check the path, which is relative to the file that names it.' }
}

const unusable = (name: string, place: string, { message, remedy }: Pick<Problem, 'message' | 'remedy'>): Problem => ({
  place,
  message: `the hook "${name}" cannot be used: ${message}`,
  ...(remedy !== undefined && { remedy }),
})

/** What a person has trusted. Nobody's word is needed for a person's own files. */
async function hashesOfOthers(
  configured: readonly ConfiguredHook[],
  { host, trusted }: Pick<HookSurroundings, 'host' | 'trusted'>,
): Promise<ReadonlyMap<string, string>> {
  if (configured.every(({ isOwn }) => isOwn)) return new Map()
  const records = trusted ?? (await readTrust(trustPlaceOf(host)))
  return new Map([...records.values()].map(({ path, sha256 }) => [path, sha256]))
}

const usualPath = '/usr/bin:/bin'
const passedOn = ['PATH', 'HOME', 'LANG', 'TMPDIR']

interface Surroundings {
  /** What a program of a person's own needs to be found and run, and no keys. */
  readonly environment: { readonly [name: string]: string }
  /** Where commands of agents may write, without links. */
  readonly writable: readonly string[]
}

/** Of each part of the PATH the end of its way counts, and only if no part of the way leads through where agents may write. */
async function surroundingsOf(config: Config, { env }: Pick<Host, 'env'>, workingDirectory: string): Promise<Surroundings> {
  const { trustedPath } = await import('../../tools/sandbox/index.ts')
  const writable = [workingDirectory, ...sandboxOf(config).writable].map((folder) => trustedPath([], folder)[0] ?? folder)
  const environment = Object.fromEntries(passedOn.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])))
  const { PATH = usualPath } = environment
  const folders = PATH.split(delimiter).flatMap((folder) => (isAbsolute(folder) ? trustedPath(writable, folder) : []))
  // An empty PATH would stand for the folder that a hook is started in.
  return { writable, environment: { ...environment, PATH: [...new Set(folders)].join(delimiter) || usualPath } }
}
