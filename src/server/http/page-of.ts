import { HttpError } from './http-error.ts'

interface PageQuery {
  /** The id of the item before the page. */
  readonly after?: string | undefined
  /** The id of the item after the page. */
  readonly before?: string | undefined
  readonly limit: number
}

/** As OpenAI and Anthropic have it. */
interface Page<Item> {
  readonly data: readonly Item[]
  readonly has_more: boolean
  readonly first_id: string | null
  readonly last_id: string | null
}

export function pageOf<Item extends { readonly id: string }>(items: readonly Item[], { after, before, limit }: PageQuery): Page<Item> {
  const indexOf = (id: string): number => {
    const index = items.findIndex((item) => item.id === id)
    if (index < 0) throw new HttpError('invalid_request', `There is no item "${id}" in this list.`)
    return index
  }
  const range = items.slice(after === undefined ? 0 : indexOf(after) + 1, before === undefined ? items.length : indexOf(before))
  const data = before === undefined ? range.slice(0, limit) : range.slice(-limit)
  return { data, has_more: range.length > data.length, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null }
}
