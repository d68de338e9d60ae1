import { isRecord } from '../../../util/is-record.ts'

/** The first server, with the defaults of its variables. @throws Error if it is no URL. */
export function serverUrl(servers: unknown, specUrl: URL | undefined): URL {
  const first: unknown = Array.isArray(servers) ? servers[0] : undefined
  const { url = '/', variables } = isRecord(first) ? first : {}
  const filled = String(url).replaceAll(/\{([^{}]+)\}/g, (_whole, name: string) => {
    const variable: unknown = isRecord(variables) && Object.hasOwn(variables, name) ? variables[name] : undefined
    const value = isRecord(variable) ? variable.default : undefined
    if (typeof value !== 'string') throw new Error(`the variable ${name} of the server has no default`)
    return value
  })
  const found = URL.parse(filled, specUrl?.href)
  if (!found || !/^https?:$/.test(found.protocol) || found.username !== '' || found.password !== '')
    throw new Error(`the server ${filled.slice(0, 200)} is not an http: or https: URL`)
  return found
}
