// Checked by `npm run typecheck`, never run: the type of `report.value`.
import { z } from 'zod'
import type { Json } from '../../contracts/index.ts'
import type { AgentRuntime, RunOptions } from '../options/agent-runtime.ts'

export async function values(runtime: AgentRuntime, options: RunOptions): Promise<void> {
  const trip = await runtime.run('Oslo', { output: z.object({ nights: z.number().default(1) }) })
  const nights: number | undefined = trip.report?.value?.nights
  // @ts-expect-error: it is a number
  const city: string | undefined = trip.report?.value?.nights
  const handle = runtime.stream('Oslo', { agent: 'trip', output: z.array(z.string()) })
  const cities: string[] | undefined = (await handle.outcome).report?.value
  const plain: Json | undefined = (await runtime.run('Oslo', { output: { type: 'object' } })).report?.value
  const none: Json | undefined = (await runtime.run('Oslo', options)).report?.value
  const started: Awaited<ReturnType<AgentRuntime['run']>> = await runtime.run('Oslo')
  // @ts-expect-error: a schema, not a format
  await runtime.run('Oslo', { output: 'json' })
  void [nights, city, cities, plain, none, started]
}
