import type { InteractionEvent, RunOrigin, Store, TreeId } from '../../contracts/index.ts'

/** Where and how a session was started, from its first event. */
export async function originOf({ journal }: Pick<Store, 'journal'>, treeId: TreeId): Promise<RunOrigin | undefined> {
  const [first] = await journal.read(treeId, 0, 1)
  return originIn(first)
}

export const originIn = (first: InteractionEvent | undefined): RunOrigin | undefined =>
  first?.type === 'interaction.session.created' ? first.origin : undefined
