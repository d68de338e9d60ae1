// What a command can read but not change in a folder that it can write to, because programs outside of the sandbox run or
// trust it later.
//
// 1. What exists when the command starts is protected, by a mount. Nothing is created, moved or left in the folder.
// 2. A folder with something protected in it is mounted over itself ("pinned"): it cannot be moved away and replaced. Folders
//    above nested repositories are not pinned, because moving files between them would fail.
// 3. A mount cannot protect a symbolic link, only the file that it leads to.
// 4. Of nested repositories, work trees and submodules, those are protected that existed at the first look, even where a later
//    look does not find them: commands can create more folders than are searched, or remove a HEAD. Commands can configure
//    and remove what commands have created.
// 5. What is in a folder that cannot be searched cannot be protected. The whole folder is hidden.
import { lstatSync, realpathSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { homeSecrets, protectedSettings, startFiles } from '../../policy/protected-paths.ts'
import { isInside } from '../../util/is-inside.ts'
import { identityAt, isDenied, isLocked, isOwnFolder, kindOf, ReplacedError } from './file-identity.ts'
import { gitFolderAt, gitFoldersIn, namedBySettings, partsOf } from './git-folders.ts'
import { type ScanResult, WorkspaceScan } from './workspace-scan.ts'

export interface ProtectedFiles {
  /** Folders that stay writable but cannot be moved, the outermost first. */
  readonly pinned: readonly string[]
  readonly readOnly: readonly string[]
  /** Files with keys of providers, and folders that cannot be searched. */
  readonly hidden: readonly string[]
  /** Protected names that do not exist. Bubblewrap cannot protect them; Seatbelt can. */
  readonly absent: readonly string[]
  /** The identity of everything pinned or read-only, as it was found. */
  readonly identities: ReadonlyMap<string, string>
}

interface ProtectedOptions {
  /** The person's home folder, where it is in the folder. Without links. */
  readonly home: string | undefined
  readonly guarded: readonly string[]
  /** Files that are hidden for other reasons, anywhere: the folders above them are pinned. */
  readonly hidden: readonly string[]
}

/** One folder that commands can write to. Without links. */
export class WritableFolder {
  readonly path: string
  readonly #scan: WorkspaceScan
  /** At the first look. */
  #initial: readonly GitFolder[] | undefined

  constructor(path: string) {
    this.path = path
    this.#scan = new WorkspaceScan(path)
  }

  isSearched(): boolean {
    return this.#scan.scan().isComplete
  }

  protectedFiles({ home, guarded, hidden }: ProtectedOptions): ProtectedFiles {
    if (isLocked(this.path)) throw new Error(`${this.path} cannot be read: run chmod u+rwx on it`)
    const scanned = this.#scan.scan()
    const own = gitFolderAt(join(this.path, '.git'))
    const gitFolders = this.#gitFolders(scanned, own)
    const named = [
      ...[...protectedSettings, '.git'].map((name) => join(this.path, name)),
      ...(home === undefined ? [] : startFiles.map((name) => join(home, name))),
      ...(own === undefined ? [] : namedBySettings(own, this.path)),
      ...guarded,
    ]
    const locked = new Set(scanned.locked)
    const inside = (path: string): readonly string[] => this.#inside(path, locked)
    const fixed = named.flatMap(inside)
    const ofGit = gitFolders.flatMap(({ folder, entry }) => [
      ...partsOf(folder),
      ...(kindOf(entry) === 'file' ? [entry] : []),
      ...namedBySettings(folder, dirname(entry)),
    ])
    const readOnly = identified([...fixed, ...ofGit.flatMap(inside)].filter((path) => path !== own))
    const secrets = scanned.secrets.flatMap(inside)
    const pinned = identified([
      ...gitFolders.flatMap(({ folder, repository }) => [
        ...(repository === this.path ? [] : [repository]),
        ...between(repository, folder),
      ]),
      ...[...fixed, ...secrets, ...hidden.flatMap(inside)].flatMap((path) => between(this.path, dirname(path))),
    ])
    // What is not found because of a locked folder.
    for (const { entry, folder } of [...gitFolders, ...(this.#initial ?? [])])
      for (const path of [entry, ...inFolders.map((name) => join(folder, name))]) inside(path)
    if (home !== undefined) for (const name of homeSecrets) inside(join(home, name))
    return {
      pinned: [...pinned.keys()].filter((path) => !readOnly.has(path)).toSorted((one, other) => one.length - other.length),
      readOnly: [...readOnly.keys()],
      hidden: [...new Set([...secrets, ...locked])],
      absent: [...named, ...partsOf(own ?? join(this.path, '.git'))].filter((path) => kindOf(path) === 'absent'),
      identities: new Map([...pinned, ...readOnly]),
    }
  }

  #gitFolders({ repositories }: ScanResult, own: string | undefined): readonly GitFolder[] {
    const all = repositories.flatMap((entry) => {
      const repository = gitFolderAt(entry)
      const isHere = repository !== undefined && isInside(this.path, repository)
      // A file that names a repository elsewhere is protected itself.
      if (!isHere) return kindOf(entry) === 'file' ? [gitFolder(entry, entry, entry)] : []
      return gitFoldersIn(repository).map((folder) => gitFolder(entry, repository, folder))
    })
    this.#initial ??= all
    const initial = this.#initial
    const known = new Set(initial.map(({ identity }) => identity))
    const kept = initial.filter(({ folder, identity }) => identityAt(folder) === identity)
    const found = all.filter(({ folder, identity }) => folder === own || known.has(identity))
    return [...new Map([...kept, ...found].map((each) => [`${each.entry}\0${each.folder}`, each])).values()].slice(0, mostGitFolders)
  }

  /** The path without links, where it exists in this folder. A folder on the way that is locked is added to `locked`. */
  #inside(path: string, locked: Set<string>): readonly string[] {
    const above = isInside(this.path, path) ? between(this.path, dirname(path)) : []
    const shut = above.find(isLocked)
    if (shut !== undefined) {
      locked.add(shut)
      return []
    }
    try {
      if (!lstatSync(path, { throwIfNoEntry: false })) return []
      const real = realpathSync(path)
      return isInside(this.path, real) && real !== this.path ? [real] : []
    } catch (error) {
      // A command that is running may lock a folder for a moment. A link may lead to where this user cannot go.
      if (isDenied(error) && kindOf(path) !== 'link' && above.every(isOwnFolder)) throw new ReplacedError(path)
      return []
    }
  }
}

/** Each costs a few mounts. */
const mostGitFolders = 100

interface GitFolder {
  /** The `.git` that led there. */
  readonly entry: string
  readonly repository: string
  /** The repository itself, or a work tree or submodule in it. */
  readonly folder: string
  readonly identity: string
}

const gitFolder = (entry: string, repository: string, folder: string): GitFolder => ({
  entry,
  repository,
  folder,
  identity: identityAt(folder) ?? '',
})

/** Names in the folders of a repository that are searched. */
const inFolders = ['config', 'modules/*', 'worktrees/*']

/** The one look that decides: if something else is mounted later, the command does not start. */
function identified(paths: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    [...new Set(paths)].map((path) => {
      const identity = identityAt(path)
      if (identity === undefined) throw new ReplacedError(path)
      return [path, identity]
    }),
  )
}

/** Folders below `top` on the way to `folder`, and `folder` itself. */
function between(top: string, folder: string): readonly string[] {
  const names = relative(top, folder).split('/').filter(Boolean)
  return names.map((_, index) => join(top, ...names.slice(0, index + 1)))
}
