import type { ToolFailure, ToolFailureClass } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'

/** Ends work on files from any depth, so that whatever is open gets closed on the way; tools return it as data. */
export class FileFault extends Error {
  override readonly name = 'FileFault'
  readonly failure: ToolFailure

  constructor(kind: ToolFailureClass, message: string, remedy?: string) {
    super(message)
    this.failure = { class: kind, message, ...(remedy !== undefined && { remedy }) }
  }
}

/** The code of a failed system call. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** What the system said about a path, in words that help. */
export function faultOf(error: unknown, path: string): FileFault {
  if (error instanceof FileFault) return error
  const code = codeOf(error)
  const known = code === undefined ? undefined : systemFaults[code]
  if (known) return new FileFault('failed', `${path}: ${known[0]}.`, known[1])
  return new FileFault('failed', `${path}: ${messageOf(error)}.`)
}

const noAccess = 'Ask for the permission to be changed, or work on another file.'
const systemFaults: { readonly [code: string]: readonly [message: string, remedy: string] } = {
  EACCES: ['the permission is missing', noAccess],
  EPERM: ['the system does not permit it', noAccess],
  EROFS: ['the file system is read-only', 'Work on files elsewhere in the workspace.'],
  ENOSPC: ['there is no space left on the disk', 'Make room, then try again.'],
  EDQUOT: ['the disk quota is used up', 'Make room, then try again.'],
  EFBIG: ['the file would be too large', 'Write less.'],
  ENAMETOOLONG: ['the name is too long', 'Use a shorter name.'],
  EILSEQ: ['the file system does not take that name', 'Use another name.'],
  EISDIR: ['it is a folder', 'Name a file in it; list_files shows what there is.'],
  ENOTDIR: ['a part of the path is a file, not a folder', 'Check the path with list_files.'],
  ENOENT: ['it does not exist', 'Check the path with list_files.'],
  EEXIST: ['it exists already', 'Change it instead of adding it.'],
  ELOOP: ['a part of the path has become a symbolic link', 'Look at the path with list_files, then try again.'],
  ENXIO: ['it is no regular file', 'Only regular files can be used.'],
  EMFILE: ['too many files are open', 'Try again.'],
  ENFILE: ['too many files are open', 'Try again.'],
  ETXTBSY: ['the program is running', 'End it first.'],
}
