import type { Clock, InteractionEvent, Store, TreeId } from '../../contracts/index.ts'
import { jsonWeight } from '../../util/json-weight.ts'
import { TimeSlices } from '../../util/time-slices.ts'

// The journals, read by many: every reader of a session needs the same events.
//
// 1. A page is read and parsed once for all readers that need it: they get the same objects. It is limited by bytes.
// 2. A reader in the middle of a page uses it, and then follows the same pages as all others.
// 3. The pages that are kept have a limited size. A reader that waits keeps none: it may read a page again.
// 4. An empty page is never shared: there may be more by now.
// 5. A session that is started again has the id of the one that was deleted, by any process, and none of its pages.

const pageBytes = 128 * 1024
const keptBytes = 24 * 1024 ** 2
/** The memory that a page takes beside its events. */
const overhead = 1024

interface Source {
  readonly treeId: TreeId
  /** Differs if the tree was deleted and started again. */
  readonly key: string
}

interface Page extends Source {
  /** The cursor before its first event. */
  readonly after: number
  readonly events: readonly InteractionEvent[]
  readonly weight: number
}

export class JournalPages {
  readonly #store: () => Pick<Store, 'journal' | 'trees'>
  readonly #slices: TimeSlices
  readonly #reading = new Map<string, Promise<Page>>()
  /** By the key of their source, then by every cursor that they continue. */
  readonly #pages = new Map<string, Map<number, Page>>()
  /** The least recently used one first. */
  readonly #kept = new Set<Page>()
  #weight = 0

  constructor(store: () => Pick<Store, 'journal' | 'trees'>, clock: Pick<Clock, 'monotonic'>) {
    this.#store = store
    this.#slices = new TimeSlices(clock)
  }

  /** The events after a cursor, to the end of the journal as it is then. */
  async *read(treeId: TreeId, after: number): AsyncGenerator<InteractionEvent> {
    const entry = await this.#store().trees.get(treeId)
    if (!entry) return
    const source = { treeId, key: `${treeId} ${entry.createdAt}` }
    const reader = new PageReader((cursor) => this.#page(source, cursor), after)
    for (let event = await reader.next(); event; event = await reader.next()) yield event
  }

  /** The tree was deleted. */
  forget(treeId: TreeId): void {
    for (const page of this.#kept) if (page.treeId === treeId) this.#drop(page)
  }

  /** The page that continues after a cursor: it may begin before it. */
  async #page(source: Source, cursor: number): Promise<Page> {
    const known = this.#find(source, cursor)
    if (known) return known
    const key = `${source.key} ${cursor}`
    const begun = this.#reading.get(key)
    if (begun) {
      const page = await begun
      if (page.events.length > 0) return page
    }
    const reading = this.#load(source, cursor)
    this.#reading.set(key, reading)
    try {
      return await reading
    } finally {
      if (this.#reading.get(key) === reading) this.#reading.delete(key)
    }
  }

  #find({ key }: Source, cursor: number): Page | undefined {
    const page = this.#pages.get(key)?.get(cursor)
    // Now the most recently used one.
    if (page && this.#kept.delete(page)) this.#kept.add(page)
    return page
  }

  async #load({ treeId, key }: Source, after: number): Promise<Page> {
    await this.#slices.turn()
    const events = await this.#store().journal.read(treeId, after, { bytes: pageBytes })
    const page = { treeId, key, after, events, weight: events.length === 0 ? 0 : overhead + jsonWeight(events) }
    if (events.length > 0) this.#keep(page)
    return page
  }

  #keep(page: Page): void {
    const pages = this.#pages.get(page.key) ?? new Map<number, Page>()
    this.#pages.set(page.key, pages)
    for (const index of page.events.keys()) pages.set(page.after + index, page)
    this.#kept.add(page)
    this.#weight += page.weight
    for (const oldest of this.#kept) {
      if (this.#weight <= keptBytes || oldest === page) break
      this.#drop(oldest)
    }
  }

  #drop(page: Page): void {
    const pages = this.#pages.get(page.key)
    for (const index of page.events.keys()) if (pages?.get(page.after + index) === page) pages.delete(page.after + index)
    if (pages?.size === 0) this.#pages.delete(page.key)
    if (this.#kept.delete(page)) this.#weight -= page.weight
  }
}

/** Its page can be collected while it waits for its reader: nothing else refers to it. */
class PageReader {
  readonly #find: (cursor: number) => Promise<Page>
  #cursor: number
  #page: WeakRef<Page> | undefined

  constructor(find: (cursor: number) => Promise<Page>, after: number) {
    this.#find = find
    this.#cursor = Math.max(0, after)
  }

  async next(): Promise<InteractionEvent | undefined> {
    const event = eventAfter(this.#page?.deref(), this.#cursor) ?? (await this.#nextPage())
    if (event) this.#cursor = event.seq
    return event
  }

  async #nextPage(): Promise<InteractionEvent | undefined> {
    const page = await this.#find(this.#cursor)
    this.#page = new WeakRef(page)
    return eventAfter(page, this.#cursor)
  }
}

const eventAfter = (page: Page | undefined, cursor: number): InteractionEvent | undefined => page?.events[cursor - page.after]
