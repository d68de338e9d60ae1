import type { BlobId, Blobs, Deletion, Problem, Store, TreeEntry, TreeId, Trees } from '../../contracts/index.ts'
import { checkKeys, configError, expectObject } from '../../util/option-problems.ts'
import { showValue } from '../../util/show-value.ts'
import { Forest, type MemoryTree } from './forest.ts'
import { MemoryInbox } from './memory-inbox.ts'
import { MemoryJournal } from './memory-journal.ts'

export interface MemoryStoreOptions {
  /** How many ended sessions are kept; the one that was released longest ago is evicted first. Default 100. */
  readonly keepTrees?: number
}

/**
 * A store that lives and dies with the process. Every answer comes at once, never as a promise, and events
 * are kept as they were given: whoever appends them must not change them afterwards.
 *
 * Owners do not die before their process does, so a tree stays with its owner until it is given up.
 *
 * Sessions that are running or suspended are never evicted, however many there are: delete those that nobody will continue
 * (`trees.delete`). Of the others the `keepTrees` that were released last are kept.
 *
 * @throws TroupeError `config_invalid` with every problem at once.
 */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  checkOptions(options)
  const forest = new Forest(options.keepTrees ?? 100)
  return {
    journal: new MemoryJournal(forest),
    inbox: new MemoryInbox(forest),
    blobs: memoryBlobs(forest),
    trees: memoryTrees(forest),
    vacuum: () => undefined,
    close: async () => forest.close(),
  }
}

function checkOptions(options: MemoryStoreOptions): void {
  const problems: Problem[] = []
  if (!expectObject(problems, options, 'memoryStore')) throw configError(problems)
  checkKeys(problems, options, { known: ['keepTrees'], place: 'memoryStore' })
  const { keepTrees = 0 } = options
  if (!(typeof keepTrees === 'number' && keepTrees >= 0))
    problems.push({
      place: 'memoryStore.keepTrees',
      message: `expected a number of trees, found ${showValue(keepTrees)}`,
      remedy: 'Leave it out for 100.',
    })
  if (problems.length > 0) throw configError(problems)
}

function memoryBlobs(forest: Forest): Blobs {
  return {
    put(treeId: TreeId, text: string): BlobId {
      const tree = forest.findOrMake(treeId)
      tree.blobs ??= new Map()
      // Loaded for the first output that is too large to show, if there ever is one: it takes as long as a dozen files.
      const { createHash } = process.getBuiltinModule('node:crypto')
      // UTF-16 tells lone surrogates apart, which UTF-8 would make equal.
      const id = createHash('sha256').update(text, 'utf16le').digest('hex').slice(0, 32) as BlobId
      tree.blobs.set(id, text)
      return id
    },
    get(treeId: TreeId, id: BlobId): string | undefined {
      return forest.find(treeId)?.blobs?.get(id)
    },
  }
}

function memoryTrees(forest: Forest): Trees {
  return {
    get(treeId: TreeId): TreeEntry | undefined {
      const tree = forest.find(treeId)
      return tree === undefined ? undefined : entryOf(tree)
    },
    list({ limit = Number.POSITIVE_INFINITY, before = Number.POSITIVE_INFINITY } = {}): readonly TreeEntry[] {
      const entries: TreeEntry[] = []
      for (const tree of forest.all()) {
        const entry = entryOf(tree)
        if (entry !== undefined && entry.createdAt < before) entries.push(entry)
      }
      return entries.sort((one, other) => other.createdAt - one.createdAt).slice(0, limit)
    },
    driver: (treeId: TreeId): string | undefined => forest.find(treeId)?.owner,
    find(key: string): TreeEntry | undefined {
      const tree = forest.findByKey(key)
      return tree === undefined ? undefined : entryOf(tree)
    },
    delete(treeId: TreeId): Deletion {
      const tree = forest.find(treeId)
      if (tree === undefined) return { ok: false, refusal: 'missing' }
      if (tree.owner !== undefined) return { ok: false, refusal: 'driven', driver: tree.owner }
      forest.remove(tree)
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
