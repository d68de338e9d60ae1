import {
  type ModelUsage,
  noUsage,
  type SessionId,
  type Store,
  type TreeId,
  type TreeIdentity,
  type TurnId,
  type TurnRecord,
  type TurnText,
} from '../../contracts/index.ts'
import { appended, batch, claimed } from './sample-tree.ts'

type Turn = Partial<Omit<TurnRecord, 'texts'>> & { readonly texts?: readonly string[] }

/** A record of a turn without a request. The texts are a message and its answers. */
export function turn({ texts = [], ...given }: Turn = {}): TurnRecord {
  return {
    seq: 1,
    at: 1_000_001,
    sessionId: 'session' as SessionId,
    turnId: 't1' as TurnId,
    agent: 'helper',
    isChild: false,
    status: 'completed',
    workMs: 0,
    texts: texts.map((text, index): TurnText => ({ kind: index === 0 ? 'message' : 'answer', text })),
    models: [],
    ...given,
  }
}

export function model(name: string, given: Partial<ModelUsage> = {}): ModelUsage {
  return { model: name, requests: 1, failed: 0, usage: noUsage, costUsd: 0, unpriced: 0, latencyMs: 0, ...given }
}

/** A new tree whose first batch has these turns, without a driver. */
export async function treeWith(
  store: Store,
  name: string,
  { turns, identity }: { readonly turns: readonly TurnRecord[]; readonly identity?: TreeIdentity },
): Promise<TreeId> {
  const treeId = name as TreeId
  const { epoch } = await claimed(store, treeId)
  const summary = { agent: 'helper', title: name, status: 'completed', openRequests: 0 } as const
  await appended(store, { ...batch(treeId, epoch, { after: 0, count: 1 }), summary, turns, ...(identity && { identity }) })
  await store.journal.release(treeId, epoch)
  return treeId
}

/** A new tree with one turn of these texts. */
export const treeOf = (store: Store, name: string, ...texts: readonly string[]): Promise<TreeId> =>
  treeWith(store, name, { turns: [turn({ texts })] })

/** The names of the trees that a search finds, the newest first. */
export async function found(store: Store, search: string): Promise<string> {
  return (await store.trees.list({ search })).map(({ treeId }) => treeId).join(' ')
}
