import { realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { HookDefinition } from '../../../contracts/index.ts'
import { hookPaths } from '../../../policy/hook-paths.ts'
import type { PendingFile } from '../config.ts'
import { folderOf } from '../config-places.ts'
import type { ConfigFileSystem } from '../files/config-file-system.ts'
import { readConfigFile } from '../read-config-file.ts'
import { documentsIn, hooksIn } from '../section-values.ts'
import type { Sourced } from '../sourced.ts'
import { contentHash, type FileState, type TrustRecords, trustOf } from './trust-records.ts'

// Trust in a configuration includes the current content of its OpenAPI documents, and of the programs that its hooks run. Each program has its own record,
// and a hook with a changed program does not run. Files that such a program loads are not covered; keep them in a folder
// that agents cannot change, like `.troupe`.

/** Adds the files that hooks and OpenAPI sources of the configurations name. */
export async function withHookFiles(files: ConfigFileSystem, states: readonly FileState[]): Promise<readonly FileState[]> {
  const named = new Map<string, FileState>()
  for (const state of states)
    for (const each of [...(await hookFilesIn(files, state)), ...(await documentFilesIn(files, state))]) named.set(each.path, each)
  for (const { path } of states) named.delete(path)
  return [...states, ...named.values()]
}

/** Programs of hooks and OpenAPI documents in trusted configurations that have changed since. */
export async function changedHookFiles(
  files: ConfigFileSystem,
  configurations: readonly FileState[],
  trusted: TrustRecords,
): Promise<readonly PendingFile[]> {
  const inTrusted = configurations.filter((state) => trustOf(state, trusted) === 'trusted')
  const pending = (states: readonly FileState[], part: Pick<PendingFile, 'kind' | 'withheld'>): readonly PendingFile[] =>
    states.flatMap((state) => {
      const status = trustOf(state, trusted)
      return status === 'trusted' ? [] : [{ ...state, ...part, status, contents: [[]] }]
    })
  const programs = (await Promise.all(inTrusted.map((state) => hookFilesIn(files, state)))).flat()
  const documents = (await Promise.all(inTrusted.map((state) => documentFilesIn(files, state)))).flat()
  return [
    ...pending(programs, { kind: 'program of a hook', withheld: ['hooks'] }),
    ...pending(documents, { kind: 'OpenAPI document', withheld: ['openapi'] }),
  ]
}

/** The OpenAPI documents of a configuration that are files. */
export async function documentFilesIn(files: ConfigFileSystem, state: FileState): Promise<readonly FileState[]> {
  const settings = await settingsOfFile(files, state)
  return statesOf(files, settings ? documentsIn(settings).slice(0, maxBound) : [])
}

interface HookFiles {
  readonly hook: string
  /** Absolute paths of the files that are trusted together with the configuration. */
  readonly files: readonly string[]
}

/** Every file is read, and a hostile configuration could name thousands. */
const maxBound = 100

/** The hooks of a configuration with their files, for a decision about trust; empty for other files. */
export async function listHookFiles(files: ConfigFileSystem, state: FileState): Promise<readonly HookFiles[]> {
  const bindings: HookFiles[] = []
  let left = maxBound
  for (const hook of await hooksOfFile(files, state)) {
    const states = await fileStatesOf(files, hook, { baseDir: folderOf({ file: state.path }), most: Math.max(1, left) })
    left -= states.length
    bindings.push({ hook: hook.name, files: states.map(({ path }) => path) })
  }
  return bindings
}

async function hookFilesIn(files: ConfigFileSystem, state: FileState): Promise<readonly FileState[]> {
  const baseDir = folderOf({ file: state.path })
  return (await Promise.all((await hooksOfFile(files, state)).map((hook) => fileStatesOf(files, hook, { baseDir })))).flat()
}

async function hooksOfFile(files: ConfigFileSystem, state: FileState): Promise<readonly HookDefinition[]> {
  const settings = await settingsOfFile(files, state)
  return settings ? hooksIn(settings) : []
}

/** `undefined` if the file has changed since, or is not a configuration. */
async function settingsOfFile(files: ConfigFileSystem, { path, sha256 }: FileState): Promise<Sourced | undefined> {
  if (!path.endsWith('.ai-agent.json')) return undefined
  const content = await files.read(path).catch(() => undefined)
  if (content === undefined || contentHash(content) !== sha256) return undefined
  try {
    const read = readConfigFile(content, { path, role: 'settings', layer: 'project', isRequired: false })
    return read.kind === 'settings' ? read.tree : undefined
  } catch {
    // Loading reports the problems, and none of its hooks runs.
    return undefined
  }
}

interface Naming {
  readonly baseDir: string
  /** Default: all. */
  readonly most?: number
}

const disk = { resolve, realpathSync, statSync }

async function fileStatesOf(files: ConfigFileSystem, hook: HookDefinition, { baseDir, most }: Naming): Promise<readonly FileState[]> {
  return statesOf(files, hookPaths(hook, { baseDir, disk }), most)
}

async function statesOf(files: ConfigFileSystem, paths: Iterable<string>, most?: number): Promise<readonly FileState[]> {
  const states = new Map<string, FileState>()
  for (const path of paths) {
    if (states.size === most) break
    // Folders and files that are too large cannot be trusted.
    const content = await files.read(path).catch(() => undefined)
    if (content !== undefined) states.set(path, { path, sha256: contentHash(content) })
  }
  return [...states.values()]
}
