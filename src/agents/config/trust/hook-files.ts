import { realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { HookDefinition } from '../../../contracts/index.ts'
import { hookPaths } from '../../../policy/hook-paths.ts'
import type { PendingFile } from '../config.ts'
import { folderOf } from '../config-places.ts'
import type { ConfigFiles } from '../files/config-file-system.ts'
import { readConfigFile } from '../read-config-file.ts'
import { hooksIn } from '../section-values.ts'
import { contentHash, type FileState, type TrustRecords, trustOf } from './trust-records.ts'

/*
 * Whoever trusts a configuration trusts the programs that its hooks run, as they are then: each has a record of its own,
 * and a hook whose program is another one now is not run. What such a program loads by itself, and what a shell makes of
 * its words, is not known here; keep it in a folder that agents cannot change, like `.troupe`.
 */

/** The states, and those of the files that hooks of configurations among them name. */
export async function withHookFiles(files: ConfigFiles, states: readonly FileState[]): Promise<readonly FileState[]> {
  const named = new Map<string, FileState>()
  for (const state of states) for (const each of await hookFilesIn(files, state)) named.set(each.path, each)
  for (const { path } of states) named.delete(path)
  return [...states, ...named.values()]
}

/** Of configurations that are trusted: what their hooks run, and is not what was trusted with them. */
export async function changedHookFiles(
  files: ConfigFiles,
  configurations: readonly FileState[],
  trusted: TrustRecords,
): Promise<readonly PendingFile[]> {
  const found = configurations.filter((state) => trustOf(state, trusted) === 'trusted').map((state) => hookFilesIn(files, state))
  return (await Promise.all(found)).flat().flatMap((state): readonly PendingFile[] => {
    const status = trustOf(state, trusted)
    return status === 'trusted' ? [] : [{ ...state, kind: 'program of a hook', status, withheld: ['hooks'], contents: [[]] }]
  })
}

/** What of a hook is bound to trust. */
export interface HookFiles {
  readonly hook: string
  /** Absolute paths: what stands there now is trusted with its configuration. None where no word of the hook is a file. */
  readonly files: readonly string[]
}

/** Hostile files could name thousands, each of which is read. */
const maxBound = 100

/** Each hook of a configuration, for whoever has to decide about it; of any other file none. */
export async function listHookFiles(files: ConfigFiles, state: FileState): Promise<readonly HookFiles[]> {
  const bindings: HookFiles[] = []
  let left = maxBound
  for (const hook of await hooksOfFile(files, state)) {
    const states = await fileStatesOf(files, hook, { baseDir: folderOf({ file: state.path }), most: Math.max(1, left) })
    left -= states.length
    bindings.push({ hook: hook.name, files: states.map(({ path }) => path) })
  }
  return bindings
}

async function hookFilesIn(files: ConfigFiles, state: FileState): Promise<readonly FileState[]> {
  const baseDir = folderOf({ file: state.path })
  return (await Promise.all((await hooksOfFile(files, state)).map((hook) => fileStatesOf(files, hook, { baseDir })))).flat()
}

/** Of a file that is no longer what was shown, or no configuration, nothing. */
async function hooksOfFile(files: ConfigFiles, { path, sha256 }: FileState): Promise<readonly HookDefinition[]> {
  if (!path.endsWith('.ai-agent.json')) return []
  const content = await files.read(path).catch(() => undefined)
  if (content === undefined || contentHash(content) !== sha256) return []
  try {
    const read = readConfigFile(content, { path, role: 'settings', layer: 'project', isRequired: false })
    return read.kind === 'settings' ? hooksIn(read.tree) : []
  } catch {
    // What is wrong in it is told where it is loaded, and none of its hooks runs.
    return []
  }
}

interface Naming {
  readonly baseDir: string
  /** Default: all. */
  readonly most?: number
}

const disk = { resolve, realpathSync, statSync }

/** The files that a hook names, as they are now. */
async function fileStatesOf(files: ConfigFiles, hook: HookDefinition, { baseDir, most }: Naming): Promise<readonly FileState[]> {
  const states = new Map<string, FileState>()
  for (const path of hookPaths(hook, { baseDir, disk })) {
    if (states.size === most) break
    // Folders, and what is too large to be looked at, cannot be trusted: a hook that needs them says so when it fails.
    const content = await files.read(path).catch(() => undefined)
    if (content !== undefined) states.set(path, { path, sha256: contentHash(content) })
  }
  return [...states.values()]
}
