import type { BlobId, Blobs, Deletion, Problem, Store, TreeEntry, TreeId, Trees } from '../../contracts/index.ts'
import { checkKeys, configError, expectObject } from '../../util/option-problems.ts'
import { showValue } from '../../util/show-value.ts'
import { memoryInbox, memoryJournal } from './memory-journal.ts'
import { type MemoryTree, MemoryTrees } from './memory-trees.ts'

export interface MemoryStoreOptions {
  /** How many ended sessions are kept. The one that was released first is evicted first. Default 100. */
  readonly keepSessions?: number
}

/**
 * A store in memory. It answers synchronously and stores the given events without a copy: do not change them afterwards.
 *
 * Sessions that are running or suspended are never evicted: delete those that nobody will continue (`trees.delete`). Of the
 * others the `keepSessions` that were released last are kept.
 *
 * @throws TroupeError `config_invalid` with all problems.
 */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  checkOptions(options)
  const trees = new MemoryTrees(options.keepSessions ?? 100)
  return {
    journal: memoryJournal(trees),
    inbox: memoryInbox(trees),
    blobs: memoryBlobs(trees),
    trees: treeIndex(trees),
    vacuum: () => undefined,
    close: async () => trees.close(),
  }
}

function checkOptions(options: MemoryStoreOptions): void {
  const problems: Problem[] = []
  if (!expectObject(problems, options, 'memoryStore')) throw configError(problems)
  checkKeys(problems, options, { known: ['keepSessions'], place: 'memoryStore' })
  const { keepSessions = 0 } = options
  if (!(typeof keepSessions === 'number' && keepSessions >= 0))
    problems.push({
      place: 'memoryStore.keepSessions',
      message: `expected a number of sessions, found ${showValue(keepSessions)}`,
      remedy: 'Leave it out for 100.',
    })
  if (problems.length > 0) throw configError(problems)
}

function memoryBlobs(trees: MemoryTrees): Blobs {
  return {
    put(treeId: TreeId, text: string): BlobId {
      const tree = trees.findOrCreate(treeId)
      tree.blobs ??= new Map()
      // Loaded with the first blob: loading it takes as long as a dozen files.
      const { createHash } = process.getBuiltinModule('node:crypto')
      // UTF-16 tells lone surrogates apart, which UTF-8 would make equal.
      const id = createHash('sha256').update(text, 'utf16le').digest('hex').slice(0, 32) as BlobId
      tree.blobs.set(id, text)
      return id
    },
    get(treeId: TreeId, id: BlobId): string | undefined {
      return trees.find(treeId)?.blobs?.get(id)
    },
  }
}

function treeIndex(trees: MemoryTrees): Trees {
  return {
    get(treeId: TreeId): TreeEntry | undefined {
      const tree = trees.find(treeId)
      return tree === undefined ? undefined : entryOf(tree)
    },
    list({ limit = Number.POSITIVE_INFINITY, before = Number.POSITIVE_INFINITY } = {}): readonly TreeEntry[] {
      const entries: TreeEntry[] = []
      for (const tree of trees.all()) {
        const entry = entryOf(tree)
        if (entry !== undefined && entry.createdAt < before) entries.push(entry)
      }
      return entries.sort((one, other) => other.createdAt - one.createdAt).slice(0, limit)
    },
    driver: (treeId: TreeId): string | undefined => trees.find(treeId)?.owner,
    find(key: string): TreeEntry | undefined {
      const tree = trees.findByKey(key)
      return tree === undefined ? undefined : entryOf(tree)
    },
    delete(treeId: TreeId): Deletion {
      const tree = trees.find(treeId)
      if (tree === undefined) return { ok: false, refusal: 'missing' }
      if (tree.owner !== undefined) return { ok: false, refusal: 'driven', driver: tree.owner }
      trees.remove(tree)
      return { ok: true }
    },
  }
}

/** A tree without events has nothing to show yet. */
function entryOf({ treeId, events, createdAt, summary, identity }: MemoryTree): TreeEntry | undefined {
  const last = events.at(-1)
  if (last === undefined) return undefined
  return { treeId, seq: last.seq, ...summary, ...identity, createdAt, updatedAt: Math.max(createdAt, last.at) }
}
