import { z } from 'zod'
import type { MaybePromise } from '../../contracts/index.ts'
import type { ConnectedProvider, ConnectResult, PastedKeyRequest } from '../../project/index.ts'
import { HttpError, json, plainErrors, type Route, type RouteRequest, route, type ServerErrorCode } from '../http/index.ts'
import { connectedKey, providerList } from './answer-schemas.ts'
import type { RestDependencies } from './rest-routes.ts'

// Models that the user of this machine connects. Keys go in, and never come out.

/** A model that can be used now. */
export interface ModelOffer {
  readonly model: string
  /** Why it can be used: the variable of its key, or the server that has it. */
  readonly from: string
}

/** What the server knows of models, and how keys are stored. */
export interface ModelConnections {
  /** The models that could be used when `find` looked last. */
  readonly models: readonly ModelOffer[]
  /** Models of agents that have none that is available. */
  readonly missing: readonly string[]
  /** The file for keys. */
  readonly file: string
  /** Looks for keys and local servers. */
  find(): Promise<readonly ConnectedProvider[]>
  /** Tests a key, stores it and uses it. */
  connect(request: PastedKeyRequest): MaybePromise<ConnectResult>
}

/** A key has at most 1,000 characters. */
const maxBodyBytes = 64 * 1024
const base = { headend: 'rest', errors: plainErrors, access: 'admin' } as const
const onlyLocal = 'Only with the local token, at a loopback address, and not through a proxy.'

export const modelRoutes = ({ models, audit }: Pick<RestDependencies, 'models' | 'audit'>): readonly Route[] =>
  models ? [providersRoute(models), keyRoute(models, audit)] : []

const providersRoute = (models: ModelConnections): Route =>
  route({
    ...base,
    method: 'GET',
    path: '/v1/providers',
    summary: 'List providers of models, and the models that can be used now',
    description: `${onlyLocal} Looks for local servers. Sends nothing to other machines.`,
    responses: {
      200: {
        description: '`{ providers, file }`. `file`: where keys are stored. Keys are never part of an answer.',
        content: json(providerList),
      },
    },
    async handle(request) {
      requireLocal(request)
      return Response.json({ providers: await models.find(), file: models.file })
    },
  })

const keyRoute = (models: ModelConnections, audit: RestDependencies['audit']): Route =>
  route({
    ...base,
    method: 'POST',
    path: '/v1/providers/key',
    summary: 'Test a key, store it for the user of this machine, and use it',
    description: `${onlyLocal} The key is sent to its provider only, and stored if the provider accepts it.`,
    maxBodyBytes,
    body: z.strictObject({
      key: z.string().describe('As it was pasted.'),
      provider: z.string().optional().describe('Default: by how the key begins.'),
      anyway: z.boolean().optional().describe('The key is of this provider, although it begins like one of another.'),
    }),
    responses: {
      200: { description: '`{ provider, label, model, notes }`. `model`: one that can be used now.', content: json(connectedKey) },
    },
    async handle(request) {
      requireLocal(request)
      const result = await models.connect(request.body)
      if (result.kind === 'refused') throw refusal(result)
      const { provider, label, model, notes } = result
      await audit({ by: request.caller.principal.id, action: 'key.store', provider })
      return Response.json({ provider, label, model, notes })
    },
  })

/** Clients on other machines must not replace the keys of this machine. */
function requireLocal({ isLocal }: RouteRequest): void {
  if (isLocal) return
  throw new HttpError('forbidden', 'Models are connected on the machine of the server only.', {
    remedy: 'Open the address that `troupe serve` printed there: it has the local token and a loopback address.',
  })
}

const kinds: { readonly [code: string]: ServerErrorCode } = {
  provider_unreachable: 'unavailable',
  key_overridden: 'conflict',
  file_not_writable: 'conflict',
}

const refusal = ({ code, message, remedy, owner }: Extract<ConnectResult, { readonly kind: 'refused' }>): HttpError =>
  new HttpError(kinds[code] ?? 'invalid_request', message, {
    code,
    remedy,
    parameter: code === 'unknown_provider' ? 'provider' : 'key',
    ...(owner && { details: { owner: { label: owner.label, ...(owner.name !== undefined && { name: owner.name }) } } }),
  })
