import type { ToolFailure, ToolFailureClass } from '../../contracts/index.ts'
import { errorCode } from '../../util/error-code.ts'
import { messageOf } from '../../util/message-of.ts'

/** Thrown by file operations; tools return it as a failure. */
export class FileError extends Error {
  override readonly name = 'FileError'
  readonly failure: ToolFailure

  constructor(kind: ToolFailureClass, message: string, remedy?: string) {
    super(message)
    this.failure = { class: kind, message, ...(remedy !== undefined && { remedy }) }
  }
}

export function toFileError(error: unknown, path: string): FileError {
  if (error instanceof FileError) return error
  const code = errorCode(error)
  const known = code === undefined ? undefined : systemErrors[code]
  if (known) return new FileError('failed', `${path}: ${known[0]}.`, known[1])
  return new FileError('failed', `${path}: ${messageOf(error)}.`)
}

const noAccess = 'Ask the user to change the permissions, or use another file.'
const systemErrors: { readonly [code: string]: readonly [message: string, remedy: string] } = {
  EACCES: ['permission denied', noAccess],
  EPERM: ['operation not permitted', noAccess],
  EROFS: ['the file system is read-only', 'Use another folder of the workspace.'],
  ENOSPC: ['there is no space left on the disk', 'Free some space, then try again.'],
  EDQUOT: ['the disk quota is exhausted', 'Free some space, then try again.'],
  EFBIG: ['the file would be too large', 'Write less.'],
  ENAMETOOLONG: ['the name is too long', 'Use a shorter name.'],
  EILSEQ: ['the file system does not accept this name', 'Use another name.'],
  EISDIR: ['it is a folder', 'Name a file in it; list_files shows its entries.'],
  ENOTDIR: ['a part of the path is a file, not a folder', 'Check the path with list_files.'],
  ENOENT: ['it does not exist', 'Check the path with list_files.'],
  EEXIST: ['it already exists', 'Update it instead of adding it.'],
  ELOOP: ['a part of the path is now a symbolic link', 'Check the path with list_files, then try again.'],
  ENXIO: ['it is not a regular file', 'Use a regular file.'],
  EMFILE: ['too many files are open', 'Try again.'],
  ENFILE: ['too many files are open', 'Try again.'],
  ETXTBSY: ['the program is running', 'Stop it first.'],
}
