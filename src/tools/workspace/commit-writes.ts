import { randomBytes } from 'node:crypto'
import { link, mkdir, rename, rmdir, unlink } from 'node:fs/promises'
import { errorCode } from '../../util/error-code.ts'
import { FileError, toFileError } from './file-error.ts'
import { identityOf, type Snapshot } from './file-snapshot.ts'
import type { OpenFolder } from './open-folder.ts'
import type { Workspace } from './workspace.ts'
import { nameOf, parentOf, placeBelow, type WorkspacePath } from './workspace-path.ts'

export interface FileWrite {
  readonly place: WorkspacePath
  readonly before: Snapshot
  /** Undefined: the file is deleted. */
  readonly content: string | Uint8Array | undefined
  /** Default: the mode of the previous file. */
  readonly mode?: number
}

/**
 * Writes all files, or none.
 *
 * 1. New contents are written to temporary files and synced before anything is replaced, so a full disk changes nothing.
 * 2. Each file changes by one rename or link in a checked folder, so readers never see half a file.
 * 3. If a file has changed since it was read, nothing is written, and earlier changes are undone.
 * 4. Only a crash between two renames can leave some files changed; their previous content is then next to them.
 * 5. The new file keeps the mode and, if permitted, the owner. Other names of the previous file (hard
 *    links) keep the previous content.
 */
export async function commitWrites(workspace: Workspace, writes: readonly FileWrite[], signal?: AbortSignal): Promise<void> {
  const commit = new Commit(workspace)
  try {
    for (const write of writes) {
      if (signal?.aborted) throw new FileError('cancelled', 'The call was cancelled; nothing was changed.')
      await commit.prepare(write)
    }
    for (const prepared of commit.prepared) await commit.apply(prepared, writes.length > 1)
    await commit.keep()
  } catch (error) {
    const left = await commit.undo()
    const fault = error instanceof FileError ? error : toFileError(error, commit.at)
    if (left.length === 0) throw fault
    const { class: kind, message } = fault.failure
    throw new FileError(kind, `${message} Some files could not be restored.`, `Their previous content is in ${left.join(', ')}.`)
  } finally {
    await commit.close()
  }
}

interface Prepared {
  readonly write: FileWrite
  readonly folder: OpenFolder
  readonly name: string
  readonly fresh: string | undefined
}

class Commit {
  readonly prepared: Prepared[] = []
  readonly #workspace: Workspace
  readonly #folders = new Map<string, OpenFolder>()
  /** What takes a change back; each resolves with the backup that could not be restored. */
  readonly #undos: (() => Promise<string | undefined>)[] = []
  readonly #backups: string[] = []
  /** Temporary files that may still exist. */
  readonly #scraps: string[] = []
  /** The current file, for errors. */
  at = '.'

  constructor(workspace: Workspace) {
    this.#workspace = workspace
  }

  async prepare(write: FileWrite): Promise<void> {
    this.at = write.place.relative
    const folder = await this.#folder(parentOf(write.place))
    const name = nameOf(write.place)
    const fresh = write.content === undefined ? undefined : await this.#writeFresh(folder, write)
    this.prepared.push({ write, folder, name, fresh })
  }

  async apply({ write, folder, name, fresh }: Prepared, isOneOfMany: boolean): Promise<void> {
    this.at = write.place.relative
    await this.#mustBeAsRead(write, folder, name)
    if (write.before.kind === 'file') {
      const backup = isOneOfMany || fresh === undefined ? await this.#setAside(folder, name, fresh === undefined) : undefined
      if (backup !== undefined) {
        const { relative } = placeBelow(folder.place, backup)
        this.#backups.push(folder.entry(backup))
        this.#undos.push(() => undone(rename(folder.entry(backup), folder.entry(name)), relative))
      }
      if (fresh !== undefined) await rename(folder.entry(fresh), folder.entry(name))
    } else if (fresh !== undefined) {
      await putNew(folder, fresh, name)
      this.#undos.push(() => undone(unlink(folder.entry(name))))
    }
  }

  async keep(): Promise<void> {
    for (const backup of this.#backups) await unlink(backup).catch(() => {})
    this.#undos.length = 0
    for (const folder of this.#folders.values()) await folder.sync()
  }

  /** Returns the backups that could not be restored. */
  async undo(): Promise<readonly string[]> {
    const left: string[] = []
    for (const scrap of this.#scraps) await unlink(scrap).catch(() => {})
    for (const undo of this.#undos.reverse()) left.push(...[(await undo()) ?? []].flat())
    return left
  }

  async close(): Promise<void> {
    for (const folder of this.#folders.values()) await folder.close()
  }

  async #folder(place: WorkspacePath): Promise<OpenFolder> {
    const known = this.#folders.get(place.absolute)
    if (known) return known
    const open = (await this.#workspace.folderAt(place)) ?? (await this.#make(place))
    this.#folders.set(place.absolute, open)
    return open
  }

  async #make(place: WorkspacePath): Promise<OpenFolder> {
    if (place.relative === '.')
      throw new FileError('failed', `The workspace ${this.#workspace.root} no longer exists.`, 'Ask the user to restore it.')
    const parent = await this.#folder(parentOf(place))
    const name = nameOf(place)
    try {
      await mkdir(parent.entry(name))
      this.#undos.push(() => undone(rmdir(parent.entry(name))))
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error
    }
    return await parent.folder(this.#workspace.root, name)
  }

  async #writeFresh(folder: OpenFolder, { before, content, mode }: FileWrite): Promise<string> {
    const fresh = scrapName()
    const handle = await folder.create(this.#workspace.root, fresh, before.kind === 'file' ? 0o600 : 0o666)
    this.#scraps.push(folder.entry(fresh))
    try {
      await handle.writeFile(content ?? '')
      if (before.kind === 'file') await handle.chown(before.owner.user, before.owner.group).catch(() => {})
      const bits = mode ?? (before.kind === 'file' ? before.mode : undefined)
      if (bits !== undefined) await handle.chmod(bits)
      await handle.sync()
    } finally {
      await handle.close()
    }
    return fresh
  }

  async #mustBeAsRead({ before, place }: FileWrite, folder: OpenFolder, name: string): Promise<void> {
    const now = await folder.stat(name)
    const isAsRead = before.kind === 'absent' ? now === undefined : now && before.identity === identityOf(now)
    if (isAsRead) return
    throw new FileError(
      'failed',
      `${place.relative} was changed by another process; nothing was written.`,
      'Read it again, then repeat the change.',
    )
  }

  async #setAside(folder: OpenFolder, name: string, isRemoval: boolean): Promise<string> {
    const backup = scrapName()
    if (isRemoval) await rename(folder.entry(name), folder.entry(backup))
    else
      await link(folder.entry(name), folder.entry(backup)).catch((error: unknown) => {
        if (!hasNoLinks(error)) throw error
        return rename(folder.entry(name), folder.entry(backup))
      })
    return backup
  }
}

const undone = (work: Promise<void>, otherwise?: string): Promise<string | undefined> =>
  work.then(
    () => undefined,
    () => otherwise,
  )

/** Never replaces a file that another process has created meanwhile. */
async function putNew(folder: OpenFolder, fresh: string, name: string): Promise<void> {
  try {
    await link(folder.entry(fresh), folder.entry(name))
    await unlink(folder.entry(fresh))
  } catch (error) {
    if (!hasNoLinks(error)) throw error
    if ((await folder.stat(name)) !== undefined) throw Object.assign(new Error('it exists'), { code: 'EEXIST' })
    await rename(folder.entry(fresh), folder.entry(name))
  }
}

/** Some file systems have no hard links, and some systems allow them only to owners. */
const hasNoLinks = (error: unknown): boolean =>
  ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EACCES'].includes(errorCode(error) ?? '')

const scrapName = (): string => `.troupe-${randomBytes(8).toString('hex')}.tmp`
