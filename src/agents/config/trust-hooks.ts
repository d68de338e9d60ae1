import { resolve } from 'node:path'
import type { HookDefinition } from '../../contracts/index.ts'
import { isOfSystem, wordsOfHook } from '../../util/hook-words.ts'
import type { PendingFile } from './config.ts'
import type { ConfigFiles } from './config-files.ts'
import { folderOf } from './places.ts'
import { hooksIn } from './policy-sections.ts'
import { readConfigFile } from './read-file.ts'
import { contentHash, type FileState, type TrustRecords, trustOf } from './trust-records.ts'

/*
 * Whoever trusts a configuration trusts the programs that its hooks run, as they are then: each has a record of its own,
 * and a hook whose program is another one now is not run. What such a program loads by itself is not known here; keep it
 * in a folder that agents cannot change, like `.troupe`.
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

/** Of a file that is no longer what was shown, or no configuration, nothing. */
async function hookFilesIn(files: ConfigFiles, { path, sha256 }: FileState): Promise<readonly FileState[]> {
  if (!path.endsWith('.ai-agent.json')) return []
  const content = await files.read(path)
  if (content === undefined || contentHash(content) !== sha256) return []
  try {
    const read = readConfigFile(content, { path, role: 'settings', layer: 'project', isRequired: false })
    if (read.kind !== 'settings') return []
    const definitions = hooksIn(read.tree)
    return (await Promise.all(definitions.map((each) => statesNamedBy(files, each, folderOf({ file: path }))))).flat()
  } catch {
    // What is wrong in it is told where it is loaded, and none of its hooks runs.
    return []
  }
}

/** The files that a hook names, as they are now. */
async function statesNamedBy(files: ConfigFiles, hook: HookDefinition, baseDir: string): Promise<readonly FileState[]> {
  const states: FileState[] = []
  for (const word of wordsOfHook(hook)) {
    const path = resolve(baseDir, word)
    if (isOfSystem(word, path, baseDir)) continue
    // Folders, and what is too large to be looked at, cannot be trusted: a hook that needs them says so when it fails.
    const content = await files.read(path).catch(() => undefined)
    if (content !== undefined) states.push({ path, sha256: contentHash(content) })
  }
  return states
}
