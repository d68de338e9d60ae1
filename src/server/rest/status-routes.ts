import { z } from 'zod'
import { type OwnerBudget, subtractUsd } from '../../contracts/index.ts'
import { nextUtcDay, utcDay } from '../../util/utc-day.ts'
import { type Caller, HttpError, isAdmin, json, plainErrors, type Route, type RouteRequest, route } from '../http/index.ts'
import { statusSchema } from './answer-schemas.ts'
import type { ModelOffer } from './model-routes.ts'
import type { RestDependencies } from './rest-routes.ts'

/** The demonstration of the web chat: all its agents have the same model. */
export interface Demonstration {
  readonly model: string
  /** Models of keys and local servers that were found. */
  readonly offers: readonly ModelOffer[]
  /** The process of the server. */
  readonly processId: number
  /** Kills the server. Its parent process starts another one. */
  pullPlug(): void
  /** Applies from the next turn on. */
  choose(model: string): Promise<void>
}

export function statusRoutes(dependencies: RestDependencies): readonly Route[] {
  const { demo } = dependencies
  return [statusRoute(dependencies), ...(demo ? [demoRoute(demo, dependencies), plugRoute(demo)] : [])]
}

const statusRoute = (dependencies: RestDependencies): Route =>
  route({
    headend: 'rest',
    errors: plainErrors,
    method: 'GET',
    path: '/v1/status',
    access: 'read',
    summary: 'Show the version, the caller, the models and the budget of today',
    responses: {
      200: {
        description:
          '`{ version, principal, scopes, agents, models }`. With a budget: `budget`, what is used and left today. `warnings`: what is not as it should be, such as an agent file that cannot be read. With `admin`: `workspace`, the folder of the server. For the user of this machine: `connect`, models that can be used, and those that agents need and that are missing.',
        content: json(statusSchema),
      },
    },
    handle: async (request) => Response.json(request.shown(await statusOf(request, dependencies))),
  })

async function statusOf({ caller, sessions, isLocal }: RouteRequest, { version, ...dependencies }: RestDependencies): Promise<object> {
  const agents = sessions.agents()
  const warnings = dependencies.warnings?.() ?? []
  const { demo, workspace, models } = dependencies
  return {
    version,
    principal: caller.principal,
    scopes: caller.scopes,
    agents: agents.map(({ name }) => name),
    models: [...new Set(agents.flatMap(({ models }) => models))],
    ...(caller.budget && { budget: await budgetToday(caller, caller.budget, dependencies) }),
    ...(warnings.length > 0 && { warnings }),
    ...(isAdmin(caller) && workspace !== undefined && { workspace }),
    ...(models && isLocal && { connect: { models: models.models, missing: models.missing } }),
    ...(demo && { demo: { model: demo.model, offers: demo.offers, processId: demo.processId } }),
  }
}

const demoRoute = (demo: Demonstration, dependencies: RestDependencies): Route =>
  route({
    headend: 'rest',
    errors: plainErrors,
    method: 'POST',
    path: '/v1/demo/model',
    access: 'admin',
    summary: 'Choose the model of the demonstration',
    body: z.strictObject({ model: z.string() }),
    responses: { 200: { description: 'The status, as `GET /v1/status` answers it.', content: json(statusSchema) } },
    async handle(request) {
      const { model } = request.body
      const names = ['recorded', ...demo.offers.map((offer) => offer.model)]
      if (!names.includes(model))
        throw new HttpError('invalid_request', `model: "${model.slice(0, 100)}" was not found here.`, {
          parameter: 'model',
          remedy: `Choose one of: ${names.join(', ')}.`,
        })
      await demo.choose(model)
      return Response.json(request.shown(await statusOf(request, dependencies)))
    },
  })

const plugRoute = (demo: Demonstration): Route =>
  route({
    headend: 'rest',
    errors: plainErrors,
    method: 'POST',
    path: '/v1/demo/pull-plug',
    access: 'admin',
    summary: 'Kill the server of the demonstration with SIGKILL; another one continues its sessions',
    responses: { 202: { description: 'The server is about to be killed.' } },
    handle() {
      demo.pullPlug()
      return new Response(undefined, { status: 202 })
    },
  })

/** `used` is what is stored: requests in flight are not part of it. */
async function budgetToday(
  { principal }: Caller,
  { tokensPerDay, costUsdPerDay }: OwnerBudget,
  { usages, clock }: Pick<RestDependencies, 'usages' | 'clock'>,
): Promise<object> {
  const now = clock.now()
  const used = await usages.get(principal.id, utcDay(now))
  return {
    ...(tokensPerDay !== undefined && { tokensPerDay }),
    ...(costUsdPerDay !== undefined && { costUsdPerDay }),
    used,
    remaining: {
      ...(tokensPerDay !== undefined && { tokens: Math.max(0, tokensPerDay - used.tokens) }),
      ...(costUsdPerDay !== undefined && { costUsd: Math.max(0, subtractUsd(costUsdPerDay, used.costUsd)) }),
    },
    renewsAt: new Date(nextUtcDay(now)).toISOString(),
  }
}
