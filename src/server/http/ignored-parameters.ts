const maxNames = 32
const maxNameChars = 64

/** Names the parameters of a request that have no effect. Clients choose the names: they are made safe for a header. */
export function ignoredHeaders(ignored: readonly string[]): { readonly [name: string]: string } {
  if (ignored.length === 0) return {}
  const names = ignored.slice(0, maxNames).map((name) => name.slice(0, maxNameChars).replaceAll(/[^\w.-]/g, '?'))
  const more = ignored.length > maxNames ? [`and ${ignored.length - maxNames} more`] : []
  return { 'x-troupe-ignored-parameters': [...names, ...more].join(', ') }
}

/** Values that ask for nothing, whatever the parameter is. */
export const asksNothing = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)

/** Query parameters that a route does not know. Only protocols of other vendors ignore them. */
export const unknownQuery = ({ searchParams }: URL, known: readonly string[] = []): readonly string[] =>
  [...new Set(searchParams.keys())].filter((name) => !known.includes(name))
