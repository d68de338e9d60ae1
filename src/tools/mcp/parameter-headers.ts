import type { JsonSchema } from '../../contracts/index.ts'

const keyword = 'x-mcp-header'
const token = /^[!#$%&'*+.^_`|~\dA-Za-z-]+$/
const types: readonly unknown[] = ['string', 'integer', 'boolean']

/**
 * Servers of the revision 2026-07-28 can ask for parameters as HTTP headers. A tool with an invalid declaration must not be
 * used: a header name may come from anywhere in its schema.
 */
export function parameterHeaderProblem(schema: JsonSchema): string | undefined {
  if (!JSON.stringify(schema).includes(keyword)) return undefined
  const names = new Set<string>()
  const visit = (node: unknown, isProperty: boolean, isReachable: boolean): boolean => {
    if (typeof node !== 'object' || node === null) return true
    if (Array.isArray(node)) return node.every((each) => visit(each, false, false))
    const own = node as { readonly [key: string]: unknown }
    if (keyword in own && !(isProperty && isReachable && isDeclaration(own, names))) return false
    return Object.entries(own).every(([key, value]) => {
      if (key !== 'properties' || typeof value !== 'object' || value === null) return visit(value, false, false)
      return Object.values(value).every((each) => visit(each, true, isReachable))
    })
  }
  return visit(schema, false, true) ? undefined : `its declaration "${keyword}" is not valid`
}

function isDeclaration({ [keyword]: name, type }: { readonly [key: string]: unknown }, names: Set<string>): boolean {
  if (typeof name !== 'string' || !token.test(name) || !types.includes(type) || names.has(name.toLowerCase())) return false
  names.add(name.toLowerCase())
  return true
}
