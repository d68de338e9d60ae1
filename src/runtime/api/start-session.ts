import { type ClientId, type SessionId, type StartOptions, type TreeEntry, type TreeId, TroupeError } from '../../contracts/index.ts'
import { changesOfSettings } from '../changes/reconfigure-session.ts'
import { jsonInputProblem } from '../children/check-task.ts'
import type { RunInput } from '../options/agent-runtime.ts'
import type { Opening } from '../tree/opening.ts'
import { readHistory } from '../validation/check-history.ts'
import { checkStart } from '../validation/check-start.ts'
import { requireSameStart } from './client-ids.ts'
import type { Runtime } from './create-agent-runtime.ts'
import { nextChange } from './follow-session.ts'
import { partsOf } from './input-parts.ts'

// Starts a session for a caller that may ask twice.
//
// 1. A client id gives the id of the session: two callers claim the same session, also in different processes, and one of them gets it.
// 2. The first batch of a journal contains the input. So a session that exists has its input, and one whose process died before has none.
// 3. A key is decided by the first batch, before the model is asked.

export async function startSession(host: Runtime, input: RunInput, options: StartOptions): Promise<SessionId> {
  checkStart(input, options, host.parts.modelKeys)
  await requireJsonInput(host, input, options.agent)
  const { ids } = host.parts.options
  const treeId = options.clientId === undefined ? (ids.next() as TreeId) : treeIdOf(options.clientId, options.principal?.id)
  const start = { input, options, treeId, opening: openingOf(options) }
  for (;;) {
    const existing = await existingSession(host, start)
    if (existing) return existing
    const driver = await host.drivers.find(treeId)
    if (driver) {
      await driver.durable().catch(() => driver.settled)
      continue
    }
    // Another call may have begun meanwhile.
    if (host.drivers.has(treeId)) continue
    try {
      return await begin(host, start)
    } catch (error) {
      const other = await existingSession(host, start)
      if (other) return other
      const isDriven = options.clientId !== undefined && error instanceof TroupeError && error.code === 'session_driven'
      if (!isDriven || !(await nextChange(host, treeId))) throw error
    }
  }
}

/** The input contract of an agent applies to the first input of a session, as for calls by other agents. */
async function requireJsonInput({ parts }: Runtime, input: RunInput, name: string | undefined): Promise<void> {
  const agent = name === undefined ? undefined : parts.agents.get(name)
  if (agent?.input.format !== 'json') return
  const problem = await jsonInputProblem(partsOf(input), { name: agent.name, schema: agent.input.schema }, parts.options.validator)
  if (problem === undefined) return
  throw new TroupeError('usage', `input: ${problem}.`, { remedy: 'Pass JSON that matches the input schema of the agent.' })
}

interface Start {
  readonly input: RunInput
  readonly options: StartOptions
  readonly treeId: TreeId
  readonly opening: Opening
}

async function begin(host: Runtime, { input, options, treeId, opening }: Start): Promise<SessionId> {
  const { agent, overlay } = options
  const run = { ...(agent !== undefined && { agent }), ...(overlay && { overlay }) }
  const driver = await host.startTree(input, run, { treeId, opening }).started
  await driver.durable()
  return treeId
}

function openingOf(options: StartOptions): Opening {
  const { principal, key, labels, history = [] } = options
  return {
    principal: principal && { id: principal.id, kind: principal.kind, ...(principal.name !== undefined && { name: principal.name }) },
    identity: {
      ...(principal && { owner: principal.id }),
      ...(key !== undefined && { key }),
      ...(labels && { labels: [...new Set(labels)] }),
    },
    isStart: true,
    clientId: options.clientId as ClientId | undefined,
    history: readHistory(history),
    changes: changesOfSettings(options),
    traceContext: options.traceContext,
  }
}

async function existingSession(host: Runtime, { treeId, input, options }: Start): Promise<SessionId | undefined> {
  const { clientId, key, principal, agent, overlay } = options
  const { trees } = host.parts.options.store
  if (clientId !== undefined && (await trees.get(treeId))) {
    await requireSameStart(host, treeId, { clientId, agent, input: partsOf(input), overlay })
    return treeId
  }
  const found = key === undefined ? undefined : await trees.find(key)
  if (found && found.owner !== principal?.id) throw keyTaken(found)
  return found?.treeId
}

/** Says nothing about the session: it belongs to another owner. */
const keyTaken = ({ key = '' }: TreeEntry): TroupeError =>
  new TroupeError('usage', `The key ${JSON.stringify(key)} belongs to a session of another owner.`, { remedy: 'Use another key.' })

function treeIdOf(clientId: string, owner: string | undefined): TreeId {
  // Loaded with the first client id: loading it takes as long as a dozen files.
  const { createHash } = process.getBuiltinModule('node:crypto')
  const hash = createHash('sha256').update(JSON.stringify([owner ?? null, clientId]))
  return `c-${hash.digest('hex').slice(0, 32)}` as TreeId
}
