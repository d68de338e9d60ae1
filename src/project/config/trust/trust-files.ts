import { TroupeError } from '../../../contracts/index.ts'
import type { ConfigFileSystem } from '../files/config-file-system.ts'
import { withHookFiles } from './hook-files.ts'
import { withImportedFiles } from './module-files.ts'
import { contentHash, type FileState, type TrustRecord, type TrustRecords } from './trust-records.ts'
import type { TrustStore } from './trust-store.ts'

/** Files, and where trust in them is recorded. */
export interface TrustPlace {
  readonly files: ConfigFileSystem
  readonly store: TrustStore
}

/** Trusts files in the given state, and the current content of the files that hooks of a configuration name or a module imports. */
export async function trustFiles(
  { files, store }: TrustPlace,
  states: readonly FileState[],
  given: Pick<TrustRecord, 'by' | 'at'>,
): Promise<TrustRecords> {
  const named = await withImportedFiles(files, await withHookFiles(files, states))
  return store.add(named.map(({ path, sha256 }) => ({ path, sha256, ...given })))
}

/** The current state of files. Throws `config_invalid` if one does not exist. */
export async function readFileStates(files: ConfigFileSystem, paths: readonly string[]): Promise<readonly FileState[]> {
  const contents = await Promise.all(paths.map(async (path) => ({ path, content: await files.read(path) })))
  const missing = contents.filter(({ content }) => content === undefined)
  if (missing.length > 0)
    throw new TroupeError('config_invalid', 'Some of these files do not exist.', {
      problems: missing.map(({ path }) => ({
        place: path,
        message: 'The file does not exist.',
        remedy: 'To list untrusted files: troupe trust',
      })),
    })
  return contents.map(({ path, content }) => ({ path, sha256: contentHash(content ?? '') }))
}
