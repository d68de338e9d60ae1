import type { Lock, QueueEntry, StateAdapter } from 'chat'

/** The state of Chat SDK in memory, for tests of the stand-ins alone. */
export function memoryState(): StateAdapter {
  const [values, lists, queues] = [new Map<string, unknown>(), new Map<string, unknown[]>(), new Map<string, QueueEntry[]>()]
  const [subscribed, locks] = [new Set<string>(), new Map<string, Lock>()]
  return {
    connect: async () => undefined,
    disconnect: async () => undefined,
    get: async <T>(key: string) => (values.get(key) as T | undefined) ?? null,
    set: async (key, value) => void values.set(key, value),
    setIfNotExists: async (key, value) => !values.has(key) && values.set(key, value).has(key),
    delete: async (key) => void values.delete(key),
    getList: async <T>(key: string) => [...(lists.get(key) ?? [])] as T[],
    appendToList: async (key, value) => void lists.set(key, [...(lists.get(key) ?? []), value]),
    subscribe: async (thread) => void subscribed.add(thread),
    unsubscribe: async (thread) => void subscribed.delete(thread),
    isSubscribed: async (thread) => subscribed.has(thread),
    acquireLock: async (threadId, ttlMs) => {
      if (locks.has(threadId)) return null
      const lock = { threadId, token: threadId, expiresAt: Date.now() + ttlMs }
      locks.set(threadId, lock)
      return lock
    },
    extendLock: async () => true,
    releaseLock: async ({ threadId }) => void locks.delete(threadId),
    forceReleaseLock: async (threadId) => void locks.delete(threadId),
    enqueue: async (thread, entry) => {
      const queue = [...(queues.get(thread) ?? []), entry]
      queues.set(thread, queue)
      return queue.length
    },
    dequeue: async (thread) => queues.get(thread)?.shift() ?? null,
    queueDepth: async (thread) => queues.get(thread)?.length ?? 0,
  }
}
