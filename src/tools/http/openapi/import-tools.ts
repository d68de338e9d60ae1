import { type HttpMethod, httpMethods, type OpenApiDefinition, type Problem, type Tool } from '../../../contracts/index.ts'
import { isUrlTemplate } from '../../../policy/http-tool-shapes.ts'
import { matches, offeredName } from '../../../policy/tool-name-patterns.ts'
import { isRecord } from '../../../util/is-record.ts'
import { messageOf } from '../../../util/message-of.ts'
import { parseDuration } from '../../../util/parse-units.ts'
import { type CredentialTemplates, credentialTemplates } from '../credentials.ts'
import { type HttpToolOptions, httpTool } from '../http-tool.ts'
import { defaultBytes, defaultTimeout, hostWithPort } from '../rest-tool.ts'
import { follow, type OpenApiDocument, readDocument } from './read-document.ts'
import { type FoundOperation, type ReadOperation, readOperation } from './read-operation.ts'
import { credentialsFor } from './security.ts'
import { serverUrl } from './server-url.ts'

/** Far beyond what a model can choose from. */
const maxTools = 500
const maxOperations = 10_000
const maxProblems = 20

interface ImportOptions {
  /** The name of the source. */
  readonly name: string
  /** With the values of placeholders in `spec` and `baseUrl`. */
  readonly definition: OpenApiDefinition
  readonly toolOptions: HttpToolOptions
}

/** Operations that cannot be tools are problems; they cost no other operation. */
export interface ImportedTools {
  readonly tools: readonly Tool[]
  readonly problems: readonly Problem[]
}

/** Makes a tool of each operation. Never throws. */
export function importTools(text: string, { name, definition, toolOptions }: ImportOptions): ImportedTools {
  const { spec, include, exclude = [] } = definition
  const read = readDocument(text, spec)
  if (!read.ok) return { tools: [], problems: [read.problem] }
  const { document } = read
  const problems: Problem[] = []
  const fits = (patterns: readonly string[], { id, method, path }: FoundOperation): boolean =>
    patterns.some((pattern) => matches(pattern, id) || matches(pattern, `${method} ${path}`))
  const found = findOperations(document, (pointer, error) => problems.push(skipped(`${spec}${pointer}`, error)))
  const wanted = found.filter((each) => (include === undefined || fits(include, each)) && !fits(exclude, each))
  for (const pattern of [...(include ?? []), ...exclude])
    if (!found.some((each) => fits([pattern], each)))
      problems.push({ place: spec, message: `no operation matches \`${pattern}\``, remedy: 'Check `include` and `exclude`.' })
  const tools: Tool[] = []
  const names = new Set<string>()
  const total = { nodes: 0 }
  for (const each of wanted.slice(0, maxTools)) {
    try {
      const operation = readOperation(document, each, total)
      tools.push(toolFor(each, { document, operation, name: freeName(`${name}/${each.id}`, names), definition, source: name, toolOptions }))
      if (operation.isCut)
        problems.push({ place: `${spec}${each.pointer}`, message: 'its input schema is too large; parts of it accept anything' })
    } catch (error) {
      problems.push(skipped(`${spec}${each.pointer}`, error))
    }
  }
  if (wanted.length > maxTools)
    problems.push({
      place: spec,
      message: `it has ${wanted.length} operations; only the first ${maxTools} are tools`,
      remedy: 'Select operations with `include`.',
    })
  if (tools.length === 0 && problems.length === 0) problems.push({ place: spec, message: 'it has no operations' })
  return { tools, problems: fewer(problems, spec) }
}

const skipped = (place: string, error: unknown): Problem => ({
  place,
  message: `the operation is left out: ${messageOf(error)}`,
  remedy: 'Correct the document, or exclude the operation.',
})

function fewer(problems: readonly Problem[], place: string): readonly Problem[] {
  if (problems.length <= maxProblems) return problems
  return [...problems.slice(0, maxProblems), { place, message: `it has ${problems.length - maxProblems} more problems` }]
}

function findOperations(document: OpenApiDocument, onProblem: (pointer: string, error: unknown) => void): readonly FoundOperation[] {
  const found: FoundOperation[] = []
  for (const [path, written] of Object.entries(document.paths as object)) {
    const at = `#/paths/${path.replaceAll('~', '~0').replaceAll('/', '~1')}`
    try {
      if (!path.startsWith('/')) throw new Error('the path does not begin with a slash')
      const item = follow(document, written)
      for (const method of httpMethods) {
        const operation = item[method.toLowerCase()]
        if (!isRecord(operation) || found.length === maxOperations) continue
        found.push({
          id: idOf(operation.operationId, method, path),
          method,
          path,
          pointer: `${at}/${method.toLowerCase()}`,
          operation,
          item,
        })
      }
    } catch (error) {
      onProblem(at, error)
    }
  }
  return found
}

const maxIdLength = 200

/** As in the document, for patterns such as `repos/*`; without an id, `get_pets_petId`. */
function idOf(id: unknown, method: HttpMethod, path: string): string {
  const written =
    typeof id === 'string' && /\w/.test(id) ? id : `${method.toLowerCase()}${path.replaceAll(/[^\w]+/g, '_').replace(/_$/, '')}`
  return written.slice(0, maxIdLength).replaceAll(/[^\w./-]+/g, '_')
}

function freeName(wanted: string, taken: Set<string>): string {
  let name = wanted
  for (let n = 2; taken.has(offeredName(name)); n++) name = `${wanted}_${n}`
  taken.add(offeredName(name))
  return name
}

interface ToolParts {
  readonly document: OpenApiDocument
  readonly operation: ReadOperation
  readonly name: string
  readonly source: string
  readonly definition: OpenApiDefinition
  readonly toolOptions: HttpToolOptions
}

function toolFor({ method, path, operation, item }: FoundOperation, parts: ToolParts): Tool {
  const { document, name, source, definition, toolOptions } = parts
  const { timeout = defaultTimeout, maxBytes = defaultBytes, queue, redirects = [] } = definition
  const { description, inputSchema, request } = parts.operation
  const base = baseFor(definition, operation.servers ?? item.servers ?? document.servers)
  const url = `${base.url.origin}${base.url.pathname.replace(/\/$/, '')}${path}`
  if (!isUrlTemplate(url)) throw new Error('its path is not part of a URL')
  return httpTool(
    {
      ...{ name, source, description, inputSchema, maxBytes, queue, redirects },
      operation: { ...request, method, url },
      credentials: credentialsOf(document, operation.security ?? document.security, definition),
      timeoutMs: parseDuration(timeout) ?? 0,
      effect: method === 'GET' || method === 'HEAD' ? 'read' : 'write',
      privateHost: base.isConfigured ? hostWithPort(base.url) : undefined,
    },
    toolOptions,
  )
}

function credentialsOf(document: OpenApiDocument, security: unknown, { headers, auth }: OpenApiDefinition): CredentialTemplates {
  const { schemes, ...kind } = auth ?? {}
  if (schemes === undefined) return credentialTemplates(headers, kind)
  return credentialsFor(document, security, { values: schemes, headers: Object.entries(headers ?? {}) })
}

/** A document from the network must not choose where credentials are sent, so only the configuration names other hosts. */
function baseFor({ spec, baseUrl }: OpenApiDefinition, servers: unknown): { readonly url: URL; readonly isConfigured: boolean } {
  if (baseUrl !== undefined) return { url: new URL(baseUrl), isConfigured: true }
  const specUrl = URL.parse(spec)?.protocol.startsWith('http') ? new URL(spec) : undefined
  const url = serverUrl(servers, specUrl)
  if (!specUrl) return { url, isConfigured: false }
  if (url.origin !== specUrl.origin)
    throw new Error(`its server ${url.origin} is not that of the document; set \`baseUrl\` to "${url.origin}${url.pathname}" to use it`)
  return { url, isConfigured: true }
}
