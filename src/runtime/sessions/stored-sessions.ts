import type { BlobId, SessionService, TreeEntry, TreeId } from '../../contracts/index.ts'
import type { SessionState } from '../../core/index.ts'
import { checkedTreeId, unknownTree } from '../journal/tree-cache.ts'
import { begunTurn } from '../tree/opening.ts'
import {
  checkFork,
  checkHandle,
  checkKey,
  checkList,
  checkModelRequest,
  checkUpdate,
  checkUsage,
  checkWatch,
} from '../validation/check-session-arguments.ts'
import { describeAgents } from './describe-agents.ts'
import { sessionEntry } from './session-entry.ts'
import type { SessionsHost } from './sessions-host.ts'
import { watchSessions } from './watch-sessions.ts'

type StoredSessions = Pick<
  SessionService,
  | 'get'
  | 'find'
  | 'list'
  | 'watch'
  | 'update'
  | 'fork'
  | 'delete'
  | 'export'
  | 'output'
  | 'modelRequest'
  | 'usage'
  | 'unindexed'
  | 'agents'
  | 'agentSetup'
>

/** The part of the session service that finds and manages stored sessions. */
export function storedSessions(host: SessionsHost): StoredSessions {
  const stored = () => host.parts.options.store
  const shown = (entry: TreeEntry | undefined) => entry && sessionEntry(entry)
  const redactorOf = (treeId: TreeId) => host.parts.overlays.of(treeId).redactor
  return {
    async get(sessionId) {
      return shown(await host.entryOf(checkedTreeId(sessionId)))
    },
    async find(key) {
      checkKey(key)
      return shown(await stored().trees.find(key))
    },
    async list(filter = {}) {
      checkList(filter)
      const entries = await stored().trees.list(filter)
      return entries.map(sessionEntry)
    },
    watch(filter = {}) {
      checkWatch(filter)
      return watchSessions(host, filter.owner)
    },
    async update(sessionId, changes) {
      checkUpdate(changes)
      const treeId = await host.storedId(sessionId)
      const { text } = redactorOf(treeId)
      const { title, labels } = changes
      const entry = await stored().trees.update(treeId, {
        ...(title !== undefined && { title: text(title) }),
        ...(labels && { labels: labels.map(text) }),
      })
      if (!entry) throw unknownTree(treeId)
      return sessionEntry(entry)
    },
    async fork(sessionId, options = {}) {
      checkFork(options)
      const { store, ids, clock } = host.parts.options
      const { accounts } = host.parts
      const owner = options.principal?.id
      // A copy is made to continue it.
      const requireBudget = async (root: SessionState) =>
        owner === undefined
          ? undefined
          : accounts?.requireBudget(owner, () => begunTurn(root, { kind: 'input', parts: [], mode: 'queue' }), host.closed)
      const { forkSession } = await import('./fork-session.ts')
      const forkId = await forkSession(store, await host.storedId(sessionId), { ...options, ids, clock, requireBudget })
      host.hold(forkId)
      return forkId
    },
    delete: async (sessionId) => host.delete(checkedTreeId(sessionId)),
    async export(sessionId) {
      const treeId = await host.storedId(sessionId)
      const { exportSession } = await import('./export-session.ts')
      return exportSession(stored(), treeId, redactorOf(treeId))
    },
    async output(sessionId, handle) {
      checkHandle(handle)
      const treeId = await host.storedId(sessionId)
      const { storedOutput } = await import('./export-session.ts')
      return storedOutput(stored(), { treeId, handle: handle as BlobId, redactor: redactorOf(treeId) })
    },
    async modelRequest(sessionId, place) {
      checkModelRequest(place)
      const { modelRequest } = await import('./model-request.ts')
      const { store, recipe } = host.parts.options
      return modelRequest({ store, recipe }, await host.storedId(sessionId), place)
    },
    async usage(query) {
      checkUsage(query)
      return stored().turns.usage(query)
    },
    unindexed: async (owner) => stored().turns.unindexed(owner),
    agents: () => describeAgents(host.parts.options.config),
    async agentSetup(name) {
      const { agentSetup } = await import('./agent-setup.ts')
      return agentSetup(host.parts, name)
    },
  }
}
