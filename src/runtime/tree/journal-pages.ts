import type { Clock, InteractionEvent, Journal, TreeId } from '../../contracts/index.ts'
import { jsonWeight } from '../../util/json-weight.ts'
import { TimeSlices } from '../../util/time-slices.ts'

// The journals, read by many: every reader of a session needs the same events.
//
// 1. A page is read and parsed once for all readers that need it: they get the same objects. It is limited by bytes.
// 2. A reader in the middle of a page uses it, and then follows the same pages as all others.
// 3. The pages that are kept have a limited size. A reader that waits keeps none: it may read a page again.
// 4. An empty page is never shared: there may be more by now.

const pageBytes = 128 * 1024
const keptBytes = 24 * 1024 ** 2
/** Of a page, beside its events. */
const overhead = 1024

interface Page {
  readonly treeId: TreeId
  /** The cursor before its first event. */
  readonly after: number
  readonly events: readonly InteractionEvent[]
  readonly weight: number
}

export class JournalPages {
  readonly #journal: () => Pick<Journal, 'read'>
  readonly #slices: TimeSlices
  readonly #reading = new Map<string, Promise<Page>>()
  readonly #ofTree = new Map<TreeId, Set<Page>>()
  /** The least recently used one first. */
  readonly #kept = new Set<Page>()
  #weight = 0

  constructor(journal: () => Pick<Journal, 'read'>, clock: Pick<Clock, 'monotonic'>) {
    this.#journal = journal
    this.#slices = new TimeSlices(clock)
  }

  /** The events after a cursor, to the end of the journal as it is then. */
  async *read(treeId: TreeId, after: number): AsyncGenerator<InteractionEvent> {
    const reader = new PageReader((cursor) => this.#page(treeId, cursor), after)
    for (let event = await reader.next(); event; event = await reader.next()) yield event
  }

  /** The tree was deleted. */
  forget(treeId: TreeId): void {
    for (const page of this.#ofTree.get(treeId) ?? []) this.#drop(page)
  }

  /** The page that continues after a cursor: it may begin before it. */
  async #page(treeId: TreeId, cursor: number): Promise<Page> {
    const known = this.#find(treeId, cursor)
    if (known) return known
    const key = `${treeId} ${cursor}`
    const begun = this.#reading.get(key)
    if (begun) {
      const page = await begun
      if (page.events.length > 0) return page
    }
    const reading = this.#load(treeId, cursor)
    this.#reading.set(key, reading)
    try {
      return await reading
    } finally {
      if (this.#reading.get(key) === reading) this.#reading.delete(key)
    }
  }

  #find(treeId: TreeId, cursor: number): Page | undefined {
    for (const page of this.#ofTree.get(treeId) ?? []) {
      if (page.after > cursor || cursor >= page.after + page.events.length) continue
      // Now the most recently used one.
      this.#kept.delete(page)
      this.#kept.add(page)
      return page
    }
    return undefined
  }

  async #load(treeId: TreeId, after: number): Promise<Page> {
    await this.#slices.turn()
    const events = await this.#journal().read(treeId, after, { bytes: pageBytes })
    const page = { treeId, after, events, weight: events.length === 0 ? 0 : overhead + jsonWeight(events) }
    if (events.length > 0) this.#keep(page)
    return page
  }

  #keep(page: Page): void {
    const ofTree = this.#ofTree.get(page.treeId) ?? new Set()
    this.#ofTree.set(page.treeId, ofTree.add(page))
    this.#kept.add(page)
    this.#weight += page.weight
    for (const oldest of this.#kept) {
      if (this.#weight <= keptBytes || oldest === page) break
      this.#drop(oldest)
    }
  }

  #drop(page: Page): void {
    const ofTree = this.#ofTree.get(page.treeId)
    ofTree?.delete(page)
    if (ofTree?.size === 0) this.#ofTree.delete(page.treeId)
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
