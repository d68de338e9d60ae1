import type { Json, ModelRequest } from '../../contracts/index.ts'
import { isSameJson } from '../../util/json-values.ts'

/** What is new in a request since the one before it. */
export interface RequestChanges {
  readonly isSystemNew: boolean
  /** Messages from this position on are new. */
  readonly firstNew: number
  /** So many messages of the request before are gone or changed, as after a compaction. */
  readonly replaced: number
  readonly newTools: ReadonlySet<string>
  readonly goneTools: readonly string[]
  readonly areParametersNew: boolean
}

/** Without a request before it: nothing is marked. */
export function changesSince(before: ModelRequest | undefined, { system, messages, tools, ...rest }: ModelRequest): RequestChanges {
  if (!before)
    return { isSystemNew: false, firstNew: messages.length, replaced: 0, newTools: new Set(), goneTools: [], areParametersNew: false }
  const { system: systemBefore, messages: messagesBefore, tools: toolsBefore, ...restBefore } = before
  const changed = messages.findIndex((message, index) => !isSame(message, messagesBefore[index]))
  const firstNew = changed === -1 ? messages.length : changed
  const known = new Map(toolsBefore.map((tool) => [tool.name, tool]))
  const names = new Set(tools.map(({ name }) => name))
  return {
    isSystemNew: system !== systemBefore,
    firstNew,
    replaced: Math.max(0, messagesBefore.length - firstNew),
    newTools: new Set(tools.filter((tool) => !isSame(tool, known.get(tool.name))).map(({ name }) => name)),
    goneTools: toolsBefore.map(({ name }) => name).filter((name) => !names.has(name)),
    areParametersNew: !isSame(rest, restBefore),
  }
}

/** Requests come as JSON. */
const isSame = (one: object, other: object | undefined): boolean => isSameJson(one as unknown as Json, other as unknown as Json | undefined)
