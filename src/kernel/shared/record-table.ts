import type { Json, Records, StoredRecord } from '../../contracts/index.ts'

const pageSize = 100

/** A record with its key and its due time as fields. */
export type Row<Value> = Value & { readonly key: string; readonly due?: number }
type Change<Value> = (before: Row<Value> | undefined) => (Value & { readonly due?: number }) | undefined

/** The records of one namespace. */
export interface RecordTable<Value> {
  list(options?: Parameters<Records['list']>[1]): Promise<readonly Row<Value>[]>
  /** In the order of the keys, page by page. */
  rows(dueBefore?: number): AsyncGenerator<Row<Value>>
  /** Like `update` of `Records`, but returns what was there before. */
  update(key: string, change: Change<Value>): Promise<Row<Value> | undefined>
}

export function recordTable<Value extends object>(records: Records, namespace: string): RecordTable<Value> {
  const rowOf = ({ key, due, value }: StoredRecord): Row<Value> =>
    ({ ...(value as object), key, ...(due !== undefined && { due }) }) as unknown as Row<Value>
  const list: RecordTable<Value>['list'] = async (options) => (await records.list(namespace, options)).map(rowOf)
  return {
    list,
    async *rows(dueBefore) {
      for (let after: string | undefined = ''; after !== undefined; ) {
        const page: readonly Row<Value>[] = await list({ limit: pageSize, after, ...(dueBefore !== undefined && { dueBefore }) })
        yield* page
        after = page.length < pageSize ? undefined : page.at(-1)?.key
      }
    },
    async update(key, change) {
      let before: Row<Value> | undefined
      await records.update(namespace, key, (stored) => {
        before = stored && rowOf({ ...stored, key })
        const changed = change(before)
        if (changed === undefined) return undefined
        const { key: _, due, ...value } = changed as unknown as Row<object>
        return { value: value as Json, ...(due !== undefined && { due }) }
      })
      return before
    },
  }
}
