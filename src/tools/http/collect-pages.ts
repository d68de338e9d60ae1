import type { Json, JsonObject, RestPagination, ToolFailure } from '../../contracts/index.ts'
import { parseJsonPath, selectJson } from '../../util/json-path.ts'
import { type BuiltRequest, buildRequest, type HttpOperation } from './build-request.ts'
import type { PageResult } from './read-response.ts'
import { isSameServer } from './send.ts'

interface PageSource {
  readonly operation: HttpOperation
  readonly input: JsonObject
  readonly pagination: RestPagination
  /** JSON path of the list in a page. */
  readonly result: string
  readonly maxBytes: number
  load(request: Extract<BuiltRequest, { ok: true }>['request'], maxBytes: number): Promise<PageResult>
}

/** The entries of all pages. `note` says why there may be more. */
interface Collected {
  readonly items: readonly Json[]
  readonly note?: string
  /** Why a later page could not be read. */
  readonly failure?: ToolFailure
  readonly partial?: string
}

/** Reads pages until the last one, or until a limit. A server that never ends is stopped by the limits. */
export async function collectPages(source: PageSource): Promise<Collected> {
  const { pagination, input, result } = source
  const { by, parameter = '', maxPages = 10, maxItems = 1_000 } = pagination
  const items: Json[] = []
  const known = new Set<string>()
  let bytesLeft = source.maxBytes
  let position: Position | undefined = firstPosition(pagination, input[parameter])
  for (let pages = 1; position; pages++) {
    const built: BuiltRequest = requestAt(source, position)
    if (!built.ok) return { items, failure: built.failure }
    const page: PageResult = await source.load(built.request, bytesLeft)
    if (!page.ok) {
      if (page.isTooLong && pages > 1) return { items, note: `Only ${pages - 1} pages were read: the limit of bytes is reached.` }
      return { items, failure: page.failure, ...(page.partial !== undefined && { partial: page.partial }) }
    }
    bytesLeft -= page.bytes
    const list = selectJson(page.value, parseJsonPath(result) ?? [])
    if (!Array.isArray(list)) {
      const message = `Page ${pages} has no list at \`${result}\`.`
      return { items, failure: { class: 'failed', message, remedy: 'Tell the user: the configuration of the tool is wrong.' } }
    }
    const left = maxItems - items.length
    items.push(...(list as readonly Json[]).slice(0, left))
    const next: Position | undefined | ToolFailure = nextPosition(pagination, position, {
      page,
      length: list.length,
      from: built.request.url,
    })
    if (next && 'class' in next) return { items, failure: next }
    if (list.length > left || (next && list.length === left))
      return { items, note: `Only the first ${maxItems} entries were read. There may be more.` }
    if (next && pages >= maxPages) return { items, note: `Only the first ${maxPages} pages were read. There may be more.` }
    const key = JSON.stringify(next)
    if (known.has(key)) return { items, note: `The server names the same next page again (by ${by}), so reading stopped.` }
    known.add(key)
    position = next
  }
  return { items }
}

type Position = { readonly url: string } | { readonly value: string | number } | { readonly kind: 'first' }

function firstPosition({ by, start }: RestPagination, given: Json | undefined): Position {
  if (by === 'cursor' || by === 'link') return { kind: 'first' }
  const number = Number(given ?? start ?? (by === 'page' ? 1 : 0))
  return { value: Number.isSafeInteger(number) ? number : 1 }
}

function requestAt({ operation, input, pagination: { parameter = '' } }: PageSource, position: Position): BuiltRequest {
  if ('kind' in position) return buildRequest(operation, input)
  if ('url' in position) {
    const built = buildRequest(operation, input)
    return built.ok ? { ok: true, request: { ...built.request, url: new URL(position.url) } } : built
  }
  if (operation.parameters.some(({ property }) => property === parameter))
    return buildRequest(operation, { ...input, [parameter]: position.value })
  const built = buildRequest(operation, input)
  if (built.ok) built.request.url.searchParams.set(parameter, String(position.value))
  return built
}

interface ReadPage {
  readonly page: Extract<PageResult, { ok: true }>
  readonly length: number
  readonly from: URL
}

function nextPosition(
  { by, next }: RestPagination,
  position: Position,
  { page, length, from }: ReadPage,
): Position | undefined | ToolFailure {
  const at = next === undefined ? undefined : selectJson(page.value, parseJsonPath(next) ?? [])
  switch (by) {
    case 'cursor':
      return (typeof at === 'string' && at !== '') || typeof at === 'number' ? { value: at } : undefined
    case 'link': {
      const written = next === undefined ? nextLink(page.headers.link) : at
      if (typeof written !== 'string' || written === '') return undefined
      const url = URL.parse(written, from.href)
      if (url && isSameServer(from, url)) return { url: url.href }
      return { class: 'blocked', message: `The next page is on another host: ${url?.host ?? 'not a URL'}` }
    }
    case 'page':
    case 'offset': {
      const number = 'value' in position ? Number(position.value) : 0
      return length === 0 ? undefined : { value: by === 'page' ? number + 1 : number + length }
    }
    default:
      return by satisfies never
  }
}

/** The target of `rel="next"` in a `Link` header. */
function nextLink(header: string | readonly string[] | undefined): string | undefined {
  const text = (Array.isArray(header) ? header.join(',') : String(header ?? '')).slice(0, 16_384)
  for (const [, target = '', parameters = ''] of text.matchAll(/<([^<>]*)>([^<]*)/g))
    if (/;\s*rel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next\b)/i.test(parameters)) return target
  return undefined
}
