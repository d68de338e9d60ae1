import { createHash, randomUUID } from 'node:crypto'
import { access, type FileHandle, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BlobId, Blobs, StoredBytes, TreeId } from '../../contracts/index.ts'
import { type BlobContent, bytesContent, encodingOf, isContentOf, textContent } from '../shared/blob-content.ts'
import { mediaTypeOf } from '../shared/bytes-id.ts'
import { closedError } from '../shared/store-errors.ts'
import { damaged, storeError } from './sqlite-errors.ts'

const checkBytes = 65_536

/**
 * One file for each blob, named by the hash of its content, in one folder for each tree. The root folder exists.
 *
 * 1. A file with its final name is complete and durable: it was synced before it was renamed.
 * 2. Ids come from outside: only text in the form of an id becomes part of a path.
 */
export class FileBlobs implements Blobs {
  readonly #root: string
  readonly #onFailure: (error: unknown) => void
  readonly #puts = new Set<Promise<BlobId>>()
  #state: 'open' | 'closed' = 'open'

  /** `onFailure`: learns why a blob could not be written. */
  constructor(root: string, onFailure: (error: unknown) => void = () => {}) {
    this.#root = root
    this.#onFailure = onFailure
  }

  put(treeId: TreeId, text: string): Promise<BlobId> {
    return this.#put(treeId, textContent(text))
  }

  putBytes(treeId: TreeId, bytes: Uint8Array, mediaType: string): Promise<BlobId> {
    return this.#put(treeId, bytesContent(bytes, mediaType))
  }

  async #put(treeId: TreeId, { id, content }: BlobContent): Promise<BlobId> {
    if (this.#state === 'closed') throw closedError()
    const put = this.#write(treeId, id, content)
    this.#puts.add(put)
    try {
      return await put
    } catch (error) {
      this.#onFailure(error)
      throw storeError(error, 'write a blob')
    } finally {
      this.#puts.delete(put)
    }
  }

  async get(treeId: TreeId, id: BlobId): Promise<string | undefined> {
    if (this.#state === 'closed') throw closedError()
    const encoding = encodingOf(id)
    return encoding && (await this.#read(treeId, id))?.toString(encoding)
  }

  async getBytes(treeId: TreeId, id: BlobId): Promise<StoredBytes | undefined> {
    if (this.#state === 'closed') throw closedError()
    const mediaType = mediaTypeOf(id)
    if (mediaType === undefined) return undefined
    const bytes = await this.#read(treeId, id)
    return bytes && { mediaType, bytes }
  }

  async #read(treeId: TreeId, id: BlobId): Promise<Buffer | undefined> {
    const content = await readFile(join(this.#folder(treeId), id)).catch(unlessMissing)
    if (content !== undefined && !isContentOf(id, content))
      throw damaged(`blob ${id} of tree ${treeId} is damaged: its content does not match its id`)
    return content
  }

  async remove(treeId: TreeId): Promise<void> {
    await rm(this.#folder(treeId), { recursive: true, force: true }).catch((error: unknown) => {
      throw storeError(error, 'remove blobs')
    })
  }

  /** Writes a file and removes it. SQLite can reuse WAL space on a full disk, so a commit proves nothing. */
  async tryWrite(): Promise<void> {
    const file = join(this.#root, '.check')
    try {
      await writeFile(file, Buffer.alloc(checkBytes), { mode: 0o600 })
    } finally {
      await rm(file, { force: true })
    }
  }

  pathOf(treeId: TreeId, id: BlobId): string {
    return join(this.#folder(treeId), id)
  }

  /** Waits for pending writes. */
  async close(): Promise<void> {
    this.#state = 'closed'
    await Promise.allSettled(this.#puts)
  }

  async #write(treeId: TreeId, id: BlobId, content: Buffer): Promise<BlobId> {
    const folder = this.#folder(treeId)
    await mkdir(folder, { mode: 0o700 }).catch(unlessExists)
    const file = join(folder, id)
    const exists = await access(file).then(
      () => true,
      () => false,
    )
    if (!exists) await writeWhole(file, content)
    // Also for a file that exists: the process that wrote it may not have synced yet.
    await Promise.all([syncEntries(folder), syncEntries(this.#root)])
    return id
  }

  /** A tree id can be any string. One that is not a safe file name on every system is hashed. */
  #folder(treeId: TreeId): string {
    const safe = /^[a-z0-9_-]{1,100}$/.test(treeId)
    return join(this.#root, safe ? treeId : `~${createHash('sha256').update(treeId, 'utf16le').digest('hex')}`)
  }
}

async function writeWhole(file: string, content: Buffer): Promise<void> {
  const draft = `${file}.${randomUUID()}.tmp`
  let handle: FileHandle | undefined
  try {
    handle = await open(draft, 'wx', 0o600)
    await handle.writeFile(content)
    await handle.sync()
    await handle.close()
    handle = undefined
    await rename(draft, file)
  } catch (error) {
    await handle?.close().catch(() => undefined)
    await rm(draft, { force: true }).catch(() => undefined)
    throw error
  }
}

/** The entries of a folder are durable only after the folder was synced. */
async function syncEntries(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function unlessExists(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw storeError(error, 'read a blob')
}
