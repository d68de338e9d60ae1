import { TroupeError } from '../../../contracts/index.ts'
import { messageOf } from '../../../util/message-of.ts'
import type { ConfigFileSystem } from '../files/config-file-system.ts'
import { parseTrust, printTrust, type TrustRecord, type TrustRecords, withoutTrust, withTrust } from './trust-records.ts'

/** Where trust is recorded. Commands use a file, because trust is read before the configuration names a store. */
export interface TrustStore {
  list(): Promise<TrustRecords>
  /** Replaces records with the same paths. Returns all. */
  add(records: readonly TrustRecord[]): Promise<TrustRecords>
  /** Removes the records of files, and of all files in folders. Returns what was removed. */
  remove(paths: readonly string[]): Promise<readonly TrustRecord[]>
}

interface TrustFile {
  readonly files: ConfigFileSystem
  /** In the data folder: `trust.json`. */
  readonly path: string
}

/** Its functions throw `config_invalid` if the file is damaged, or cannot be read or written. */
export function fileTrustStore(place: TrustFile): TrustStore {
  return {
    list: async () => (await current(place)).records,
    add: (added) => update(place, (records) => withTrust(records, added)),
    async remove(paths) {
      let removed: readonly TrustRecord[] = []
      await update(place, (records) => {
        const left = withoutTrust(records, paths)
        removed = [...records.values()].filter(({ path }) => !left.has(path))
        return left
      })
      return removed
    },
  }
}

const maxTries = 200

/** Starts again if another process writes in between. */
async function update(place: TrustFile, next: (records: TrustRecords) => TrustRecords): Promise<TrustRecords> {
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

async function current({ files, path }: TrustFile): Promise<{ readonly text: string | undefined; readonly records: TrustRecords }> {
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
