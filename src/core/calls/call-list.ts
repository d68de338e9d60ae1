interface Entry {
  readonly itemId: string
  readonly kind: string
}

/** What can be read of the calls of a step, however many there are. */
export interface CallList<C> extends Iterable<C> {
  readonly length: number
  at(index: number): C | undefined
  some(is: (call: C) => boolean): boolean
  map<T>(change: (call: C) => T): readonly T[]
  flatMap<T>(change: (call: C) => readonly T[]): readonly T[]
  filter<S extends C>(is: (call: C) => call is S): readonly S[]
}

/** Up to here a plain array is copied and looked through faster than anything else. */
const maxPlainCalls = 32
const pageSize = 128

/** Few calls are the array that they are; of many, one can be replaced without a copy of all the others. */
export function callList<C extends Entry>(calls: CallList<C>): CallList<C> {
  return calls.length <= maxPlainCalls || isPaged(calls) ? calls : PagedCallList.from([...calls])
}

/** Where a call stands in the list; -1 for one that does not. */
export function indexOfCall<C extends Entry>(calls: CallList<C>, itemId: string | undefined): number {
  if (isPaged(calls)) return calls.placeOf(itemId)
  for (let place = 0; place < calls.length; place++) if (calls.at(place)?.itemId === itemId) return place
  return -1
}

export function findCall<C extends Entry>(calls: CallList<C>, itemId: string | undefined): C | undefined {
  const place = indexOfCall(calls, itemId)
  return place < 0 ? undefined : calls.at(place)
}

/** The list with another call in the place of the one that has its id. */
export function replaceCall<C extends Entry>(calls: CallList<C>, changed: C): CallList<C> {
  if (calls.length === 1) return [changed]
  return isPaged(calls) ? calls.with(changed) : calls.map((call) => (call.itemId === changed.itemId ? changed : call))
}

export function haveAllEnded<C extends Entry>(calls: CallList<C>): calls is CallList<Extract<C, { readonly kind: 'ended' }>> {
  return isPaged(calls) ? calls.open === 0 : !calls.some(isOpen)
}

/** Those of one sort. Mostly all calls of a step are at the same point: nothing is picked then. */
export function filterCalls<C, S extends C>(calls: CallList<C>, are: (call: C) => call is S): readonly S[] {
  return Array.isArray(calls) && calls.every(are) ? calls : calls.filter(are)
}

/** The length is looked at first: it is there, and mostly says enough. */
const isPaged = <C extends Entry>(calls: CallList<C>): calls is PagedCallList<C> =>
  calls.length > maxPlainCalls && calls instanceof PagedCallList
const isOpen = ({ kind }: Entry): boolean => kind !== 'ended'

/**
 * 1. A list never changes: another call in it gives a new list.
 * 2. A new list shares everything with the old one but the page that has changed.
 * 3. What all versions have in common, the places of the calls, is there once.
 */
class PagedCallList<C extends Entry> implements CallList<C> {
  readonly length: number
  /** How many have not ended. */
  readonly open: number
  readonly #pages: readonly (readonly C[])[]
  readonly #places: ReadonlyMap<string, number>

  private constructor(pages: readonly (readonly C[])[], places: ReadonlyMap<string, number>, open: number) {
    this.#pages = pages
    this.#places = places
    this.length = places.size
    this.open = open
  }

  static from<C extends Entry>(calls: readonly C[]): PagedCallList<C> {
    const pages: C[][] = []
    for (let start = 0; start < calls.length; start += pageSize) pages.push(calls.slice(start, start + pageSize))
    return new PagedCallList(pages, new Map(calls.map(({ itemId }, place) => [itemId, place])), calls.filter(isOpen).length)
  }

  placeOf(itemId: string | undefined): number {
    return (itemId === undefined ? undefined : this.#places.get(itemId)) ?? -1
  }

  at(index: number): C | undefined {
    return this.#pages[Math.floor(index / pageSize)]?.[index % pageSize]
  }

  with(changed: C): PagedCallList<C> {
    const place = this.placeOf(changed.itemId)
    const before = this.at(place)
    const page = this.#pages[Math.floor(place / pageSize)]
    if (!before || !page) return this
    const pages = this.#pages.with(Math.floor(place / pageSize), page.with(place % pageSize, changed))
    return new PagedCallList(pages, this.#places, this.open + Number(isOpen(changed)) - Number(isOpen(before)))
  }

  some(is: (call: C) => boolean): boolean {
    return this.#pages.some((page) => page.some(is))
  }

  map<T>(change: (call: C) => T): readonly T[] {
    return this.toJSON().map(change)
  }

  flatMap<T>(change: (call: C) => readonly T[]): readonly T[] {
    return this.toJSON().flatMap(change)
  }

  filter<S extends C>(is: (call: C) => call is S): readonly S[] {
    return this.toJSON().filter(is)
  }

  [Symbol.iterator](): Iterator<C> {
    return this.toJSON()[Symbol.iterator]()
  }

  toJSON(): readonly C[] {
    return this.#pages.flat()
  }
}
