import { isRecord } from '../../util/is-record.ts'
import { type Fields, fieldsOf, listOf, textOf } from '../../util/unknown-fields.ts'
import type { GatheredCall } from '../shared/index.ts'

interface Group {
  readonly index: unknown
  id: string | undefined
  name: string
  readonly pieces: string[]
}

/**
 * Collects the calls of a reply as the model wrote them. LangChain's own merge closes the brackets of truncated arguments, so
 * that such a call looks complete.
 */
export class CallChunks {
  readonly #groups: Group[] = []
  #characters = 0

  /**
   * A message that was not streamed has complete calls; beside chunks they are a repetition. Returns the number of new
   * argument characters.
   */
  take(message: Fields): number {
    const before = this.#characters
    const chunks = listOf(message.tool_call_chunks).filter(isRecord)
    if (chunks.length > 0) for (const chunk of chunks) this.#add(chunk)
    else this.#addWhole(message)
    return this.#characters - before
  }

  #addWhole(message: Fields): void {
    for (const call of [...listOf(message.tool_calls), ...listOf(message.invalid_tool_calls)].filter(isRecord)) {
      const { args } = call
      const group = this.#open(undefined)
      group.id = textOf(call.id)
      group.name = textOf(call.name) ?? ''
      this.#write(group, typeof args === 'string' ? args : JSON.stringify(fieldsOf(args)))
    }
  }

  get calls(): readonly GatheredCall[] {
    return this.#groups.map(({ id, name, pieces }) => {
      const input = pieces.join('')
      return { id, name, input: input.trim() === '' ? '{}' : input }
    })
  }

  #add(chunk: Fields): void {
    const id = textOf(chunk.id)
    const name = textOf(chunk.name)
    const group = this.#groupOf(id, chunk.index ?? undefined, name) ?? this.#open(chunk.index ?? undefined)
    group.id ??= id
    if (group.name === '') group.name = name ?? ''
    if (typeof chunk.args === 'string') this.#write(group, chunk.args)
  }

  #write(group: Group, piece: string): void {
    group.pieces.push(piece)
    this.#characters += piece.length
  }

  #open(index: unknown): Group {
    const group: Group = { index, id: undefined, name: '', pieces: [] }
    this.#groups.push(group)
    return group
  }

  #groupOf(id: string | undefined, index: unknown, name: string | undefined): Group | undefined {
    if (id !== undefined)
      return this.#groups.findLast((group) => group.id === id || (group.id === undefined && index !== undefined && group.index === index))
    if (index !== undefined) return this.#groups.findLast((group) => group.index === index)
    // Without id and index it continues the last call, unless it has a name.
    return name === undefined ? this.#groups.at(-1) : undefined
  }
}
