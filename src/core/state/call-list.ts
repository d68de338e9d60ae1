interface Entry {
  readonly itemId: string
  readonly kind: string
}

/** The calls of a step: an array, or for many calls a paged list. */
export interface CallList<C> extends Iterable<C> {
  readonly length: number
  at(index: number): C | undefined
  some(is: (call: C) => boolean): boolean
  map<T>(change: (call: C) => T): readonly T[]
  flatMap<T>(change: (call: C) => readonly T[]): readonly T[]
  filter<S extends C>(is: (call: C) => call is S): readonly S[]
}

/** Up to this length a plain array is faster. */
const maxPlainCalls = 32
const pageSize = 128

export function callList<C extends Entry>(calls: CallList<C>): CallList<C> {
  return calls.length <= maxPlainCalls || isPaged(calls) ? calls : PagedCallList.from([...calls])
}

/** -1 if the list does not have the call. */
export function indexOfCall<C extends Entry>(calls: CallList<C>, itemId: string | undefined): number {
  if (isPaged(calls)) return calls.placeOf(itemId)
  for (let place = 0; place < calls.length; place++) if (calls.at(place)?.itemId === itemId) return place
  return -1
}

export function findCall<C extends Entry>(calls: CallList<C>, itemId: string | undefined): C | undefined {
  const place = indexOfCall(calls, itemId)
  return place < 0 ? undefined : calls.at(place)
}

/** The list with `changed` in place of the call with the same id. */
export function replaceCall<C extends Entry>(calls: CallList<C>, changed: C): CallList<C> {
  if (calls.length === 1) return [changed]
  return isPaged(calls) ? calls.with(changed) : calls.map((call) => (call.itemId === changed.itemId ? changed : call))
}

export function haveAllEnded<C extends Entry>(calls: CallList<C>): calls is CallList<Extract<C, { readonly kind: 'ended' }>> {
  return isPaged(calls) ? calls.open === 0 : !calls.some(isOpen)
}

/** Usually all calls match: then the array itself is returned. */
export function filterCalls<C, S extends C>(calls: CallList<C>, are: (call: C) => call is S): readonly S[] {
  return Array.isArray(calls) && calls.every(are) ? calls : calls.filter(are)
}

/** The length check first: it is cheap, and usually decides. */
const isPaged = <C extends Entry>(calls: CallList<C>): calls is PagedCallList<C> =>
  calls.length > maxPlainCalls && calls instanceof PagedCallList
const isOpen = ({ kind }: Entry): boolean => kind !== 'ended'

/**
 * 1. Immutable: replacing a call gives a new list.
 * 2. A new list shares all pages with the old one except the changed page.
 * 3. All versions share one map of positions.
 */
class PagedCallList<C extends Entry> implements CallList<C> {
  readonly length: number
  /** Number of calls that have not ended. */
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
