/*
 * What a command must not change inside of the workspace, because programs outside run or believe it later.
 *
 * 1. What is there is bound read-only over itself, so that it can neither be written to nor moved away.
 * 2. What is not there can not be bound, and neither can a link. It is looked at again when the command and all that it
 *    started are gone: what was made meanwhile is put aside under another name, and a link that was changed is put back.
 * 3. A folder with a guarded part inside is bound over itself: nobody can move it away and make another in its place.
 */
import { lstatSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

/** Settings with code, or about code, that editors, shells and agents run: of others and our own. */
const settings = ['.ai-agent.json', '.mcp.json', '.troupe', '.claude', '.codex', '.cursor', '.vscode', '.idea', '.envrc', '.husky'] as const

/** Git runs hooks and whatever its settings name. `commondir` says where else to look for both. */
const partsOfGit = ['hooks', 'config', 'config.worktree', 'commondir', 'modules'] as const

/** Keys of providers: only we read them. */
const secrets = ['.ai-agent.env'] as const

/** Files in a home folder that a shell runs when it starts. */
const startFiles = [
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.bash_logout',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  '.inputrc',
  '.gitconfig',
]

export interface Guard {
  /** Bound over itself, and still written to. */
  readonly fixed: readonly string[]
  readonly readOnly: readonly string[]
  readonly hidden: readonly string[]
  /** To be called when the command is gone: puts right what could not be bound, and tells. */
  undo(): readonly string[]
}

export interface GuardedPlace {
  readonly folder: string
  /** It is, or contains, the person's home folder. */
  readonly home?: string
}

export function guard({ folder, home }: GuardedPlace): Guard {
  const git = join(folder, '.git')
  const isRepository = kindOf(git) === 'folder'
  const names = [
    ...settings.map((name) => join(folder, name)),
    ...(isRepository ? partsOfGit.map((name) => join(git, name)) : kindOf(git) === 'absent' ? [] : [git]),
    ...(home === undefined ? [] : startFiles.map((name) => join(home, name))),
  ]
  const found = names.map((path) => ({ path, kind: kindOf(path) }))
  const absent = found.filter(({ kind }) => kind === 'absent').map(({ path }) => path)
  const links = found.filter(({ kind }) => kind === 'link').map(({ path }) => ({ path, target: readlinkSync(path) }))
  return {
    fixed: isRepository ? [git] : [],
    readOnly: found.filter(({ kind }) => kind === 'folder' || kind === 'file').map(({ path }) => path),
    hidden: secrets.map((name) => join(folder, name)).filter((path) => kindOf(path) !== 'absent'),
    undo: () => [...absent.flatMap(putAside), ...links.flatMap(putBack)],
  }
}

function putAside(path: string): readonly string[] {
  if (kindOf(path) === 'absent') return []
  const aside = freeName(`${path}.refused`)
  renameSync(path, aside)
  return [`"${path}" was made by the command and is now "${aside}": commands may not make what other programs run.`]
}

function putBack({ path, target }: { readonly path: string; readonly target: string }): readonly string[] {
  if (kindOf(path) === 'link' && readlinkSync(path) === target) return []
  if (kindOf(path) === 'link') rmSync(path)
  else if (kindOf(path) !== 'absent') renameSync(path, freeName(`${path}.refused`))
  symlinkSync(target, path)
  return [`"${path}" was changed by the command and leads to "${target}" again: commands may not change what other programs run.`]
}

function freeName(path: string): string {
  for (let count = 1; ; count++) {
    const name = count === 1 ? path : `${path}-${count}`
    if (kindOf(name) === 'absent') return name
  }
}

function kindOf(path: string): 'absent' | 'folder' | 'file' | 'link' {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (!stat) return 'absent'
  if (stat.isSymbolicLink()) return 'link'
  return stat.isDirectory() ? 'folder' : 'file'
}
