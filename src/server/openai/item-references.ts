import type { Records, SessionService } from '../../contracts/index.ts'
import { invalid } from './content.ts'
import type { OutputItem } from './response-items.ts'
import { responsesOf } from './response-records.ts'
import { readState } from './response-state.ts'

/** Each session is a journal to read. */
const maxSessions = 100

interface Item {
  readonly type?: string | undefined
  readonly [field: string]: unknown
}

interface References {
  readonly sessions: SessionService
  readonly records: Pick<Records, 'list'>
}

/** Items of earlier responses in place of references to them: clients refer to what the server has stored. */
export async function withReferencedItems<Input extends string | readonly Item[]>(input: Input, options: References): Promise<Input> {
  if (typeof input === 'string') return input
  const wanted = new Set(input.filter(isReference).flatMap(({ id }) => sessionOfItem(id) ?? []))
  if (wanted.size > maxSessions)
    throw invalid('input', `the items come from more than ${maxSessions} sessions`, 'Use previous_response_id.')
  const found = new Map<string, OutputItem>()
  for (const sessionId of wanted) for (const item of await itemsOf(sessionId, options)) found.set(item.id, item)
  const resolve = (item: Item, index: number): Item => {
    if (!isReference(item)) return item
    const known = found.get(String(item.id))
    if (known) return { ...known }
    throw invalid(`input.${index}`, `there is no item "${String(item.id)}"`, 'Send the item itself, or use previous_response_id.')
  }
  return input.map(resolve) as unknown as Input
}

/** Some clients send the id alone. */
const isReference = ({ type, id, role }: Item): boolean =>
  type === 'item_reference' || (type === undefined && role === undefined && id !== undefined)

const sessionOfItem = (id: unknown): string | undefined => /^[a-z]+_([^_/]{1,80})_/.exec(String(id))?.[1]

/** Nothing if the session belongs to another owner. */
async function itemsOf(sessionId: string, { sessions, records }: References): Promise<readonly OutputItem[]> {
  const responses = await responsesOf(records, sessionId)
  const states = await Promise.all(responses.map((response) => readState(sessions, response)))
  return states.flatMap((state) => state?.items ?? [])
}
