import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type OpenApiDefinition, type SessionToolSource, type ToolSource, TroupeError } from '../../../contracts/index.ts'
import { checkOpenApi } from '../../../policy/http-tool-shapes.ts'
import { configError } from '../../../util/option-problems.ts'
import { addressFilter, resolveWithSystem } from '../../builtin/web-fetch/address-filter.ts'
import { FetchTimeouts, fetchFailure, fetchPage, systemClock } from '../../builtin/web-fetch/fetch-page.ts'
import { decodeContent, readBody, readContentType } from '../../builtin/web-fetch/read-body.ts'
import type { HttpToolOptions } from '../http-tool.ts'
import { addressOf, hostWithPort } from '../rest-tool.ts'
import { type ImportedTools, importTools } from './import-tools.ts'
import { maxDocumentBytes } from './read-document.ts'

export interface OpenApiOptions extends HttpToolOptions {
  /** A file of `spec` is relative to it. Default: the working directory. */
  readonly baseDir?: string
  /** The document, if it has been read already. */
  readonly text?: string
}

/** Overlays can name different documents. */
const mostKept = 20

/**
 * The operations of an OpenAPI document as tools named `name__operationId`. The document is read when the first session
 * uses it, and then kept.
 *
 * @example
 * const petstore = openApiTools('petstore', { spec: './petstore.yaml', include: ['list*'], auth: { bearer: '${PETS_TOKEN}' } })
 * const runtime = createAgentRuntime({ config: { agents: [agent], tools: [petstore] }, adapter: model, approver })
 *
 * @throws TroupeError `config_invalid` with all problems of the definition. Problems of the document cost its own tools.
 */
export function openApiTools(name: string, definition: OpenApiDefinition, options: OpenApiOptions = {}): SessionToolSource {
  const place = `openapi.${name}`
  const problems = checkOpenApi(definition, place)
  if (problems.length > 0) throw configError(problems)
  const known = new Map<string, Promise<ImportedTools>>()
  const load = (overlay: { readonly [name: string]: string }): Promise<ImportedTools> => {
    const resolved = resolveAddresses(definition, { ...options.variables, ...overlay }, place)
    const key = JSON.stringify([resolved.spec, resolved.baseUrl])
    const before = known.get(key)
    if (before) return before
    const loading = (options.text === undefined ? readSpec(resolved.spec, options) : Promise.resolve(options.text)).then((text) =>
      importTools(text, { name, definition: resolved, toolOptions: options }),
    )
    if (known.size >= mostKept) known.clear()
    known.set(key, loading)
    // A failure is not kept: the next session tries again.
    loading.catch(() => known.delete(key))
    return loading
  }
  return {
    name,
    open: ({ overlay, report }): ToolSource => ({
      async list() {
        const { tools, problems: found } = await load(overlay)
        for (const { place: at, message, remedy } of found)
          report({ code: 'tool_invalid', severity: 'warning', message: `${at}: ${message}`, ...(remedy !== undefined && { remedy }) })
        return tools
      },
    }),
  }
}

function resolveAddresses(definition: OpenApiDefinition, variables: { readonly [name: string]: string }, place: string): OpenApiDefinition {
  const { spec, baseUrl } = definition
  const resolved = {
    ...definition,
    spec: addressOf(spec, { variables, place: `${place}.spec` }),
    ...(baseUrl !== undefined && { baseUrl: addressOf(baseUrl, { variables, place: `${place}.baseUrl` }) }),
  }
  const problems = checkOpenApi(resolved, place)
  if (problems.length > 0) throw configError(problems)
  return resolved
}

const isSpecUrl = (spec: string): boolean => /^https?:\/\//i.test(spec)

const unreadable = (spec: string, why: string): TroupeError =>
  new TroupeError('tools_unavailable', `The OpenAPI document ${spec} cannot be read: ${why}`, { remedy: 'Check `spec`.' })

async function readSpec(spec: string, { baseDir = '', lookup = resolveWithSystem, clock = systemClock }: OpenApiOptions): Promise<string> {
  if (isSpecUrl(spec)) return fetchSpec(new URL(spec), { lookup, clock })
  const path = resolve(baseDir, spec)
  try {
    const { size } = await stat(path)
    if (size > maxDocumentBytes) throw new Error(`it has more than ${maxDocumentBytes} bytes`)
    return await readFile(path, 'utf8')
  } catch (error) {
    throw unreadable(spec, error instanceof Error ? error.message : String(error))
  }
}

async function fetchSpec(url: URL, { lookup, clock }: Required<Pick<HttpToolOptions, 'lookup' | 'clock'>>): Promise<string> {
  const timeouts = new FetchTimeouts(new AbortController().signal, { clock, totalMs: 30_000, idleMs: 10_000 })
  try {
    const fetched = await fetchPage(url, addressFilter([hostWithPort(url)], lookup), timeouts)
    if (!fetched.ok) throw unreadable(url.href, fetched.failure.message)
    const { status, message } = fetched
    const body = await readBody(message, maxDocumentBytes, timeouts.renew)
    if (status !== 200) throw unreadable(url.href, `the server answered with status ${status}`)
    if (body.isCut) throw unreadable(url.href, `it has more than ${maxDocumentBytes} bytes`)
    return decodeContent(body.bytes, readContentType(message.headers['content-type'])).text
  } catch (error) {
    if (error instanceof TroupeError) throw error
    throw unreadable(url.href, (timeouts.failure ?? fetchFailure(error, url)).message)
  } finally {
    timeouts.end()
  }
}
