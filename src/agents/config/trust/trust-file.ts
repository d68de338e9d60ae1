import { TroupeError } from '../../../contracts/index.ts'
import { messageOf } from '../../../util/message-of.ts'
import type { ConfigFileSystem } from '../files/config-file-system.ts'
import { withHookFiles } from './hook-files.ts'
import { withImportedFiles } from './module-files.ts'
import {
  contentHash,
  type FileState,
  parseTrust,
  printTrust,
  type TrustRecord,
  type TrustRecords,
  withoutTrust,
  withTrust,
} from './trust-records.ts'

/** Where the list of trusted files is stored. */
export interface TrustPlace {
  readonly files: ConfigFileSystem
  /** In the data folder: `trust.json`. */
  readonly path: string
}

/** Throws `config_invalid` if the list is damaged or cannot be read. */
export async function readTrust(place: TrustPlace): Promise<TrustRecords> {
  return (await current(place)).records
}

/** Trusts files in the given state, and the current content of the files that hooks of a configuration name or a module imports. */
export async function trustFiles(
  place: TrustPlace,
  states: readonly FileState[],
  given: Pick<TrustRecord, 'by' | 'at'>,
): Promise<TrustRecords> {
  const named = await withImportedFiles(place.files, await withHookFiles(place.files, states))
  const added = named.map(({ path, sha256 }) => ({ path, sha256, ...given }))
  return update(place, (records) => withTrust(records, added))
}

/** Revokes the trust in files, and in all files of folders. Returns what was revoked. */
export async function revokeTrust(place: TrustPlace, paths: readonly string[]): Promise<readonly TrustRecord[]> {
  let revoked: readonly TrustRecord[] = []
  await update(place, (records) => {
    const left = withoutTrust(records, paths)
    revoked = [...records.values()].filter(({ path }) => !left.has(path))
    return left
  })
  return revoked
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

const maxTries = 200

/** Starts again if another process writes in between. */
async function update(place: TrustPlace, next: (records: TrustRecords) => TrustRecords): Promise<TrustRecords> {
  for (let tries = 0; tries < maxTries; tries++) {
    const { text, records } = await current(place)
    const changed = next(records)
    const written = printTrust(changed)
    if (written === text || (text === undefined && changed.size === 0)) return changed
    if (await place.files.replace(place.path, text, written).catch((error) => accessError('written', place.path, error))) return changed
  }
  throw new TroupeError('config_invalid', `the list of trusted files ${place.path} cannot be written: other processes keep changing it`, {
    remedy: 'Try again.',
  })
}

async function current({ files, path }: TrustPlace): Promise<{ readonly text: string | undefined; readonly records: TrustRecords }> {
  const content = await files.read(path).catch((error) => accessError('read', path, error))
  if (content === undefined) return { text: undefined, records: new Map() }
  const text = typeof content === 'string' ? content : new TextDecoder('utf-8', { ignoreBOM: true }).decode(content)
  return { text, records: parseTrust(text, path) }
}

function accessError(what: 'read' | 'written', path: string, cause: unknown): never {
  if (cause instanceof TroupeError) throw cause
  const remedy = 'Make its folder writable, or choose another with XDG_STATE_HOME.'
  throw new TroupeError('config_invalid', `The list of trusted files cannot be ${what}.`, {
    problems: [{ place: path, message: messageOf(cause), remedy }],
    cause,
  })
}
