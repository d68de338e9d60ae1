import { realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { HookDefinition } from '../../../contracts/index.ts'
import { hookPaths } from '../../../policy/hook-paths.ts'
import type { PendingFile } from '../config.ts'
import { folderOf } from '../config-places.ts'
import type { ConfigFileSystem } from '../files/config-file-system.ts'
import { readConfigFile } from '../read-config-file.ts'
import { hooksIn } from '../section-values.ts'
import { contentHash, type FileState, type TrustRecords, trustOf } from './trust-records.ts'

// Trust in a configuration includes the current content of the programs that its hooks run. Each program has its own record,
// and a hook with a changed program does not run. Files that such a program loads are not covered; keep them in a folder
// that agents cannot change, like `.troupe`.

/** Adds the files that hooks of the configurations name. */
export async function withHookFiles(files: ConfigFileSystem, states: readonly FileState[]): Promise<readonly FileState[]> {
  const named = new Map<string, FileState>()
  for (const state of states) for (const each of await hookFilesIn(files, state)) named.set(each.path, each)
  for (const { path } of states) named.delete(path)
  return [...states, ...named.values()]
}

/** Programs of hooks in trusted configurations that have changed since. */
export async function changedHookFiles(
  files: ConfigFileSystem,
  configurations: readonly FileState[],
  trusted: TrustRecords,
): Promise<readonly PendingFile[]> {
  const found = configurations.filter((state) => trustOf(state, trusted) === 'trusted').map((state) => hookFilesIn(files, state))
  return (await Promise.all(found)).flat().flatMap((state): readonly PendingFile[] => {
    const status = trustOf(state, trusted)
    return status === 'trusted' ? [] : [{ ...state, kind: 'program of a hook', status, withheld: ['hooks'], contents: [[]] }]
  })
}

export interface HookFiles {
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

/** Empty if the file has changed since, or is not a configuration. */
async function hooksOfFile(files: ConfigFileSystem, { path, sha256 }: FileState): Promise<readonly HookDefinition[]> {
  if (!path.endsWith('.ai-agent.json')) return []
  const content = await files.read(path).catch(() => undefined)
  if (content === undefined || contentHash(content) !== sha256) return []
  try {
    const read = readConfigFile(content, { path, role: 'settings', layer: 'project', isRequired: false })
    return read.kind === 'settings' ? hooksIn(read.tree) : []
  } catch {
    // Loading reports the problems, and none of its hooks runs.
    return []
  }
}

interface Naming {
  readonly baseDir: string
  /** Default: all. */
  readonly most?: number
}

const disk = { resolve, realpathSync, statSync }

async function fileStatesOf(files: ConfigFileSystem, hook: HookDefinition, { baseDir, most }: Naming): Promise<readonly FileState[]> {
  const states = new Map<string, FileState>()
  for (const path of hookPaths(hook, { baseDir, disk })) {
    if (states.size === most) break
    // Folders and files that are too large cannot be trusted.
    const content = await files.read(path).catch(() => undefined)
    if (content !== undefined) states.set(path, { path, sha256: contentHash(content) })
  }
  return [...states.values()]
}
