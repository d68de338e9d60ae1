import { constants, type Stats } from 'node:fs'
import { access, readlink } from 'node:fs/promises'
import { FileError, toFileError } from './file-error.ts'
import type { OpenFolder } from './open-folder.ts'
import type { Workspace } from './workspace.ts'
import { nameOf, parentOf, type WorkspacePath } from './workspace-path.ts'

export type Snapshot =
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'file'
      /** Undefined if the file is larger than requested. */
      readonly bytes: Buffer | undefined
      readonly size: number
      readonly mode: number
      readonly owner: { readonly user: number; readonly group: number }
      /** Identifies this version: any change alters it. */
      readonly identity: string
    }

export const identityOf = ({ dev, ino, size, mtimeMs }: Stats): string => `${dev}:${ino}:${size}:${mtimeMs}`

/** Reads a file before a change, up to `mostBytes`. Throws if it cannot be changed. */
export async function snapshotOf(workspace: Workspace, place: WorkspacePath, mostBytes: number): Promise<Snapshot> {
  if (place.relative === '.') throw new FileError('invalid_input', 'The path is the workspace itself.', 'Name a file in it.')
  const folder = await workspace.folderAt(parentOf(place))
  if (folder === undefined) return { kind: 'absent' }
  try {
    return await snapshotIn(workspace, folder, { place, mostBytes })
  } catch (error) {
    throw toFileError(error, place.relative)
  } finally {
    await folder.close()
  }
}

async function snapshotIn(
  workspace: Workspace,
  folder: OpenFolder,
  { place, mostBytes }: { readonly place: WorkspacePath; readonly mostBytes: number },
): Promise<Snapshot> {
  const name = nameOf(place)
  const entry = await folder.stat(name)
  if (entry === undefined) return { kind: 'absent' }
  if (entry.isSymbolicLink()) throw await isLink(folder, place)
  const { handle, stat } = await folder.file(workspace.root, name)
  try {
    // A rename would replace a read-only file, too; respect its mode.
    await access(folder.entry(name), constants.W_OK)
    const bytes = stat.size <= mostBytes ? await handle.readFile() : undefined
    const after = await handle.stat()
    const { size, mode, uid, gid } = after
    return { kind: 'file', bytes, size, mode: mode & 0o777, owner: { user: uid, group: gid }, identity: identityOf(after) }
  } finally {
    await handle.close()
  }
}

async function isLink(folder: OpenFolder, place: WorkspacePath): Promise<FileError> {
  const target = await readlink(folder.entry(nameOf(place))).catch(() => 'something else')
  return new FileError(
    'invalid_input',
    `${place.relative} is a symbolic link to ${target}. Writing through links is not allowed.`,
    'Use the path of its target.',
  )
}
