import type {
  ApprovalWish,
  Clock,
  Effect,
  JsonObject,
  JsonSchema,
  RestPagination,
  Tool,
  ToolFailure,
  ToolOutput,
} from '../../contracts/index.ts'
import { offeredName } from '../../policy/tool-name-patterns.ts'
import { type AddressFilter, addressFilter, type ResolveName, resolveWithSystem } from '../builtin/web-fetch/address-filter.ts'
import { FetchTimeouts, fetchFailure, systemClock } from '../builtin/web-fetch/fetch-page.ts'
import { hostOf, portOf } from '../builtin/web-fetch/parse-url.ts'
import { buildRequest, type HttpOperation, type HttpRequest } from './build-request.ts'
import { collectPages } from './collect-pages.ts'
import { type Credentials, type CredentialTemplates, resolveCredentials, type Variables } from './credentials.ts'
import { readJson, showResponse, showSelected, showValue } from './read-response.ts'
import { type Sent, send } from './send.ts'

/** A tool for one endpoint. */
interface HttpToolSpec {
  readonly name: string
  /** The OpenAPI source, or the name of the tool. */
  readonly source: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly operation: HttpOperation
  readonly credentials: CredentialTemplates
  readonly result?: string | undefined
  readonly pagination?: RestPagination | undefined
  readonly timeoutMs: number
  readonly maxBytes: number
  readonly effect: Effect
  readonly queue?: string | undefined
  readonly redirects: readonly string[]
  /** The host with its port, if the configuration names it: then it may be private. */
  readonly privateHost?: string | undefined
}

export interface HttpToolOptions {
  /** Values of placeholders that the overlay of the session does not have. */
  readonly variables?: Variables | undefined
  readonly lookup?: ResolveName
  readonly clock?: Pick<Clock, 'after'>
}

/** So that the tool reports its own timeout first. */
const spareMs = 5_000

export function httpTool(spec: HttpToolSpec, options: HttpToolOptions = {}): Tool {
  const { name, source, description, inputSchema, operation, effect, timeoutMs, queue } = spec
  const { variables = {}, lookup = resolveWithSystem, clock = systemClock } = options
  const addresses = addressFilter(spec.privateHost === undefined ? [] : [spec.privateHost], lookup)
  return {
    name,
    description,
    inputSchema,
    effect,
    concurrency: effect === 'read' ? 'shared' : 'exclusive',
    ...(name !== source && { namespace: source }),
    ...(queue !== undefined && { queue }),
    timeoutMs: timeoutMs + spareMs,
    approval: (input) => {
      const built = buildRequest(operation, input)
      // Invalid arguments need no approval: execution reports them.
      return built.ok ? approvalFor(spec, built.request) : undefined
    },
    execute: async (input, { overlay, signal }) => {
      const find = (variable: string): string | undefined =>
        (Object.hasOwn(overlay, variable) && overlay[variable]) || (Object.hasOwn(variables, variable) ? variables[variable] : undefined)
      const resolved = resolveCredentials(spec.credentials, find)
      if (!resolved.ok) return { ok: false, error: resolved.failure }
      const timeouts = new FetchTimeouts(signal, { clock, totalMs: timeoutMs, idleMs: timeoutMs })
      try {
        const output = await call(spec, input, { addresses, timeouts, credentials: resolved.credentials })
        return redacted(output, resolved.credentials)
      } catch (error) {
        if (signal.aborted)
          return { ok: false, error: { class: 'cancelled', message: 'The call was cancelled before the response arrived.' } }
        const failure = timeouts.failure ?? fetchFailure(error, new URL(operation.url.replaceAll(/[{}]/g, '')))
        return { ok: false, error: effect === 'read' ? failure : { ...failure, remedy: unsureRemedy } }
      } finally {
        timeouts.end()
      }
    },
  }
}

const unsureRemedy = 'The request may have had an effect. Check that before you repeat the call.'

interface CallParts {
  readonly addresses: AddressFilter
  readonly timeouts: FetchTimeouts
  readonly credentials: Credentials
}

async function call(spec: HttpToolSpec, input: JsonObject, parts: CallParts): Promise<ToolOutput> {
  const { operation, result, pagination, maxBytes, redirects } = spec
  const load = (request: HttpRequest, most: number): Promise<Sent> => send(request, { ...parts, redirects, maxBytes: most })
  // Pages replace an argument, so this is checked first: what cannot be built was not approved.
  const built = buildRequest(operation, input)
  if (!built.ok) return { ok: false, error: built.failure }
  if (!pagination) {
    const sent = await load(built.request, maxBytes)
    if (!sent.ok) return { ok: false, error: sent.failure }
    return result === undefined ? showResponse(sent.response) : showSelected(sent.response, result, maxBytes)
  }
  const { items, note, failure, partial } = await collectPages({
    ...{ operation, input, pagination, maxBytes, result: result ?? '$' },
    load: async (request, most) => {
      const sent = await load(request, most)
      return sent.ok ? readJson(sent.response, maxBytes) : sent
    },
  })
  const shown = [`${items.length} entries.`, ...(note === undefined ? [] : [note]), showValue(items)].join('\n')
  if (!failure) return { ok: true, content: shown, value: items }
  const known = items.length > 0 ? shown : partial
  return { ok: false, error: failure, ...(known !== undefined && { partial: known }) }
}

/** A server may repeat the credentials that it gets. */
function redacted(output: ToolOutput, { redactor }: Credentials): ToolOutput {
  const hide = ({ message, ...rest }: ToolFailure): ToolFailure => ({ ...rest, message: redactor.text(message) })
  if (!output.ok)
    return { ok: false, error: hide(output.error), ...(output.partial !== undefined && { partial: redactor.text(output.partial) }) }
  const { content, value } = output
  return { ok: true, content: redactor.text(content), ...(value !== undefined && { value: redactor.json(value) }) }
}

/** Grants are by tool, or for all reading calls of a source; rules name the host: `weather(api.example.com)`. */
function approvalFor({ name, source, effect }: HttpToolSpec, { method, url }: HttpRequest): ApprovalWish {
  const host = hostOf(url)
  const group = `api:${source}:${effect === 'read' ? 'read' : 'write'}:`
  const key = {
    key: `${group}${offeredName(name)}`,
    label: `${name} (${url.host})`,
    use: url.host,
    aliases: [host, `${host}:${portOf(url)}`],
    tools: ['web_fetch'],
  }
  const wider = { key: group, label: `all reading calls of ${source}`, isPrefix: true }
  return { summary: `${method} ${url.href}`, keys: [key], ...(effect === 'read' && name !== source && { wider: [wider] }) }
}
