import {
  type ContinuesElsewhere,
  type SessionEntry,
  type SessionService,
  type StreamEvent,
  type TraceContext,
  TroupeError,
} from '../../contracts/index.ts'
import { type Caller, isAdmin, mayUseAgent } from './caller.ts'
import { promptsHidden } from './public-view.ts'

/**
 * The sessions and agents of one caller. Sessions of other owners do not exist for it, nor do agents that its token does not name.
 * An admin sees the sessions of everybody. Turns that the caller begins belong to its trace.
 */
export function scopedSessions(service: SessionService, caller: Caller, traceContext?: TraceContext): SessionService {
  const { principal } = caller
  const owner = isAdmin(caller) ? undefined : principal.id

  async function own(sessionId: string): Promise<SessionEntry> {
    const entry = await service.get(sessionId)
    if (!entry || (owner !== undefined && entry.owner !== owner)) throw unknownSession(sessionId)
    return entry
  }

  /** Messages to a session that does not continue here are refused before anything is stored. */
  async function continued(sessionId: string): Promise<SessionEntry> {
    const entry = await own(sessionId)
    if (entry.continue?.here === false) throw refused(sessionId, entry.continue)
    return entry
  }

  /** Sessions of other folders are read-only here. */
  async function ofThisFolder(sessionId: string): Promise<void> {
    const entry = await own(sessionId)
    if (entry.project === 'elsewhere' && entry.continue?.here === false) throw refused(sessionId, entry.continue)
  }

  const named = scopedAgents(service, caller)

  function requireAgent(name: string | undefined): void {
    if (name === undefined ? caller.agents === undefined : mayUseAgent(caller, name)) return
    throw unknownAgent(name, named.agents())
  }

  /** An earlier token of this name may have had other agents; an admin may see sessions of all of them. */
  const continuedAgent = async (sessionId: string): Promise<void> => {
    const { agent } = await continued(sessionId)
    const isNamed = caller.agents === undefined || named.agents().some(({ name, displayName }) => name === agent || displayName === agent)
    if (!isNamed) throw unknownAgent(agent, named.agents())
  }

  return {
    async start(input, options = {}) {
      requireAgent(options.agent)
      return service.start(input, { ...options, principal, ...(traceContext && { traceContext }) })
    },
    async send(sessionId, input, options) {
      await continuedAgent(sessionId)
      return service.send(sessionId, input, traceContext ? { ...options, traceContext } : options)
    },
    events: (sessionId, options) =>
      afterCheck(
        () => own(sessionId),
        () => service.events(sessionId, options),
      ),
    watch: (filter = {}) => service.watch(owner === undefined ? filter : { ...filter, owner }),
    clientCalls: async (sessionId) => own(sessionId).then(() => service.clientCalls(sessionId)),
    requests: async (sessionId) => own(sessionId).then(() => service.requests(sessionId)),
    async approve(sessionId, answer) {
      await continued(sessionId)
      return service.approve(sessionId, { ...answer, by: principal.id })
    },
    async revoke(sessionId, keys) {
      await continued(sessionId)
      return service.revoke(sessionId, keys, principal.id)
    },
    async cancel(sessionId, mode) {
      await continued(sessionId)
      return service.cancel(sessionId, mode, principal.id)
    },
    async sendHeld(sessionId) {
      await continuedAgent(sessionId)
      return service.sendHeld(sessionId, principal.id)
    },
    async outcome(sessionId) {
      await own(sessionId)
      return service.outcome(sessionId)
    },
    async get(sessionId) {
      const entry = await service.get(sessionId)
      return entry && (owner === undefined || entry.owner === owner) ? entry : undefined
    },
    async find(key) {
      const entry = await service.find(key)
      return entry && (owner === undefined || entry.owner === owner) ? entry : undefined
    },
    list: (filter = {}) => service.list(owner === undefined ? filter : { ...filter, owner }),
    async update(sessionId, changes) {
      await ofThisFolder(sessionId)
      return service.update(sessionId, changes)
    },
    async fork(sessionId, options = {}) {
      await ofThisFolder(sessionId)
      return service.fork(sessionId, { ...options, principal })
    },
    async delete(sessionId) {
      await ofThisFolder(sessionId)
      return service.delete(sessionId)
    },
    async export(sessionId) {
      await own(sessionId)
      return service.export(sessionId)
    },
    async output(sessionId, handle) {
      await own(sessionId)
      return service.output(sessionId, handle)
    },
    async modelRequest(sessionId, place) {
      await own(sessionId)
      if (!isAdmin(caller)) throw promptsHidden('model requests')
      return service.modelRequest(sessionId, place)
    },
    ...scopedUsage(service, owner),
    ...named,
  }
}

/** Agents that the token names. Prompts are for admins. */
function scopedAgents(service: SessionService, caller: Caller): Pick<SessionService, 'agents' | 'agentSetup'> {
  const agents = (): ReturnType<SessionService['agents']> => service.agents().filter(({ name }) => mayUseAgent(caller, name))
  return {
    agents,
    async agentSetup(name) {
      if (!isAdmin(caller)) throw promptsHidden('agents')
      const isNamed =
        caller.agents === undefined || agents().some(({ team = [], ...agent }) => [agent, ...team].some((each) => each.name === name))
      if (!isNamed) throw unknownAgent(name, agents())
      return service.agentSetup(name)
    },
  }
}

/** `owner`: nobody else's. */
const scopedUsage = (service: SessionService, owner: string | undefined): Pick<SessionService, 'usage' | 'unindexed'> => ({
  usage: (query) => service.usage(owner === undefined ? query : { ...query, owner }),
  unindexed: (of) => service.unindexed(owner ?? of),
})

const refused = (sessionId: string, { reason, command }: ContinuesElsewhere): TroupeError =>
  new TroupeError('session_mismatch', `Session ${sessionId} is read-only in this server. ${reason}`, {
    ...(command !== undefined && { remedy: `Continue it in a shell: ${command}` }),
  })

function unknownAgent(name: string | undefined, agents: ReturnType<SessionService['agents']>): TroupeError {
  const known = agents.map((agent) => agent.name)
  return new TroupeError('agent_unknown', `There is no agent "${name}".`, {
    remedy: known.length > 0 ? `Use one of: ${known.join(', ')}.` : 'This token may use no agent.',
  })
}

const unknownSession = (sessionId: string): TroupeError =>
  new TroupeError('session_unknown', `There is no session ${sessionId}.`, { remedy: 'List your sessions: GET /v1/sessions' })

function afterCheck(check: () => Promise<unknown>, events: () => AsyncIterable<StreamEvent>): AsyncIterable<StreamEvent> {
  return {
    [Symbol.asyncIterator]() {
      let inner: AsyncIterator<StreamEvent> | undefined
      let hasLeft = false
      return {
        async next() {
          if (!inner) {
            await check()
            if (hasLeft) return { value: undefined, done: true }
            inner = events()[Symbol.asyncIterator]()
          }
          return inner.next()
        },
        async return() {
          hasLeft = true
          return inner?.return?.() ?? { value: undefined, done: true }
        },
      }
    },
  }
}
